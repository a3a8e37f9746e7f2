"""Run files that a stranger wrote: commands answer in time, with a result or one error of ours."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from onprompt.errors import StoreError, UserError
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run, stored_verdict
from onprompt.runs.schema import verdict_digest
from tests.hostile.run_files import FOREIGN, invoke, untyped
from tests.pages.stored import four_models, stored_run
from tests.runs.test_run import judged, table


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    return stored_run(tmp_path / "run.sqlite", four_models(2))


def put(path: Path, table: str, column: str, value: Any) -> None:
    """Write a value of any type to a column, with the digests that fit."""
    with untyped(path) as database:
        database.execute(f"UPDATE {table} SET {column} = ?", (value,))
        for pair in database.execute("SELECT sample, configuration FROM verdicts").fetchall():
            digest = verdict_digest(database, pair), *pair
            database.execute("UPDATE verdicts SET digest = ? WHERE sample = ? AND configuration = ?", digest)


@pytest.mark.parametrize("sql", FOREIGN)
def test_what_is_not_of_our_schema_is_refused_at_once(run_file: Path, sql: str) -> None:
    with closing(sqlite3.connect(run_file)) as database:
        database.executescript(sql)
    for writing in (False, True):
        with pytest.raises(StoreError, match="not one of its tables, indexes or views"):
            RunFile(run_file, writing)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("verdicts", "value", "high"),
        ("verdicts", "value", float("inf")),
        ("verdicts", "score", b"\xff"),
        ("verdicts", "score", 2**60),
        ("verdicts", "flags", 7),
        ("verdicts", "factors", "[1]"),
        ("verdicts", "factors", '{"score": "high"}'),
        ("verdicts", "factors", '{"\\ud800": 1}'),
        ("verdicts", "factors", "[" * 100_000),
        ("verdicts", "cost", float("inf")),
        ("samples", "prompt", b"\xff"),
        ("samples", "id", None),
        ("samples", "model", 3),
        ("checks", "kind", None),
        ("checks", "probability", "x"),
        ("errors", "message", b""),
        ("runs", "data", 3),
        ("runs", "versions", "[" * 100_000),
        ("runs", "created", None),
        ("configurations", "identity", '{"rubric": ["verify"], "judge": "evidence"}'),
        ("configurations", "identity", '{"rubric": "verify"}'),
        ("configurations", "identity", '{"rubric": "verify", "judge": "evidence", "settings": 3}'),
    ],
)
def test_wrong_types_are_one_error_of_ours(run_file: Path, table: str, column: str, value: Any) -> None:
    with closing(sqlite3.connect(run_file)) as database:
        database.execute(
            "INSERT INTO errors (sample, configuration, kind, message, text, sample_version) "
            "SELECT 1, 1, '', '', '', version FROM samples WHERE number = 1"
        )
        database.commit()
    put(run_file, table, column, value)
    shown = () if table == "checks" else ("show",)
    for command in (*shown, f"report --out {run_file.parent / 'report'}"):
        with pytest.raises(StoreError, match="is damaged"):
            invoke(command, run_file)
    assert not (run_file.parent / "report").exists()


@pytest.mark.parametrize("value", ["[" * 100_000, "[]", None, b"{", '{"format": "onprompt.verify/7", "checks": 3}'])
def test_a_document_that_is_none_is_an_error_of_ours(run_file: Path, value: Any) -> None:
    put(run_file, "documents", "document", value)
    with RunFile(run_file) as file, pytest.raises((StoreError, UserError)):
        stored_verdict(file, 1, "north/0")
    assert invoke(f"report --out {run_file.parent / 'report'}", run_file) == 0
    assert any("is damaged" in page.read_text() for page in (run_file.parent / "report").rglob("*.html"))


def test_text_that_is_not_utf_8_is_damage(run_file: Path) -> None:
    with closing(sqlite3.connect(run_file)) as database:
        database.execute("UPDATE verdicts SET answers = CAST(x'ff' AS TEXT)")
        database.commit()
    with RunFile(run_file) as file, pytest.raises(StoreError, match="is damaged"):
        stored_verdict(file, 1, "north/0")
    with pytest.raises(StoreError, match="is damaged"):
        invoke("check", run_file)


def test_numbers_of_rows_may_be_any(run_file: Path) -> None:
    with closing(sqlite3.connect(run_file)) as database:
        database.execute("UPDATE samples SET number = number + (1 << 40)")
        for name in ("verdicts", "documents", "checks"):
            database.execute(f"UPDATE {name} SET sample = sample + (1 << 40)")
        database.commit()
    assert invoke("show", run_file) == 0
    assert Run(run_file).overview.verdicts == 8


def test_a_configuration_that_did_not_run_can_not_be_chosen(run_file: Path) -> None:
    with closing(sqlite3.connect(run_file)) as database:
        database.execute("UPDATE runs SET configuration = 7")
        database.commit()
    with pytest.raises(UserError, match="no verdicts yet"):
        Run(run_file)


def test_a_run_does_not_go_on_in_a_file_of_wrong_types(tmp_path: Path) -> None:
    data = table(tmp_path, 2)
    judged(tmp_path, data)
    put(tmp_path / "run.sqlite", "runs", "data", 3)
    with pytest.raises(StoreError, match=r"is damaged, .*str expected, not 3"):
        judged(tmp_path, data)

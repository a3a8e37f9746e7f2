"""Run files that a disk or a copy has damaged, and those of an earlier version, which open as they are."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from onprompt.errors import OnpromptError, StoreError
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import ReviewFile
from onprompt.runs.schema import VERSION, own_schema, stored_schema
from tests.runs.commands import onprompt
from tests.runs.test_run import judged, scores, table


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    judged(tmp_path, table(tmp_path, 40))
    return tmp_path / "run.sqlite"


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for sql in statements:
            database.execute(sql)
        database.commit()


def found(path: Path) -> list[str]:
    with RunFile(path) as file:
        return file.damage()


@pytest.mark.parametrize(
    "changed", ["prompt = replace(prompt, 'cats', 'cars')", "model = 'other'", "version = 'x' || version", "gone = 1"]
)
def test_a_sample_that_is_not_as_written_is_found(run_file: Path, changed: str) -> None:
    change(run_file, f"UPDATE samples SET {changed} WHERE number = 7")
    assert found(run_file) == ["samples 7"]


def test_a_file_without_damage_and_a_sample_that_is_rightly_gone(tmp_path: Path, run_file: Path) -> None:
    assert onprompt("check", run_file).stdout == "no damage found\n"
    judged(tmp_path, table(tmp_path, 35))
    with RunFile(run_file) as file:
        assert file.first("SELECT sum(gone) FROM samples") == (5,)
    assert not found(run_file)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE verdicts SET value = value + 0.001",
        "UPDATE documents SET document = replace(document, 'many', 'mank')",
        "UPDATE documents SET document = x'00ff'",
        "DELETE FROM documents",
        "DELETE FROM verdicts",
    ],
)
def test_any_change_of_a_verdict_is_noticed(run_file: Path, sql: str) -> None:
    change(run_file, f"{sql} WHERE sample = 7")
    assert found(run_file) == ["verdict on sample number 7, configuration 1"]
    if not sql.startswith("DELETE FROM documents"):
        with pytest.raises(StoreError, match="onprompt check"):
            Run(run_file).verdict("6")


@pytest.mark.parametrize("identity", ["'{'", "x'01'"])
def test_a_row_that_can_not_be_read_is_an_error_that_says_what_to_do(run_file: Path, identity: str) -> None:
    change(run_file, f"UPDATE configurations SET identity = {identity}")
    assert "configurations 1" in found(run_file)
    result = onprompt("show", run_file)
    assert result.returncode == 6
    assert "is damaged" in result.stderr
    assert f"`onprompt check {run_file}`" in result.stderr
    assert "Traceback" not in result.stderr


def test_check_reads_the_rows_that_are_there_whatever_their_numbers(run_file: Path) -> None:
    moved = "UPDATE samples SET number = 1 << 40 WHERE number = 7", "UPDATE runs SET id = 1 << 60"
    change(run_file, *moved, "UPDATE verdicts SET sample = 1 << 40 WHERE sample = 7")
    result = onprompt("check", run_file)
    assert result.returncode == 6
    told = [line for line in result.stdout.splitlines() if "verdict on" in line]
    assert len(told) == 2, "the one that is gone, and the one that came from nowhere"
    assert "damaged: verdict on sample number 7, configuration 1" in told


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_and_lost_pages(run_file: Path, tmp_path: Path, seed: int) -> None:
    """Whatever is flipped: all verdicts are as they were, or damage is found, or nothing can be read."""
    intact, rng = scores(tmp_path), random.Random(seed)
    content = bytearray(run_file.read_bytes())
    for _ in range(3):
        at = rng.randrange(4096, len(content))
        content[at : at + (1 if seed % 2 else 512)] = rng.randbytes(1 if seed % 2 else 512)
    run_file.write_bytes(content[: len(run_file.read_bytes())])
    try:
        damage = found(run_file)
        assert damage or scores(tmp_path) == intact
    except OnpromptError:
        return


# -- files of an earlier version

FORMER = (  # what makes a file of version 5
    "CREATE TABLE plans (id INTEGER PRIMARY KEY, samples TEXT NOT NULL)",
    "INSERT INTO plans (samples) VALUES ('[1, 3]')",
    "PRAGMA user_version = 5",
)


@pytest.fixture
def present(tmp_path: Path) -> Path:
    """A run with an error."""
    judged(tmp_path, table(tmp_path, 12, bad=["x,none.png,1 cats"]))
    return tmp_path / "run.sqlite"


@pytest.fixture
def former(present: Path) -> Path:
    """The same as version 5 stored it."""
    path = present.with_name("former.sqlite")
    shutil.copy(present, path)
    change(path, *FORMER)
    return path


def test_a_former_file_reads_the_same_and_is_not_changed_by_it(former: Path, present: Path) -> None:
    before = former.read_bytes()
    old, new = Run(former), Run(present)
    assert list(old.rows()) == list(new.rows())
    assert (old.overview, old.verdict("3")) == (new.overview, new.verdict("3"))
    assert found(former) == [], "its digests hold"
    assert former.read_bytes() == before


def test_who_writes_to_a_former_file_migrates_it(former: Path, present: Path, tmp_path: Path) -> None:
    shutil.copy(former, present)
    ReviewFile(former).close()
    summary = judged(tmp_path, table(tmp_path, 15))
    assert (summary.before, summary.done, summary.configuration) == (12, 3, 1)
    for path in (former, present):
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
            assert stored_schema(database) == own_schema()
        assert found(path) == []


@pytest.mark.parametrize("writing", [False, True])
def test_a_former_file_with_foreign_tables_is_refused_and_left_alone(former: Path, writing: bool) -> None:
    change(former, "CREATE TRIGGER more AFTER UPDATE ON samples BEGIN DELETE FROM verdicts; END")
    with pytest.raises(StoreError, match="not one of its tables"):
        RunFile(former, writing)
    with closing(sqlite3.connect(former)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (5,)
        assert database.execute("SELECT count(*) FROM verdicts").fetchone() == (12,)


@pytest.mark.parametrize("version", [4, VERSION + 1])
def test_a_file_of_a_version_that_is_not_known_is_refused(present: Path, version: int) -> None:
    change(present, f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match=rf"written by another version of onprompt \(format {version}"):
        RunFile(present)

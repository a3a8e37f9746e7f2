"""Run files that a disk or a copy has damaged."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onprompt.api import judges
from onprompt.errors import OnpromptError, StoreError
from onprompt.runs import findings
from onprompt.runs.damage import find_damage, repair
from onprompt.runs.ledger import Ledger
from tests.runs.test_run import judged, scores, table


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    judges.close()


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    judged(tmp_path, table(tmp_path, 40))
    return tmp_path / "run.sqlite"


def change(path: Path, sql: str) -> None:
    database = sqlite3.connect(path)
    database.execute(sql)
    database.commit()
    database.close()


def test_a_file_without_damage(run_file: Path) -> None:
    with Ledger(run_file) as ledger:
        damage = find_damage(ledger)
    assert (bool(damage), damage.intact, damage.unchecked) == (False, 40, 0)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE samples SET prompt = replace(prompt, 'cats', 'cars') WHERE number = 7",
        "UPDATE samples SET model = 'other' WHERE number = 7",
        "UPDATE samples SET version = 'x' || version WHERE number = 7",
        "UPDATE samples SET gone = 1 WHERE number = 7",
    ],
)
def test_a_sample_that_is_not_as_written_is_found(run_file: Path, sql: str) -> None:
    change(run_file, sql)
    with Ledger(run_file) as ledger:
        assert find_damage(ledger).rows == ["samples 7"]


def test_a_sample_that_is_rightly_gone_is_no_damage(tmp_path: Path, run_file: Path) -> None:
    data = table(tmp_path, 40)
    data.write_text("\n".join(data.read_text().splitlines()[:-5]) + "\n")
    judged(tmp_path, data)
    with Ledger(run_file) as ledger:
        assert ledger.first("SELECT sum(gone) FROM samples") == (5,)
        assert not find_damage(ledger)


def test_samples_of_an_earlier_version_have_no_checksum(run_file: Path) -> None:
    change(run_file, "DROP TABLE sample_sums")
    with Ledger(run_file) as ledger:
        assert not find_damage(ledger)


def test_verdicts_of_an_earlier_version_have_no_checksum(run_file: Path) -> None:
    change(run_file, "DROP TABLE checksums")
    with Ledger(run_file) as ledger:
        damage = find_damage(ledger)
        assert (bool(damage), damage.intact, damage.unchecked) == (False, 0, 40)
        assert findings.stored_verdict(ledger, 1, "6").score == 1


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE verdicts SET score = 3 - score WHERE sample = 7",
        "UPDATE verdicts SET value = value + 0.001 WHERE sample = 7",
        "UPDATE documents SET document = replace(document, 'many', 'mank') WHERE sample = 7",
        "UPDATE documents SET document = x'00ff' WHERE sample = 7",
        "DELETE FROM documents WHERE sample = 7",
    ],
)
def test_any_change_of_a_verdict_is_noticed(run_file: Path, sql: str) -> None:
    change(run_file, sql)
    with Ledger(run_file) as ledger:
        damage = find_damage(ledger)
        assert (damage.verdicts, damage.intact) == ([(7, 1)], 39)
    if not sql.startswith("DELETE"):
        with Ledger(run_file) as ledger, pytest.raises(StoreError, match="onprompt check"):
            findings.stored_verdict(ledger, 1, "6")


def test_what_is_not_damaged_is_saved_and_the_rest_judged_again(run_file: Path, tmp_path: Path) -> None:
    before = scores(tmp_path)
    change(run_file, "UPDATE verdicts SET score = 3 - score WHERE sample IN (7, 9)")
    with Ledger(run_file) as ledger:
        assert repair(ledger, find_damage(ledger), tmp_path / "saved.sqlite") == 38
    (tmp_path / "saved.sqlite").replace(run_file)
    summary = judged(tmp_path, tmp_path / "data.csv")
    assert (summary.done, summary.before, summary.new) == (2, 38, False)
    assert scores(tmp_path) == before


@pytest.mark.parametrize("sql", ["UPDATE generations SET identity = '{'", "UPDATE generations SET identity = x'01'"])
def test_a_row_that_can_not_be_read_is_an_error_that_says_what_to_do(run_file: Path, sql: str) -> None:
    change(run_file, sql)
    result = subprocess.run([sys.executable, "-m", "onprompt", "show", run_file], capture_output=True, text=True)
    assert result.returncode == 6
    assert "is damaged" in result.stderr
    assert f"`onprompt check {run_file}`" in result.stderr
    assert "Traceback" not in result.stderr
    assert "safe" not in result.stderr


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_and_lost_pages(run_file: Path, tmp_path: Path, seed: int) -> None:
    """Whatever is flipped: a verdict is as it was, or known to be damaged; and all that is not is saved."""
    intact, rng = scores(tmp_path), random.Random(seed)
    content = bytearray(run_file.read_bytes())
    for _ in range(3):
        at = rng.randrange(4096, len(content))
        content[at : at + (1 if seed % 2 else 512)] = rng.randbytes(1 if seed % 2 else 512)
    run_file.write_bytes(content[: len(run_file.read_bytes())])
    try:
        with Ledger(run_file) as ledger:
            repair(ledger, find_damage(ledger), tmp_path / "saved.sqlite")
    except OnpromptError:
        return  # not even the tables can be found
    (tmp_path / "saved.sqlite").replace(run_file)
    with Ledger(run_file) as ledger:
        assert not find_damage(ledger).verdicts
        if findings.generations(ledger):
            rows = {row["id"]: row["score"] for row in findings.rows(ledger, 1) if row["value"] is not None}
            assert rows.items() <= intact.items()

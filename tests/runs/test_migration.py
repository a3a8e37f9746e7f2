"""Run files of an earlier version: they open as they are, and who writes to one brings it to the present version."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from onprompt.errors import StoreError
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import reviews
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import Review, ReviewFile
from onprompt.runs.schema import VERSION, own_schema, stored_schema
from tests.runs.test_run import judged, table

FORMER = """
CREATE TABLE plans (
    id INTEGER PRIMARY KEY, configuration INTEGER NOT NULL, size INTEGER NOT NULL, seed INTEGER NOT NULL,
    samples TEXT NOT NULL, digest TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), UNIQUE (configuration, size, seed)
);
INSERT INTO plans (configuration, size, seed, samples, digest) VALUES (1, 2, 0, '[1, 3]', 'x');
PRAGMA user_version = 5;
"""
BEFORE = "ALTER TABLE runs DROP COLUMN columns; PRAGMA user_version = 4;"


@pytest.fixture
def present(tmp_path: Path) -> Path:
    """A run with an error and a review."""
    judged(tmp_path, table(tmp_path, 12, bad=["x,none.png,1 cats"]))
    with ReviewFile(tmp_path / "run.sqlite") as file:
        file.save(3, 1, "Ada", Review({"score": 2}, comment="so many"), RUBRIC)
    return tmp_path / "run.sqlite"


@pytest.fixture(params=[5, 4])
def former(present: Path, request: pytest.FixtureRequest) -> Path:
    """The same as an earlier version stored it."""
    path = present.with_name("former.sqlite")
    shutil.copy(present, path)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(FORMER + (BEFORE if request.param == 4 else ""))
    return path


def test_a_former_file_reads_the_same_and_is_not_changed_by_it(former: Path, present: Path) -> None:
    before = former.read_bytes()
    old, new = Run(former), Run(present)
    assert list(old.rows()) == list(new.rows())
    assert list(old.checks()) == list(new.checks())
    assert (old.overview, old.verdict("3")) == (new.overview, new.verdict("3"))
    with RunFile(former) as file:
        assert reviews.ratings(file, RUBRIC) == {"2": {"Ada": 2.0}}
        assert file.damage() == [], "its digests hold"
    assert former.read_bytes() == before


def test_damage_in_a_former_file_is_found(former: Path) -> None:
    with closing(sqlite3.connect(former)) as database:
        database.execute("UPDATE verdicts SET score = 3 - score WHERE sample = 7")
        database.execute("UPDATE samples SET model = 'other' WHERE number = 2")
        database.commit()
    with RunFile(former) as file:
        assert file.damage() == ["samples 2", "verdict on sample number 7, configuration 1"]


@pytest.mark.parametrize("opened", [RunFile, ReviewFile])
def test_who_writes_to_a_former_file_migrates_it(former: Path, opened: type[RunFile]) -> None:
    (opened(former, True) if opened is RunFile else ReviewFile(former)).close()
    with closing(sqlite3.connect(former)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert stored_schema(database) == own_schema()
    with RunFile(former) as file:
        assert file.damage() == []


def test_a_run_goes_on_in_a_former_file(former: Path, present: Path, tmp_path: Path) -> None:
    former.replace(present)
    table(tmp_path, 15)
    summary = judged(tmp_path, tmp_path / "data.csv")
    assert (summary.before, summary.done, summary.configuration) == (12, 3, 1)


@pytest.mark.parametrize("writing", [False, True])
def test_a_former_file_with_foreign_tables_is_refused_and_left_alone(former: Path, writing: bool) -> None:
    with closing(sqlite3.connect(former)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        database.execute("CREATE TRIGGER more AFTER UPDATE ON samples BEGIN DELETE FROM verdicts; END")
        database.commit()
    with pytest.raises(StoreError, match=r"not one of its tables|more"):
        RunFile(former, writing)
    with closing(sqlite3.connect(former)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (version,)
        assert database.execute("SELECT count(*) FROM verdicts").fetchone() == (12,)


def test_a_file_of_a_version_that_is_too_old_is_refused(present: Path) -> None:
    with closing(sqlite3.connect(present)) as database:
        database.execute("PRAGMA user_version = 3")
    with pytest.raises(StoreError, match="written by an older version of onprompt"):
        RunFile(present)

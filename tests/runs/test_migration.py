"""Run files of an earlier version: they open as they are, and who writes to one brings it to the present version."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from onprompt.errors import StoreError
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import ReviewFile
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
    with closing(sqlite3.connect(path)) as database:
        database.executescript(FORMER)
    return path


def test_a_former_file_reads_the_same_and_is_not_changed_by_it(former: Path, present: Path) -> None:
    before = former.read_bytes()
    old, new = Run(former), Run(present)
    assert list(old.rows()) == list(new.rows())
    assert (old.overview, old.verdict("3")) == (new.overview, new.verdict("3"))
    with RunFile(former) as file:
        assert file.damage() == [], "its digests hold"
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
        with RunFile(path) as file:
            assert file.damage() == []


@pytest.mark.parametrize("writing", [False, True])
def test_a_former_file_with_foreign_tables_is_refused_and_left_alone(former: Path, writing: bool) -> None:
    with closing(sqlite3.connect(former)) as database:
        database.execute("CREATE TRIGGER more AFTER UPDATE ON samples BEGIN DELETE FROM verdicts; END")
        database.commit()
    with pytest.raises(StoreError, match="not one of its tables"):
        RunFile(former, writing)
    with closing(sqlite3.connect(former)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (5,)
        assert database.execute("SELECT count(*) FROM verdicts").fetchone() == (12,)


@pytest.mark.parametrize("version", [4, VERSION + 1])
def test_a_file_of_a_version_that_is_not_known_is_refused(present: Path, version: int) -> None:
    with closing(sqlite3.connect(present)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match=rf"written by another version of onprompt \(format {version}"):
        RunFile(present)

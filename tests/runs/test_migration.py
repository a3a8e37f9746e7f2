"""Run files of an earlier version: they open as they are, and who writes to one brings it to the present version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from onprompt.api import judges
from onprompt.errors import StoreError
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import reviews
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import Review, ReviewFile, make_plan
from onprompt.runs.schema import VERSION, digest, find_damage, own_schema, stored_schema
from tests.runs.test_run import judged, table

VERSION_3 = Path(__file__).with_name("version_3.sql").read_text()
COPIED = """
INSERT INTO generations SELECT * FROM new.configurations;
INSERT INTO runs SELECT id, configuration, data, versions, created, read_whole, tokens_in, tokens_out, cost
    FROM new.runs;
INSERT INTO samples SELECT number, id, prompt, image, model, category, given, stamp, version, run, gone
    FROM new.samples;
INSERT INTO verdicts SELECT sample, configuration, score, value, flags, summary, factors, coverage, tokens_in,
    tokens_out, cost, answers, image_sha256, sample_version, created FROM new.verdicts;
INSERT INTO documents SELECT * FROM new.documents;
INSERT INTO checks SELECT sample, configuration, number, kind, asked, found, outcome, probability, .5, source
    FROM new.checks;
INSERT INTO errors SELECT * FROM new.errors;
INSERT INTO reviews SELECT * FROM new.reviews;
INSERT INTO plans SELECT * FROM new.plans;
INSERT INTO sample_sums SELECT number, digest FROM new.samples;
"""


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    judges.close()


@pytest.fixture
def present(tmp_path: Path) -> Path:
    """A run with an error, a review and a plan."""
    judged(tmp_path, table(tmp_path, 12, bad=["x,none.png,1 cats"]))
    with ReviewFile(tmp_path / "run.sqlite") as file:
        file.save(3, 1, "Ada", Review({"score": 2}, comment="so many"), RUBRIC)
        make_plan(Run(file.path), file, 5)
    return tmp_path / "run.sqlite"


@pytest.fixture
def former(present: Path) -> Path:
    """The same as version 3 stored it."""
    path = present.with_name("former.sqlite")
    with closing(sqlite3.connect(path)) as database:
        database.executescript(VERSION_3)
        database.execute("ATTACH ? AS new", (str(present),))
        database.executescript(COPIED)
        for key in database.execute("SELECT sample, generation FROM verdicts").fetchall():
            tables = ("verdicts", "documents", "checks")
            rows = [
                row
                for table in tables
                for row in database.execute(f"SELECT * FROM {table} WHERE sample = ? AND generation = ?", key)
            ]
            database.execute("INSERT INTO checksums VALUES (?, ?, ?)", (*key, digest(rows)))
        database.commit()
    return path


def test_a_former_file_reads_the_same_and_is_not_changed_by_it(former: Path, present: Path) -> None:
    before = former.read_bytes()
    old, new = Run(former), Run(present)
    assert list(old.rows()) == list(new.rows())
    assert list(old.checks()) == list(new.checks())
    assert (old.overview, old.verdict("3")) == (new.overview, new.verdict("3"))
    with RunFile(former) as file:
        assert reviews.ratings(file, RUBRIC) == {"2": {"Ada": 2.0}}
        assert reviews.stored_plan(file, 1) is not None
        damage = find_damage(file.database)
        assert (damage.found, damage.intact, damage.unchecked) == ([], 12, 0), "its digests hold"
    assert former.read_bytes() == before


def test_damage_in_a_former_file_is_found(former: Path) -> None:
    with closing(sqlite3.connect(former)) as database:
        database.execute("UPDATE verdicts SET score = 3 - score WHERE sample = 7")
        database.execute("UPDATE samples SET model = 'other' WHERE number = 2")
        database.commit()
    with RunFile(former) as file:
        assert find_damage(file.database).found == ["samples 2", "verdict on sample number 7, configuration 1"]


@pytest.mark.parametrize("opened", [RunFile, ReviewFile])
def test_who_writes_to_a_former_file_migrates_it(former: Path, opened: type[RunFile]) -> None:
    (opened(former, True) if opened is RunFile else ReviewFile(former)).close()
    with closing(sqlite3.connect(former)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert stored_schema(database) == own_schema()
    with RunFile(former) as file:
        assert (find_damage(file.database).found, find_damage(file.database).intact) == ([], 12)


def test_a_run_goes_on_in_a_former_file(former: Path, present: Path, tmp_path: Path) -> None:
    former.replace(present)
    table(tmp_path, 15)
    summary = judged(tmp_path, tmp_path / "data.csv")
    assert (summary.before, summary.done, summary.configuration) == (12, 3, 1)


def test_the_first_files_of_version_3_had_no_reviews_and_no_digests(former: Path) -> None:
    gone = (
        "DROP VIEW present_reviews; DROP TABLE reviews; DROP TABLE plans; DROP TABLE checksums; DROP TABLE sample_sums"
    )
    with closing(sqlite3.connect(former)) as database:
        database.executescript(gone)
    with RunFile(former) as file:
        assert reviews.ratings(file, RUBRIC) == {}
        assert (find_damage(file.database).found, find_damage(file.database).unchecked) == ([], 12)
    with ReviewFile(former) as opened:
        opened.save(1, 1, "Ada", Review({"score": 3}), RUBRIC)
        assert reviews.ratings(opened, RUBRIC) == {"0": {"Ada": 3.0}}


@pytest.mark.parametrize("writing", [False, True])
def test_a_former_file_with_foreign_tables_is_refused_and_left_alone(former: Path, writing: bool) -> None:
    with closing(sqlite3.connect(former)) as database:
        database.execute("CREATE TRIGGER more AFTER UPDATE ON samples BEGIN DELETE FROM verdicts; END")
        database.commit()
    with pytest.raises(StoreError, match=r"not one of its tables|more"):
        RunFile(former, writing)
    with closing(sqlite3.connect(former)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (3,)
        assert database.execute("SELECT count(*) FROM verdicts").fetchone() == (12,)

"""The tables of a run file, what their columns may hold, the digest of each row, and what changes an older file."""

import hashlib
import itertools
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import cache
from typing import Any

from onprompt import serial
from onprompt.errors import UserError

VERSION, MARK = 6, 0x6F6E7072  # the mark identifies our files: "onpr"
# A row of `reviews` is all that a rater says of a sample; the last one that is not undone counts.
SCHEMA = """
CREATE TABLE IF NOT EXISTS configurations (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, identity TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, configuration INTEGER NOT NULL REFERENCES configurations(id), data TEXT NOT NULL,
    versions TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), read_whole INTEGER NOT NULL DEFAULT 0,
    tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0, cost REAL,
    columns TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS samples (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, prompt TEXT NOT NULL, image TEXT NOT NULL,
    model TEXT NOT NULL, category TEXT NOT NULL, given TEXT NOT NULL, stamp TEXT NOT NULL,
    version TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs(id), gone INTEGER NOT NULL DEFAULT 0, digest TEXT
);
CREATE TABLE IF NOT EXISTS verdicts (
    sample INTEGER NOT NULL REFERENCES samples(number),
    configuration INTEGER NOT NULL REFERENCES configurations(id),
    score INTEGER, value REAL NOT NULL, flags TEXT NOT NULL, summary TEXT NOT NULL, factors TEXT NOT NULL,
    coverage REAL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost REAL, answers TEXT NOT NULL,
    image_sha256 TEXT NOT NULL, sample_version TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), low REAL, high REAL, digest TEXT,
    PRIMARY KEY (sample, configuration)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    sample INTEGER NOT NULL, configuration INTEGER NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (sample, configuration)
);
CREATE TABLE IF NOT EXISTS checks (
    sample INTEGER NOT NULL, configuration INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    asked TEXT NOT NULL, found TEXT NOT NULL, outcome TEXT NOT NULL, probability REAL NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (sample, configuration, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS errors (
    sample INTEGER NOT NULL, configuration INTEGER NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL,
    text TEXT NOT NULL, sample_version TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (sample, configuration)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reviews (
    id INTEGER PRIMARY KEY, sample INTEGER NOT NULL, configuration INTEGER NOT NULL, rubric TEXT NOT NULL,
    rater TEXT NOT NULL, sample_version TEXT NOT NULL, scores TEXT NOT NULL, checks TEXT NOT NULL,
    comment TEXT NOT NULL, complete INTEGER NOT NULL, blind INTEGER NOT NULL, digest TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0, created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX IF NOT EXISTS reviews_by_rater ON reviews (rubric, rater, sample, id) WHERE NOT undone;
CREATE VIEW IF NOT EXISTS present_verdicts AS
    SELECT v.* FROM verdicts v JOIN samples s ON s.number = v.sample AND NOT s.gone AND s.version = v.sample_version;
CREATE VIEW IF NOT EXISTS present_errors AS
    SELECT e.* FROM errors e JOIN samples s ON s.number = e.sample AND NOT s.gone AND s.version = e.sample_version;
CREATE VIEW IF NOT EXISTS present_reviews AS
    SELECT r.* FROM reviews r JOIN samples s ON s.number = r.sample AND NOT s.gone AND s.version = r.sample_version
    WHERE NOT r.undone AND r.id = (
        SELECT max(id) FROM reviews l
        WHERE l.rubric = r.rubric AND l.rater = r.rater AND l.sample = r.sample AND NOT l.undone
    );
"""


# What brings a file of the version before to each version.
MIGRATIONS = {6: "DROP TABLE plans"}
OLDEST = min(MIGRATIONS) - 1


def migrate(database: sqlite3.Connection, version: int) -> None:
    """Bring the tables of a file of some version to the present one; of an empty file, make them."""
    for number, change in MIGRATIONS.items() if version else ():
        if number > version:
            database.execute(change)
    for statement in SCHEMA.split(";\n"):
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {MARK}")
    database.execute(f"PRAGMA user_version = {VERSION}")


@cache
def own_schema() -> dict[str, str]:
    """The SQL of every table, view and index of ours, by name, as SQLite stores it."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA)
        return stored_schema(database)


def stored_schema(database: sqlite3.Connection) -> dict[str, str]:
    """The SQL of all that is in a file, by name; without spaces and quotes: those differ in a migrated file."""
    rows = database.execute("SELECT name, sql FROM sqlite_master").fetchall()
    return {str(name): re.sub(r'[\s"]+', "", str(sql)) for name, sql in rows}


# The columns that the digest of a row covers: all that don't change once it is written.
DIGESTED = {
    "samples": ("id", "prompt", "image", "model", "category", "given", "stamp", "version"),
    "reviews": (
        *("sample", "configuration", "rubric", "rater", "sample_version", "scores", "checks", "comment"),
        *("complete", "blind"),
    ),
}
# Samples whose mark is not what the runs say: only a later run that read all of the same data takes one away.
WRONGLY_GONE = """
SELECT number FROM samples s JOIN runs own ON own.id = s.run WHERE s.gone != EXISTS
(SELECT 1 FROM runs later WHERE later.id > s.run AND later.read_whole AND later.data = own.data)
"""


def digest(*parts: object) -> str:
    """The hash of values as they are stored."""
    return hashlib.sha256("".join(map(repr, parts)).encode()).hexdigest()


def row_digest(table: str, row: Mapping[str, Any]) -> str:
    """The digest of a sample or a review."""
    return digest([row[name] for name in DIGESTED[table]])


def verdict_digest(database: sqlite3.Connection, key: tuple[int, int]) -> str:
    """The digest of a verdict with its document and its checks, by the numbers of its sample and its configuration."""
    verdicts, *others = (
        database.execute(f"SELECT * FROM {table} WHERE sample = ? AND configuration = ?", key).fetchall()  # noqa: S608
        for table in ("verdicts", "documents", "checks")
    )
    return digest(*(row[:-1] for row in verdicts), *itertools.chain(*others))  # its last column is the digest


def fingerprint(identity: Mapping[str, Any]) -> str:
    """The digest of a configuration, by which it is known again."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def is_as_written(database: sqlite3.Connection, key: tuple[int, int]) -> bool:
    """Whether a verdict is what was stored."""
    row = database.execute("SELECT digest FROM verdicts WHERE sample = ? AND configuration = ?", key).fetchone()
    return bool(row) and row[0] == verdict_digest(database, key)


def find_damage(database: sqlite3.Connection) -> list[str]:
    """What is not as it was written, in words: every page and every row of a run file is looked at."""
    damage: list[str] = []
    for find in (broken_pages, changed_rows):
        try:
            damage.extend(find(database))
        except (sqlite3.Error, UnicodeError) as error:  # what can't be read is damaged, too
            damage.append(f"SQLite: {error}")
    return damage


def broken_pages(database: sqlite3.Connection) -> Iterator[str]:
    """What SQLite itself finds."""
    yield from (f"SQLite: {text}" for (text,) in database.execute("PRAGMA integrity_check(20)") if text != "ok")


def changed_rows(database: sqlite3.Connection) -> Iterator[str]:
    """Configurations, samples, reviews and verdicts that are not what was stored, or gone."""
    for number, stored, identity in database.execute("SELECT id, fingerprint, identity FROM configurations"):
        with suppress(UserError):
            if stored == fingerprint(serial.read(identity, Mapping[str, Any])):
                continue
        yield f"configurations {number}"
    for table, columns in DIGESTED.items():
        key = "number" if table == "samples" else "id"
        for number, stored, *values in database.execute(f"SELECT {key}, digest, {', '.join(columns)} FROM {table}"):  # noqa: S608
            if stored != digest(values):
                yield f"{table} {number}"
    yield from (f"samples {number}" for (number,) in database.execute(WRONGLY_GONE))
    every = "SELECT sample, configuration FROM verdicts UNION SELECT sample, configuration FROM documents"
    for sample, configuration in database.execute(every):
        if not is_as_written(database, (sample, configuration)):
            yield f"verdict on sample number {sample}, configuration {configuration}"

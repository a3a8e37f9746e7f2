"""One digest for each verdict, sample, review, plan and way of judging: all are made here, and compared here."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from onprompt import serial
from onprompt.errors import UserError
from onprompt.runs.schema import stored_schema, type_checks

# The columns that the digest of a row covers: all that don't change once it is written. A verdict has rows in three
# tables, and one digest of them all.
COLUMNS = {
    "reviews": (
        *("sample", "generation", "rubric", "rater", "of", "scores", "checks", "comment", "complete", "blind"),
    ),
    "plans": ("generation", "size", "seed", "samples"),
    "samples": ("id", "prompt", "image", "model", "category", "given", "stamp", "version"),
}
# All rows that have a digest, each with its number.
ROWS = {
    "samples": "SELECT s.*, x.sum FROM samples s LEFT JOIN sample_sums x ON x.number = s.number",
    "reviews": "SELECT *, id AS number FROM reviews",
    "plans": "SELECT *, id AS number FROM plans",
}
# Samples whose mark is not what the runs say: only a later run that read all of the same data takes one away.
WRONGLY_GONE = """
SELECT number FROM samples s JOIN runs own ON own.id = s.run WHERE s.gone != EXISTS
(SELECT 1 FROM runs later WHERE later.id > s.run AND later.read_whole AND later.data = own.data)
"""


def verdict_checksum(database: sqlite3.Connection, key: tuple[int, int]) -> str:
    """The hash of all that is stored of a verdict, by the numbers of its sample and its generation."""
    total = hashlib.sha256()
    for table in ("verdicts", "documents", "checks"):
        for row in database.execute(f"SELECT * FROM {table} WHERE sample = ? AND generation = ?", key):  # noqa: S608
            total.update(repr(row).encode())
    return total.hexdigest()


def fingerprint(identity: Mapping[str, Any]) -> str:
    """The hash of a way of judging."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def row_checksum(table: str, row: Mapping[str, Any]) -> str:
    """The hash of a review, a plan or a sample."""
    return hashlib.sha256(repr([row[name] for name in COLUMNS[table]]).encode()).hexdigest()


def is_as_written(database: sqlite3.Connection, key: tuple[int, int]) -> bool | None:
    """Whether a verdict is what was stored; None for one of an earlier version, which stored no checksum."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'checksums'").fetchone():
        return None
    row = database.execute("SELECT sum FROM checksums WHERE sample = ? AND generation = ?", key).fetchone()
    return row[0] == verdict_checksum(database, key) if row else None


@dataclass(slots=True)
class Damage:
    """What is not as it was written, in words; how many verdicts are so, are intact, and have no checksum."""

    found: list[str] = field(default_factory=list)
    verdicts: int = 0
    intact: int = 0
    unchecked: int = 0  # of earlier versions


def find_damage(database: sqlite3.Connection) -> Damage:
    """Look at every page and every row of a run file."""
    damage = Damage()
    for find in (broken_pages, wrong_types, changed_rows, partial(changed_verdicts, damage)):
        try:
            for what in find(database):
                damage.found.append(what)
        except (sqlite3.Error, UnicodeError) as error:  # what can't be read is damaged, too
            damage.found.append(f"SQLite: {error}")
    return damage


def broken_pages(database: sqlite3.Connection) -> Iterator[str]:
    """What SQLite itself finds."""
    yield from (f"SQLite: {text}" for (text,) in database.execute("PRAGMA integrity_check(20)") if text != "ok")


def wrong_types(database: sqlite3.Connection) -> Iterator[str]:
    """Tables with values that onprompt would not write."""
    present = stored_schema(database)
    for table, query in type_checks().items():
        if table in present and database.execute(query).fetchone():
            yield f"a value in {table} that is of another type, or larger, than onprompt writes"


def changed_rows(database: sqlite3.Connection) -> Iterator[str]:
    """Ways of judging, samples, reviews and plans that are not what was stored."""
    for number, stored, identity in database.execute("SELECT id, fingerprint, identity FROM generations"):
        with suppress(UserError):
            if stored == fingerprint(serial.read(identity, Mapping[str, Any])):
                continue
        yield f"generations {number}"
    present = stored_schema(database)
    for table, query in ROWS.items():
        if table in present and (table != "samples" or "sample_sums" in present):
            cursor = database.execute(query)
            names = [name for name, *_ in cursor.description]
            for row in (dict(zip(names, values, strict=True)) for values in cursor):
                if row["sum"] not in (None, row_checksum(table, row)):
                    yield f"{table} {row['number']}"
    yield from (f"samples {number}" for (number,) in database.execute(WRONGLY_GONE))


def changed_verdicts(damage: Damage, database: sqlite3.Connection) -> Iterator[str]:
    """Verdicts that are not what was stored, or gone; the others are counted."""
    sums = " UNION SELECT sample, generation FROM checksums" if "checksums" in stored_schema(database) else ""
    for key in database.execute(f"SELECT sample, generation FROM verdicts{sums}"):  # noqa: S608
        as_written = is_as_written(database, key)
        damage.intact += as_written is True
        damage.unchecked += as_written is None
        if as_written is False:
            damage.verdicts += 1
            yield f"verdict on sample number {key[0]}, generation {key[1]}"

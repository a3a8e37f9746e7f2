"""What is damaged in a run file, and what can be saved of it.

Each verdict and each review has a checksum of all that is stored of it; SQLite itself notices only damage to its own
structure.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.runs.ledger import Ledger
from onprompt.runs.schema import (
    SUMMED_COLUMNS,
    VERDICT_TABLES,
    WRONGLY_GONE,
    checksum,
    row_checksum,
    stored_checksum,
    stored_sample_checksum,
)

BROKEN = (sqlite3.Error, ValueError, TypeError, LookupError, AttributeError)  # raised by rows that are not as written
OWN = (
    ("samples", "number"),
    ("sample_sums", "number"),
    ("generations", "id"),
    ("runs", "id"),
    ("reviews", "id"),
    ("plans", "id"),
)  # tables whose rows have numbers
PAGES = "PRAGMA integrity_check(20)"


@dataclass(slots=True)
class Damage:
    """What is damaged: messages of SQLite, and the number and generation of verdicts that are not as written."""

    structure: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)  # `samples 7`: of other tables
    verdicts: list[tuple[int, int]] = field(default_factory=list)
    intact: int = 0  # verdicts with a checksum that holds
    unchecked: int = 0  # verdicts of earlier versions, without one

    def __bool__(self) -> bool:
        return bool(self.structure or self.rows or self.verdicts)


def find_damage(ledger: Ledger) -> Damage:
    """Look at every row of a run file."""
    damage = Damage()
    try:
        damage.structure = [text for (text,) in ledger.database.execute(PAGES) if text != "ok"]
    except BROKEN as error:
        damage.structure = [str(error)]
    for table, key in OWN:
        for number in numbers(ledger, table, key):
            if row(ledger, table, f"{key} = ?", (number,)) == "broken":
                damage.rows.append(f"{table} {number}")
    damage.rows += [f"samples {number}" for number in wrongly_gone(ledger)]
    for number in numbers(ledger, "samples", "number"):
        for generation in numbers(ledger, "generations", "id"):
            state = verdict_state(ledger, (number, generation))
            damage.intact += state == "intact"
            damage.unchecked += state == "unchecked"
            damage.verdicts += [(number, generation)] if state == "broken" else []
    return damage


def wrongly_gone(ledger: Ledger) -> list[int]:
    """Samples that are marked as gone, or not, against what the runs say."""
    try:
        return [number for (number,) in ledger.database.execute(WRONGLY_GONE)]
    except BROKEN:
        return []


def numbers(ledger: Ledger, table: str, key: str) -> range:
    """The numbers that rows of a table may have; those of a table that can't be read at all: none."""
    try:
        ((last,),) = ledger.database.execute(f"SELECT ifnull(max({key}), 0) FROM {table}")  # noqa: S608
        return range(1, int(last) + 1)
    except BROKEN:
        return range(0)


def row(ledger: Ledger, table: str, where: str, values: Sequence[int]) -> Mapping[str, Any] | str:
    """A row by its names, `broken` if it can't be read or is not as it must be; empty if there is none."""
    try:
        cursor = ledger.database.execute(f"SELECT * FROM {table} WHERE {where}", values)  # noqa: S608
        found = cursor.fetchone()
        named = dict(zip([name for name, *_ in cursor.description], found, strict=True)) if found else {}
        return named if is_as_written(ledger, table, named) else "broken"
    except BROKEN:
        return "broken"


def is_as_written(ledger: Ledger, table: str, named: Mapping[str, Any]) -> bool:
    """Whether a row has its checksum or, of a table without checksums, what it must have."""
    if table == "samples" and named:
        expected = stored_sample_checksum(ledger.database, named["number"])
        whole = isinstance(json.loads(named["given"]), dict) and isinstance(named["id"], str)
        return whole and expected in ("", row_checksum(table, named))
    if table in SUMMED_COLUMNS and named:
        return bool(named["sum"] == row_checksum(table, named))
    if table == "generations" and named:
        identity = json.dumps(json.loads(named["identity"]), sort_keys=True)
        return bool(hashlib.sha256(identity.encode()).hexdigest() == named["fingerprint"])
    return True


def verdict_state(ledger: Ledger, key: tuple[int, int]) -> str:
    """`intact`, `broken`, `unchecked` or, if there is none, empty."""
    try:
        judged = ledger.database.execute("SELECT 1 FROM verdicts WHERE sample = ? AND generation = ?", key).fetchone()
        if not judged:
            return ""
        expected = stored_checksum(ledger.database, key)
        found = checksum(ledger.database, key)
        return "unchecked" if not expected else "intact" if expected == found else "broken"
    except BROKEN:
        return "broken"


def repair(ledger: Ledger, damage: Damage, path: Path) -> int:
    """Write all that is not damaged to a new run file; the number of verdicts saved."""
    if path.exists():
        raise UserError(f"{path} exists already; move it, or choose another file with --out")
    with Ledger(path, writing=True) as saved, saved.transaction():
        for table, key in OWN:
            for number in numbers(ledger, table, key):
                copy(saved, table, row(ledger, table, f"{key} = ?", (number,)))
        for pair in judged(ledger, damage):
            for table in VERDICT_TABLES:
                for found in rows(ledger, table, pair):
                    copy(saved, table, found)
        return int(saved.first("SELECT count(*) FROM verdicts")[0])


def judged(ledger: Ledger, damage: Damage) -> Iterator[tuple[int, int]]:
    """The samples and generations whose verdict or error can be saved."""
    lost = set(damage.verdicts)
    for number in numbers(ledger, "samples", "number"):
        for generation in numbers(ledger, "generations", "id"):
            if (number, generation) not in lost:
                yield number, generation


def rows(ledger: Ledger, table: str, key: tuple[int, int]) -> list[Mapping[str, Any]]:
    """The rows of a verdict in a table; none if they can't be read."""
    try:
        cursor = ledger.database.execute(f"SELECT * FROM {table} WHERE sample = ? AND generation = ?", key)  # noqa: S608
        names = [name for name, *_ in cursor.description]
        return [dict(zip(names, found, strict=True)) for found in cursor]
    except BROKEN:
        return []


def copy(saved: Ledger, table: str, found: Mapping[str, Any] | str) -> None:
    """Add a row to the new file, if there is one and it fits there."""
    if isinstance(found, str) or not found:
        return
    names, marks = ", ".join(found), ", ".join("?" * len(found))
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
    saved.database.execute(insert, tuple(found.values()))

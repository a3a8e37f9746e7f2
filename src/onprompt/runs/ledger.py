"""One SQLite file for a run: samples, verdicts, checks and errors. The format is described in docs/runs.md.

A *generation* is one way of judging: rubric, judge, model, settings and weights. Run again with the same, and only what
is missing or failed is done; with others, a new generation begins beside the old one.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout

from onprompt.errors import StoreError, UserError

VERSION, MARK = 3, 0x6F6E7072  # the mark tells a file of ours from other databases: "onpr"
TABLES = """
CREATE TABLE IF NOT EXISTS generations (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, identity TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, generation INTEGER NOT NULL REFERENCES generations(id), data TEXT NOT NULL,
    versions TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), read_whole INTEGER NOT NULL DEFAULT 0,
    tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0, cost REAL
);
CREATE TABLE IF NOT EXISTS samples (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, prompt TEXT NOT NULL, image TEXT NOT NULL,
    model TEXT NOT NULL, category TEXT NOT NULL, given TEXT NOT NULL, stamp TEXT NOT NULL,
    version TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs(id), gone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS verdicts (
    sample INTEGER NOT NULL REFERENCES samples(number), generation INTEGER NOT NULL REFERENCES generations(id),
    score INTEGER, value REAL NOT NULL, flags TEXT NOT NULL, summary TEXT NOT NULL, factors TEXT NOT NULL,
    coverage REAL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost REAL, answers TEXT NOT NULL,
    image_sha256 TEXT NOT NULL, of TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (sample, generation)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (sample, generation)
);
CREATE TABLE IF NOT EXISTS checks (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    asked TEXT NOT NULL, found TEXT NOT NULL, outcome TEXT NOT NULL, score REAL NOT NULL,
    confidence REAL NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (sample, generation, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS errors (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, text TEXT NOT NULL,
    of TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (sample, generation)
) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS present_verdicts AS
    SELECT v.* FROM verdicts v JOIN samples s ON s.number = v.sample AND NOT s.gone AND s.version = v.of;
CREATE VIEW IF NOT EXISTS present_errors AS
    SELECT e.* FROM errors e JOIN samples s ON s.number = e.sample AND NOT s.gone AND s.version = e.of;
"""


class Entry(NamedTuple):
    """A sample as it is kept: what it was given, a stamp that changes when its files do, and what a verdict is of."""

    id: str
    prompt: str
    image: str
    model: str
    category: str
    given: str  # JSON
    stamp: str
    version: str


class StoredVerdict(NamedTuple):
    """A verdict as it is kept."""

    row: Mapping[str, Any]  # the columns of `verdicts`
    checks: Sequence[Sequence[Any]]  # the columns of `checks` from `kind` on
    document: str  # JSON, as docs/json.md describes it


class Fault(NamedTuple):
    """Why a sample has no verdict: the kind of error, its message and, of an unreadable answer, the raw text."""

    kind: str
    message: str
    text: str = ""
    tokens_in: int = 0  # what an answer took although nothing can be read in it
    tokens_out: int = 0
    cost: float | None = None


class Ledger:
    """A run's file, written by one process at a time and read by any number."""

    def __init__(self, path: Path, writing: bool = False) -> None:
        self.path, self.lock, self.run = path, FileLock(f"{path.resolve()}.lock", timeout=0), 0
        self.data = ""
        if not writing and not path.is_file():
            raise UserError(f"there is no run at {path}")
        with wrap_db_errors(path):
            if writing:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.take()
            self.base = connected(path, "mode=rwc") if writing else readable(path)
            self.check(writing)

    def take(self) -> None:
        """Keep other processes from writing."""
        try:
            self.lock.acquire()
        except Timeout:
            raise StoreError(f"another run is writing to {self.path}: wait for it, or name another file") from None

    def check(self, writing: bool) -> None:
        """Make the tables, or complain of a file that is none of ours."""
        mark, version = (
            self.base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        tables = self.base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if (tables or not writing) and mark != MARK:
            raise no_run(self.path)
        if version != VERSION and tables:
            age = "a newer" if version > VERSION else "an older"
            formats = f"format {version}; this one knows {VERSION}"
            raise StoreError(
                f"{self.path} was written by {age} onprompt ({formats}): use that one, or name another file"
            )
        if writing:
            self.base.execute("PRAGMA journal_mode = WAL")
            self.base.execute("PRAGMA synchronous = NORMAL")  # a power cut may lose the last verdicts, never the file
            self.base.executescript(f"PRAGMA application_id = {MARK}; PRAGMA user_version = {VERSION}; {TABLES}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others write."""
        self.base.close()
        self.lock.release()

    def generation(self, identity: Mapping[str, Any], fingerprint: str) -> tuple[int, bool]:
        """The number of a way of judging, and whether it is new here."""
        with wrap_db_errors(self.path):
            row = fingerprint, json.dumps(identity, ensure_ascii=False)
            new = self.base.execute(
                "INSERT OR IGNORE INTO generations (fingerprint, identity) VALUES (?, ?)", row
            ).rowcount
            found = self.base.execute("SELECT id FROM generations WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return int(found[0]), bool(new)

    def identity_before(self, generation: int) -> dict[str, Any]:
        """What the way of judging before this one was; nothing for the first."""
        before = "SELECT identity FROM generations WHERE id < ? ORDER BY id DESC LIMIT 1"
        with wrap_db_errors(self.path):
            found = self.base.execute(before, (generation,)).fetchone()
        return dict(json.loads(found[0])) if found else {}

    def number(self, generation: int) -> int:
        """How many verdicts there are."""
        with wrap_db_errors(self.path):
            found = self.base.execute("SELECT count(*) FROM verdicts WHERE generation = ?", (generation,)).fetchone()
        return int(found[0])

    def begin(self, generation: int, data: str, versions: Mapping[str, str]) -> None:
        """A run over some data begins."""
        with wrap_db_errors(self.path):
            row = generation, whole(data), json.dumps(versions)
            found = self.base.execute("INSERT INTO runs (generation, data, versions) VALUES (?, ?, ?)", row)
        self.run, self.data = int(found.lastrowid or 0), whole(data)

    def end(self) -> None:
        """All of the data was read: what an earlier run read there and this one did not is gone."""
        with wrap_db_errors(self.path), self.transaction():
            self.base.execute("UPDATE runs SET read_whole = 1 WHERE id = ?", (self.run,))
            earlier = "SELECT id FROM runs WHERE id < :run AND data = (SELECT data FROM runs WHERE id = :run)"
            self.base.execute(f"UPDATE samples SET gone = 1 WHERE run IN ({earlier})", {"run": self.run})  # noqa: S608

    def enter(self, entries: Sequence[Entry], generation: int) -> list[tuple[int, bool]]:
        """Samples, in one transaction: for each its number, and whether it has a verdict that still holds.

        Where files or words changed it has none, but what it had stays until there is another.
        """
        with wrap_db_errors(self.path), self.transaction():
            return [self.one(Entry(*map(whole, entry)), generation) for entry in entries]

    def one(self, entry: Entry, generation: int) -> tuple[int, bool]:
        """One sample entered."""
        old = self.base.execute(OLD, (entry.id,)).fetchone()
        if old is None:
            return int(self.base.execute(ADD, (*entry, self.run)).lastrowid or 0), False
        number, version, data = old
        if version != entry.version and data != self.data and still_there(data):
            raise UserError(
                f"{self.path} has another sample {entry.id!r}, of {data}: give ids that differ, or another file"
            )
        self.base.execute(CHANGE, (*entry[1:], self.run, number))
        found = self.base.execute("SELECT of FROM verdicts WHERE sample = ? AND generation = ?", (number, generation))
        return int(number), found.fetchone() == (entry.version,)

    def has(self, entry: Entry, fingerprint: str) -> bool:
        """Whether a sample has a verdict of a way of judging, and one that still holds."""
        of = self.base.execute(
            "SELECT of FROM samples JOIN verdicts ON sample = number JOIN generations g ON g.id = generation"
            " WHERE samples.id = ? AND fingerprint = ?",
            (whole(entry.id), fingerprint),
        ).fetchone()
        return bool(of) and of[0] == entry.version

    def keep(self, sample: int, generation: int, verdict: StoredVerdict) -> None:
        """A verdict with its document and its checks, all or nothing; it takes the place of an older one."""
        key = sample, generation
        with wrap_db_errors(self.path), self.transaction():
            for table in ("checks", "errors"):  # each call costs: threads that judge take the interpreter meanwhile
                self.base.execute(f"DELETE FROM {table} WHERE sample = ? AND generation = ?", key)  # noqa: S608
            names, marks = ", ".join(verdict.row), ", ".join("?" * len(verdict.row))
            place = f"INSERT OR REPLACE INTO verdicts (sample, generation, of, {names}) VALUES (?, ?, {NOW}, {marks})"  # noqa: S608
            self.base.execute(place, (*key, sample, *map(whole, verdict.row.values())))
            self.base.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (*key, whole(verdict.document)))
            checks = [(*key, number, *map(whole, check)) for number, check in enumerate(verdict.checks)]
            self.base.executemany(CHECK, checks)
            self.spend(verdict.row["tokens_in"], verdict.row["tokens_out"], verdict.row["cost"])

    def fail(self, sample: int, generation: int, fault: Fault) -> None:
        """Why there is no verdict."""
        words = map(whole, (fault.kind, fault.message, fault.text))
        with wrap_db_errors(self.path), self.transaction():
            self.base.execute(FAIL, (sample, generation, *words, sample))
            self.spend(fault.tokens_in, fault.tokens_out, fault.cost)

    def spend(self, tokens_in: int, tokens_out: int, cost: float | None) -> None:
        """Add to what the run took."""
        if tokens_in or tokens_out or cost is not None:
            self.base.execute(SPEND, (tokens_in, tokens_out, cost, self.run))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.base.execute("COMMIT")
        except BaseException:
            if self.base.in_transaction:  # a full disk has ended it already
                self.base.execute("ROLLBACK")
            raise


def whole(value: Any) -> Any:
    """A text that can be kept: half of a character can't."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


OLD = "SELECT number, version, data FROM samples JOIN runs ON runs.id = run WHERE samples.id = ?"
ADD = """INSERT INTO samples (id, prompt, image, model, category, given, stamp, version, run)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
CHANGE = """UPDATE samples SET prompt = ?, image = ?, model = ?, category = ?, given = ?, stamp = ?, version = ?,
run = ?, gone = 0 WHERE number = ?"""
NOW = "(SELECT version FROM samples WHERE number = ?)"  # what a sample is now
FAIL = f"INSERT OR REPLACE INTO errors (sample, generation, kind, message, text, of) VALUES (?, ?, ?, ?, ?, {NOW})"  # noqa: S608
SPEND = """UPDATE runs SET tokens_in = tokens_in + ?1, tokens_out = tokens_out + ?2,
cost = iif(?3 IS NULL, cost, ifnull(cost, 0) + ?3) WHERE id = ?4"""
CHECK = "INSERT INTO checks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def still_there(data: str) -> bool:
    """Whether data are where they were: if not, what comes now may be the same at another place."""
    return not os.path.isabs(data) or os.path.exists(data)  # noqa: PTH110, PTH117 hubs have no paths


def connected(path: Path, options: str) -> sqlite3.Connection:
    """The database in a file."""
    place = f"{path.resolve().as_uri()}?{options}"
    return sqlite3.connect(place, uri=True, timeout=30.0, isolation_level=None, check_same_thread=False)


def readable(path: Path) -> sqlite3.Connection:
    """The database to be read; in a place where nothing can be written too, once the run has ended."""
    base = connected(path, "mode=ro")
    try:
        base.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        base.close()
        journal = Path(f"{path.resolve()}-wal")
        if journal.exists() and journal.stat().st_size:
            raise  # its last verdicts are in the journal, which takes a place to write
        return connected(path, "mode=ro&immutable=1")
    return base


def no_run(path: Path) -> UserError:
    """What is wrong with a file of another kind."""
    return UserError(f"{path} is no run of onprompt")


@contextmanager
def wrap_db_errors(path: Path) -> Iterator[None]:
    """What goes wrong with the file, in words."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise no_run(path) from None
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"can't use {path}: {reason}; what was written before is safe") from error

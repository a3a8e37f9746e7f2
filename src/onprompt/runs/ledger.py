"""One SQLite file for a run: samples, verdicts, checks and errors. The format is described in docs/runs.md.

A *generation* is one way of judging: rubric, judge, model, settings and weights. A run with the same ones only judges
samples that are new or failed; a run with others starts a new generation beside the old one.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout

from onprompt import serial
from onprompt.errors import StoreError, UserError
from onprompt.runs.checksums import row_checksum, verdict_checksum, wrong_types
from onprompt.runs.schema import MARK, REVIEW_TABLES, TABLES, VERSION, own_schema, stored_schema
from onprompt.types import Verdict
from onprompt.wording import finding_words

FIND = "SELECT number, version, data FROM samples JOIN runs ON runs.id = run WHERE samples.id = ?"
ADD = """INSERT INTO samples (id, prompt, image, model, category, given, stamp, version, run)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE = """UPDATE samples SET prompt = ?, image = ?, model = ?, category = ?, given = ?, stamp = ?, version = ?,
run = ?, gone = 0 WHERE number = ?"""
SUM = "INSERT OR REPLACE INTO sample_sums VALUES (?, ?)"
VERSION_NOW = "(SELECT version FROM samples WHERE number = ?)"
FAIL = f"""INSERT OR REPLACE INTO errors (sample, generation, kind, message, text, of)
VALUES (?, ?, ?, ?, ?, {VERSION_NOW})"""  # noqa: S608
SPEND = """UPDATE runs SET tokens_in = tokens_in + ?1, tokens_out = tokens_out + ?2,
cost = iif(?3 IS NULL, cost, ifnull(cost, 0) + ?3) WHERE id = ?4"""
CHECK = "INSERT INTO checks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INCOMPLETE = "model_failed"  # a flag: a model of the jury could not be asked, so the verdict holds until it can be
COMPLETE = f"instr(flags, '{INCOMPLETE}') = 0"
JUDGED = f"""SELECT of FROM samples JOIN verdicts ON sample = number JOIN generations g ON g.id = generation
WHERE samples.id = ? AND fingerprint = ? AND {COMPLETE}"""  # noqa: S608
HOLDS = f"SELECT of FROM verdicts WHERE sample = ? AND generation = ? AND {COMPLETE}"  # noqa: S608
GONE = """UPDATE samples SET gone = 1 WHERE run IN
(SELECT id FROM runs WHERE id < :run AND data = (SELECT data FROM runs WHERE id = :run))"""
STEPS = 10**6  # of SQLite's virtual machine, counted at a time
BASE, BYTES = 100, 200_000  # how many of these a statement has, and one more for so many bytes; it needs a hundredth


class Entry(NamedTuple):
    """A sample as it is stored: its inputs, a stamp of its files, and a version that changes with either."""

    id: str
    prompt: str
    image: str
    model: str
    category: str
    given: str  # the inputs as JSON
    stamp: str
    version: str


class StoredVerdict(NamedTuple):
    """A verdict as it is stored."""

    row: Mapping[str, Any]  # the columns of `verdicts`
    checks: Sequence[Sequence[Any]]  # the columns of `checks` from `kind` on
    document: str  # JSON, as docs/json.md describes it


class Fault(NamedTuple):
    """Why a sample has no verdict: the kind of error, its message and the raw text of an unreadable answer."""

    kind: str
    message: str
    text: str = ""
    tokens_in: int = 0  # the cost of unreadable answers
    tokens_out: int = 0
    cost: float | None = None


class Ledger:
    """A run file, written by one process at a time and read by any number."""

    def __init__(self, path: Path, writing: bool = False) -> None:
        self.path, self.lock = path, FileLock(f"{path.resolve()}.lock", timeout=0)
        self.run, self.data = 0, ""  # the last run of the file, and what it reads
        if not writing and not path.is_file():
            raise UserError(f"no such run file: {path}")
        with wrap_db_errors(path):
            if writing:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.acquire()
            self.database = connect(path, "mode=rwc") if writing else connect_to_read(path)
            self.check_format(writing)
            if writing:
                self.check_types()
                (self.run,) = self.first("SELECT ifnull(max(id), 0) FROM runs")

    def acquire(self) -> None:
        """Keep other processes from writing."""
        Path(self.lock.lock_file).touch()  # where it can't be, the lock would wait without a reason
        try:
            self.lock.acquire()
        except Timeout:
            raise StoreError(f"another run is writing to {self.path}; wait for it, or use another file") from None

    def check_format(self, writing: bool) -> None:
        """Create the tables, or refuse a file of another kind or version."""
        names = ("application_id", "user_version")
        mark, version = (self.database.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        tables = stored_schema(self.database)
        if (tables or not writing) and mark != MARK:
            raise not_a_run(self.path)
        if version != VERSION and tables:
            age = "a newer" if version > VERSION else "an older"
            raise StoreError(
                f"{self.path} was written by {age} version of onprompt (format {version}, not {VERSION}); "
                "use that version, or another file"
            )
        if foreign := [name for name, sql in tables.items() if own_schema().get(name) != sql]:
            raise StoreError(
                f"{self.path} is not a run file as onprompt makes it: {foreign[0]!r} in it is not one of its tables, "
                "indexes or views"
            )
        if writing:
            self.database.execute("PRAGMA journal_mode = WAL")
            self.database.execute("PRAGMA synchronous = NORMAL")  # a power cut may lose the last verdicts, not the file
            marks = f"PRAGMA application_id = {MARK}; PRAGMA user_version = {VERSION};"
            self.database.executescript(marks + TABLES + REVIEW_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def check_types(self) -> None:
        """Refuse a file with values that onprompt would not write: whatever reads its rows relies on their types."""
        with wrap_db_errors(self.path):
            for wrong in wrong_types(self.database):
                raise damaged(self.path, wrong)

    def read(self, text: object, kind: Any) -> Any:
        """A value of a type out of JSON in the file."""
        try:
            return serial.read(text, kind)
        except UserError as error:
            raise damaged(self.path, error) from None

    def read_verdict(self, document: Mapping[str, Any], open_picture: serial.OpenPicture | None = None) -> Verdict:
        """The verdict in a document of the file."""
        try:
            verdict = serial.load(document, open_picture)
            with serial.refusing_other_shapes():
                _ = [finding_words(check) for check in verdict.checks]  # whose findings have what their kinds need
        except UserError as error:
            raise damaged(self.path, error) from None
        return verdict

    def close(self) -> None:
        """Close the file and let others write."""
        self.database.close()
        self.lock.release()

    def query(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one by one."""
        with wrap_db_errors(self.path):
            for row in self.database.execute(sql, parameters):  # noqa: UP028 `yield from` closes it after its database
                yield row

    def first(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The first row of a query; empty if there is none."""
        with wrap_db_errors(self.path):
            return self.database.execute(sql, parameters).fetchone() or ()

    def generation(self, identity: Mapping[str, Any], fingerprint: str) -> tuple[int, bool]:
        """The number of a way of judging, and whether it is new."""
        row = fingerprint, json.dumps(identity, ensure_ascii=False)
        with wrap_db_errors(self.path):
            add = "INSERT OR IGNORE INTO generations (fingerprint, identity) VALUES (?, ?)"
            new = self.database.execute(add, row).rowcount
        (number,) = self.first("SELECT id FROM generations WHERE fingerprint = ?", (fingerprint,))
        return int(number), bool(new)

    def begin(self, generation: int, data: str, versions: Mapping[str, str]) -> None:
        """Start a run over some data."""
        self.data = storable(data)
        with wrap_db_errors(self.path):
            row = generation, self.data, json.dumps(versions)
            cursor = self.database.execute("INSERT INTO runs (generation, data, versions) VALUES (?, ?, ?)", row)
        self.run = int(cursor.lastrowid or 0)

    def end(self) -> None:
        """All of the data was read: samples that only earlier runs read there are gone."""
        with self.transaction():
            self.database.execute("UPDATE runs SET read_whole = 1 WHERE id = ?", (self.run,))
            self.database.execute(GONE, {"run": self.run})

    def enter(self, entries: Sequence[Entry], generation: int) -> list[tuple[int, bool]]:
        """Add or update samples: for each its number, and whether it has a verdict that still holds.

        The verdict on a changed sample no longer holds, but stays until there is a new one.
        """
        with self.transaction():
            return [self.enter_sample(Entry(*map(storable, entry)), generation) for entry in entries]

    def enter_sample(self, entry: Entry, generation: int) -> tuple[int, bool]:
        """Add or update one sample."""
        known = self.first(FIND, (entry.id,))
        if not known:
            added = int(self.database.execute(ADD, (*entry, self.run)).lastrowid or 0)
            self.database.execute(SUM, (added, row_checksum("samples", entry._asdict())))
            return added, False
        number, version, data = known
        if version != entry.version and data != self.data and still_exists(data):
            raise UserError(
                f"{self.path} has another sample {entry.id!r}, from {data}; use unique ids, or another run file"
            )
        self.database.execute(UPDATE, (*entry[1:], self.run, number))
        self.database.execute(SUM, (number, row_checksum("samples", entry._asdict())))
        judged = self.first(HOLDS, (number, generation))
        return int(number), judged == (entry.version,)

    def has(self, entry: Entry, fingerprint: str) -> bool:
        """Whether a sample has a verdict by a way of judging that still holds."""
        return self.first(JUDGED, (storable(entry.id), fingerprint)) == (entry.version,)

    def keep(self, sample: int, generation: int, verdict: StoredVerdict) -> None:
        """Store a verdict with its document and its checks; it replaces an older one."""
        key = sample, generation
        with self.transaction():
            for table in ("checks", "errors"):
                self.database.execute(f"DELETE FROM {table} WHERE sample = ? AND generation = ?", key)  # noqa: S608
            names, marks = ", ".join(verdict.row), ", ".join("?" * len(verdict.row))
            columns, values = f"(sample, generation, of, {names})", f"(?, ?, {VERSION_NOW}, {marks})"
            insert = f"INSERT OR REPLACE INTO verdicts {columns} VALUES {values}"  # noqa: S608
            self.database.execute(insert, (*key, sample, *map(storable, verdict.row.values())))
            self.database.execute(
                "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (*key, storable(verdict.document))
            )
            # One call: between two, threads that judge would take the interpreter.
            checks = [(*key, number, *map(storable, check)) for number, check in enumerate(verdict.checks)]
            self.database.executemany(CHECK, checks)
            self.database.execute(
                "INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", (*key, verdict_checksum(self.database, key))
            )
            self.spend(verdict.row["tokens_in"], verdict.row["tokens_out"], verdict.row["cost"])

    def fail(self, sample: int, generation: int, fault: Fault) -> None:
        """Store why there is no verdict."""
        texts = map(storable, (fault.kind, fault.message, fault.text))
        with self.transaction():
            self.database.execute(FAIL, (sample, generation, *texts, sample))
            self.spend(fault.tokens_in, fault.tokens_out, fault.cost)

    @property
    def started(self) -> str:
        """When the first run of the file began."""
        return str(self.first("SELECT min(created) FROM runs")[0])

    def reconcile(self, tokens_in: int, tokens_out: int, cost: float | None) -> tuple[int, int, float | None]:
        """Add to the last run's cost what all runs of the file have spent beyond what they have stored; returns it."""
        sums = "SELECT ifnull(sum(tokens_in), 0), ifnull(sum(tokens_out), 0), ifnull(sum(cost), 0) FROM runs"
        known_in, known_out, known_cost = self.first(sums)
        more = max(0, tokens_in - known_in), max(0, tokens_out - known_out)
        dollars = None if cost is None or not any(more) else max(0.0, cost - known_cost)
        with self.transaction():
            self.spend(*more, dollars)
        return *more, dollars

    def spend(self, tokens_in: int, tokens_out: int, cost: float | None) -> None:
        """Add to the cost of the run."""
        if tokens_in or tokens_out or cost is not None:
            self.database.execute(SPEND, (tokens_in, tokens_out, cost, self.run))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        with wrap_db_errors(self.path):
            self.database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.database.execute("COMMIT")
            except BaseException:
                if self.database.in_transaction:  # a full disk has ended it already
                    self.database.execute("ROLLBACK")
                raise


def storable(value: Any) -> Any:
    """A text that SQLite can store, without unpaired surrogates; any other value as it is."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def still_exists(data: str) -> bool:
    """Whether data are where they were: if not, new data may be the same, moved."""
    return not os.path.isabs(data) or os.path.exists(data)  # noqa: PTH110, PTH117 hubs have no paths


class BoundedConnection(sqlite3.Connection):
    """A database whose statements end, whatever is in the file."""

    steps = most = 0

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement, which has all its steps before it."""
        self.steps = 0
        return super().execute(sql, parameters)

    def is_over(self) -> bool:
        """Count more steps; whether a statement takes too many."""
        self.steps += 1
        return self.steps > self.most


def connect(path: Path, options: str) -> BoundedConnection:
    """The database in a file, which a stranger may have made: no function in its schema is trusted."""
    uri = f"{path.resolve().as_uri()}?{options}"
    known: dict[str, Any] = {"uri": True, "timeout": 30.0, "isolation_level": None, "check_same_thread": False}
    database: BoundedConnection = sqlite3.connect(uri, factory=BoundedConnection, **known)
    database.most = BASE + (path.stat().st_size if path.exists() else 0) // BYTES
    database.set_progress_handler(database.is_over, STEPS)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    return database


def connect_to_read(path: Path) -> sqlite3.Connection:
    """The database, read-only; also on a read-only disk, once the run has ended."""
    database = connect(path, "mode=ro")
    try:
        database.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        database.close()
        journal = Path(f"{path.resolve()}-wal")
        if journal.exists() and journal.stat().st_size:
            raise  # the last verdicts are in the journal, which needs a writable folder
        return connect(path, "mode=ro&immutable=1")
    return database


def not_a_run(path: Path) -> UserError:
    """The error for a file of another kind."""
    return UserError(f"{path} is not a run file of onprompt")


def damaged(path: Path, reason: object) -> StoreError:
    """The error for a file whose contents are not what was written."""
    return StoreError(f"{path} is damaged, or onprompt did not write it: {reason}; see `onprompt check {path}`")


@contextmanager
def wrap_db_errors(path: Path) -> Iterator[None]:
    """Turn errors of the disk and the database into ours."""
    try:
        yield
    except UnicodeDecodeError as error:  # in a message of SQLite's that quotes a broken name
        raise damaged(path, "a name in it is not UTF-8") from error
    except (OSError, sqlite3.Error) as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise not_a_run(path) from None
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT or "decode to UTF-8" in str(error):
            raise damaged(path, error) from error
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            raise StoreError(f"can't use {path}: reading it takes more steps than any run file needs") from None
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"can't use {path}: {reason}") from error

"""One SQLite file for a run: samples, verdicts, checks and errors. The format is described in docs/runs.md.

A *configuration* is one way of judging: rubric, judge, model, settings and weights. A run with the same ones only
judges samples that are new or failed; a run with others adds a configuration beside the old one.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout

from onprompt import serial
from onprompt.errors import NotFound, StoreError, UserError
from onprompt.runs.schema import (
    MARK,
    OLDEST,
    VERSION,
    find_damage,
    fingerprint,
    migrate,
    own_schema,
    row_digest,
    stored_schema,
    verdict_digest,
)
from onprompt.types import Flag, Verdict
from onprompt.wording import finding_words

FIND = "SELECT number, version, data FROM samples JOIN runs ON runs.id = run WHERE samples.id = ?"
SPEND = """UPDATE runs SET tokens_in = tokens_in + ?1, tokens_out = tokens_out + ?2,
cost = iif(?3 IS NULL, cost, ifnull(cost, 0) + ?3) WHERE id = ?4"""
INCOMPLETE = Flag.MODEL_FAILED  # such a verdict holds until the model can be asked
COMPLETE = f"instr(flags, '{INCOMPLETE}') = 0"
HOLDS = f"SELECT sample_version FROM verdicts WHERE sample = ? AND configuration = ? AND {COMPLETE}"  # noqa: S608
GONE = """UPDATE samples SET gone = 1 WHERE run IN
(SELECT id FROM runs WHERE id < :run AND data = (SELECT data FROM runs WHERE id = :run))"""


class StoredVerdict(NamedTuple):
    """A verdict as it is stored."""

    number: int  # of the sample
    row: Mapping[str, Any]  # the columns of `verdicts`
    checks: Sequence[Sequence[Any]]  # the columns of `checks` from `kind` on
    document: str  # JSON, as docs/json.md describes it


class SampleError(NamedTuple):
    """Why a sample has no verdict: the kind of error, its message and the raw text of an unreadable answer."""

    number: int  # of the sample
    kind: str
    message: str
    text: str = ""
    tokens_in: int = 0  # the cost of unreadable answers
    tokens_out: int = 0
    cost: float | None = None


class RunFile:
    """A run file, written by one process at a time and read by any number."""

    def __init__(self, path: Path, writing: bool = False) -> None:
        self.path, self.lock = path, FileLock(f"{path.resolve()}.lock", timeout=0)
        self.run, self.data = 0, ""  # the last run of the file, and what it reads
        if not writing and not path.is_file():
            raise UserError(f"no such run file: {path}")
        with wrap_db_errors(path):
            if writing:
                path.parent.mkdir(parents=True, exist_ok=True)
                Path(self.lock.lock_file).touch()  # where it can't be, the lock would wait without a reason
                try:
                    self.lock.acquire()
                except Timeout:
                    raise StoreError(f"another run is writing to {path}; wait for it, or use another file") from None
            self.database = connect(address_of(path, "mode=rwc")) if writing else connect_to_read(path)
            try:
                self.check_format(writing)
                if writing:
                    (self.run,) = self.first("SELECT ifnull(max(id), 0) FROM runs")
            except BaseException:
                self.close()
                raise

    def check_format(self, writing: bool) -> None:
        """Create the tables, bring those of an earlier version to the present one, or refuse a file of another kind.

        Only who writes to a file migrates the file itself; others read a copy that SQLite deletes with its connection.
        """
        names = ("application_id", "user_version")
        mark, version = (self.database.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        has_tables = bool(stored_schema(self.database))
        if (has_tables or not writing) and mark != MARK:
            raise not_a_run(self.path)
        if has_tables and not OLDEST <= version <= VERSION:
            other = f"another version of onprompt (format {version}, not {VERSION})"
            raise StoreError(f"{self.path} was written by {other}; use that version, or another file")
        if writing:
            self.database.execute("PRAGMA journal_mode = WAL")
            self.database.execute("PRAGMA synchronous = NORMAL")  # a power cut may lose the last verdicts, not the file
        elif version < VERSION:
            given, self.database = self.database, connect("")
            given.backup(self.database)
            given.close()
        with self.transaction() if version < VERSION else nullcontext():
            if version < VERSION:
                migrate(self.database, version if has_tables else 0)
            if foreign := sorted(dict(stored_schema(self.database).items() - own_schema().items())):
                what = f"{foreign[0]!r} in it is not one of its tables, indexes or views"
                raise StoreError(f"{self.path} is not a run file as onprompt makes it: {what}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    @contextmanager
    def as_written(self) -> Iterator[None]:
        """Turn whatever goes wrong with values that onprompt would not write into an error of ours."""
        try:
            with serial.refusing_other_shapes():
                yield
        except UserError as error:
            raise damaged(self.path, error) from None

    def read(self, text: object, kind: Any) -> Any:
        """A value of a type out of JSON in the file."""
        with self.as_written():
            return serial.read(text, kind)

    def read_verdict(self, document: Mapping[str, Any], open_picture: serial.OpenPicture | None = None) -> Verdict:
        """The verdict in a document of the file."""
        with self.as_written():
            verdict = serial.load(document, open_picture)
            _ = [finding_words(check) for check in verdict.checks]  # whose findings have what their kinds need
            return verdict

    def close(self) -> None:
        """Close the file and let others write."""
        self.database.close()
        self.lock.release()

    def query(
        self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = (), kind: Any = tuple[Any, ...]
    ) -> Iterator[Any]:
        """The rows of a query, one by one; all are of the type of a tuple, if one is given."""
        check, known = serial.decoder(kind), set()
        with wrap_db_errors(self.path), self.as_written():
            for row in self.database.execute(sql, parameters):
                if (types := tuple(map(type, row))) not in known:  # rows of the same types are checked once
                    check(list(row))
                    known.add(types)
                yield row

    def first(self, sql: str, parameters: Sequence[Any] = (), kind: Any = tuple[Any, ...]) -> Any:
        """The first row of a query; empty if there is none."""
        return next(self.query(sql, parameters, kind), ())

    def insert(self, table: str, row: Mapping[str, Any], verb: str = "INSERT") -> int:
        """Add a row, given by its columns; its number."""
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        stored = {name: storable(value) for name, value in row.items()}
        return self.database.execute(f"{verb} INTO {table} ({names}) VALUES ({marks})", stored).lastrowid or 0

    def add_configuration(self, identity: Mapping[str, Any]) -> tuple[int, bool]:
        """The number of a configuration, and whether it is new."""
        row = {"fingerprint": fingerprint(identity), "identity": json.dumps(identity, ensure_ascii=False)}
        with self.transaction():
            known = self.first("SELECT id FROM configurations WHERE fingerprint = ?", (row["fingerprint"],))
            return (int(known[0]), False) if known else (self.insert("configurations", row), True)

    def begin(
        self, configuration: int, data: str, versions: Mapping[str, str], columns: Mapping[str, str] | None = None
    ) -> None:
        """Start a run over some data, of which the user may have named columns."""
        self.data = storable(data)
        row = {"configuration": configuration, "data": data, "versions": json.dumps(versions)}
        with self.transaction():
            self.run = self.insert("runs", row | {"columns": json.dumps(columns or {})})

    def end(self) -> None:
        """All of the data was read: samples that only earlier runs read there are gone."""
        with self.transaction():
            self.database.execute("UPDATE runs SET read_whole = 1 WHERE id = ?", (self.run,))
            self.database.execute(GONE, {"run": self.run})

    def add_samples(self, samples: Sequence[Mapping[str, str]], configuration: int) -> list[tuple[int, bool]]:
        """Add or update samples, of which `version` changes with any input: numbers, and whether verdicts still hold.

        The verdict on a changed sample no longer holds, but stays until there is a new one.
        """
        added = []
        with self.transaction():
            for sample in samples:
                row = {name: storable(value) for name, value in sample.items()}
                row |= {"digest": row_digest("samples", row), "run": self.run}
                known = self.first(FIND, (row["id"],), tuple[int, str, str])
                if not known:
                    added.append((self.insert("samples", row), False))
                    continue
                number, version, data = known
                exists = not os.path.isabs(data) or os.path.exists(data)  # noqa: PTH110, PTH117 hubs have no paths
                if version != row["version"] and data != self.data and exists:  # else the same data, moved
                    another = f"another sample {row['id']!r}, from {data}"
                    raise UserError(f"{self.path} has {another}; use unique ids, or another run file")
                changes = ", ".join(f"{name} = :{name}" for name in row)
                update = f"UPDATE samples SET {changes}, gone = 0 WHERE number = :number"  # noqa: S608
                self.database.execute(update, row | {"number": number})
                added.append((int(number), self.first(HOLDS, (number, configuration)) == (row["version"],)))
        return added

    def save_verdict(self, configuration: int, verdict: StoredVerdict) -> None:
        """Store a verdict with its document and its checks; it replaces an older one."""
        key = verdict.number, configuration
        of: dict[str, Any] = {"sample": verdict.number, "configuration": configuration}
        version = {"sample_version": self.sample_version(verdict.number)}
        with self.transaction():
            for table in ("checks", "errors"):
                self.database.execute(f"DELETE FROM {table} WHERE sample = ? AND configuration = ?", key)  # noqa: S608
            self.insert("verdicts", {**of, **version, **verdict.row}, "INSERT OR REPLACE")
            self.insert("documents", of | {"document": verdict.document}, "INSERT OR REPLACE")
            # One call: between two, threads that judge would take the interpreter.
            checks = [(*key, number, *map(storable, check)) for number, check in enumerate(verdict.checks)]
            self.database.executemany("INSERT INTO checks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", checks)
            update = "UPDATE verdicts SET digest = ? WHERE sample = ? AND configuration = ?"
            self.database.execute(update, (verdict_digest(self.database, key), *key))
            self.spend(verdict.row["tokens_in"], verdict.row["tokens_out"], verdict.row["cost"])

    def save_error(self, configuration: int, error: SampleError) -> None:
        """Store why there is no verdict."""
        row = {"sample": error.number, "configuration": configuration, "kind": error.kind, "message": error.message}
        row |= {"text": error.text, "sample_version": self.sample_version(error.number)}
        with self.transaction():
            self.insert("errors", row, "INSERT OR REPLACE")
            self.spend(error.tokens_in, error.tokens_out, error.cost)

    def sample_version(self, number: int) -> str:
        """The version of a sample, by its number."""
        row = self.first("SELECT version FROM samples WHERE number = ?", (number,))
        if not row:
            raise NotFound(f"{self.path} has no sample number {number}")
        return str(row[0])

    @property
    def data_version(self) -> int:
        """A number that differs once another process has written to the file."""
        return int(self.first("PRAGMA data_version")[0])

    def damage(self) -> list[str]:
        """What is not as it was written, in words: every page and every row is looked at."""
        return find_damage(self.database)

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


def connect(address: str) -> sqlite3.Connection:
    """A database that a stranger may have made: no function in its schema is trusted."""
    database = sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    return database


def address_of(path: Path, options: str) -> str:
    """A file as SQLite is given it."""
    return f"{path.resolve().as_uri()}?{options}"


def connect_to_read(path: Path) -> sqlite3.Connection:
    """The database, read-only; also on a read-only disk, once the run has ended."""
    database = connect(address_of(path, "mode=ro"))
    try:
        database.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        database.close()
        journal = Path(f"{path.resolve()}-wal")
        if journal.exists() and journal.stat().st_size:
            raise  # the last verdicts are in the journal, which needs a writable folder
        return connect(address_of(path, "mode=ro&immutable=1"))
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
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"can't use {path}: {reason}") from error

"""What a run reads: images and prompts from tables, folders and hubs. Each module here reads one kind of DATA.

A module has `load(data)`, which returns a Table. It is chosen by a prefix, `NAME:REST`, or by the file's suffix; a new
module is all that a new kind of DATA takes.
"""

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.files import check_regular
from onprompt.types import IMAGE, NAMES, Rubric

ABOUT = {"model": ("model", "generator", "system"), "category": ("category", "tag", "type")}
IDS = ("id", "uid", "sample_id", "key", "index")
ALIASES = {"tsv": "csv", "ndjson": "jsonl", "json": "jsonl"}  # suffixes that another suffix's module reads
SUPPORTED = "a .csv, .tsv, .jsonl, .ndjson, .json or .parquet file, a folder, or hf:OWNER/NAME[:SPLIT]"
MAX_OWN = 10_000  # characters of a cell of the user's own
SURROGATE = re.compile("[\ud800-\udfff]")  # JSON may hold one, and a file's name

Record = tuple[str, Mapping[str, Any] | UserError]  # what a reader yields: where a row is, and its cells by column


class RestLost(UserError):
    """In place of cells: rows after this one may be unreadable, too."""


@dataclass(frozen=True, slots=True)
class Row:
    """One sample of DATA: `item` holds the inputs of the rubric by name, `error` why the row is unreadable."""

    id: str
    line: str  # where it came from
    item: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    category: str = ""
    own: Mapping[str, str | float] = field(default_factory=dict)  # the user's own columns: texts and numbers
    error: str = ""
    rest_lost: bool = False  # whether rows after it may be unreadable too
    number: int = 0  # in the run file
    repeated: str = ""  # its id in DATA, where an earlier row has the same


@dataclass(frozen=True, slots=True)
class Table:
    """DATA as a reader returns it: the columns, and a function that reads the records with the given columns."""

    kind: str
    columns: Sequence[str]
    records: Callable[[Sequence[str]], Iterator[Record]] = field(repr=False)
    folder: str = ""  # what paths are relative to
    count: int | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)  # where each field comes from, if there is no choice
    images: Sequence[str] = ()  # columns that may hold images: they are only read where they are inputs


@dataclass(frozen=True, slots=True)
class Dataset:
    """An open dataset: `columns` says where each field comes from; `count` is None until all is read."""

    kind: str
    columns: Mapping[str, str]
    count: int | None
    read: Callable[[], Iterator[Row]] = field(repr=False)
    source: str = ""  # DATA as an absolute path or address
    named: Mapping[str, str] = field(default_factory=dict)  # the columns that the user named
    fixed: bool = False  # whether fields come from files and folders, and not from columns

    def rows(self) -> Iterator[Row]:
        """All rows, in order; repeated ids get a suffix."""
        seen: dict[int, int] = {}  # by hashes, which take half the memory of ids
        for row in self.read():
            name = row.id
            while hash(name) in seen:
                seen[hash(row.id)] += 1
                name = f"{row.id}#{seen[hash(row.id)]}"
            seen[hash(name)] = 1
            yield row if name == row.id else replace(row, id=name, repeated=row.id)


def open_dataset(data: str, rubric: Rubric, columns: Mapping[str, str], alternatives: Sequence[Rubric] = ()) -> Dataset:
    """DATA with the given columns, the fields' guessed. UserError if it can't be opened or a column is ambiguous.

    A user who chose no rubric may have meant one of the `alternatives`.
    """
    try:
        kind, rest = find_reader(data, rubric.folder_reader)
        table: Table = plugins.load("runs.datasets", kind).load(rest)
    except OSError as error:
        raise UserError(f"can't read {data}: {error.strerror or error}") from error
    if table.fixed:
        missing = [name for name in rubric.required if name not in table.fixed]
        if columns or missing:
            why = "no columns to name" if columns else f"no {' and no '.join(missing)}, which {rubric.name} needs"
            raise UserError(f"{data} has {why}; use a .csv, .jsonl or .parquet file")
        used, own = {name: name for name in ("id", *table.fixed)}, []
    else:
        for other in alternatives:
            check_rubric(data, table, rubric, other)
        used = choose_columns(table.columns, usual_columns(rubric), columns, rubric.required)
        own = [name for name in table.columns if name not in (*used.values(), *table.images)]
    # The row of an unreadable input is still known by its id, and counted for its model and category.
    ordered = {name: used[name] for name in dict.fromkeys(["id", *ABOUT, *used]) if name in used}
    parser = RowParser(ordered, table.folder, rubric, own)

    def read() -> Iterator[Row]:
        return map(parser.parse, table.records(list(dict.fromkeys([*used.values(), *own]))), itertools.count(1))

    source = f"{kind}:{absolute(rest)}" if data == f"{kind}:{rest}" else absolute(data)
    return Dataset(table.kind, table.fixed or used, table.count, read, source, dict(columns), bool(table.fixed))


def find_reader(data: str, folder_reader: str) -> tuple[str, str]:
    """The module that reads DATA, and what it is given."""
    kinds, path = plugins.names("runs.datasets"), Path(data)
    kind, colon, rest = data.partition(":")
    if colon and kind in kinds:
        return kind, rest
    if not data or not exists(path):
        raise UserError(f"no such file or folder: {shorten(data)} (DATA is {SUPPORTED})")
    if path.is_dir():
        return folder_reader, data
    check_regular(path.stat())
    suffix = path.suffix.lower().removeprefix(".")
    if (reader := ALIASES.get(suffix, suffix)) not in kinds:
        raise UserError(f"unsupported file type: {data} (DATA is {SUPPORTED})")
    return reader, data


def absolute(path: str) -> str:
    """A path that is the same from every folder; an address as it is."""
    return os.path.abspath(path) if exists(path) else path  # noqa: PTH100 (Path.resolve follows links)


def usual_columns(rubric: Rubric) -> dict[str, tuple[str, ...]]:
    """The usual column names of each field, best first, in lower case."""
    inputs = {given.name: given.columns for given in rubric.inputs if given.columns or given.name in ABOUT}
    return {"id": IDS, **inputs, **(ABOUT | inputs)}


def check_rubric(data: str, table: Table, rubric: Rubric, other: Rubric) -> None:
    """An error for a table of edits that would be judged as prompts: it has all that the other rubric needs."""
    if other.prompt == rubric.prompt or other.prompt not in table.columns:
        return
    found = {name: guess_column(name, table.columns, usual_columns(other)[name]) for name in other.required}
    if all(found.values()):
        columns = ", ".join(f"{name} from {column!r}" for name, column in found.items())
        looks = f"{data} looks like a table for the rubric {other.name} ({columns}): add --rubric {other.name}"
        raise UserError(f"{looks}; or add --rubric {rubric.name} to judge single images")


def choose_columns(
    columns: Sequence[str], usual: Mapping[str, Sequence[str]], named: Mapping[str, str], required: Sequence[str]
) -> dict[str, str]:
    """The column of each field that has one, as `named` or else as `usual`. A field named as "" has none."""
    for name, column in named.items():
        if name not in usual:
            raise UserError(f"no field {name!r}{plugins.did_you_mean(name, usual)}")
        if column and column not in columns:
            raise UserError(f"no column {column!r}{plugins.did_you_mean(column, columns)}")
    chosen = {name: named[name] if name in named else guess_column(name, columns, usual[name]) for name in usual}
    for name, column in chosen.items():
        if not column and name in required:
            there = plugins.did_you_mean(name, columns)
            raise UserError(f"no column for {name}: choose one with --column {name}=COLUMN{there}")
        if column and columns.count(column) > 1:
            raise UserError(f"two columns are named {column!r}, which {name} should come from; rename one")
    return {name: column for name, column in chosen.items() if column}


def guess_column(name: str, columns: Sequence[str], usual: Sequence[str]) -> str:
    """The column that probably holds a field, or ""."""
    for word in usual:
        likely = sorted({column for column in columns if re.sub(r"[\s-]+", "_", column.strip()).lower() == word})
        if len(likely) > 1:
            both = " and ".join(map(repr, likely))
            raise UserError(f"ambiguous columns for {name}: {both}; choose one with --column {name}=COLUMN")
        if likely:
            return likely[0]
    return ""


class RowParser(NamedTuple):
    """Turns records into rows: the column of each field, the folder that paths are relative to, and the rubric."""

    columns: Mapping[str, str]
    folder: str
    rubric: Rubric
    own: Sequence[str]  # columns that are no field's

    def parse(self, record: Record, number: int) -> Row:
        """A record as a row; one with an error if a cell is unreadable or a required one empty."""
        line, cells = record
        values: dict[str, Any] = {}
        own: dict[str, str | float] = {}
        error: UserError | None = None
        try:
            if isinstance(cells, UserError):
                raise cells
            own = {name: cell for name in self.own if (cell := kept(cells.get(name))) is not None}
            for name, column in self.columns.items():
                values[name] = self.value(name, cells.get(column))
            if empty := [name for name in self.columns if name in self.rubric.required and not values[name]]:
                raise UserError(f"column {self.columns[empty[0]]!r} is empty")
        except UserError as problem:
            error = problem
        item = {name: value for name, value in values.items() if value and name not in ("id", *ABOUT)}
        model, category = (values.get(name) or "" for name in ABOUT)
        name = values.get("id") or ""
        if not name and isinstance(path := values.get(self.rubric.picture), str):
            name = path.removeprefix(os.path.join(self.folder, ""))  # noqa: PTH118 (Path takes ten times as long)
        name = name.encode(errors="replace").decode() or (f"row {number}" if error else str(number))
        return Row(name, line, item, model, category, own, str(error or ""), isinstance(error, RestLost))

    def value(self, name: str, cell: Any) -> Any:
        """A cell's value: a path or bytes for an image, a list of names, or else text; None for an empty one."""
        kind = next((given.kind for given in self.rubric.inputs if given.name == name), "")
        if isinstance(cell, UserError):
            raise cell
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return None
        if kind == IMAGE:
            if isinstance(cell, Mapping):  # as `datasets` stores images
                cell = cell.get("bytes") or cell.get("path") or ""
            if isinstance(cell, bytes | str):
                return cell if isinstance(cell, bytes) else self.image_path(cell.strip())
        elif kind == NAMES:
            cell = [part for part in cell.split(";") if part.strip()] if isinstance(cell, str) else cell
            if isinstance(cell, list) and all(isinstance(part, str) for part in cell):
                return [check_text(part) for part in cell]
        elif isinstance(cell, str | int | float):
            return check_text(str(cell))
        expected = {IMAGE: "an image or a path", NAMES: "a list of names"}.get(kind, "text")
        raise UserError(f"column {self.columns[name]!r}: expected {expected}, got {type(cell).__name__}")

    def image_path(self, path: str) -> str:
        """An image's address, or its path: in the table's folder, or else in the current one."""
        if not path or path.startswith(("http://", "https://")):
            return path
        path = unquote(path.removeprefix("file://")) if path.startswith("file://") else path
        if "\0" in path:
            raise UserError(f"invalid path: {shorten(path)}")
        beside = os.path.join(self.folder, path)  # noqa: PTH118 (as above)
        return path if not exists(beside) and exists(path) else beside


def kept(cell: Any) -> str | float | None:
    """A cell that a run file keeps beside a sample: a text or a number."""
    if isinstance(cell, str):
        return cell if 0 < len(cell) <= MAX_OWN else None
    if isinstance(cell, bool):
        return int(cell)
    return cell if isinstance(cell, int | float) and math.isfinite(cell) else None


def check_text(value: str) -> str:
    """A text that can be stored and sent, stripped."""
    if "\0" in value or SURROGATE.search(value):
        raise UserError(f"{shorten(value)} contains a NUL or an unpaired surrogate")
    return value.strip()


def exists(path: str | Path) -> bool:
    """Whether there is a file or folder; False for a path that is too long or has a NUL."""
    return os.path.exists(path)  # noqa: PTH110 (as above, and Path raises)


def shorten(value: str) -> str:
    """A value for a message."""
    return repr(value if len(value) <= 60 else value[:59] + "…")  # repr escapes surrogates

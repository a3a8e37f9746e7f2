"""What a run reads: images and prompts out of tables, folders and hubs. Each file here reads one kind of DATA.

A file has `load(data)`, which gives a Table. It reads `NAME:REST` by its name, and tables by their suffix; so a new
file for a new kind is all that a new kind takes.
"""

from __future__ import annotations

import difflib
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
from onprompt.types import IMAGE, NAMES, Rubric

ABOUT = {"model": ("model", "generator", "system"), "category": ("category", "tag", "type")}
IDS = ("id", "uid", "sample_id", "key", "index")
ALSO = {"tsv": "csv", "ndjson": "jsonl", "json": "jsonl"}  # suffixes that another suffix's file reads
UNDERSTOOD = (
    "a .csv, .tsv, .jsonl, .ndjson, .json or .parquet file, a folder, images such as 'out/*.png' (in quotes), "
    "or hf:OWNER/NAME[:SPLIT]"
)
LONGEST_PATH = 4096  # characters, as on Linux
LISTED = 30  # columns that a message lists
HALF = re.compile("[\ud800-\udfff]")  # of a character: JSON may hold one, and a file's name


@dataclass(frozen=True, slots=True)
class Row:
    """One sample: `item` is what a judge is given (image, prompt, major; or before, after, instruction, mask)."""

    id: str
    line: str  # where it came from
    item: Mapping[str, Any]
    model: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class BadRow:
    """An item that can't be read, and why."""

    id: str
    line: str
    message: str
    rest_lost: bool = False  # whether there may be more behind it, or below it, that can't be read either


class Record(NamedTuple):
    """What a reader finds: where, and its cells by column; in the place of what can't be read stands the error."""

    line: str
    cells: Mapping[str, Any] | UserError
    rest_lost: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """What a reader gives: the columns, and a function that reads the records with the columns that are wanted."""

    kind: str
    columns: Sequence[str]
    records: Callable[[Sequence[str]], Iterator[Record]] = field(repr=False)
    folder: str = ""  # what paths are relative to
    count: int | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)  # where fields come from, if there is nothing to choose


@dataclass(frozen=True, slots=True)
class Dataset:
    """DATA, opened: `columns` says where each field comes from; `count` is None where it takes reading to know."""

    kind: str
    columns: Mapping[str, str]
    count: int | None
    read: Callable[[], Iterator[Row | BadRow]] = field(repr=False)
    source: str = ""  # DATA, the same from whichever folder it is named
    unique: bool = False  # whether it is known that no two rows have the same id

    def rows(self) -> Iterator[Row | BadRow]:
        """The items as they are read, from the first on; no two have the same id."""
        if self.unique:
            yield from self.read()
            return
        again: dict[str, int] = {}  # ids are all that is kept of a row
        for row in self.read():
            name = row.id
            while name in again:
                again[row.id] += 1
                name = f"{row.id}#{again[row.id]}"
            again[name] = 1
            yield row if name == row.id else replace(row, id=name)


def opened(data: str, rubric: Rubric, columns: Mapping[str, str]) -> Dataset:
    """DATA with its columns as named, or else as guessed. UserError where it can't be opened or a column is unclear."""
    try:
        kind, rest = reader(data, rubric.folder_reader)
        table: Table = plugins.load("runs.datasets", kind).load(rest)
    except OSError as error:
        raise UserError(f"{data} can't be read: {error.strerror or error}") from error
    missing = [name for name in rubric.required if name not in table.fixed]
    if table.fixed and (columns or missing):
        why = "has no columns to name" if columns else f"has no {' and no '.join(missing)}, which {rubric.name} needs"
        raise UserError(f"{data} {why}; give a table: a .csv, .jsonl or .parquet file")
    own = {name: name for name in ("id", *table.fixed)}
    use = own if table.fixed else choose(table.columns, usual_columns(rubric), columns, rubric.required)
    # A hub's rows are read once, as they come; what the user named is taken at its word.
    guess = "" if table.fixed or columns.get("id") or table.kind == "hf" else use.get("id", "")
    unique = own_names(table, guess) if guess else None
    if unique is False:
        del use["id"]

    def read() -> Iterator[Row | BadRow]:
        for number, record in enumerate(table.records(list(dict.fromkeys(use.values()))), 1):
            yield row_of(record, number, use, table.folder, rubric)

    return Dataset(table.kind, table.fixed or use, table.count, read, place_of(data), bool(unique))


def usual_columns(rubric: Rubric) -> dict[str, tuple[str, ...]]:
    """The columns in which each field is looked for: the first that is there. Case does not matter."""
    inputs = {each.name: each.columns for each in rubric.inputs if each.columns or each.name in ABOUT}
    return {"id": IDS, **inputs, **{name: columns for name, columns in ABOUT.items() if name not in inputs}}


def place_of(data: str) -> str:
    """DATA, the same from whichever folder it is named."""
    kind, colon, rest = data.partition(":")
    if colon and kind in plugins.names("runs.datasets"):
        return f"{kind}:{os.path.abspath(rest) if there(rest) else rest}"  # noqa: PTH100 (as below)
    return os.path.abspath(data)  # noqa: PTH100


def own_names(table: Table, column: str) -> bool | None:
    """Whether a column gives every row a name of its own; None where some rows have none."""
    seen: set[int] = set()  # hashes, which take half of the memory
    missing = False
    for record in table.records([column]):
        cell = record.cells.get(column) if isinstance(record.cells, Mapping) else None
        name = hash(str(cell).strip())
        if cell and name in seen:
            return False
        missing = missing or not cell
        seen.add(name)
    return None if missing else True


def reader(data: str, folder: str) -> tuple[str, str]:
    """The file that reads DATA, and what it is given; `folder` reads folders."""
    kinds, path = plugins.names("runs.datasets"), Path(data)
    kind, colon, rest = data.partition(":")
    if colon and kind in kinds:
        return kind, rest
    if data and there(path):
        suffix = path.suffix.lower().removeprefix(".")
        if path.is_dir() or ALSO.get(suffix, suffix) in kinds:
            return folder if path.is_dir() else ALSO.get(suffix, suffix), data
        likely = near(suffix, [*ALSO, *kinds])
        raise UserError(f"{data} is of no kind that is known{likely}; DATA is {UNDERSTOOD}")
    if re.search(r"[*?[]", data):
        return "glob", data
    beside = [each.name for each in path.parent.iterdir()] if there(path.parent) and path.parent.is_dir() else []
    likely = near(kind, kinds) if colon else near(path.name, beside)
    raise UserError(f"there is no file or folder {shortened(data)}{likely}; DATA is {UNDERSTOOD}")


def choose(
    columns: Sequence[str],
    guesses: Mapping[str, Sequence[str]],
    named: Mapping[str, str],
    required: Sequence[str],
) -> dict[str, str]:
    """The column of each field that has one. A field that is named as "" has none."""
    for name, column in named.items():
        if name not in guesses:
            raise UserError(f"no field {name!r}{plugins.did_you_mean(name, guesses)}")
        if column and column not in columns:
            raise UserError(f"no column {column!r}{near(column, columns)}; {listed(columns)}")
    found = {name: named[name] if name in named else guessed(name, columns, guesses[name]) for name in guesses}
    for name, column in found.items():
        if not column and name in required:
            raise UserError(f"no column for {name}; {listed(columns)}: name one with --column {name}=COLUMN")
        if column and columns.count(column) > 1:
            raise UserError(f"two columns are called {column!r}, and {name} should come from one: rename them")
    return {name: column for name, column in found.items() if column}


def guessed(name: str, columns: Sequence[str], words: Sequence[str]) -> str:
    """The column that is likely to hold a field, or ""."""
    for word in words:
        likely = sorted({each for each in columns if re.sub(r"[\s-]+", "_", each.strip()).lower() == word})
        if len(likely) > 1:
            both = " and ".join(map(repr, likely))
            raise UserError(f"{both} are equally good for {name}: name one with --column {name}=COLUMN")
        if likely:
            return likely[0]
    return ""


def row_of(record: Record, number: int, columns: Mapping[str, str], folder: str, rubric: Rubric) -> Row | BadRow:
    """A record as a row, or as a bad row where a required cell is empty or one can't be read."""
    kinds = {each.name: each.kind for each in rubric.inputs}
    values: dict[str, Any] = {}
    try:
        if isinstance(record.cells, UserError):
            raise record.cells
        for name in columns:  # what gives an id comes first
            values[name] = value_of(name, kinds.get(name, ""), record.cells.get(columns[name]), columns[name], folder)
        for name in columns:
            if name in rubric.required and not values[name]:
                raise UserError(f"the column {columns[name]!r} is empty")
    except UserError as error:
        name = id_of(values, folder, rubric.picture) or f"row {number}"
        return BadRow(name, record.line, str(error), record.rest_lost)
    given = {name: value for name, value in values.items() if value and name not in ("id", *ABOUT)}
    about = {name: values.get(name) or "" for name in ABOUT}
    return Row(id_of(values, folder, rubric.picture) or str(number), record.line, given, **about)


def id_of(values: Mapping[str, Any], folder: str, picture: str) -> str:
    """The id that a row has, or the path of its picture."""
    path = values.get("id") or values.get(picture)
    if not isinstance(path, str):
        return ""
    inside = path if values.get("id") else path.removeprefix(os.path.join(folder, ""))  # noqa: PTH118 (as below)
    return inside.encode(errors="replace").decode()


def value_of(name: str, kind: str, cell: Any, column: str, folder: str) -> Any:
    """What a cell holds: a path or bytes for a picture, a list of names, or else text; None for nothing."""
    if isinstance(cell, UserError):
        raise cell
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if kind == IMAGE:
        return picture(cell, column, folder)
    if kind == NAMES:
        cell = [part for part in cell.split(";") if part.strip()] if isinstance(cell, str) else cell
        if isinstance(cell, list) and all(isinstance(part, str) for part in cell):
            return [text(part) for part in cell]
    elif isinstance(cell, str | int | float):
        return text(str(cell))
    raise UserError(f"the column {column!r} holds a {type(cell).__name__}, which is no {name}")


def picture(cell: Any, column: str, folder: str) -> bytes | str:
    """A picture's bytes, or where it is: in the table's folder, or else in the current one, or at an address."""
    if isinstance(cell, Mapping):  # as `datasets` keeps pictures
        cell = cell.get("bytes") or cell.get("path") or ""
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        raise UserError(f"the column {column!r} holds a {type(cell).__name__}, which is no picture and no path")
    path = cell.strip()
    if not path or path.startswith(("http://", "https://")):
        return path
    path = unquote(path.removeprefix("file://")) if path.startswith("file://") else path
    if "\0" in path or len(path) > LONGEST_PATH:
        raise UserError(f"{shortened(path)} ({len(path)} characters) is no path")
    beside = os.path.join(folder, path)  # noqa: PTH118 (Path takes ten times as long)
    return path if not there(beside) and there(path) else beside


def text(value: str) -> str:
    """Words that can be stored and sent."""
    if "\0" in value or HALF.search(value):
        raise UserError(f"{shortened(value)} holds a NUL or half a character")
    return value.strip()


def there(path: str | Path) -> bool:
    """Whether there is a file or folder, by a name that may be none: too long, or with a NUL."""
    return os.path.exists(path)  # noqa: PTH110 (as above, and Path raises)


def shortened(value: str) -> str:
    """A value in a message."""
    return repr(value if len(value) <= 60 else value[:59] + "…")  # writes half a character as an escape


def near(name: str, known: Sequence[str]) -> str:
    """The end of a message where a known name is near, or nothing."""
    likely = difflib.get_close_matches(name, known, n=1)
    return plugins.did_you_mean(name, likely) if likely else ""


def listed(columns: Sequence[str]) -> str:
    """The columns that there are, in a message."""
    more = f" and {len(columns) - LISTED} more" if len(columns) > LISTED else ""
    return f"there are: {', '.join(map(shortened, columns[:LISTED]))}{more}"

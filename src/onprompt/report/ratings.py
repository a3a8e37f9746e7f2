"""What a run says of items and what people say: a CSV of their ratings, and each of them against the others.

Wide: a row for each item with one column for each rater, or with a single rating. Long: a row for each rating, with the
columns id, rater and rating. Columns are guessed by their names and can be named.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onprompt.errors import UserError

IDS = ("id", "item", "item_id", "sample", "sample_id", "image", "file", "uid")  # the first that is there
RATERS = ("rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id")
RATINGS = ("rating", "human", "human_rating", "score", "mean")
ABOUT = ("prompt", "caption", "instruction", "model", "category", "group", "source", "mask")  # never a rating
SERIES = re.compile(r"(.*?)[\s_.-]?\d+")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
DIGITS = 9  # means that differ by less are a tie: the order in which floats are added is no opinion


@dataclass(frozen=True, slots=True)
class Item:
    """What a run says of one sample: `group` is its prompt, `value` is None where there is no verdict."""

    id: str
    group: str
    value: float | None
    score: int | None = None
    category: str = ""
    model: str = ""


class Row(NamedTuple):
    """A row of the file, and the line on which it begins."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A file as it is written; where columns are not split by commas, a comma may be a decimal point."""

    name: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    comma: bool


@dataclass(frozen=True, slots=True)
class Ratings:
    """For each item what each rater said, and the columns that this was read from."""

    by_item: Mapping[str, Mapping[str, float]]
    columns: tuple[str, ...] = ()

    @property
    def raters(self) -> tuple[str, ...]:
        """Those who rated something, in the order of the file."""
        return tuple(dict.fromkeys(rater for said in self.by_item.values() for rater in said))


class Against(NamedTuple):
    """A rater against the mean of the others, on the items (by their places) that this rater and another have rated."""

    rater: str
    places: NDArray[np.intp]
    own: NDArray[np.float64]
    rest: NDArray[np.float64]


# ---- reading -------------------------------------------------------------------------------------------------------


def read(
    path: str | Path, *, id_column: str = "", rater_column: str = "", rating_columns: Sequence[str] = ()
) -> Ratings:
    """The ratings in a CSV file; what can't be read is a UserError that names line and column."""
    table = read_table(Path(path))
    ids = named(table, id_column) or guess(table, IDS)
    if ids is None:
        raise UserError(f"{table.name}: which column holds the items' ids? There are {listed(table.header)}")
    rater = named(table, rater_column) or (guess(table, RATERS) if len(rating_columns) < 2 else None)
    columns = [name for each in rating_columns if (name := named(table, each))]
    if rater and not columns:
        columns = [name for name in [guess(table, RATINGS)] if name]
    elif not columns:
        columns = guess_ratings(table, ids)
    if rater and len(columns) != 1:
        raise UserError(f"{table.name}: which column holds the rating that a row is? There are {listed(table.header)}")
    read_from = (ids, rater, *columns) if rater else (ids, *columns)
    return Ratings(collected(table, ids, rater, columns), read_from)


def read_table(path: Path) -> Table:
    """The header and the rows that are not blank."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 (byte {error.start}); save it as CSV in UTF-8") from None
    first = re.sub(r'"[^"]*"', "", next((line for line in text.splitlines() if line.strip()), ""))
    delimiter = max(",;\t", key=first.count)
    rows = list(read_rows(path.name, text, delimiter))
    if not rows:
        raise UserError(f"{path}: is empty; its first line must name the columns")
    header = tuple(cell.strip() for cell in rows[0].cells)
    twice = [name for name, count in Counter(filter(None, header)).items() if count > 1]
    if twice:
        raise UserError(f"{path}, line {rows[0].line}: column {twice[0]!r} is there twice")
    return Table(path.name, header, tuple(fitted(path.name, header, row) for row in rows[1:]), delimiter != ",")


def read_rows(name: str, text: str, delimiter: str) -> Iterator[Row]:
    """The rows that hold something, with their lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield Row(line, tuple(cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{name}, line {line}: is no CSV: {error}") from None


def fitted(name: str, header: Sequence[str], row: Row) -> Row:
    """A row with as many cells as there are columns; blanks at its end may lack or be too many."""
    if any(cell.strip() for cell in row.cells[len(header) :]):
        raise UserError(f"{name}, line {row.line}: has {len(row.cells)} cells, and there are {len(header)} columns")
    return Row(row.line, (*row.cells, *[""] * len(header))[: len(header)])


def collected(table: Table, ids: str, rater: str | None, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """What each item was given by whom; a blank cell is no rating."""
    found: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    for row in table.rows:
        item = filled(table, row, ids)
        for column in columns:
            who = filled(table, row, rater) if rater else column
            if (item, who) in lines:
                told = f"{item!r} is rated by {who!r} in line {lines[item, who]} already"
                raise UserError(f"{table.name}, line {row.line}, column {ids!r}: {told}")
            lines[item, who] = row.line
            said = found.setdefault(item, {})
            if cell(table, row, column):
                said[who] = number(table, row, column)
    return found


def cell(table: Table, row: Row, column: str) -> str:
    """What a row holds in a column."""
    return row.cells[table.header.index(column)].strip()


def filled(table: Table, row: Row, column: str) -> str:
    """What a row must hold: which item it is about, or whose rating it is."""
    if text := cell(table, row, column):
        return text
    raise UserError(f"{table.name}, line {row.line}, column {column!r}: is blank")


def number(table: Table, row: Row, column: str) -> float:
    """The number in a cell."""
    text = cell(table, row, column)
    plain = text.replace(",", ".") if table.comma else text
    if not NUMBER.fullmatch(plain) or not math.isfinite(float(plain)):
        where = f"{table.name}, line {row.line}, column {column!r}"
        raise UserError(f"{where}: {text!r} is no number; leave the cell blank where there is no rating")
    return float(plain)


# ---- which column is which -----------------------------------------------------------------------------------------


def named(table: Table, column: str) -> str | None:
    """A column that was asked for by its name."""
    if column and column not in table.header:
        raise UserError(f"{table.name}: has no column {column!r}; there are {listed(table.header)}")
    return column or None


def guess(table: Table, names: Sequence[str]) -> str | None:
    """The first of the names that is there, in whatever case."""
    known = {column.casefold(): column for column in table.header}
    return next((known[name] for name in names if name in known), None)


def guess_ratings(table: Table, ids: str) -> list[str]:
    """The one series of numbered columns (r1, r2, …), or a single rating, or all columns if all hold numbers."""
    rest = [column for column in table.header if column and column != ids and column.casefold() not in ABOUT]
    series: dict[str, list[str]] = {}
    for column in rest:
        if match := SERIES.fullmatch(column):
            series.setdefault(match[1], []).append(column)
    several = [columns for columns in series.values() if len(columns) > 1]
    if len(several) == 1:
        return several[0]
    if not several and (one := guess(table, RATINGS)):
        return [one]
    if rest and not several and all(holds_numbers(table, column) for column in rest):
        return rest
    raise UserError(f"{table.name}: which columns hold the ratings? There are {listed(rest)}")


def holds_numbers(table: Table, column: str) -> bool:
    """Whether a column holds numbers and blanks only, and is not all blank."""
    cells = [
        text.replace(",", ".") if table.comma else text for row in table.rows if (text := cell(table, row, column))
    ]
    return bool(cells) and all(NUMBER.fullmatch(each) for each in cells)


def listed(names: Iterable[str]) -> str:
    """Names in an error message."""
    return ", ".join(map(repr, filter(None, names))) or "none"


# ---- raters as numbers ---------------------------------------------------------------------------------------------


def mean(ratings: Iterable[float]) -> float:
    """The mean, as exact as a tie needs it."""
    each = list(ratings)
    return round(math.fsum(each) / len(each), DIGITS)


def one_against_rest(ratings: Ratings, items: Sequence[str]) -> Iterator[Against]:
    """Each rater with the mean of the others, where there is another."""
    said = [ratings.by_item[item] for item in items]
    places: dict[str, list[int]] = {}
    for place, opinions in enumerate(said):
        for rater in opinions if len(opinions) > 1 else ():
            places.setdefault(rater, []).append(place)
    for rater, mine in places.items():
        own = [said[place][rater] for place in mine]
        rest = [mean(rating for who, rating in said[place].items() if who != rater) for place in mine]
        yield Against(rater, np.array(mine, np.intp), np.array(own), np.array(rest))

"""Human ratings of judged samples: in a CSV file, in the data that was judged, or in the reviews of a run.

Wide: a row per item with a column per rater, or a single rating. Long: a row per rating with id, rater and rating.
Columns are guessed from their names unless they are given.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.plugins import did_you_mean
from onprompt.report.statistics import DIGITS, Array, ratio, spearman
from onprompt.runs import reviews
from onprompt.runs.datasets.csv import read_header, read_rows
from onprompt.runs.reading import Run, RunRow
from onprompt.runs.reviews import SMALLEST
from onprompt.types import Rubric

IDS = ("id", "item", "item_id", "sample", "sample_id", "image", "file", "uid")  # in order of preference
RATERS = ("rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id")
RATINGS = ("rating", "human", "human_rating", "score", "mean")
NUMBERED = re.compile(r"(.*?)[\s_.-]?\d+")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Ratings:
    """Each item's ratings by rater, and the columns they were read from."""

    by_item: Mapping[str, Mapping[str, float]]
    columns: tuple[str, ...] = ()

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody with a rating, in the order of the file."""
        return tuple(dict.fromkeys(rater for given in self.by_item.values() for rater in given))

    def rated_ids(self, ids: Collection[str]) -> set[str]:
        """All items with a rating; an error if none is among the ids of a run."""
        rated = {name for name, given in self.by_item.items() if given}
        if rated.isdisjoint(ids):
            examples = f"the run has {min(ids, default='none')!r}, the ratings have {min(rated, default='none')!r}"
            raise UserError(f"no sample of the run is rated; use the same ids in both: {examples}")
        return rated


@dataclass(frozen=True, slots=True)
class Table:
    """The content of a CSV file."""

    name: str
    header: Sequence[str]
    rows: Mapping[int, Mapping[str, str]]  # the cells by column, by the line on which the row begins
    decimal_comma: bool  # possible where commas don't separate columns

    def error(self, problem: str, line: int = 0, column: str = "") -> UserError:
        """An error that says where."""
        place = f", line {line}, column {column!r}" if line else ""
        return UserError(f"{self.name}{place}: {problem}")

    @property
    def listed(self) -> str:
        """The columns, in an error."""
        return f"the columns are {', '.join(map(repr, filter(None, self.header))) or 'none'}"

    def which(self, question: str, field: str) -> UserError:
        """An error that asks for a column."""
        return self.error(f"which column{question}? Name it: --column {field}=COLUMN; {self.listed}")

    def guess(self, names: Sequence[str]) -> str:
        """The column with the first of these names that there is, in any case."""
        columns = {column.casefold(): column for column in self.header}
        return next((columns[name] for name in names if name in columns), "")

    def number(self, cell: str) -> float:
        """A cell as a number; infinite if it is none."""
        plain = cell.replace(",", ".") if self.decimal_comma else cell
        return float(plain) if NUMBER.fullmatch(plain) else math.inf


def read(path: Path, id_column: str = "", rater_column: str = "", rating_columns: Sequence[str] = ()) -> Ratings:
    """The ratings in a CSV file; anything invalid raises a UserError that names line and column."""
    table = read_table(path)
    for column in (*filter(None, (id_column, rater_column)), *rating_columns):
        if column not in table.header:
            raise table.error(f"no column {column!r}; {table.listed}")
    ids = id_column or table.guess(IDS)
    if not ids:
        raise table.which(" has the ids", "id")
    rater = rater_column or (table.guess(RATERS) if len(rating_columns) < 2 else "")
    columns = list(rating_columns) or (rating_series(table, ids) if not rater else []) or [table.guess(RATINGS)]
    if not columns[0] or (rater and len(columns) > 1):
        raise table.which(" has the rating" if rater else "s have the ratings", "rating")
    return Ratings(by_item(table, ids, rater, columns), (ids, *filter(None, [rater]), *columns))


def rating_series(table: Table, ids: str) -> list[str]:
    """The only series of numbered columns (r1, r2, …), which may be a single one; an error if there are several."""
    by_stem: dict[str, list[str]] = {}
    for column in table.header:
        if column != ids and (match := NUMBERED.fullmatch(column)):
            by_stem.setdefault(match[1], []).append(column)
    series = [columns for columns in by_stem.values() if len(columns) > 1]
    series = series or ([] if table.guess(RATINGS) else list(by_stem.values()))
    if len(series) > 1:
        raise table.which("s have the ratings", "rating")
    return series[0] if series else []


def in_data(rows: Iterable[RunRow], names: Sequence[str]) -> Ratings:
    """The ratings in columns of the data that a run judged, which the run file keeps."""
    found: dict[str, dict[str, float]] = {}
    known: dict[str, None] = {}
    for row in rows:
        own = row.own
        known.update(dict.fromkeys(own))
        given = found.setdefault(row.id, {})
        for name in names:
            if not (cell := str(own.get(name, "")).strip()):
                continue
            given[name] = float(cell) if NUMBER.fullmatch(cell) else math.inf
            if math.isinf(given[name]):
                where = f"{row.id}, column {name!r}"
                raise UserError(f"{where}: {cell[:40]!r} is not a number; leave it blank if unrated")
    for name in names:
        if name not in known:
            hint = "if the data has it now, repeat `onprompt run`: it adds the column and judges nothing again"
            others = did_you_mean(name, known) if known else ""
            raise UserError(f"the run has no column {name!r} ({hint}){others}")
    return Ratings(found)


def in_reviews(run: Run, rubric: Rubric, factor: str = "") -> Ratings:
    """The ratings by those who reviewed a run, of all factors together or of one."""
    with run.opened() as file:
        return Ratings(reviews.ratings(file, rubric, factor))


def merged(several: Iterable[Ratings]) -> Ratings:
    """The ratings of several runs together."""
    found: dict[str, dict[str, float]] = {}
    for ratings in several:
        for item, given in ratings.by_item.items():
            found.setdefault(item, {}).update(given)
    return Ratings(found)


def read_table(path: Path) -> Table:
    """The header and all rows that are not blank."""
    try:
        delimiter, header = read_header(path)
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    if duplicates := [name for name, count in Counter(filter(None, header)).items() if count > 1]:
        raise UserError(f"{path}: two columns are named {duplicates[0]!r}")
    rows = {}
    for line, row in read_rows(path, delimiter):
        if isinstance(row, UserError):
            raise UserError(f"{path.name}, line {line}: invalid CSV: {row}")
        cells = [cell.strip() for cell in row]
        if any(cells[len(header) :]):
            raise UserError(f"{path.name}, line {line}: {len(cells)} cells in a table of {len(header)} columns")
        if any(cells):
            rows[line] = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
    return Table(path.name, header, rows, delimiter != ",")


def by_item(table: Table, ids: str, rater: str, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """Each item's ratings by rater; a blank cell is no rating."""
    ratings: dict[str, dict[str, float]] = {}
    known: dict[tuple[str, str], tuple[int, float | None]] = {}  # the line and the rating
    for line, cells in table.rows.items():
        if missing := next((column for column in (ids, rater) if column and not cells[column]), ""):
            raise table.error("blank cell", line, missing)
        item = cells[ids]
        for column in columns:
            who = cells[rater] if rater else column
            number = table.number(cell) if (cell := cells[column]) else None
            if number is not None and math.isinf(number):
                raise table.error(f"{cell!r} is not a number; leave the cell blank if unrated", line, column)
            earlier, before = known.setdefault((item, who), (line, number))
            if before != number:  # the same rating twice, as joined tables have it, is one
                raise table.error(f"{who!r} rated {item!r} differently in line {earlier}", line, ids)
            given = ratings.setdefault(item, {})
            if number is not None:
                given[who] = number
    return ratings


def mean(ratings: Iterable[float]) -> float:
    """The mean, rounded so that equal means tie."""
    numbers = list(ratings)
    return round(math.fsum(numbers) / len(numbers), DIGITS)


def leave_one_out(ratings: Ratings, items: Sequence[str]) -> list[tuple[Array, Array]]:
    """For each rater the own ratings and the means of the others; NaN where either is missing."""
    given = [ratings.by_item[item] for item in items]
    raters = dict.fromkeys(rater for by_rater in given for rater in by_rater)
    rated = np.array([[by_rater.get(rater, math.nan) for by_rater in given] for rater in raters])
    number, total = np.isfinite(rated).sum(axis=0), np.nansum(rated, axis=0)
    others = np.round(ratio(total - rated, number - 1), DIGITS)
    return [
        (np.where(np.isfinite(o), r, math.nan), o) for r, o in zip(rated, others, strict=True) if np.isfinite(o).any()
    ]


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's ρ; None where there are too few pairs, or all are equal."""
    if len(pairs) < SMALLEST:
        return None
    x, y = np.array(pairs).T
    rho = float(spearman(x, y)(np.ones((1, len(pairs))))[0])
    return rho if np.isfinite(rho) else None


def rater_summary(rater: str, given: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """How many samples a rater has scored, the mean, and how they compare with the mean of the other raters."""
    scored = [by_rater for by_rater in given.values() if rater in by_rater]
    both = [(by[rater], mean([n for name, n in by.items() if name != rater])) for by in scored if len(by) > 1]
    about = {"name": rater, "scored": len(scored), "mean": mean([by[rater] for by in scored])}
    return about | {"common": len(both), "rho": correlation(both)}

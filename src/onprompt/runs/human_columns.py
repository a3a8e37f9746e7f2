"""Human ratings out of columns of the data that a run judged."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from onprompt.errors import UserError
from onprompt.runs.datasets import Row, open_dataset
from onprompt.runs.ledger import Ledger
from onprompt.types import Rubric

SOURCES = "SELECT DISTINCT data FROM runs ORDER BY id"


def human_ratings(
    ledger: Ledger, rubric: Rubric, names: Sequence[str], columns: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Each sample's ratings by column; the data are read again, with the columns that the run was told of."""
    ratings: dict[str, dict[str, float]] = {}
    for (source,) in ledger.query(SOURCES):
        dataset = open_dataset(source, rubric, columns, names)
        for row in dataset.rows():
            if isinstance(row, Row):
                given = {name: rating(row, name) for name in names}
                ratings[row.id] = {name: number for name, number in given.items() if number is not None}
    return ratings


def rating(row: Row, name: str) -> float | None:
    """The number in a cell; None if it is blank."""
    cell: Any = row.others.get(name)
    if cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and math.isnan(cell)):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or isinstance(cell, bool):
        raise UserError(f"{row.line}, column {name!r}: {str(cell)[:40]!r} is not a number; leave it blank if unrated")
    return number

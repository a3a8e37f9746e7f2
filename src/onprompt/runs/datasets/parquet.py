"""Parquet: a file, of which a few rows are in memory at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, Table

ROWS = 64  # at a time: each may hold a picture


def load(data: str) -> Table:
    """The table in a file."""
    path = Path(data)
    try:
        with pq.ParquetFile(path) as file:
            names, count = list(file.schema_arrow.names), int(file.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} is no Parquet file that can be read: {error}") from error

    def records(columns: Sequence[str]) -> Iterator[Record]:
        return read(path, list(columns))

    return Table("parquet", names, records, os.path.dirname(data), count)  # noqa: PTH120 ("" for the current one)


def read(path: Path, columns: Sequence[str]) -> Iterator[Record]:
    """The rows; a group of rows that is damaged costs no other."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        last = 0
        for group in range(file.num_row_groups):
            number = last + 1
            last += file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(ROWS, [group], columns):
                    for index in range(batch.num_rows):
                        yield Record(f"{path.name}, row {number}", cells_of(batch, index))
                        number += 1
            except (pa.ArrowException, OSError) as error:
                why = UserError(f"can't be read: {error}")
                yield Record(f"{path.name}, rows {number} to {last}", why, rest_lost=True)


def cells_of(batch: Any, index: int) -> dict[str, Any]:
    """One row of a batch."""
    return {name: cell_of(batch.column(place)[index]) for place, name in enumerate(batch.schema.names)}


def cell_of(scalar: Any) -> Any:
    """A cell as Python has it, or the error where it can't be."""
    try:
        return scalar.as_py()
    except (ValueError, pa.ArrowException) as error:  # text that is not UTF-8
        return UserError(f"can't be read: {error}")

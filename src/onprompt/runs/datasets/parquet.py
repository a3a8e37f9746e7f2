"""Parquet: a file, read a few rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, RestLost, Table

BATCH = 64  # rows in memory: each may hold an image


def load(data: str) -> Table:
    """The table in a file."""
    path = Path(data)
    try:
        with pq.ParquetFile(path) as file:
            schema, count = file.schema_arrow, int(file.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} is not a readable Parquet file: {error}") from error

    images = [each.name for each in schema if pa.types.is_nested(each.type) or pa.types.is_binary(each.type)]
    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("parquet", list(schema.names), partial(read_rows, path), folder, count, images=images)


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[Record]:
    """The rows; a damaged row group affects no other."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        last = 0
        for group in range(file.num_row_groups):
            number = last + 1
            last += file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(BATCH, [group], list(columns)):
                    for cells in zip(*batch.columns, strict=True):
                        row = zip(batch.schema.names, map(value_of, cells), strict=True)
                        yield f"{path.name}, row {number}", dict(row)
                        number += 1
            except (pa.ArrowException, OSError) as error:
                yield f"{path.name}, rows {number} to {last}", RestLost(f"unreadable: {error}")


def value_of(cell: Any) -> Any:
    """The value of a cell, or why it can't be read."""
    try:
        return cell.as_py()
    except (ValueError, pa.ArrowException) as error:  # text that is not UTF-8
        return UserError(f"unreadable: {error}")

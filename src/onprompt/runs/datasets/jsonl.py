"""JSON lines, or one JSON list (a file that begins with [). The columns are the keys of the first objects."""

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, Table

SAMPLED = 100  # records that are read for their columns
BLOCK = 2**16


def load(data: str) -> Table:
    """The objects in a file; the columns are the keys of the first ones."""
    path = Path(data)
    columns: dict[str, None] = {}
    why = "it is empty"
    for line, cells in islice(read(path), SAMPLED):
        if isinstance(cells, UserError):
            why = f"{line}: {cells}"
        else:
            columns.update(dict.fromkeys(cells))
    if not columns:
        raise UserError(f"{path} holds no readable JSON objects; {why}")
    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("jsonl", list(columns), lambda _: read(path), folder, sum(1 for _ in read(path)))


def read(path: Path) -> Iterator[Record]:
    """An object per line, or those of a list, which is in memory as a whole: long ones belong into lines."""
    with path.open("rb") as file:
        is_list = file.read(BLOCK).decode("utf-8-sig", "replace").lstrip().startswith("[")
        file.seek(0)
        if is_list:
            items = parsed(file.read())
            for number, item in enumerate(items if isinstance(items, list) else [items], 1):
                yield f"{path.name}, item {number}", as_cells(item)
        else:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path.name}:{number}", as_cells(parsed(line))


def parsed(text: bytes) -> Any:
    """A JSON value, or why it is none."""
    try:
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, a number too long, or a nest too deep
        return UserError(f"invalid JSON: {error}")


def as_cells(value: object) -> dict[str, Any] | UserError:
    """A JSON value as the cells of a row, if it is an object."""
    if isinstance(value, dict | UserError):
        return value
    return UserError(f"expected an object, got {type(value).__name__}")

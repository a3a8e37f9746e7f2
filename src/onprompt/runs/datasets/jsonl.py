"""JSON lines, or one JSON list (a file that begins with [). The columns are the keys of the first objects."""

import json
import os
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, RestLost, Table

SAMPLED = 100  # records that are read for their columns
BLOCK = 2**16
MAX_ITEM = 64 * 2**20  # characters of one item of a list


def load(data: str) -> Table:
    """The objects in a file; the columns are the keys of the first ones."""
    path = Path(data)
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        read = partial(read_list if file.read(BLOCK).lstrip().startswith("[") else read_lines, path)
    columns: dict[str, None] = {}
    why = "it is empty"
    for line, cells in islice(read(), SAMPLED):
        if isinstance(cells, UserError):
            why = f"{line}: {cells}"
        else:
            columns.update(dict.fromkeys(cells))
    if not columns:
        raise UserError(f"{path} holds no readable JSON objects; {why}")
    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("jsonl", list(columns), lambda _: read(), folder, sum(1 for _ in read()))


def read_lines(path: Path) -> Iterator[Record]:
    """An object per line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode("utf-8-sig"))
            except UnicodeDecodeError as error:
                value = UserError(f"not UTF-8: {error.reason}")
            except json.JSONDecodeError as error:
                value = UserError(f"invalid JSON: {error.msg}, at character {error.pos + 1} of {len(line)}")
            except (ValueError, RecursionError) as error:  # a number too long, or a nest too deep
                value = UserError(f"unsupported JSON: {error}")
            yield f"{path.name}:{number}", as_cells(value)


def as_cells(value: object) -> dict[str, Any] | UserError:
    """A JSON value as the cells of a row, if it is an object."""
    if isinstance(value, dict | UserError):
        return value
    return UserError(f"expected an object, got {type(value).__name__}")


def read_list(path: Path) -> Iterator[Record]:
    """The objects of a list, which is read in blocks."""
    decode = json.JSONDecoder().raw_decode
    number, text = 1, ""
    # Bytes that are not UTF-8 become surrogates, which make only their own row bad.
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        while True:
            where = f"{path.name}, item {number}"
            text = text.lstrip(" \t\r\n,[" if number == 1 else " \t\r\n,")
            if text.startswith("]"):
                return
            try:
                value, end = decode(text)
            except (ValueError, RecursionError) as error:
                more = file.read(max(BLOCK, len(text))) if len(text) < MAX_ITEM else ""  # twice as much each time
                if not more:
                    yield where, RestLost(f"the list is cut off or invalid JSON from here on: {error}")
                    return
                text += more
                continue
            yield where, as_cells(value)
            number, text = number + 1, text[end:]

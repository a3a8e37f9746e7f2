"""JSON lines, and a list in one JSON file: what begins with [ is a list. Columns are the names in the first objects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, Table

LOOKED_AT = 100  # records, for their columns
BLOCK = 2**16
LONGEST = 64 * 2**20  # characters of one item of a list


def load(data: str) -> Table:
    """The objects in a file."""
    path = Path(data)
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        read = partial(items if file.read(BLOCK).lstrip().startswith("[") else lines, path)

    def records(_: Sequence[str]) -> Iterator[Record]:
        return read()

    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("jsonl", columns_of(path, read()), records, folder, sum(1 for _ in read()))


def columns_of(path: Path, records: Iterator[Record]) -> list[str]:
    """The names that the first objects have."""
    found: dict[str, None] = {}
    why = "it is empty"
    for record in islice(records, LOOKED_AT):
        if isinstance(record.cells, UserError):
            why = f"{record.line}: {record.cells}"
        else:
            found.update(dict.fromkeys(record.cells))
    if not found:
        raise UserError(f"{path} holds no JSON objects that can be read; {why}")
    return list(found)


def lines(path: Path) -> Iterator[Record]:
    """An object on each line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield record_of(f"{path.name}:{number}", line)


def record_of(where: str, line: bytes) -> Record:
    """The object on a line."""
    try:
        return checked(where, json.loads(line.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        return Record(where, UserError(f"is not UTF-8: {error.reason}"))
    except json.JSONDecodeError as error:
        return Record(where, UserError(f"is no JSON: {error.msg}, at character {error.pos + 1} of {len(line)}"))
    except (ValueError, RecursionError) as error:  # a number or a nest without end
        return Record(where, UserError(f"is no JSON that can be read: {error}"))


def checked(where: str, value: object) -> Record:
    """A JSON value as a record, if it is an object."""
    return Record(where, value if isinstance(value, dict) else UserError(f"is a {type(value).__name__}, not an object"))


def items(path: Path) -> Iterator[Record]:
    """The objects of a list, of which a part is in memory at a time."""
    decode = json.JSONDecoder().raw_decode
    number, text = 1, ""
    # Bytes that are not UTF-8 become halves of characters, which cost their own row only.
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        while True:
            where = f"{path.name}, item {number}"
            text = text.lstrip(" \t\r\n,[" if number == 1 else " \t\r\n,")
            if text.startswith("]"):
                return
            try:
                value, end = decode(text)
            except (ValueError, RecursionError) as error:
                more = file.read(max(BLOCK, len(text))) if len(text) < LONGEST else ""  # twice as much each time
                if not more:
                    why = UserError(f"from here on the list is cut off or is no JSON: {error}")
                    yield Record(where, why, rest_lost=True)
                    return
                text += more
                continue
            yield checked(where, value)
            number, text = number + 1, text[end:]

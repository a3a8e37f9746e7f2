"""CSV and TSV: UTF-8, with a header; the delimiter is the one that splits the header into the most columns."""

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, RestLost, Table

DELIMITERS = ",;\t|"
MAX_CELL = 32 * 2**20  # characters: an unclosed quote must not fill the memory


def load(data: str) -> Table:
    """The table in a file."""
    path = Path(data)
    delimiter, columns = read_header(path)

    def records(_: Sequence[str]) -> Iterator[Record]:
        for line, cells in read_rows(path, delimiter):
            where = f"{path.name}:{line}"
            if isinstance(cells, UserError):
                yield where, cells
            elif len(cells) == len(columns):
                yield where, dict(zip(columns, cells, strict=True))
            elif cells:
                yield where, UserError(f"expected {len(columns)} cells, as in the header; got {len(cells)}")

    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("csv", columns, records, folder, sum(1 for _ in records(())))


def read_header(path: Path) -> tuple[str, list[str]]:
    """The delimiter of a CSV file and its columns."""
    headers: dict[str, list[str]] = {}
    for delimiter in "\t" if path.suffix.lower() == ".tsv" else DELIMITERS:
        cells = next((cells for _, cells in read_lines(path, delimiter) if cells), [])
        if isinstance(cells, list):  # another delimiter may do better
            headers[delimiter] = [cell.strip() for cell in cells]
    best = max(headers, key=lambda each: len(headers[each]), default="")
    if not best or not headers[best]:
        raise UserError(f"{path} has no readable header line")
    return best, headers[best]


def read_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str] | RestLost]]:
    """The rows below the header, each with the line on which it begins."""
    return islice(dropwhile(lambda row: not row[1], read_lines(path, delimiter)), 1, None)


def read_lines(path: Path, delimiter: str) -> Iterator[tuple[int, list[str] | RestLost]]:
    """All lines, each with its number; what is not UTF-8 is refused."""
    csv.field_size_limit(MAX_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        while True:
            line = rows.line_num + 1
            try:
                yield line, next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield line, RestLost(f"{error}: unclosed or misplaced quote (line {rows.line_num})")
            except UnicodeDecodeError as error:
                raise UserError(f"{path} is not UTF-8 ({error.reason}); save it as UTF-8") from None

"""CSV and TSV: UTF-8, with a header; the delimiter is the one that splits the header into the most columns."""

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, RestLost, Table

DELIMITERS = ",;\t|"
MAX_CELL = 32 * 2**20  # characters: an unclosed quote must not fill the memory


def load(data: str) -> Table:
    """The table in a file."""
    file = open_csv(Path(data))

    def records(_: Sequence[str]) -> Iterator[Record]:
        for line, cells in file.rows():
            where = f"{file.path.name}:{line}"
            if isinstance(cells, UserError):
                yield where, cells
            elif len(cells) == len(file.columns):
                yield where, dict(zip(file.columns, cells, strict=True))
            elif cells:
                yield where, UserError(f"expected {len(file.columns)} cells, as in the header; got {len(cells)}")

    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("csv", file.columns, records, folder, sum(1 for _ in records(())))


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file, with its delimiter and the columns of its header."""

    path: Path
    delimiter: str
    columns: list[str]

    def rows(self) -> Iterator[tuple[int, list[str] | RestLost]]:
        """The rows below the header, each with the line on which it begins."""
        lines = read_lines(self.path, self.delimiter)
        next(cells for _, cells in lines if cells)
        return lines


def open_csv(path: Path) -> CsvFile:
    """A CSV file with its delimiter and its columns."""
    headers: dict[str, list[str]] = {}
    for delimiter in "\t" if path.suffix.lower() == ".tsv" else DELIMITERS:
        cells = next((cells for _, cells in read_lines(path, delimiter) if cells), [])
        if isinstance(cells, list):  # another delimiter may do better
            headers[delimiter] = [cell.strip() for cell in cells]
    best = max(headers, key=lambda each: len(headers[each]), default="")
    if not best or not headers[best]:
        raise UserError(f"{path} has no readable header line")
    return CsvFile(path, best, headers[best])


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

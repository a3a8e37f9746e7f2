"""CSV and TSV: UTF-8, with a header; the delimiter is the one that splits the header into the most columns."""

import codecs
import csv
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, RestLost, Table

DELIMITERS = ",;\t|"
MAX_CELL = 32 * 2**20  # characters: an unclosed quote must not fill the memory
BLOCK = 2**20  # bytes; the header is in the first


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
    """A CSV file whose encoding was checked."""

    path: Path
    delimiter: str
    columns: list[str]

    def rows(self) -> Iterator[tuple[int, list[str] | RestLost]]:
        """The rows below the header, each with the line on which it begins."""
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter=self.delimiter, strict=True)
            next(cells for cells in rows if cells)
            while True:
                line = rows.line_num + 1
                try:
                    yield line, next(rows)
                except StopIteration:
                    return
                except csv.Error as error:
                    yield line, RestLost(f"{error}: unclosed or misplaced quote (line {rows.line_num})")


def open_csv(path: Path) -> CsvFile:
    """A CSV file with its delimiter and its columns, by its first block; all of it must be UTF-8."""
    csv.field_size_limit(MAX_CELL)
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    with path.open("rb") as file:
        block = file.read(BLOCK)
        is_wide = block[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        try:
            first = decoder.decode(block)
            while block := file.read(BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            encoding = "utf-16" if is_wide else "latin1"
            convert = f"iconv -f {encoding} -t utf-8 '{path}' > '{path.stem}.utf8{path.suffix}'"
            raise UserError(
                f"{path} is not UTF-8 ({error.reason}); if it is {encoding}, convert it: {convert}"
            ) from None
    headers: dict[str, list[str]] = {}
    for delimiter in "\t" if path.suffix.lower() == ".tsv" else DELIMITERS:
        with suppress(csv.Error):  # another delimiter may do better
            rows = csv.reader(io.StringIO(first, newline=""), delimiter=delimiter, strict=True)
            headers[delimiter] = [cell.strip() for cell in next((cells for cells in rows if cells), [])]
    best = max(headers, key=lambda each: len(headers[each]), default="")
    if not best or not headers[best]:
        raise UserError(f"{path} has no readable header line")
    return CsvFile(path, best, headers[best])

"""CSV and TSV: UTF-8, with a header; the delimiter is the one that splits the header into the most columns."""

import codecs
import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, RestLost, Table

DELIMITERS = ",;\t|"
MAX_CELL = 32 * 2**20  # characters: an unclosed quote must not fill the memory
BLOCK = 2**20


def load(data: str) -> Table:
    """The table in a file."""
    path = Path(data)
    check_encoding(path)
    csv.field_size_limit(MAX_CELL)
    headers = {
        delimiter: read_header(path, delimiter) for delimiter in ("\t" if path.suffix.lower() == ".tsv" else DELIMITERS)
    }
    delimiter = max(headers, key=lambda delimiter: len(headers[delimiter]))
    if not headers[delimiter]:
        raise UserError(f"{path} has no readable header line")

    def records(_: Sequence[str]) -> Iterator[Record]:
        return read_rows(path, delimiter, headers[delimiter])

    folder = os.path.dirname(data)  # noqa: PTH120 ("" for the current one)
    return Table("csv", headers[delimiter], records, folder, sum(1 for _ in records(())))


def check_encoding(path: Path) -> None:
    """Refuse a file that is not all UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        start = file.read(2)
        file.seek(0)
        try:
            while block := file.read(BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            encoding = "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin1"
            convert = f"iconv -f {encoding} -t utf-8 '{path}' > '{path.stem}.utf8{path.suffix}'"
            raise UserError(
                f"{path} is not UTF-8 ({error.reason}); if it is {encoding}, convert it: {convert}"
            ) from None


def read_header(path: Path, delimiter: str) -> list[str]:
    """The names in the first line that is not blank."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            cells = next((cells for cells in csv.reader(file, delimiter=delimiter, strict=True) if cells), [])
        except csv.Error:
            return []  # another delimiter may do better
    return [cell.strip() for cell in cells]


def read_rows(path: Path, delimiter: str, columns: Sequence[str]) -> Iterator[Record]:
    """The rows below the header."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        next(cells for cells in rows if cells)
        while True:
            line = f"{path.name}:{rows.line_num + 1}"
            try:
                cells = next(rows, None)
            except csv.Error as error:
                why = f"{error}: unclosed or misplaced quote (line {rows.line_num})"
                yield line, RestLost(why)
                continue
            if cells is None:
                return
            if len(cells) == len(columns):
                yield line, dict(zip(columns, cells, strict=True))
            elif cells:
                yield line, UserError(f"expected {len(columns)} cells, as in the header; got {len(cells)}")

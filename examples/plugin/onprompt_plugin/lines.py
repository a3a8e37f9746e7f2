"""A dataset reader: a text file with a picture, a tab and a prompt on each line. `onprompt run lines:FILE`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from onprompt.runs.datasets import Record, Table


def load(data: str) -> Table:
    """The file as a table."""
    path = Path(data)

    def records(columns: Sequence[str]) -> Iterator[Record]:  # noqa: ARG001 a reader may skip columns
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                image, _, prompt = line.rstrip("\n").partition("\t")
                yield f"line {number}", {"image": image, "prompt": prompt}

    return Table("lines", ("image", "prompt"), records, folder=str(path.parent))

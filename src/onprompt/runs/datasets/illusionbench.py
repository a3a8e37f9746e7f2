"""IllusionBench as its authors lay it out: folders that name shapes, and the .png files in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, Table
from onprompt.runs.datasets.folder import walk

SUFFIX = ".png"  # the original takes no other file, nor .PNG


def load(data: str) -> Table:
    """The images of a folder and of those below it."""
    root = Path(data)
    images = [path.endswith(SUFFIX) for path in walk(root) if not path.endswith("/")]
    count, others = sum(images), len(images) - sum(images)
    if not count:
        raise UserError(f"no {SUFFIX} files in {root}: the original counts no others")

    def records(_: Sequence[str]) -> Iterator[Record]:
        for path in walk(root):
            if path.endswith("/"):
                yield Record(path, UserError("the folder can't be listed"), rest_lost=True)
            elif path.endswith(SUFFIX):
                yield Record(path, {"id": path, "image": str(root / path)})

    left_out = f" ({others:,} that are no {SUFFIX} left out, as by the original)" if others else ""
    return Table(f"illusionbench{left_out}", ("image",), records, count=count, fixed={"image": "the files"})

"""IllusionBench as published: folders named after shapes, with .png files in them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, Table
from onprompt.runs.datasets.folder import walk

SUFFIX = ".png"  # the original reads no other file, not even .PNG


def load(data: str) -> Table:
    """The images of a folder and its subfolders."""
    root = Path(data)
    images = [path.endswith(SUFFIX) for path in walk(root)]
    count, others = sum(images), len(images) - sum(images)
    if not count:
        raise UserError(f"no {SUFFIX} files in {root}; like the original, this reads no other format")

    def records(_: Sequence[str]) -> Iterator[Record]:
        return ((path, {"id": path, "image": str(root / path)}) for path in walk(root) if path.endswith(SUFFIX))

    skipped = f" (skipped {others:,} not in {SUFFIX}, as the original does)" if others else ""
    return Table(f"illusionbench{skipped}", ("image",), records, count=count, fixed={"image": "the files"})

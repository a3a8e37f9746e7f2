"""Images by a pattern such as 'out/**/*.png', where ** matches any folders; prompts come as in a folder."""

import fnmatch
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Table
from onprompt.runs.datasets.folder import SUFFIXES, image_table, walk

MAGIC = re.compile(r"[*?[]")


def load(data: str) -> Table:
    """The images that match a pattern."""
    parts = Path(data).parts
    fixed = list(takewhile(lambda part: not MAGIC.search(part), parts))
    root, pattern = Path(*fixed), parts[len(fixed) :]
    if not root.is_dir():
        raise UserError(f"no such folder: {root}, where {data!r} would look for images")
    max_depth = float("inf") if "**" in pattern else len(pattern) - 1

    def images() -> Iterator[str]:
        return (path for path in walk(root, max_depth) if path.endswith("/") or matches(path.split("/"), pattern))

    if next(images(), None) is None:
        raise UserError(f"no images match {data!r} ({' '.join(sorted(SUFFIXES))})")
    return image_table("glob", root, images)


def matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern; * matches within one folder."""
    if not path or not pattern:
        return not path and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return matches(path, pattern[1:]) or matches(path[1:], pattern)
    return fnmatch.fnmatchcase(path[0], pattern[0]) and matches(path[1:], pattern[1:])

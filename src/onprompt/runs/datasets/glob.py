"""Images by a pattern such as 'out/**/*.png': ** stands for any folders; prompts are found as in a folder."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from onprompt.errors import UserError
from onprompt.runs.datasets import Table
from onprompt.runs.datasets.folder import SUFFIXES, table, walk

MAGIC = re.compile(r"[*?[]")


def load(data: str) -> Table:
    """The images that a pattern fits."""
    parts = Path(data).parts
    fixed = list(takewhile(lambda part: not MAGIC.search(part), parts))
    root, rest = Path(*fixed), parts[len(fixed) :]
    if not root.is_dir():
        raise UserError(f"there is no folder {root}, in which {data!r} looks for images")
    deepest = float("inf") if "**" in rest else len(rest) - 1

    def images() -> Iterator[str]:
        return (path for path in walk(root, deepest) if path.endswith("/") or fits(path.split("/"), rest))

    if next(images(), None) is None:
        raise UserError(f"no images fit {data!r} ({' '.join(sorted(SUFFIXES))})")
    return table("glob", root, images)


def fits(path: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a path fits a pattern, both in parts; a star stays in its folder."""
    if not path or not parts:
        return not path and all(part == "**" for part in parts)
    if parts[0] == "**":
        return fits(path, parts[1:]) or fits(path[1:], parts)
    return fnmatch.fnmatchcase(path[0], parts[0]) and fits(path[1:], parts[1:])

"""Which adjustments of the image as a whole an instruction asks for, by its words."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from onprompt.types import Edit

SIDES = ("turned left", "turned right")


@cache
def data() -> dict[str, Any]:
    """Words, and the adjustments that they ask for."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def asked_for(edit: Edit) -> tuple[str, ...]:
    """The adjustments that would carry out an operation on the image as a whole; none if it names an object."""
    words, said = data()["words"], f"{edit.value} {edit.phrase}".lower()
    named = edit.target is not None and edit.target.canonical not in words["frame"]
    objects = any(thing.canonical not in words["frame"] for thing in edit.result.things)
    if named or (objects and edit.operation not in ("restyle", "recolor")):
        return ()
    if re.search(rf"\b({'|'.join(words['artwork'])})\b", said):
        return ()
    found: list[str] = next((names for word, names in data()["asked"].items() if re.search(rf"\b(?:{word})", said)), [])
    if set(SIDES) <= set(found):
        sides = [side for side, key in zip(SIDES, ("left", "right"), strict=True) if any(w in said for w in words[key])]
        found = sides[:1] or found
    less = any(word in said for word in words["less"])
    return tuple(data()["opposites"].get(name, name) if less else name for name in found)

"""The ways in which an option may stand in an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from onprompt.illusion.protocol import ALSO, Split

# Words that hold an option; where English has none, one is made up.
WITHIN = {
    "car": "scarf",
    "cat": "education",
    "mug": "smuggler",
    "fork": "forklift",
    "bird": "birdcage",
    "bear": "beard",
    "oven": "woven",
    "dog": "dogma",
    "apple": "pineapple",
    "sport": "transport",
    "city": "velocity",
    "ocean": "oceanic",
    "forest": "afforestation",
    "cloud": "cloudless",
    "animal": "animalistic",
    "boat": "boathouse",
    "chair": "chairman",
    "nasa": "nasal",
    "bottle": "bottleneck",
}
# Words that people would let pass for an option.
MEANT = {
    "airplane": ("plane", "aircraft"),
    "bicycle": ("bike",),
    "car": ("automobile",),
    "cat": ("kitten",),
    "dog": ("puppy",),
    "mug": ("cup",),
    "sailboat": ("ship", "boat"),
    "vehicle": ("car",),
    "ocean": ("sea",),
    "forest": ("woods",),
    "city": ("town",),
}


class Pair(NamedTuple):
    """A shape and a scene, with another one of each to name instead."""

    split: Split
    shape: str
    scene: str
    shape2: str
    scene2: str

    @property
    def names(self) -> tuple[str, str]:
        """What an answer may name: the shape, and the scene."""
        return self.shape, self.scene


def both(pair: Pair, *patterns: str) -> Iterator[str]:
    """Patterns filled with the shape, and with the scene."""
    for pattern in patterns:
        yield from (pattern.format(name) for name in pair.names)


def respaced(name: str) -> Iterator[str]:
    """An option of two words with something else between them, in three cases."""
    words = re.split(r"[_ -]", name)
    if len(words) > 1:
        for between in ("_", " ", "-", "", "  ", "\n"):
            joined = between.join(words)
            yield from (joined, joined.lower(), joined.upper(), f"It is a {joined.lower()}.")


def within(name: str) -> str:
    """A word that holds an option without being it."""
    return WITHIN.get(name.lower(), f"x{name.lower()}x")


def recased(pair: Pair) -> Iterator[str]:
    """Both names in other cases."""
    for name in pair.names:
        yield from (name.lower(), name.upper(), name.swapcase(), name.title())


def together(pair: Pair) -> Iterator[str]:
    """Shape and scene in one answer."""
    yield f"{pair.shape}, {pair.scene}"
    yield f"{pair.scene}, {pair.shape}"
    yield f"A {pair.shape.lower()} in the {pair.scene.lower()}"


def several(pair: Pair) -> Iterator[str]:
    """The right option beside another one, or wrong ones alone."""
    for one, other in ((pair.shape, pair.shape2), (pair.scene, pair.scene2)):
        yield from (f"{one} or {other}", f"{other}, {one}", f"{one}, {other}", f"not {other} but {one.lower()}")
    yield from (f"{pair.shape2}, {pair.scene}", f"{pair.shape}, {pair.scene2}", f"{pair.shape2} {pair.scene2}")


def listed(pair: Pair) -> Iterator[str]:
    """All that could be chosen but for the scene, or but for the shape; or more than two of it."""
    for name in pair.names:
        yield ", ".join(option for option in pair.split.options if option != name)
    yield ", ".join((pair.shape2, pair.scene2, pair.shape))
    yield ", ".join((pair.shape2, pair.scene, "Zebra", pair.scene2))


def marked(pair: Pair) -> Iterator[str]:
    """Marks between the letters of an option."""
    for name in pair.names:
        if name.endswith("s"):
            yield from (f"{name[:-1]}'s", f"It is {name[:-1]}’s logo")
        if len(name) <= 4:
            yield f"{'.'.join(name.upper())}."


def respelt(pair: Pair) -> Iterator[str]:
    """Other spellings of an option, and other words for it."""
    for name in pair.names:
        for other in (*ALSO.get(name, ()), *MEANT.get(name.lower(), ())):
            yield from (other, f"It is a {other}.")


def pieces(pair: Pair) -> Iterator[str]:
    """The beginning, the end and the words of an option, each alone."""
    for name in pair.names:
        found = (name[:3], name[-4:], name[: len(name) // 2], *re.split(r"[_ -]", name))
        yield from (each.lower() for each in found if len(each) < len(name))


def odd(pair: Pair) -> Iterator[str]:
    """Letters that are others in lower case, or once folded; blanks of other kinds."""
    name = pair.shape.lower()
    yield from (name.replace("s", "ſ"), name.replace("k", "K"), f"\u200b{name}\u200b", name.replace("_", "\u00a0"))
    yield from (pair.scene.replace("s", "ſ"), pair.scene.replace("_", "\u00a0").lower(), "\x00", "ﬀ İ ß")


# ---- labels ----------------------------------------------------------------------------------------------------------


def spelt(pair: Pair) -> Iterator[tuple[str, str]]:
    """Labels as folders and files may spell them; the generator writes Stationary."""
    for shape in dict.fromkeys((pair.shape, pair.shape.replace("Stationery", "Stationary"), pair.shape.upper())):
        yield from ((shape, pair.scene), (shape.lower(), pair.scene.lower()), (shape, pair.scene.upper()))


def no_label(pair: Pair) -> Iterator[tuple[str, str]]:
    """One of the two is missing, or none."""
    yield from (("", pair.scene), (pair.shape, ""), (pair.shape, pair.scene))

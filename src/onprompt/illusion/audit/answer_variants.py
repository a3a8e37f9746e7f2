"""Variants of an option in an answer that no pattern can express: separators, spellings, parts, punctuation."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from onprompt.illusion.protocol import ALSO, Split, load_toml

WORDS = load_toml("audit/answer_words.toml")


class Pair(NamedTuple):
    """A shape and a scene, and another one of each to name instead."""

    split: Split
    shape: str
    scene: str
    other_shape: str
    other_scene: str

    @property
    def names(self) -> tuple[str, str]:
        """What a correct answer may name."""
        return self.shape, self.scene


def word_around(name: str) -> str:
    """A longer word that contains an option."""
    return str(WORDS["inside"].get(name.lower(), f"x{name.lower()}x"))


def separators(name: str) -> Iterator[str]:
    """A two-word option with other separators, in three cases."""
    words = re.split(r"[_ -]", name)
    if len(words) > 1:
        for separator in ("_", " ", "-", "", "  ", "\n"):
            joined = separator.join(words)
            yield from (joined, joined.lower(), joined.upper(), f"It is a {joined.lower()}.")


def spellings(pair: Pair) -> Iterator[str]:
    """Other spellings and synonyms of both options."""
    for name in pair.names:
        for other in (*ALSO.get(name, ()), *WORDS["synonyms"].get(name.lower(), ())):
            yield from (other, f"It is a {other}.")


def parts(pair: Pair) -> Iterator[str]:
    """The beginning, the end and the words of an option."""
    for name in pair.names:
        pieces = (name[:3], name[-4:], name[: len(name) // 2], *re.split(r"[_ -]", name))
        yield from (piece.lower() for piece in pieces if len(piece) < len(name))


def marks_inside(pair: Pair) -> Iterator[str]:
    """Apostrophes and full stops between the letters of an option."""
    for name in pair.names:
        if name.endswith("s"):
            yield from (f"{name[:-1]}'s", f"It is {name[:-1]}’s logo")
        if len(name) <= 4:
            yield f"{'.'.join(name.upper())}."


def lists(pair: Pair) -> Iterator[str]:
    """All options but the shape, and all but the scene."""
    for name in pair.names:
        yield ", ".join(option for option in pair.split.options if option != name)


def foreign_characters(pair: Pair) -> Iterator[str]:
    """Letters that change when lower-cased or case-folded, and unusual whitespace."""
    name = pair.shape.lower()
    yield from (name.replace("s", "ſ"), name.replace("k", "\u212a"), f"\u200b{name}\u200b", name.replace("_", "\u00a0"))
    yield from (pair.scene.replace("s", "ſ"), pair.scene.replace("_", "\u00a0").lower(), "\x00", "ﬀ İ ß")


VARIANTS: Mapping[str, Callable[[Pair], Iterator[str]]] = {
    "": lambda _: iter(()),
    "shape_separators": lambda pair: separators(pair.shape),
    "scene_separators": lambda pair: separators(pair.scene),
    "spellings": spellings,
    "parts": parts,
    "marks_inside": marks_inside,
    "lists": lists,
    "foreign_characters": foreign_characters,
}

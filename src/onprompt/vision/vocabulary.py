"""Words for sizes, colors, shapes and classes; the 80 COCO names, and how a vocabulary covers others."""

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from onprompt.types import Name, NameMatch

TERMS = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))


def values_by_word(kind: str) -> dict[str, str]:
    """The value that each word stands for: `seated` → `sitting`."""
    return {word: value for value, words in TERMS[kind].items() for word in words.split()}


COCO = tuple(" ".join(TERMS["vocabulary"]["coco"].split()).split(", "))


def resolve(name: Name, words: Collection[str], subtype_score: float) -> NameMatch | None:
    """How a vocabulary covers a name: by itself or a synonym, by its members, or only by a broader class."""
    own = [word for word in name.same if word in words]
    below = sorted(word for word in name.members if word in words)
    if own or below:
        return NameMatch(tuple(own[:1] or below))
    above = [word for word in name.broader if word in words]
    return NameMatch((above[0],), subtype_score) if above else None


def resolve_all(names: Iterable[Name], words: Collection[str], subtype_score: float) -> dict[str, NameMatch]:
    """How a vocabulary covers names; those that it does not cover are left out."""
    return {name.label: known for name in names if (known := resolve(name, words, subtype_score))}


# Words about the image as a whole → the property that can be measured: its kind, and the value that fits.
PROPERTIES = {
    word: (kind, value)
    for kind, values in TERMS["property"].items()
    for value, words in values.items()
    for word in words.split(", ")
}

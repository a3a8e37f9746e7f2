"""WordNet's nouns of visible things: their senses, and how these are related.

The file is written by training/ontology/build.py. WordNet's licence is in WORDNET-LICENSE.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sense:
    """A sense: its safe synonyms, all its nouns, and the numbers of its kinds, members and parts."""

    synonyms: tuple[str, ...]
    nouns: tuple[str, ...]
    kinds: tuple[int, ...]
    members: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """The file, split but not yet parsed: a line per sense, the senses of each noun, and nouns for invisible things."""

    lines: Sequence[str]
    nouns: Mapping[str, str]
    abstract: frozenset[str]


@cache
def data() -> Data:
    """The file, read at first use."""
    text = Path(__file__).with_name("wordnet.txt").read_text(encoding="utf-8")
    lines, nouns, abstract = (block.split("\n") for block in text.rstrip().split("\n\n"))
    return Data(lines, dict(line.split(";") for line in nouns), frozenset(abstract))


@cache
def sense(number: int) -> Sense:
    """The sense of that number."""
    words, *links = data().lines[number].split(";")
    synonyms, others = (tuple(filter(None, part.split(","))) for part in words.split("|"))
    kinds, members, parts = (tuple(map(int, part.split())) for part in links)
    return Sense(synonyms, synonyms + others, kinds, members, parts)


def is_noun(word: str) -> bool:
    """Whether a word is a noun."""
    return word in data().nouns or word in data().abstract


def senses(noun: str) -> tuple[int, ...]:
    """The visible senses of a noun, the usual one first."""
    return tuple(map(int, data().nouns.get(noun, "").split()))


def synonyms(noun: str) -> tuple[str, ...]:
    """The nouns that may safely replace each other, the most common first."""
    return next((nouns for number in senses(noun)[:1] if noun in (nouns := sense(number).synonyms)), ())

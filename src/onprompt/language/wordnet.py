"""WordNet's nouns of things that can be seen: their senses, and how senses lie under each other.

The file is written by training/ontology/build.py. WordNet's licence is in WORDNET-LICENSE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sense:
    """What a noun means: its safe synonyms, all its nouns, and the numbers of its kinds, members and parts."""

    synonyms: tuple[str, ...]
    nouns: tuple[str, ...]
    kinds: tuple[int, ...]
    members: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The file, cut but not yet read: a line each sense, the senses of each noun, nouns for what can't be seen."""

    lines: Sequence[str]
    nouns: Mapping[str, str]
    hidden: frozenset[str]


@cache
def facts() -> Facts:
    """All facts; read at first use."""
    text = Path(__file__).with_name("wordnet.txt").read_text(encoding="utf-8")
    lines, nouns, hidden = (block.split("\n") for block in text.rstrip().split("\n\n"))
    return Facts(lines, dict(line.split(";") for line in nouns), frozenset(hidden))


@cache
def sense(number: int) -> Sense:
    """The sense of that number."""
    words, *links = facts().lines[number].split(";")
    synonyms, others = (tuple(filter(None, part.split(","))) for part in words.split("|"))
    kinds, members, parts = (tuple(map(int, part.split())) for part in links)
    return Sense(synonyms, synonyms + others, kinds, members, parts)


def is_noun(word: str) -> bool:
    """Whether a word is a noun at all."""
    return word in facts().nouns or word in facts().hidden


def senses(noun: str) -> tuple[int, ...]:
    """What a noun means where it can be seen, the usual sense first."""
    return tuple(map(int, facts().nouns.get(noun, "").split()))


def synonyms(noun: str) -> tuple[str, ...]:
    """The nouns that may safely stand for each other, the commonest first."""
    return next((found for number in senses(noun)[:1] if noun in (found := sense(number).synonyms)), ())

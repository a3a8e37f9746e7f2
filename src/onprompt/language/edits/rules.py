"""The rules for instructions, and which of them fit an operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from onprompt.language import lexicon as lex
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.parting import gift, is_place, parting
from onprompt.language.edits.words import Words


@dataclass(frozen=True, slots=True)
class Reading:
    """A rule that fits: what is done, and the words captured by it."""

    act: str
    rule: int
    parts: Mapping[str, Words]
    parted: bool = False  # a word stands between the captures


@cache
def rules(table: str) -> list[tuple[re.Pattern[str], str]]:
    """A table of lists, compiled."""
    lines = (line.rpartition("=") for line in table.strip().splitlines())
    return [(re.compile("".join(map(term, left.split()))), right.strip()) for left, _, right in lines]


def term(word: str) -> str:
    """One word of a rule, as a regular expression over words with a blank before each."""
    if len(word) == 1 and word.isupper():
        return rf"(?P<{word}>(?: \S+)+?)"
    if word == "_":
        return r"(?: \S+)+?"
    optional = "?" * word.endswith("?")
    ways = [way for each in word.removesuffix("?").split("/") for way in lists.VERBS.get(each, (each,))]
    longest = sorted(ways, key=lambda way: -len(way.split()))
    return f"(?: (?:{'|'.join(map(re.escape, longest))})(?= |$)){optional}"


def readings(clause: Words, table: str) -> Iterator[Reading]:
    """The rules of a table that fit a clause, in their order."""
    line = "".join(f" {word}" for word in clause.all)
    for index, (pattern, act) in enumerate(rules(table)):
        if found := pattern.fullmatch(line):
            parts = {
                name: clause.part(line.count(" ", 0, found.start(name)), line.count(" ", 0, found.end(name)))
                for name in found.groupdict()
            }
            ends = sorted(found.span(name) for name in parts)
            parted = len(ends) > 1 and ends[0][1] < ends[1][0]
            if all(map(len, parts.values())) and (reading := completed(Reading(act, index, parts, parted))):
                yield reading


def completed(reading: Reading) -> Reading | None:
    """A reading whose captures have no word between them, parted where the first ends; None where it can't be."""
    parts = list(reading.parts.items())
    if reading.act == "become" and len(parts) > 1 and f"{parts[0][1].all[-1]} to" in lex.RELATIONS:
        return None  # next to
    if reading.act not in PARTED or len(parts) < 2 or reading.parted:
        return reading
    (one, first), (other, second) = parts
    whole = first.plus(second)
    cut = PARTED[reading.act](whole.all)
    return None if cut is None else replace(reading, parts={one: whole.part(0, cut), other: whole.part(cut)})


def place_at(words: Sequence[str]) -> int | None:
    """Where a place begins: `a cup | on the table`."""
    return next((at for at in range(1, len(words)) if is_place(words, at)), None)


PARTED: Mapping[str, Callable[[Sequence[str]], int | None]] = {
    **{"make": parting, "paint": parting, "give": gift, "move": place_at, "put": place_at}
}

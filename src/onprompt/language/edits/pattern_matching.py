"""The patterns of lexicon.toml, and which of them match an operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from onprompt.language import lexicon_links as links
from onprompt.language.edits.lexicon import CLASSES, DATA
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.phrase_boundaries import predicate_start, recipient_end, starts_place

CAPTURES = {"X": "target", "Y": "value", "P": "place"}


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern that matches: its rule, and the words that it captures."""

    pattern: str
    rule: str
    arguments: list[str]
    captures: Mapping[str, Phrase]


def compile_term(term: str) -> str:
    """One term of a pattern, as a regular expression over words with a blank before each."""
    if term in CAPTURES:
        return rf"(?P<{CAPTURES[term]}>(?: \S+)+?)"
    if term == "_":
        return r"(?: \S+)+?"
    names = term.removesuffix("?").split("/")
    phrases = sorted(
        {phrase for name in names for phrase in CLASSES.get(name, (name,))}, key=lambda way: -way.count(" ")
    )
    return f"(?: (?:{'|'.join(map(re.escape, phrases))})(?= |$)){'?' * term.endswith('?')}"


def compile_patterns(table: Mapping[str, str]) -> list[tuple[str, re.Pattern[str], str]]:
    """Each pattern of a table, compiled, with its rule."""
    return [(text, re.compile("".join(map(compile_term, text.split()))), rule) for text, rule in table.items()]


COMMANDS, DESCRIPTIONS = compile_patterns(DATA["commands"]), compile_patterns(DATA["descriptions"])


def matches(clause: Phrase, patterns: Sequence[tuple[str, re.Pattern[str], str]]) -> Iterator[Match]:
    """The patterns that match a clause, in their order."""
    line = "".join(f" {word}" for word in clause.words)
    for text, pattern, rule in patterns:
        name, _, argument = rule.partition(" ")
        if found := pattern.fullmatch(line):
            spans = {name: found.span(name) for name in found.groupdict()}
            captures = {
                name: clause.part(line.count(" ", 0, start), line.count(" ", 0, end))
                for name, (start, end) in spans.items()
            }
            ends = sorted(spans.values())
            adjacent = len(ends) > 1 and ends[0][1] == ends[1][0]
            if all(captures.values()) and (
                match := settle(Match(text, name, [argument] * bool(argument), captures), adjacent)
            ):
                yield match


def settle(match: Match, adjacent: bool) -> Match | None:
    """A match whose captures have no word between them, cut where the first ends; None where none fits."""
    if len(match.captures) < 2:
        return match
    (name, first), (other, second) = match.captures.items()
    if match.rule == "become" and f"{first.words[-1]} to" in links.RELATIONS:
        return None  # next to
    if not adjacent or match.rule not in BOUNDARIES:
        return match
    both = first.plus(second)
    cut = BOUNDARIES[match.rule](both.words)
    return None if cut is None else replace(match, captures={name: both.part(0, cut), other: both.part(cut)})


def place_start(words: Sequence[str]) -> int | None:
    """Where a place begins: `a cup | on the table`."""
    return next((at for at in range(1, len(words)) if starts_place(words, at)), None)


BOUNDARIES: Mapping[str, Callable[[Sequence[str]], int | None]] = {
    "make": predicate_start,
    "paint": predicate_start,
    "give": recipient_end,
    "move": place_start,
    "put": place_start,
}

"""The patterns of lexicon.toml, and which of them a clause matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits.phrase import Phrase, place_start, predicate_start, recipient_end

CAPTURES = {"X": "target", "Y": "value", "P": "place"}
BOUNDARIES: Mapping[str, Callable[[Sequence[str]], int | None]] = {  # of rules whose phrases no word separates
    **{"make": predicate_start, "recolor": predicate_start},
    **{"give": recipient_end, "move": place_start, "put": place_start},
}


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern that matches: its rule, and the words that it captures."""

    pattern: str
    rule: str
    argument: str = ""
    captures: Mapping[str, Phrase] = field(default_factory=dict)


def compile_term(term: str) -> str:
    """One term of a pattern, as a regular expression over words with a blank before each."""
    if term == "_":
        return r"(?: \S+)+?"
    name, _, listed = term.partition("=")
    words = compile_words(listed) if listed else r"(?: \S+)+?"
    return f"(?P<{CAPTURES[name]}>{words})" if name in CAPTURES else compile_words(term)


def compile_words(term: str) -> str:
    """The words of a term: those of classes, alternatives, a blank written as `_`; optional with `?`."""
    names = term.removesuffix("?").split("/")
    phrases = {re.escape(phrase) for name in names for phrase in ed.CLASSES.get(name, (name.replace("_", " "),))}
    longest_first = sorted(phrases, key=lambda phrase: (-phrase.count(" "), phrase))
    return f"(?: (?:{'|'.join(longest_first)})(?= |$)){'?' * term.endswith('?')}"


def compile_patterns(table: Mapping[str, str]) -> list[tuple[re.Pattern[str], Match]]:
    """Each pattern of a table as a regular expression, with the match that it makes."""
    matches = [Match(text, *rule.partition(" ")[::2]) for text, rule in table.items()]
    return [(re.compile("".join(map(compile_term, match.pattern.split()))), match) for match in matches]


COMMANDS, DESCRIPTIONS = compile_patterns(ed.DATA["commands"]), compile_patterns(ed.DATA["descriptions"])


def matches(clause: Phrase, patterns: Sequence[tuple[re.Pattern[str], Match]]) -> Iterator[Match]:
    """The patterns that match a clause, in their order."""
    line = "".join(f" {word}" for word in clause.words)
    for pattern, match in patterns:
        if matched := pattern.fullmatch(line):
            spans = {name: matched.span(name) for name in matched.groupdict()}
            captures = {
                name: clause.part(line.count(" ", 0, start), line.count(" ", 0, end))
                for name, (start, end) in spans.items()
            }
            ends = sorted(spans.values())
            adjacent = len(ends) > 1 and ends[0][1] == ends[1][0]
            if adjacent and match.rule in BOUNDARIES:  # no word between them: cut where the first ends
                both = Phrase(clause.instruction, tuple(unit for part in captures.values() for unit in part.units))
                at = BOUNDARIES[match.rule](both.words)
                captures = dict(zip(captures, (both.part(0, at), both.part(at)), strict=True)) if at else {}
            beside = match.rule == "become" and f"{captures['target'].words[-1]} to" in lex.RELATIONS  # next | to
            if (captures or not spans) and all(captures.values()) and not beside:
                yield replace(match, captures=captures)

"""Is somebody's copy of a judge's prompt ours? If not: which words differ, and which parts of the rubric are gone."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from onprompt import plugins
from onprompt.illusion.audit.finding import Place, places
from onprompt.illusion.audit.parts import parts
from onprompt.illusion.audit.showing import digest, quoted
from onprompt.types import Rubric

WORD = re.compile(r"\S+")
TOGETHER = 3  # words in a row by which texts are known to be alike
WIDER = 2  # a copy is looked for in a stretch of so many times our words
ROOM = 300  # and so many more
NEAR = 2  # equal words between two differences that are told as one
LOST = 0.25  # of a part's words: where fewer are there, the part is missing
LIKE_NONE = 0.02  # of what two texts share, below which one is no copy of the other
# What a program puts in later, and what stands before it: the prompt, the instruction, the id.
PUT_IN = r"(?:\{[^{}]*\}|%s|%\(\w+\)s|\$\{?\w+\}?|<[\w ]+>|\[[\w ]+\])"
TAIL = re.compile(rf"\s*(?:(?:Input Prompt|User prompt|Edit Instruction|image_id):\s*)?([\"'“]?){PUT_IN}[\"'”]?\s*|\s*")


class State(StrEnum):
    """What a copy is."""

    SAME = "same"
    SPACE = "same up to white space"
    DEPARTS = "departs"


class Hunk(NamedTuple):
    """Words that differ: the line in the file or string and in our text, what stands there, and the word before."""

    line: int
    our_line: int
    ours: str
    theirs: str
    after: str


class Lack(NamedTuple):
    """A part of the rubric that is not there as it should be, and how many of its words are."""

    title: str
    kept: int
    words: int

    @property
    def missing(self) -> bool:
        """Whether so little is left that it can't be called changed."""
        return self.kept < LOST * self.words

    def __str__(self) -> str:
        return f"{self.title}: {'missing' if self.missing else f'{self.kept:,} of its {self.words:,} words are there'}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A file beside the text of a rubric that it is most like."""

    rubric: str
    version: str
    state: State
    place: Place
    sha256: str
    their_sha256: str
    hunks: tuple[Hunk, ...] = ()
    lacks: tuple[Lack, ...] = ()
    likeness: float = 1.0


class Words(NamedTuple):
    """The words of a text, and where each begins."""

    words: list[str]
    starts: list[int]


def compare(name: str, path: Path) -> Comparison:
    """A file beside the text of a rubric, in the version and at the place where they are most alike."""
    module = plugins.load("rubrics", name)
    texts = {each.version: each.text for each in vars(module).values() if isinstance(each, Rubric)}
    known = {version: shingles(text.split()) for version, text in texts.items()}
    found = [
        (likeness(known[version], theirs), place.text == text, text in place.text, -number, version, place)
        for number, place in enumerate(places(path))
        for theirs in [shingles(place.text.split())]
        for version, text in texts.items()
    ]
    alike, *_, version, place = max(found, key=lambda each: each[:4])
    return compared(name, version, texts[version], place, alike)


def compared(name: str, version: str, ours: str, place: Place, alike: float) -> Comparison:
    """One of our texts beside one place."""
    state, theirs = state_of(ours, place)
    told = Comparison(name, version, state, place, digest(ours), digest(theirs), likeness=alike)
    if state is not State.DEPARTS:
        return told
    mine, other = words_of(ours), window(ours, words_of(place.text))
    blocks = opcodes(mine.words, other.words)
    hunks = tuple(hunks_of(blocks, mine, other, ours, place))
    return Comparison(
        name,
        version,
        state,
        place,
        told.sha256,
        told.their_sha256,
        hunks,
        tuple(lacks(name, ours, mine, blocks)),
        alike,
    )


def state_of(ours: str, place: Place) -> tuple[State, str]:
    """Same, same up to white space or not; and the text that is the copy."""
    before, found, after = place.text.partition(ours)
    if found and (place.document or (not before.strip() and TAIL.fullmatch(after))):
        return State.SAME, ours
    flat, theirs = " ".join(ours.split()), " ".join(place.text.split())
    before, found, after = theirs.partition(flat)
    if found and (place.document or (not before and TAIL.fullmatch(after))):
        return State.SPACE, place.text
    return State.DEPARTS, place.text


# ---- likeness --------------------------------------------------------------------------------------------------------


def words_of(text: str) -> Words:
    """A text in words."""
    found = list(WORD.finditer(text))
    return Words([each[0] for each in found], [each.start() for each in found])


def shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    """All stretches of a few words."""
    return {tuple(words[place : place + TOGETHER]) for place in range(len(words) - TOGETHER + 1)}


def likeness(ours: set[tuple[str, ...]], theirs: set[tuple[str, ...]]) -> float:
    """The share of stretches that two texts have in common, of all that they have."""
    return len(ours & theirs) / max(1, len(ours | theirs))


def window(ours: str, theirs: Words) -> Words:
    """The stretch of a long text in which most of ours is: a diff of all of it would take for ever."""
    known = shingles(ours.split())
    size = WIDER * len(ours.split()) + ROOM
    if len(theirs.words) <= size:
        return theirs
    hits = [place for place in range(len(theirs.words)) if tuple(theirs.words[place : place + TOGETHER]) in known]
    counted = [(bisect_right(hits, start + size) - place, -start) for place, start in enumerate(hits)]
    start = max(0, -max(counted, default=(0, 0))[1] - NEAR)
    return Words(theirs.words[start : start + size], theirs.starts[start : start + size])


# ---- differences -----------------------------------------------------------------------------------------------------

Block = tuple[str, int, int, int, int]


def opcodes(ours: Sequence[str], theirs: Sequence[str]) -> list[Block]:
    """How one list of words becomes the other, with differences that are close together made one."""
    told: list[Block] = []
    for block in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        kind, i, j, k, n = block
        if kind != "equal" and len(told) > 1 and told[-1][0] == "equal" and told[-1][2] - told[-1][1] <= NEAR:
            told.pop()
            _, first, _, start, _ = told.pop()
            told.append(("replace", first, j, start, n))
        else:
            told.append((kind, i, j, k, n))
    return told


def hunks_of(blocks: Sequence[Block], mine: Words, other: Words, ours: str, place: Place) -> Iterator[Hunk]:
    """Each difference with its lines."""
    for kind, i, j, k, n in blocks:
        put_in = i == j == len(mine.words) and TAIL.fullmatch(place.text, other.starts[k])
        if kind != "equal" and not put_in:
            line = max(1, place.line) + line_at(place.text, other, k)
            before = mine.words[i - 1] if i else ""
            yield Hunk(line, 1 + line_at(ours, mine, i), " ".join(mine.words[i:j]), " ".join(other.words[k:n]), before)


def line_at(text: str, words: Words, place: int) -> int:
    """How many lines come before a word, or before the end."""
    return text.count("\n", 0, words.starts[place] if place < len(words.starts) else len(text))


def lacks(rubric: str, ours: str, mine: Words, blocks: Sequence[Block]) -> Iterator[Lack]:
    """The parts of which words are gone or changed."""
    kept = {place for kind, i, j, *_ in blocks if kind == "equal" for place in range(i, j)}
    for part in parts(rubric, ours):
        words = [place for place, start in enumerate(mine.starts) if part.start <= start < part.end]
        left = sum(place in kept for place in words)
        if left < len(words):
            yield Lack(part.title, left, len(words))


# ---- for people and programs -----------------------------------------------------------------------------------------


def lines(path: Path, told: Comparison, most: int = 20) -> Iterator[str]:
    """What was found, and the first differences."""
    place = told.place
    where = str(path) if place.name == "the file" else f"{place.name} of {path}"
    yield f"{where} and {told.rubric} {told.version}: {told.state}"
    yield f"ours   sha256 {told.sha256}"
    yield f"theirs sha256 {told.their_sha256}"
    if told.state is State.SPACE:
        yield "the words are the same, but a model reads other bytes"
    if told.state is not State.DEPARTS:
        return
    if told.likeness < LIKE_NONE:
        yield "hardly anything of our text is there: this is no copy of it"
        return
    yield from (f"  {lack}" for lack in told.lacks)
    for hunk in told.hunks[:most]:
        after = f", after {quoted(hunk.after)}" if hunk.after else ""
        yield f"  {'line' if place.line else 'its line'} {hunk.line} (ours {hunk.our_line}){after}: {change(hunk)}"
    if len(told.hunks) > most:
        yield f"  … and {len(told.hunks) - most:,} more; --json lists all"


def change(hunk: Hunk) -> str:
    """A difference in words."""
    if not hunk.theirs:
        return f"{quoted(hunk.ours)} is missing"
    if not hunk.ours:
        return f"{quoted(hunk.theirs)} is added"
    return f"{quoted(hunk.ours)} is {quoted(hunk.theirs)}"


def document(path: Path, told: Comparison) -> dict[str, Any]:
    """The comparison as JSON."""
    return {
        "format": "onprompt.audit/1",
        "file": str(path),
        "rubric": told.rubric,
        "version": told.version,
        "state": told.state.value,
        "place": told.place.name,
        "line": told.place.line,
        "sha256": told.sha256,
        "their_sha256": told.their_sha256,
        "likeness": round(told.likeness, 4),
        "parts": [{**lack._asdict(), "missing": lack.missing} for lack in told.lacks],
        "differences": [hunk._asdict() for hunk in told.hunks],
    }

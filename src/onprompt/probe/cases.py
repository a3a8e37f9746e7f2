"""The probes: what a judge is asked about which pictures, and which answers pass."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onprompt.probe.pictures import BLANK, NOISE

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
PROMPTS: dict[str, str] = DATA["prompts"]
FILLER: str = DATA["filler"]
SHIFTS = (1, 5)  # how far down the list the prompts are that a picture is shown with by mistake


@dataclass(frozen=True, slots=True)
class Case:
    """A picture, or an edit if there is one before it, with a prompt or instruction."""

    picture: str
    prompt: str
    before: str = ""
    fresh: bool = False  # never answered from the cache


@dataclass(frozen=True, slots=True)
class Comparison:
    """One or two cases, and the rule for their values: low, higher, same or near."""

    rule: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """Comparisons of one kind; `about` says what passes."""

    name: str
    about: str
    comparisons: tuple[Comparison, ...]

    @property
    def edits(self) -> bool:
        """Whether it is about edits."""
        return any(case.before for comparison in self.comparisons for case in comparison.cases)


def compare(rule: str, pairs: Iterable[tuple[Case, ...]]) -> tuple[Comparison, ...]:
    """Comparisons by one rule."""
    return tuple(Comparison(rule, cases) for cases in pairs)


def empty(pictures: Iterable[str]) -> tuple[Comparison, ...]:
    """Pictures of nothing, with prompts for something."""
    return compare("low", ((Case(picture, PROMPTS[name]),) for picture in pictures for name in DATA["plain"]))


def better(prompts: Iterable[tuple[str, str, str]]) -> tuple[Comparison, ...]:
    """Pictures with a prompt that fits and one that doesn't."""
    return compare("higher", ((Case(picture, right), Case(picture, wrong)) for picture, right, wrong in prompts))


def shuffled() -> tuple[Comparison, ...]:
    """Each picture with its own prompt and with those of others."""
    names = list(PROMPTS)
    pairs = [(name, names[(place + shift) % len(names)]) for shift in SHIFTS for place, name in enumerate(names)]
    return better((name, PROMPTS[name], PROMPTS[other]) for name, other in pairs)


def replaced(details: Sequence[tuple[str, str, str]]) -> tuple[Comparison, ...]:
    """A picture's own prompt, and the same with a wrong detail."""
    return better((name, PROMPTS[name], PROMPTS[name].replace(right, wrong)) for name, right, wrong in details)


def reversed_edits() -> tuple[Comparison, ...]:
    """Each edit and its reverse."""
    edits = DATA["edits"]
    return compare("higher", ((Case(after, text, before), Case(before, text, after)) for before, after, text in edits))


def failed_edits(results: Iterable[str] = ()) -> tuple[Comparison, ...]:
    """Edits with other pictures in the place of the result: the picture before, unless others are given."""
    cases = [(before, text, after) for before, _, text in DATA["edits"] for after in results or (before,)]
    return compare("low", ((Case(after, text, before),) for before, text, after in cases))


def shuffled_edits() -> tuple[Comparison, ...]:
    """Each edit with its own instruction and with that of another."""
    edits = DATA["edits"]
    others = [text for _, _, text in (*edits[1:], edits[0])]
    pairs = ((Case(e[1], e[2], e[0]), Case(e[1], other, e[0])) for e, other in zip(edits, others, strict=True))
    return compare("higher", pairs)


def repeated() -> tuple[Comparison, ...]:
    """Each picture with its own prompt, twice."""
    return compare("same", ((Case(*case), Case(*case, fresh=True)) for case in PROMPTS.items()))


def reordered() -> tuple[Comparison, ...]:
    """Two objects in either order."""
    orders = DATA["orders"]
    return compare("near", ((Case(name, f"{a} and {b}"), Case(name, f"{b} and {a}")) for name, a, b in orders))


def lengthened() -> tuple[Comparison, ...]:
    """Each picture with its own prompt, and with the same followed by filler."""
    prompts = PROMPTS.items()
    return compare("near", ((Case(name, f"{text}."), Case(name, f"{text}. {FILLER}")) for name, text in prompts))


def endings() -> tuple[Comparison, ...]:
    """Long prompts with a right and with a wrong ending."""
    prompts = ((name, f"{start} {FILLER}", right, wrong) for name, start, right, wrong in DATA["endings"])
    return better((name, f"{start} {right}", f"{start} {wrong}") for name, start, right, wrong in prompts)


PROBES = (
    Probe("blank picture", "scores in the lowest quarter of the scale", empty(BLANK)),
    Probe("noise", "scores in the lowest quarter of the scale", empty(NOISE)),
    Probe("shuffled prompts", "a picture's own prompt has a higher value than another's", shuffled()),
    Probe("wrong count", "the right number has the higher value", replaced(DATA["counts"])),
    Probe("wrong colour", "the right colour has the higher value", replaced(DATA["colours"])),
    Probe("wrong word", "the word on the sign has the higher value", replaced(DATA["words"])),
    Probe("swapped before/after", "the edit has a higher value than its reverse", reversed_edits()),
    Probe("unchanged picture", "an edit that did nothing scores in the lowest quarter of the scale", failed_edits()),
    Probe("blank edit", "an edit that left nothing scores in the lowest quarter of the scale", failed_edits(BLANK)),
    Probe("shuffled instructions", "an edit's own instruction has a higher value than another's", shuffled_edits()),
    Probe("repeated question", "the score stays the same without the cache", repeated()),
    Probe("order of objects", "the value changes by at most one step of the scale", reordered()),
    Probe("long prompt", "filler changes the value by at most one step of the scale", lengthened()),
    Probe("wrong end of long prompt", "the right ending has the higher value", endings()),
)

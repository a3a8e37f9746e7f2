"""The probes: what a judge is asked about which pictures, and which answers pass."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onprompt.probe.pictures import BLANK, NOISE

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
PROMPTS: dict[str, str] = DATA["prompts"]
NAMES = list(PROMPTS)
EDITS: list[tuple[str, str, str]] = DATA["edits"]  # picture before, picture after, instruction
FILLER: str = DATA["filler"]
SHIFTS = (1, 5)  # how far down the list the prompts are that a picture is shown with by mistake


@dataclass(frozen=True, slots=True)
class Case:
    """A picture, or an edit if there is one before it, with a prompt or instruction."""

    picture: str
    prompt: str
    before: str = ""
    fresh: bool = False  # never answered from the cache


Cases = tuple[Case, ...]  # one, or two that are compared


@dataclass(frozen=True, slots=True)
class Probe:
    """Comparisons by one rule for their values: low, higher, same or near; `about` says what passes."""

    name: str
    about: str
    rule: str
    comparisons: tuple[Cases, ...]

    @property
    def edits(self) -> bool:
        """Whether it is about edits."""
        return any(case.before for cases in self.comparisons for case in cases)


def lowest(name: str, what: str, cases: Iterable[Case]) -> Probe:
    """Pictures, or edits, that must score low."""
    return Probe(name, f"{what}scores in the lowest quarter of the scale", "low", tuple((case,) for case in cases))


def better(name: str, about: str, prompts: Iterable[tuple[str, str, str]]) -> Probe:
    """Pictures with a prompt that fits and one that doesn't."""
    pairs = ((Case(picture, right), Case(picture, wrong)) for picture, right, wrong in prompts)
    return Probe(name, about, "higher", tuple(pairs))


def detail(name: str, about: str, details: Iterable[tuple[str, str, str]]) -> Probe:
    """A picture's own prompt, and the same with a wrong detail."""
    prompts = ((picture, PROMPTS[picture], PROMPTS[picture].replace(right, wrong)) for picture, right, wrong in details)
    return better(name, about, prompts)


def of_nothing(pictures: Iterable[str]) -> Iterable[Case]:
    """Pictures of nothing, with prompts for something."""
    return (Case(picture, PROMPTS[name]) for picture in pictures for name in DATA["plain"])


PROBES = (
    lowest("blank picture", "", of_nothing(BLANK)),
    lowest("noise", "", of_nothing(NOISE)),
    better(
        "shuffled prompts",
        "a picture's own prompt has a higher value than another's",
        (
            (name, PROMPTS[name], PROMPTS[NAMES[(place + shift) % len(NAMES)]])
            for shift in SHIFTS
            for place, name in enumerate(NAMES)
        ),
    ),
    detail("wrong count", "the right number has the higher value", DATA["counts"]),
    detail("wrong colour", "the right colour has the higher value", DATA["colours"]),
    detail("wrong word", "the word on the sign has the higher value", DATA["words"]),
    Probe(
        "swapped before/after",
        "the edit has a higher value than its reverse",
        "higher",
        tuple((Case(after, text, before), Case(before, text, after)) for before, after, text in EDITS),
    ),
    lowest("unchanged picture", "an edit that did nothing ", (Case(before, text, before) for before, _, text in EDITS)),
    lowest(
        "blank edit",
        "an edit that left nothing ",
        (Case(blank, text, before) for before, _, text in EDITS for blank in BLANK),
    ),
    Probe(
        "shuffled instructions",
        "an edit's own instruction has a higher value than another's",
        "higher",
        tuple(
            (Case(after, text, before), Case(after, other, before))
            for (before, after, text), (_, _, other) in zip(EDITS, (*EDITS[1:], EDITS[0]), strict=True)
        ),
    ),
    Probe(
        "repeated question",
        "the score stays the same without the cache",
        "same",
        tuple((Case(*case), Case(*case, fresh=True)) for case in PROMPTS.items()),
    ),
    Probe(
        "order of objects",
        "the value changes by at most one step of the scale",
        "near",
        tuple((Case(name, f"{a} and {b}"), Case(name, f"{b} and {a}")) for name, a, b in DATA["orders"]),
    ),
    Probe(
        "long prompt",
        "filler changes the value by at most one step of the scale",
        "near",
        tuple((Case(name, f"{text}."), Case(name, f"{text}. {FILLER}")) for name, text in PROMPTS.items()),
    ),
    better(
        "wrong end of long prompt",
        "the right ending has the higher value",
        (
            (name, f"{start} {FILLER} {right}", f"{start} {FILLER} {wrong}")
            for name, start, right, wrong in DATA["endings"]
        ),
    ),
)

"""What an audit says: points, each with one of four verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

UNTRIED = "what could not be tried"


class Verdict(StrEnum):
    """What a point comes to; `changes the score` wherever the opposite can't be shown."""

    ALIGNED = "aligned"
    HARMLESS = "harmless difference"
    CHANGES = "changes the score"
    SILENT = "not described"


ORDER = (
    Verdict.CHANGES,
    Verdict.HARMLESS,
    Verdict.SILENT,
    Verdict.ALIGNED,
)  # the first that is there is what a group is


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was compared: what the original does, what the re-implementation does, what that means."""

    section: str  # prompt, options, scoring, gold or resize
    title: str
    where: str  # the split and the question; "" for all
    original: str
    theirs: str
    verdict: Verdict
    note: str = ""
    example: Mapping[str, str] = field(default_factory=dict)  # the shortest that shows the difference
    effect: str = ""  # on the answers that were given


def silent(section: str, title: str, where: str, original: str, note: str = "") -> Point:
    """A point on which the description says nothing."""
    return Point(section, title, where, original, "", Verdict.SILENT, note)


def untried(section: str, left: int, of: str, why: str) -> Point:
    """The point on all that a function was not called with, or did not get to."""
    return silent(section, UNTRIED, "", "", f"{left:,} of {of} were not tried: the function {why}")


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of some verdicts."""
    found = set(verdicts)
    return next((each for each in ORDER if each in found), Verdict.SILENT)

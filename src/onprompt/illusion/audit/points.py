"""The points of an audit, each with one of four verdicts, and how they quote texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

NOT_TRIED = "not tried"


class Verdict(StrEnum):
    """What a point comes to, the worst first; `changes the score` unless the opposite can be shown."""

    CHANGES = "changes the score"
    HARMLESS = "harmless difference"
    NOT_DESCRIBED = "not described"
    ALIGNED = "aligned"


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was compared: what the original does, what the re-implementation does, and the verdict."""

    section: str  # prompt, options, scoring, gold or resize
    title: str
    where: str  # the split and the question; "" for all
    original: str
    theirs: str
    verdict: Verdict
    note: str = ""
    example: Mapping[str, str] = field(default_factory=dict)  # the shortest that shows the difference
    effect: str = ""  # on the given answers


def not_described(section: str, title: str, where: str, original: str, note: str = "") -> Point:
    """A point that the description leaves open."""
    return Point(section, title, where, original, "", Verdict.NOT_DESCRIBED, note)


def not_tried(section: str, count: int, of: str, why: str) -> Point:
    """The point on all calls that were not made or not completed."""
    return not_described(section, NOT_TRIED, "", "", f"{count:,} of {of} were not tried: the function {why}")


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts."""
    return min(verdicts, key=list(Verdict).index, default=Verdict.NOT_DESCRIBED)


def visible(text: str) -> str:
    r"""A text on one line with its invisible characters escaped: \n, \xa0, \u200b."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quoted(text: str, longest: int = 80) -> str:
    """A text in quotation marks; the middle of a long one is left out."""
    short = text if len(text) <= longest else f"{text[: longest // 2]}…{text[-longest // 3 :]}"
    return f'"{visible(short)}"'


def option_list(options: Iterable[str]) -> str:
    """Options separated by commas, quoted where their ends would be unclear."""
    return ", ".join(
        quoted(option) if not option or option != option.strip() or "," in option else visible(option)
        for option in options
    )

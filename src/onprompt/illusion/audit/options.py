"""Section 2: the option lists, in their order and spelling."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from onprompt.illusion.audit.description import Target
from onprompt.illusion.audit.points import Point, Verdict, silent
from onprompt.illusion.audit.showing import named
from onprompt.illusion.protocol import COMPLEX, SCENES, SIMPLE, SPLITS, spelling

SHAPES, SCENE_OPTIONS = "shape options", "scene options"
NEAR = 0.75  # of a spelling's likeness, above which one option is taken for the other


def compare(target: Target) -> Iterator[Point]:
    """The shapes of each split, and the scenes."""
    for split in SPLITS.values():
        given = target.options.shapes.get(split.name)
        yield compare_lists(SHAPES, split.name, split.shapes, given)
    yield compare_lists(SCENE_OPTIONS, "all splits", SCENES, target.options.every_scene)
    for name, given, original in (
        ("simple", target.options.simple, SIMPLE),
        ("complex", target.options.complex, COMPLEX),
    ):
        if given is not None:
            yield compare_lists(SCENE_OPTIONS, f"{name} ones", original, given)


def compare_lists(title: str, where: str, original: Sequence[str], given: Sequence[str] | None) -> Point:
    """One list."""
    if given is None:
        return silent("options", title, where, listed(original))
    if tuple(given) == tuple(original):
        return Point("options", title, where, listed(original), listed(given), Verdict.ALIGNED)
    told = list(departures(original, given))
    note = "; ".join(told)
    example = {"original": listed(original), "theirs": listed(given), "first": told[0]}
    return Point("options", title, where, listed(original), listed(given), Verdict.CHANGES, note, example)


def departures(original: Sequence[str], given: Sequence[str]) -> Iterator[str]:
    """What was dropped, added, spelt otherwise, repeated or put elsewhere."""
    dropped = [each for each in original if each not in given]
    added = [each for each in dict.fromkeys(given) if each not in original]
    for each in list(dropped):
        other = respelt(each, added)
        if other:
            yield f"{named(each)} is spelt {named(other)}"
            dropped.remove(each)
            added.remove(other)
    if dropped:
        yield f"dropped: {listed(dropped)}"
    if added:
        yield f"added: {listed(added)}"
    if repeated := [each for each in dict.fromkeys(given) if given.count(each) > 1]:
        yield f"there more than once: {listed(repeated)}"
    common = [each for each in dict.fromkeys(given) if each in original]
    usual = [each for each in original if each in given]
    if common != usual:
        first = next(one for one, other in zip(common, usual, strict=True) if one != other)
        yield f"the order is another, from {named(first)} on"


def respelt(option: str, others: Sequence[str]) -> str:
    """The option that is another spelling of one."""
    same = [each for each in others if spelling(each) == spelling(option)]
    near = difflib.get_close_matches(option, others, 1, NEAR)
    return (same or near or [""])[0]


def listed(options: Sequence[str]) -> str:
    """A list as it stands in a report."""
    return ", ".join(map(named, options))

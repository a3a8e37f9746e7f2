"""Section 2: the option lists, their order and spelling."""

import difflib
from collections.abc import Iterator, Sequence

from onprompt.illusion.audit.description import Target
from onprompt.illusion.audit.points import Point, Verdict, not_described, option_list
from onprompt.illusion.protocol import COMPLEX, SCENES, SIMPLE, SPLITS, spelling

SHAPES, SCENE_OPTIONS = "shape options", "scene options"
SIMILAR = 0.75  # ratio above which an option is another spelling


def compare(target: Target) -> Iterator[Point]:
    """The shapes of each split, and the scenes."""
    options = target.options
    for split in SPLITS.values():
        yield compare_lists(SHAPES, split.name, split.shapes, options.shapes.get(split.name))
    yield compare_lists(SCENE_OPTIONS, "all splits", SCENES, options.all_scenes)
    if options.simple is not None:
        yield compare_lists(SCENE_OPTIONS, "simple scenes", SIMPLE, options.simple)
    if options.complex is not None:
        yield compare_lists(SCENE_OPTIONS, "complex scenes", COMPLEX, options.complex)


def compare_lists(title: str, where: str, original: Sequence[str], theirs: Sequence[str] | None) -> Point:
    """One list."""
    expected = option_list(original)
    if theirs is None:
        return not_described("options", title, where, expected)
    shown = option_list(theirs)
    if tuple(theirs) == tuple(original):
        return Point("options", title, where, expected, shown, Verdict.ALIGNED)
    notes = list(differences(original, theirs))
    example = {"original": expected, "theirs": shown, "first": notes[0]}
    return Point("options", title, where, expected, shown, Verdict.CHANGES, "; ".join(notes), example)


def differences(original: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    """Options that are spelled differently, missing, added, repeated or moved."""
    missing = [option for option in original if option not in theirs]
    added = [option for option in dict.fromkeys(theirs) if option not in original]
    for option in list(missing):
        if other := other_spelling(option, added):
            yield f"{option_list([option])} is spelled {option_list([other])}"
            missing.remove(option)
            added.remove(other)
    if missing:
        yield f"missing: {option_list(missing)}"
    if added:
        yield f"added: {option_list(added)}"
    if repeated := [option for option in dict.fromkeys(theirs) if theirs.count(option) > 1]:
        yield f"repeated: {option_list(repeated)}"
    expected = [option for option in original if option in theirs]
    actual = [option for option in dict.fromkeys(theirs) if option in original]
    if actual != expected:
        first = next(option for option, usual in zip(actual, expected, strict=True) if option != usual)
        yield f"the order differs from {option_list([first])} on"


def other_spelling(option: str, others: Sequence[str]) -> str:
    """The option among others that is another spelling of one, or nothing."""
    same = [other for other in others if spelling(other) == spelling(option)]
    return (same or difflib.get_close_matches(option, others, 1, SIMILAR) or [""])[0]

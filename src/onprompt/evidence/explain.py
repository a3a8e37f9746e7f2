"""Step 4: what was compared, in words. Pairs, extras, and a short summary."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.evidence.grade import Grade
from onprompt.evidence.match import Match, asked_words
from onprompt.settings import Settings
from onprompt.types import Attribute, Check, Outcome, Scene, Seen, Sighting, Trait

WRONG = (Outcome.MISMATCH, Outcome.PARTIAL)
# What a prompt may say of the picture as a whole → what can be measured of it: its kind, and the value that fits.
WHOLE = {
    **dict.fromkeys(("black and white", "monochrome", "grayscale", "greyscale"), ("style", "black and white")),
    **dict.fromkeys(("night", "nighttime", "dark", "midnight"), ("lighting", "dark")),
    **dict.fromkeys(("day", "daytime", "daylight", "bright", "sunny"), ("lighting", "light")),
    **dict.fromkeys(("blurry", "blurred", "out of focus"), ("quality", "blurry")),
    **dict.fromkeys(("sharp", "sharp focus", "in focus"), ("quality", "sharp")),
    **dict.fromkeys(("photo", "film still", "polaroid"), ("medium", "photo")),
    **dict.fromkeys(
        ("painting", "oil painting", "watercolor", "drawing", "illustration", "sketch", "pencil sketch", "cartoon"),
        ("medium", "artwork"),
    ),
    **dict.fromkeys(("anime", "pixel art", "comic", "engraving", "woodcut", "line art"), ("medium", "artwork")),
}
SURELY = 0.8  # how sure a measure of the whole picture must be to speak against the prompt


def pair(match: Match) -> tuple[str, str]:
    """(what the prompt says, what the picture shows)."""
    return asked_words(match.thing), actual(match)


def actual(match: Match) -> str:
    """The seed's words for what was found: the object as it is, MISSING, LOW_CONFIDENCE or UNVERIFIABLE."""
    first = match.checks[0]
    if match.outcome is Outcome.MISSING:
        return "MISSING"
    if match.outcome is Outcome.UNVERIFIABLE:
        return "; ".join(
            [f"UNVERIFIABLE ({first.found})", *(note(check) for check in match.checks[1:] if check.source != "none")]
        )
    notes = [note(check) for check in match.checks[1:] if check.outcome is not Outcome.MATCHED]
    if first.kind != "object" or match.thing.absent or not match.chosen:
        return "; ".join([first.found, *notes])
    shown = f"{len(match.chosen)} × {match.chosen[0].word}"
    if match.outcome is Outcome.LOW_CONFIDENCE:
        return "; ".join([f"LOW_CONFIDENCE ({shown}, confidence {first.confidence:.2f})", *notes])
    if match.outcome is Outcome.PARTIAL:
        notes.insert(0, f"more than {match.chosen[0].word!r} can't be told")
    elif not notes:
        return f"{shown} (matched, confidence {first.confidence:.2f})"
    return f"{shown} (confidence {first.confidence:.2f}): " + "; ".join(notes)


def note(check: Check) -> str:
    """What is off with one count, attribute or relation."""
    words = f"{check.kind} asked {check.asked}, {check.found}"
    if check.outcome in (Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE):
        return f"{words} [{check.outcome.name}]"
    return words


def differs(match: Match) -> bool:
    """Whether anything about an object is wrong, missing or weak; what could not be told is no difference."""
    only_broader = match.outcome is Outcome.PARTIAL and match.checks[0].kind == "object"
    return any(
        check.outcome in (Outcome.MISSING, *WRONG, Outcome.LOW_CONFIDENCE) for check in match.checks[only_broader:]
    )


def extras(scene: Scene, seen: Seen, settings: Settings) -> tuple[Sighting, ...]:
    """Sure sightings of what nobody asked for. They never cost a point."""
    asked = {thing.canonical for thing in scene.things}
    used = [each.box for each in seen.sightings if each.label in asked]
    return tuple(
        each
        for each in seen.sightings
        if each.label not in asked
        and each.confidence >= settings.low_confidence
        and all(each.box.iou(box) < 0.5 for box in used)
    )


def measured(asked: Attribute, whole: Sequence[Trait]) -> Trait | None:
    """What was surely measured of the picture as a whole that bears on a property; None if nothing was."""
    kind, _ = WHOLE.get(asked.value, ("", ""))
    return next((trait for trait in whole if trait.kind == kind and trait.confidence >= SURELY), None)


def about_the_medium(asked: Attribute) -> bool:
    """Whether a property says that the picture is a photo, or that it is none."""
    return WHOLE.get(asked.value, ("", ""))[0] == "medium"


def of_the_whole(scene: Scene, whole: Sequence[Trait]) -> list[str]:
    """What the prompt says of the picture as a whole and no measure is sure of. That it is a photo needs no saying."""
    asked = (each for each in scene.properties if each.kind not in {"parameter", "quality"} and each.value != "photo")
    return [f"{each.kind} {each.value}" for each in asked if measured(each, whole) is None]


def belied(scene: Scene, whole: Sequence[Trait]) -> list[tuple[str, str]]:
    """What the prompt says of the picture as a whole, and what a measure says instead."""
    pairs = ((each, measured(each, whole)) for each in scene.properties)
    return [
        (f"the picture: {each.kind} {each.value}", found.value)
        for each, found in pairs
        if found and found.value != WHOLE[each.value][1]
    ]


def summary(matches: Sequence[Match], grade: Grade, scene: Scene, whole: Sequence[Trait] = ()) -> str:
    """A short paragraph: does the image match, what is off, what could not be checked."""
    if not matches:
        return f"The prompt names no object, so nothing could be checked: ({grade.score}) is only a placeholder."
    off = [match for match in matches if differs(match)]
    left_open = list(dict.fromkeys(claim for match in matches for claim in unchecked(match))) + of_the_whole(
        scene, whole
    )
    if not grade.verifiable:
        text = f"Nothing that the prompt asks for can be checked here: ({grade.score}) is only a placeholder."
    elif off or belied(scene, whole):
        faults = [*(headline(match) for match in off), *(f"{asked}: {found}" for asked, found in belied(scene, whole))]
        text = "The image differs from the prompt: " + "; ".join(faults) + "."
    else:
        text = "All that could be checked matches the prompt." if left_open else "The image matches the prompt."
    return f"{text} Not checked: {', '.join(left_open)}." if left_open else text


def headline(match: Match) -> str:
    """One object and its faults."""
    asked, first = asked_words(match.thing), match.checks[0]
    if match.outcome is Outcome.MISSING:
        return f"{asked}: missing"
    if match.thing.absent:
        return f"{asked}: {first.found}"
    claims = match.checks if first.kind != "object" else match.checks[1:]
    faults = [note(check) for check in claims if check.outcome in WRONG]
    if match.outcome is Outcome.LOW_CONFIDENCE and first.kind == "object":
        faults.insert(0, f"seen with low confidence ({first.confidence:.2f})")
    return f"{asked}: " + ", ".join(faults or [note(each) for each in claims if each.outcome is Outcome.LOW_CONFIDENCE])


def unchecked(match: Match) -> list[str]:
    """The claims about an object that could not be checked."""
    if match.outcome is Outcome.UNVERIFIABLE and match.checks[0].kind == "object":
        return [asked_words(match.thing)]
    claims = [check.asked for check in match.checks if check.outcome is Outcome.UNVERIFIABLE]
    if match.outcome is Outcome.PARTIAL and match.checks[0].kind == "object":
        claims.insert(0, f"more than {match.chosen[0].word!r}")
    return [f"{match.thing.canonical} ({claim})" for claim in claims]

"""Step 4: what was compared, in words. Pairs, extras, and a short summary."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.evidence.grade import Grade
from onprompt.evidence.match import Match
from onprompt.settings import Settings
from onprompt.types import Check, Outcome, Scene, Seen, Sighting

WRONG = (Outcome.MISMATCH, Outcome.PARTIAL)


def pair(match: Match) -> tuple[str, str]:
    """(what the prompt says, what the picture shows)."""
    return match.thing.phrase if not match.thing.absent else match.checks[0].asked, actual(match)


def actual(match: Match) -> str:
    """The seed's words for what was found: the object as it is, MISSING, LOW_CONFIDENCE or UNVERIFIABLE."""
    first = match.checks[0]
    if match.outcome is Outcome.MISSING:
        return "MISSING"
    if match.outcome is Outcome.UNVERIFIABLE:
        return f"UNVERIFIABLE ({first.found})"
    notes = [note(check) for check in match.checks[1:] if check.outcome is not Outcome.MATCHED]
    if first.kind != "object" or match.thing.absent:
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
    """Whether anything about an object is wrong or missing; what could not be checked is no difference."""
    return any(check.outcome in (Outcome.MISSING, *WRONG, Outcome.LOW_CONFIDENCE) for check in match.checks)


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


def summary(matches: Sequence[Match], grade: Grade) -> str:
    """A short paragraph: does the image match, what is off, what could not be checked."""
    if not matches:
        return "The prompt names no object, so nothing in it could be checked."
    off = [match for match in matches if differs(match)]
    unseen = [check for match in matches for check in match.checks if check.outcome is Outcome.UNVERIFIABLE]
    if not grade.verifiable:
        text = "Nothing that the prompt asks for can be checked by the detectors in use."
    elif not off:
        text = "The image matches the prompt." if not unseen else "All that could be checked matches the prompt."
    else:
        text = "The image differs from the prompt: " + "; ".join(headline(match) for match in off) + "."
    if unseen:
        names = ", ".join(dict.fromkeys(unchecked(check, matches) for check in unseen))
        text += f" Not checked: {names}."
    return text


def headline(match: Match) -> str:
    """One object's principal fault, without figures."""
    first, phrase = match.checks[0], match.thing.phrase
    if match.outcome is Outcome.MISSING:
        return f"{phrase} is missing"
    if match.thing.absent:
        return f"{match.thing.canonical} is there, though it should not be"
    faults = [
        f"{check.kind} asked {check.asked}, {check.found}" for check in match.checks[1:] if check.outcome in WRONG
    ]
    if match.outcome is Outcome.LOW_CONFIDENCE:
        faults.insert(0, f"seen with low confidence ({first.confidence:.2f})")
    if match.outcome is Outcome.PARTIAL:
        faults.insert(0, f"more than {match.chosen[0].word!r} can't be told")
    return f"{phrase}: " + ", ".join(
        faults or [note(check) for check in match.checks if check.outcome is Outcome.LOW_CONFIDENCE]
    )


def unchecked(check: Check, matches: Sequence[Match]) -> str:
    """The name of a claim that could not be checked."""
    thing = matches[check.thing].thing
    return thing.phrase if check.kind == "object" else f"{thing.canonical} {check.asked}"

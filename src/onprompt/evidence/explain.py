"""Step 4: what was compared, in words. Pairs, extras, and a short summary."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.evidence.grade import Grade
from onprompt.evidence.match import Match, asked_words
from onprompt.evidence.substitutes import spare
from onprompt.evidence.whole import belied, not_measured
from onprompt.settings import Settings
from onprompt.types import Check, Outcome, Scene, Seen, Sighting, Trait

WRONG = (Outcome.MISMATCH, Outcome.PARTIAL)
BEST = 4  # the highest score
OTHERWISE = 0.4  # how far apart score and value may be, in shares of their scales, before the summary says so


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
    if not match.there and not match.thing.absent and first.kind == "object":
        return first.found  # another kind, which has none of its attributes
    notes = [note(check) for check in match.checks[1:] if check.outcome is not Outcome.MATCHED]
    if first.kind != "object" or match.thing.absent or not match.chosen:
        weak = match.outcome is Outcome.LOW_CONFIDENCE and first.kind == "object"
        return "; ".join([f"LOW_CONFIDENCE ({first.found})" if weak else first.found, *notes])
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


def extras(scene: Scene, seen: Seen, matches: Sequence[Match], settings: Settings) -> tuple[Sighting, ...]:
    """Sure sightings of what nobody asked for and that stand in for nothing. They never cost a point."""
    used = [match.checks[0].box for match in matches]
    used += [each.box for match in matches for each in match.chosen]
    return tuple(each for each in spare(scene, seen, settings) if each.box not in used)


def summary(
    matches: Sequence[Match], grade: Grade, scene: Scene, whole: Sequence[Trait] = (), empty: bool = False
) -> str:
    """A short paragraph: does the image match, what is off, what could not be checked."""
    if empty:
        return "The picture shows nothing: it is of one colour, or noise."
    if not matches:
        return f"The prompt names no object, so nothing could be checked: ({grade.score}) is only a placeholder."
    off = [match for match in matches if differs(match)]
    left_open = list(dict.fromkeys(claim for match in matches for claim in unchecked(match))) + not_measured(
        scene, whole
    )
    if not grade.verifiable:
        text = f"Nothing that the prompt asks for can be checked here: ({grade.score}) is only a placeholder."
    elif off or belied(scene, whole):
        faults = [*(headline(match) for match in off), *(f"{asked}: {found}" for asked, found in belied(scene, whole))]
        text = "The image differs from the prompt: " + "; ".join(faults) + "."
    else:
        text = "All that could be checked matches the prompt." if left_open else "The image matches the prompt."
    if left_open:
        text += f" Not checked: {', '.join(left_open)}."
    if abs(grade.value - grade.score / BEST) >= OTHERWISE:
        text += f" The value of {grade.value:.2f}, which weighs chances and the whole, tells another story."
    return text


def headline(match: Match) -> str:
    """One object and its faults."""
    asked, first = asked_words(match.thing), match.checks[0]
    if match.outcome is Outcome.MISSING:
        return f"{asked}: missing"
    if match.thing.absent or not match.there:
        return f"{asked}: {first.found}"
    claims = match.checks if first.kind != "object" else match.checks[1:]
    faults = [note(check) for check in claims if check.outcome in WRONG]
    if match.outcome is Outcome.LOW_CONFIDENCE and first.kind == "object":
        faults.insert(0, f"seen with low confidence ({first.confidence:.2f})" if match.chosen else first.found)
    return f"{asked}: " + ", ".join(faults or [note(each) for each in claims if each.outcome is Outcome.LOW_CONFIDENCE])


def unchecked(match: Match) -> list[str]:
    """The claims about an object that could not be checked."""
    if match.outcome is Outcome.UNVERIFIABLE and match.checks[0].kind == "object":
        return [asked_words(match.thing)]
    claims = [check.asked for check in match.checks if check.outcome is Outcome.UNVERIFIABLE]
    if match.outcome is Outcome.PARTIAL and match.checks[0].kind == "object":
        claims.insert(0, f"more than {match.chosen[0].word!r}")
    return [f"{match.thing.canonical} ({claim})" for claim in claims]

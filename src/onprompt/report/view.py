"""A verdict as pictures, pages and notebooks show it: boxes with their labels and colors, and checks in words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from onprompt import wording
from onprompt.report.terminal import WORST_FIRST, worst
from onprompt.types import Box, Check, Count, Found, ObjectChange, Outcome, Sighting, Verdict
from onprompt.wording.labels import OUTCOMES

# Safe for color-blind people, and dark enough for white text.
GOOD, WEAK, BAD, NEUTRAL = "#0b6b53", "#8a5800", "#b3361b", "#5b626b"
COLORS = {  # of outcomes, then of what else a box of an edit may be
    Outcome.MATCHED: GOOD,
    Outcome.PARTIAL: WEAK,
    Outcome.LOW_CONFIDENCE: WEAK,
    Outcome.MISMATCH: BAD,
    Outcome.MISSING: BAD,
    Outcome.UNVERIFIABLE: NEUTRAL,
    **{"kept": NEUTRAL, "unasked": WEAK, "region": "#ffffff"},
}
FAILED = (Outcome.MISSING, Outcome.MISMATCH)
SAME = 0.85  # overlap from which two boxes of one detector's word are one thing
MANY = 3  # boxes of one label from which only one bears it


class Mark(NamedTuple):
    """A box over a picture, with its label and the places of the checks that it belongs to."""

    box: Box
    kind: str  # one of COLORS
    label: str = ""
    title: str = ""
    checks: tuple[int, ...] = ()
    confidence: float | None = None  # where the label may state it


class CheckView(NamedTuple):
    """One check in words."""

    kind: str
    asked: str
    found: str
    outcome: str
    word: str  # for the outcome
    probability: float
    source: str
    number: Count | None  # how many are asked for


def check_view(check: Check, is_edit: bool) -> CheckView:
    """A check in words."""
    missing = "nothing changed" if is_edit else "none"
    found = missing if check.finding.kind is Found.MISSING else wording.finding_words(check)
    asked, word = wording.full_claim(check.claim), OUTCOMES[check.outcome][is_edit]
    words, source = (
        (check.claim.kind, asked, found, check.outcome.value, word),
        "" if check.source == "none" else check.source,
    )
    return CheckView(*words, check.probability, source, check.claim.count)


def image_marks(verdict: Verdict) -> list[Mark]:
    """What else was detected, without labels; then each thing that was chosen for a check, and text, small ones on top.

    A thing belongs to all checks of the objects that it was chosen for.
    """
    chosen = [(seen, place) for place, check in enumerate(verdict.checks) for seen in located(verdict, check)]
    sightings, places = [sighting for sighting, _ in chosen], dict[int, set[int]]()
    for first, (_, place) in zip(distinct(sightings), chosen, strict=True):
        places.setdefault(first, set()).add(place)
    extras = verdict.prompt_evidence.extras if verdict.prompt_evidence else ()
    marks = [Mark(seen.box, "kept", title=f"{seen.word}, not in the prompt") for seen in extras]
    found = [sighting_mark(verdict, sightings[first], sorted(own)) for first, own in places.items()]
    return marks + sorted(found, key=lambda mark: -mark.box.area)


def sighting_mark(verdict: Verdict, sighting: Sighting, places: Sequence[int]) -> Mark:
    """A sighting that was chosen for the checks at some places; its kind is the worst of its objects' outcomes."""
    things = {verdict.checks[place].thing for place in places} - {None}
    names = {verdict.checks[place].claim.value for place in places}
    about = [
        place
        for place, check in enumerate(verdict.checks)
        if place in places or check.thing in things or (check.claim.target and check.claim.target in names)
    ]
    outcomes = [worst(verdict, thing) for thing in things if thing is not None and not sighting.text]
    kind = min(outcomes, key=WORST_FIRST.index, default=verdict.checks[places[0]].outcome)
    text = f'"{sighting.text}"' if sighting.text else sighting.word
    traits = ", ".join(trait.value for trait in sighting.traits)
    title = f"{text}, confidence {sighting.confidence:.2f}" + (f": {traits}" if traits else "")
    return Mark(sighting.box, kind, text, title, tuple(about), sighting.confidence)


def located(verdict: Verdict, check: Check) -> tuple[Sighting, ...]:
    """What the boxes of a check are drawn around: what was chosen for it, or for a text all text that was read."""
    evidence = verdict.prompt_evidence
    if check.chosen or check.claim.kind != "text" or evidence is None:
        return check.chosen
    return tuple(sighting for sighting in evidence.sightings if sighting.text)


def distinct(sightings: Sequence[Sighting]) -> list[int]:
    """For each sighting the index of the first one that is the same thing: the same word in nearly the same place."""
    first: list[int] = []
    for index, sighting in enumerate(sightings):
        same = (
            other
            for other in range(index)
            if sightings[other].word == sighting.word and sightings[other].box.iou(sighting.box) >= SAME
        )
        first.append(next(same, index))
    return first


def edit_marks(verdict: Verdict) -> tuple[list[Mark], list[Mark], list[Mark]]:
    """Every object in the version that shows it; in the second also what was not done; and the regions that changed."""
    evidence = verdict.edit_evidence
    before, after = list[Mark](), list[Mark]()
    for change in sorted(evidence.objects, key=lambda c: c.kind != "unchanged") if evidence else ():
        kind, checks = change_kind(change, verdict)
        for marks, sighting in ((before, change.before), (after, change.after)):
            if sighting:
                label = sighting.word if change.kind == "unchanged" else f"{sighting.word}: {change.kind}"
                title = f"{sighting.word}, {change.kind}, confidence {sighting.confidence:.2f}"
                marks.append(Mark(sighting.box, kind, label, title, checks))
    for place, check in enumerate(verdict.checks):
        if check.outcome is Outcome.MISSING and check.box:
            label = f"not done: {check.claim.kind}"
            after.append(Mark(check.box, "missing", label, label, (place,)))
    regions = [Mark(box, "region", title="a region that changed") for box in (evidence.regions if evidence else ())]
    return list(labelled_once(before)), list(labelled_once(after)), regions


def change_kind(change: ObjectChange, verdict: Verdict) -> tuple[str, tuple[int, ...]]:
    """Whether an object was kept, changed as requested (matched), unasked or not (missing); and the checks about it."""
    operations = [place for place, check in enumerate(verdict.checks) if check.thing is not None]
    about = tuple(place for place in operations if is_about(change, verdict.checks[place].thing or 0, verdict))
    failed = any(verdict.checks[place].outcome in FAILED for place in about or operations)
    kind = (
        "kept" if change.kind == "unchanged" else "unasked" if not change.asked else "missing" if failed else "matched"
    )
    return kind, about


def is_about(change: ObjectChange, place: int, verdict: Verdict) -> bool:
    """Whether an operation is about an object."""
    edit = verdict.edit_evidence.edits[place] if verdict.edit_evidence else None
    things = {thing.canonical for scene in (edit.source, edit.result) for thing in scene.things} if edit else set()
    return any(s is not None and {s.label, s.word} & things for s in (change.before, change.after))


def labelled_once(marks: Sequence[Mark]) -> Iterator[Mark]:
    """Of many boxes with the same label, the largest says how many there are; the others have none."""
    groups: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        groups.setdefault((mark.kind, mark.label), []).append(mark)
    for mark in marks:
        group = groups[mark.kind, mark.label]
        largest = max(group, key=lambda each: each.box.area)
        label = f"{len(group)} × {mark.label}" if mark is largest else ""
        yield mark._replace(label=label) if len(group) > MANY else mark

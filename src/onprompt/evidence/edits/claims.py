"""An operation as claims: that it was carried out, and the number, color and place of what was asked for.

The first claim stands for the operation: there now and not before, gone, replaced, larger, of another color. What it is
worth follows from a measurement of both versions, a detector that knows the names, and the matcher. Number, color and
place are those of a prompt, and suppose that the first claim holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onprompt.evidence.beliefs import MATCHER, NO_SOURCE, Image, believe, log_odds, sigmoid
from onprompt.evidence.edits.measures import Measurement, measure, moved, moves_beside, targets
from onprompt.evidence.edits.objects import SAME_PLACE, is_touched
from onprompt.evidence.edits.observations import EditObservations
from onprompt.evidence.grading import MINOR
from onprompt.language import correct_spelling, is_concrete, name_of
from onprompt.types import Check, Claim, Edit, Finding, Found, Outcome, Seen, Sighting, Thing

# Log-odds that an operation was carried out: before any evidence, and the weight of each source (bench/edit.py).
SHIFT, DETECTOR, MEASURED = -1.0, 1.0, 6.0
WHOLE, REGION = 1.1, 0.55  # of the matcher: in the whole image, and in the region that changed
NOT_SAID = frozenset({"position", "text", "size"})  # attributes that the matcher can't see
NOT_SEEN = frozenset(
    {"quality", "mood", "concept", "artist", "parameter"}
)  # properties of an image that nobody can check
DETAILS = frozenset({"count", "color", "position", "relation"})  # claims about what is new that are measured
ADDING = ("add", "replace")
REFUTED = 0.2  # score of a measurement below which an operation was not carried out
DONE, NOT_DONE = 0.6, 0.31  # probability from which an operation was carried out, below which it was not
ASKED = 1.75  # what is asked for is there far more often than any class in whatever a photo shows
NOTHING = -6.0  # log-odds of any operation where nothing changed
TRACE = 0.1  # confidence below which a target was not there before


@dataclass(frozen=True, slots=True)
class Detected:
    """What a detector says of one object: the log-odds that it is there, or gone, as it should be."""

    name: str
    odds: float
    before: float  # confidence, where it was or is
    after: float
    chosen: Sighting | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: the log-odds that it was carried out, the check that says why, and the checks of its details."""

    edit: Edit
    odds: float
    check: Check
    details: tuple[Check, ...] = ()
    known: bool = False  # by a measurement or a detector, not only by the matcher
    verifiable: bool = True  # something can be known of it
    targetless: str = ""  # what it is done to, of which a detector saw none before

    @property
    def probability(self) -> float:
        """That it was carried out, whatever the details."""
        return sigmoid(self.odds)

    @property
    def fit(self) -> float:
        """What the details leave of it: each wrong one halves it."""
        return float(np.prod([MINOR + (1 - MINOR) * check.probability for check in self.details]))

    @property
    def checks(self) -> tuple[Check, ...]:
        """Its own check, then those of its details."""
        return (self.check, *self.details)


def judge_operations(observed: EditObservations) -> tuple[Operation, ...]:
    """Every operation of the instruction, in its order."""
    return tuple(judge(edit, place, observed) for place, edit in enumerate(observed.edits))


def judge(edit: Edit, place: int, observed: EditObservations) -> Operation:
    """One operation."""
    details = detail_checks(edit, place, observed)
    measured, detected = measure(edit, observed), detect_result(edit, observed)
    if edit.operation == "move" and measured is not None and details:  # it moved, but to the place asked for?
        right = all(check.probability >= DONE for check in details)
        measured = replace(measured, score=measured.score * right)
    odds = SHIFT + DETECTOR * sum(each.odds for each in detected) + matcher_odds(edit, observed)
    if measured is not None:
        odds += MEASURED * measured.weight * (2 * measured.score - 1)
    targetless = missing_target(edit, observed)
    refuted = measured is not None and measured.score < REFUTED
    if refuted or targetless or any(each.odds < 0 for each in detected):
        odds = min(odds, SHIFT)  # the matcher overrules neither a measurement nor a detector that knows the name
    if observed.failure in ("unchanged", "broken", "another_image"):
        odds = min(odds, NOTHING)
    known = measured is not None or bool(detected)
    check = operation_check(edit, place, odds, measured, detected, observed)
    verifiable = known or is_visible(edit, observed)
    if not verifiable or (not known and not observed.settings.matcher):
        unknown = Finding(Found.NOT_MEASURABLE)
        check = replace(check, outcome=Outcome.UNVERIFIABLE, finding=unknown, source=NO_SOURCE, box=None)
    return Operation(edit, odds, check, details if known else (), known, verifiable, targetless)


# -- what is seen of it ----------------------------------------------------------------------------------------------


def is_visible(edit: Edit, observed: EditObservations) -> bool:
    """Whether the matcher can tell: the words of the result name something to be seen."""
    if {"not understood", "not English", "nothing to do"} & set(edit.flags) or not observed.settings.matcher:
        return False
    things = edit.result.things or ((edit.target,) if edit.target else ())
    concrete = {is_concrete(thing.canonical) for thing in things if thing.canonical != "text"}
    if not things:
        return any(each.kind not in NOT_SEEN and "style of" not in each.value for each in edit.result.properties)
    return True in concrete and None not in concrete


def matcher_odds(edit: Edit, observed: EditObservations) -> float:
    """What the matcher says of the result: after against before in the whole image, and in the region that changed.

    Of something to be removed it says how much less the image, and that region, look like it.
    """
    phrase = wanted_phrase(edit)
    if not observed.settings.matcher or "not English" in edit.flags:
        return 0.0
    if phrase:
        before, after = observed.estimate_whole(phrase)
        return WHOLE * (after - before) + REGION * observed.estimate_regions(phrase, 1)
    if edit.operation == "remove" and edit.target:
        name = edit.target.canonical
        before, after = observed.estimate_whole(name)
        was, now = (observed.estimate_regions(name, version) for version in (0, 1))
        return WHOLE * (before - after) + REGION * (was - now)
    return 0.0


def wanted_phrase(edit: Edit) -> str:
    """What should be seen afterwards, as a caption would say it: `red car`, `cow wearing hat`."""
    there = {thing.canonical for thing in edit.source.things}
    for thing in edit.result.things:
        plain = not thing.attributes and not thing.relations
        if thing.absent or thing.canonical == "text" or (thing.canonical in there and plain):
            continue
        adjectives = [a.value for a in thing.attributes if a.kind not in NOT_SAID]
        others = [f"{r.name} {edit.result.things[r.target].canonical}" for r in thing.relations]
        return correct_spelling(" ".join([*adjectives, thing.canonical, *others]))
    return correct_spelling(" ".join(attribute.value for attribute in edit.result.properties))


def new_things(edit: Edit) -> list[Thing]:
    """What should be there afterwards and was not."""
    there = {thing.canonical for thing in edit.source.things}
    return [thing for thing in edit.result.things if not thing.absent and thing.canonical not in there]


def detect_result(edit: Edit, observed: EditObservations) -> list[Detected]:
    """What a detector that knows the names says of what should be there, and of what should be gone."""
    known = observed.seen[0].known
    if edit.scope == "all others":
        return others_gone(edit, observed)
    new = [appeared(thing, observed) for thing in new_things(edit) if thing.canonical in known]
    old = [vanished(edit, t, observed) for t in edit.result.things if t.absent and t.canonical in known]
    return [mean_of(found) for found in (new, old) if found]


def mean_of(found: Sequence[Detected]) -> Detected:
    """Several objects as one: the least likely, with the mean of the log-odds."""
    least = min(found, key=lambda each: each.odds)
    return replace(least, odds=float(np.mean([each.odds for each in found])))


def others_gone(edit: Edit, observed: EditObservations) -> list[Detected]:
    """Of "everything except the woman": she is still there, and what else was there is not."""
    kept = {thing.canonical for thing in edit.keep}
    boxes = [s.box for s in observed.seen[0].sightings if s.label in kept and s.confidence >= TRACE]
    before = [change for change in observed.objects if change.before]
    if edit.target:
        before = [c for c in before if c.before and edit.target.canonical in (c.before.label, c.before.word)]
    mine = [c for c in before if c.before and any(c.before.box.iou(box) >= SAME_PLACE for box in boxes)]
    others = [change for change in before if change not in mine]
    if not others:
        return []
    gone = float(np.mean([change.kind == "removed" for change in others]))
    stays = float(np.mean([change.after is not None for change in mine])) if mine else 1.0
    return [Detected("everything else", log_odds(min(gone, stays)), 1.0, 1 - gone)]


def appeared(thing: Thing, observed: EditObservations) -> Detected:
    """The log-odds of something new; if there was one before, of another one where the image changed."""
    name, sightings = thing.canonical, list(observed.seen[1].sightings)
    if best(name, observed.seen[0].sightings) >= observed.settings.low_confidence:
        sightings = [c.after for c in observed.objects if c.kind in ("added", "replaced") and c.after]
    # Where the image did not change, a detector that finds something new is mistaken.
    found = [s for s in sightings if s.label == name and is_touched(s.box, observed.change)]
    chosen = max(found, key=lambda s: s.confidence, default=None)
    after = chosen.confidence if chosen else 0.0
    place = chosen.box if chosen else None
    before = best(name, (s for s in observed.seen[0].sightings if place and s.box.iou(place) >= SAME_PLACE))
    return Detected(name, log_odds(after) + ASKED, before, after, chosen)


def vanished(edit: Edit, thing: Thing, observed: EditObservations) -> Detected:
    """The log-odds that what should be gone is, where it was; if it was not located, by how much they fell."""
    name, located = thing.canonical, targets(edit, observed)
    if not located:
        before, after = (best(name, version.sightings) for version in observed.seen)
        return Detected(name, log_odds(before) - log_odds(after), before, after)
    each = [(sighting.confidence, still(sighting, observed)) for sighting in located]
    odds = float(np.mean([gone_odds(before, after) for before, after in each]))
    before, after = max(each, key=lambda pair: pair[1])
    return Detected(name, odds, before, after, located[0])


def gone_odds(before: float, after: float) -> float:
    """The log-odds that an object is gone: the surer it was there and is not any more, the surer that it is."""
    gone = -log_odds(after)
    return gone + max(0.0, log_odds(before)) if gone > 0 else gone


def still(sighting: Sighting, observed: EditObservations) -> float:
    """The confidence in an object after the edit, in its place; where the image did not change, as before."""
    if not is_touched(sighting.box, observed.change):
        return sighting.confidence
    same = (s for s in observed.seen[1].sightings if s.label == sighting.label)
    return max((s.confidence for s in same if s.box.iou(sighting.box) >= SAME_PLACE), default=0.0)


def best(label: str, sightings: Iterable[Sighting]) -> float:
    """The confidence of the best sighting of a name."""
    return max((s.confidence for s in sightings if s.label == label), default=0.0)


def missing_target(edit: Edit, observed: EditObservations) -> str:
    """What an operation is done to, if a detector that knows it well saw none of it before."""
    target = edit.target
    if target is None or edit.operation in ("add", "count", "background", "text") or target.attributes:
        return ""
    known = observed.seen[0].known.get(target.canonical)
    well = known is not None and known.closeness == 1 and known.words[0] in name_of(target.canonical).same
    seen = best(target.canonical, observed.seen[0].sightings) >= TRACE
    return "" if seen or not well else target.canonical


# -- details ---------------------------------------------------------------------------------------------------------


def detail_checks(edit: Edit, place: int, observed: EditObservations) -> tuple[Check, ...]:
    """Number, color and place of what was added or moved, as far as they were measured."""
    if edit.operation in ADDING:
        about, seen = new_things(edit), new_sightings(edit, observed)
    elif edit.operation == "move" and edit.target and moves_beside(edit, observed):
        about, seen = list(edit.result.things[:1]), moved_sightings(edit, observed)
    else:
        return ()
    scene = replace(edit.result, properties=())
    concerned = {at for at, thing in enumerate(scene.things) if thing in about}
    checks = believe(scene, Image(seen, lines=observed.lines[1]), observed.settings)
    return tuple(
        replace(check, thing=place, target=None)
        for check in checks
        if check.thing in concerned and is_measured_detail(check)
    )


def is_measured_detail(check: Check) -> bool:
    """Whether a claim is about a stated number, a color or a place, and was measured."""
    stated = check.claim.count is None or check.claim.count.explicit
    return check.claim.kind in DETAILS and stated and check.outcome is not Outcome.UNVERIFIABLE


def new_sightings(edit: Edit, observed: EditObservations) -> Seen:
    """What is seen after the edit; of what should be new, only what is where the image changed and was not there."""
    labels = {thing.canonical for thing in new_things(edit)}
    old, after = observed.seen[0].sightings, observed.seen[1]
    there = [s for s in old if s.label in labels and s.confidence >= observed.settings.low_confidence]

    def is_new(sighting: Sighting) -> bool:
        kept = any(s.label == sighting.label and s.box.iou(sighting.box) >= SAME_PLACE for s in there)
        return not kept and is_touched(sighting.box, observed.change)

    return Seen(tuple(s for s in after.sightings if s.label not in labels or is_new(s)), after.known)


def moved_sightings(edit: Edit, observed: EditObservations) -> Seen:
    """What is seen after the edit, with what was moved where it is found again."""
    after, located = observed.seen[1], targets(edit, observed)[:1]
    there = [(sighting, moved(sighting, observed)) for sighting in located]
    found = tuple(replace(sighting, box=place[0], confidence=1.0) for sighting, place in there if place)
    name = edit.target.canonical if edit.target else ""
    return Seen((*found, *(s for s in after.sightings if s.label != name)), after.known)


# -- checks ----------------------------------------------------------------------------------------------------------


def operation_check(
    edit: Edit,
    place: int,
    odds: float,
    measured: Measurement | None,
    detected: Sequence[Detected],
    observed: EditObservations,
) -> Check:
    """The check of an operation: what was measured or detected in both versions."""
    probability = round(sigmoid(odds), 4)
    outcome = Outcome.MATCHED if probability >= DONE else Outcome.LOW_CONFIDENCE
    outcome = Outcome.MISSING if probability < NOT_DONE else outcome
    check = Check(Claim(edit.operation, edit.phrase), Finding(Found.BEFORE_AFTER), outcome, probability, "", place)
    if measured is not None:
        found = f"{measured.before} → {measured.after}" if measured.before else measured.after
        finding = Finding(Found.BEFORE_AFTER, found, probability=probability)
        box = next(iter(measured.boxes), None)
        return replace(check, finding=finding, source=measured.source, box=box, chosen=measured.sightings)
    if detected:
        each = min(detected, key=lambda found: found.odds)
        confidences = round(each.before, 4), round(each.after, 4)
        finding = Finding(Found.BEFORE_AFTER, each.name, probability=probability, confidences=confidences)
        chosen = (each.chosen,) if each.chosen else ()
        return replace(check, finding=finding, source="detector", box=chosen[0].box if chosen else None, chosen=chosen)
    finding, box = Finding(Found.ESTIMATED, probability=probability), next(iter(observed.regions), None)
    outcome = Outcome.MISSING if odds <= NOTHING else Outcome.LOW_CONFIDENCE  # an estimate is never certain
    return replace(check, finding=finding, outcome=outcome, source=MATCHER, box=box)

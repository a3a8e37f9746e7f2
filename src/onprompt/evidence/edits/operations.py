"""Whether each operation of an instruction was carried out: by measurement, detectors and matcher."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from onprompt.evidence.beliefs import MATCHER, log_odds, sigmoid
from onprompt.evidence.edits.measures import Measurement, measure, targets
from onprompt.evidence.edits.objects import SAME_PLACE, is_touched
from onprompt.evidence.edits.observations import EditObservations
from onprompt.language import correct_spelling
from onprompt.settings import Settings
from onprompt.types import Check, Claim, Edit, Finding, Found, Outcome, Sighting, Thing

# Log-odds that an operation was carried out: before any evidence, and the weight of each source (bench/edit.py).
SHIFT, DETECTOR, MEASURED = -1.0, 1.0, 6.0
WHOLE, REGION = 1.1, 0.55  # of the matcher: in the whole image, and in the region that changed
NOT_SAID = frozenset({"position", "text", "size"})  # attributes that the matcher can't see
REFUTED = 0.2  # score of a measurement below which an operation was not carried out
DONE, NOT_DONE = 0.6, 0.31  # probability from which an operation was carried out, below which it was not
ASKED = 1.75  # what is asked for is there far more often than any class in whatever a photo shows
UNCHANGED = -6.0  # log-odds of any operation where nothing changed


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, the log-odds that it was carried out, and the check that says why."""

    edit: Edit
    odds: float
    check: Check
    known: bool  # by a measurement or a detector, not only by the matcher

    @property
    def probability(self) -> float:
        return sigmoid(self.odds)


def judge_operations(observed: EditObservations) -> tuple[Operation, ...]:
    """Every operation of the instruction, in its order."""
    return tuple(judge(edit, place, observed) for place, edit in enumerate(observed.edits))


def judge(edit: Edit, place: int, observed: EditObservations) -> Operation:
    """One operation."""
    measured, detected = measure(edit, observed), detector_odds(edit, observed)
    odds = SHIFT + DETECTOR * sum(detected.values()) + matcher_odds(edit, observed)
    if measured is not None and edit.operation != "add":
        odds += MEASURED * measured.weight * (2 * measured.score - 1)
    if measured is not None and edit.operation == "add":
        odds -= MEASURED * (1 - measured.score) / 2
    denied = any(value < 0 for value in detected.values()) or (measured is not None and measured.score < REFUTED)
    if denied:  # by a measurement, or a detector that knows the name: the matcher does not overrule it
        odds = min(odds, SHIFT)
    if observed.failure in ("unchanged", "broken"):
        odds = min(odds, UNCHANGED)
    known = measured is not None or bool(detected)
    return Operation(edit, odds, make_check(edit, place, odds, measured, detected, observed), known)


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


def detector_odds(edit: Edit, observed: EditObservations) -> dict[str, float]:
    """The log-odds, by a detector that knows the names, that what should be there is, and what should be gone is."""
    known, there = observed.seen[0].known, {thing.canonical for thing in edit.source.things}
    new = [t for t in edit.result.things if not t.absent and t.canonical not in there and t.canonical in known]
    old = [t for t in edit.result.things if t.absent and t.canonical in known]
    detected: dict[str, float] = {}
    if new:
        detected["new"] = float(np.mean([appeared(thing, observed) for thing in new]))
    if old:
        detected["old"] = float(np.mean([vanished(edit, thing, observed) for thing in old]))
    return detected


def appeared(thing: Thing, observed: EditObservations) -> float:
    """The log-odds of something new; if there was one before, of another one where the image changed."""
    sightings = list(observed.seen[1].sightings)
    if best(thing.canonical, observed.seen[0].sightings) >= observed.settings.low_confidence:
        sightings = [c.after for c in observed.objects if c.kind in ("added", "replaced") and c.after]
    # Where the image did not change, a detector that finds something new is mistaken.
    after = best(thing.canonical, (s for s in sightings if is_touched(s.box, observed.change)))
    return log_odds(after) + ASKED


def vanished(edit: Edit, thing: Thing, observed: EditObservations) -> float:
    """The log-odds that what should be gone is, where it was; if it was not located, by how much they fell."""
    located = targets(edit, observed)
    if not located:
        before, after = (best(thing.canonical, version.sightings) for version in observed.seen)
        return log_odds(before) - log_odds(after)
    return float(np.mean([gone_odds(sighting.confidence, still(sighting, observed)) for sighting in located]))


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


def make_check(
    edit: Edit,
    place: int,
    odds: float,
    measured: Measurement | None,
    detected: dict[str, float],
    observed: EditObservations,
) -> Check:
    """The check of an operation: what was measured or detected in both versions."""
    probability = round(sigmoid(odds), 4)
    claim = Claim(edit.operation, edit.phrase)
    if measured is not None:
        finding = Finding(
            Found.BEFORE_AFTER,
            f"{measured.before} → {measured.after}" if measured.before else measured.after,
            probability=probability,
        )
        source, box, chosen = measured.source, next(iter(measured.boxes), None), measured.sightings
    elif detected:
        finding, chosen = detector_finding(edit, probability, observed)
        source, box = "detector", chosen[0].box if chosen else None
    else:
        finding, source, chosen = Finding(Found.ESTIMATED, probability=probability), MATCHER, ()
        box = next(iter(observed.regions), None)
    outcome = outcome_of(probability, measured is not None or bool(detected), observed.settings)
    return Check(claim, finding, outcome, probability, source, place, box, chosen)


def detector_finding(
    edit: Edit, probability: float, observed: EditObservations
) -> tuple[Finding, tuple[Sighting, ...]]:
    """How sure a detector was of the object in question, before and after."""
    there = {thing.canonical for thing in edit.source.things}
    wanted = [t for t in edit.result.things if not t.absent and t.canonical not in there] or list(edit.result.things)
    candidates = (*wanted, *edit.result.things)
    thing = next((t for t in candidates if t.canonical in observed.seen[0].known), wanted[0])
    confidences = tuple(round(best(thing.canonical, version.sightings), 4) for version in observed.seen)
    version = observed.seen[0 if thing.absent else 1].sightings
    ranked = sorted((s for s in version if s.label == thing.canonical), key=lambda s: -s.confidence)
    chosen = tuple(s for s in ranked[:1] if s.confidence >= observed.settings.low_confidence)
    return Finding(Found.BEFORE_AFTER, thing.canonical, probability=probability, confidences=confidences), chosen


def outcome_of(probability: float, known: bool, settings: Settings) -> Outcome:
    """What a probability says; an estimate alone is never certain."""
    if not known:
        return Outcome.LOW_CONFIDENCE if settings.matcher else Outcome.UNVERIFIABLE
    if probability >= DONE:
        return Outcome.MATCHED
    return Outcome.MISSING if probability < NOT_DONE else Outcome.LOW_CONFIDENCE

"""An operation as claims: that it was carried out, and the number, color and place of what was asked for.

The first claim stands for the operation: there now and not before, gone, replaced, larger, of another color. What it is
worth follows from what was measured in both versions, a detector that knows the names, and the matcher. Number, color
and place are those of a prompt, and suppose that the first claim holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onprompt.evidence.beliefs import MATCHER, NO_SOURCE, Image, believe, sigmoid
from onprompt.evidence.edits.measures import TRACE, Measurement, best, measure
from onprompt.evidence.edits.objects import evened_out, new_objects
from onprompt.evidence.edits.observations import EditObservations, new_things
from onprompt.evidence.grading import MINOR
from onprompt.language import correct_spelling, is_concrete, name_of
from onprompt.types import Check, Claim, Detections, Edit, Finding, Found, Outcome

# Log-odds that an operation was carried out before any evidence, and the matcher's weights: in the whole image, and in
# the region that changed (bench/edit.py).
PRIOR, WHOLE, REGION = -1.0, 1.1, 0.7
NOT_SAID = ("position", "text", "size")  # attributes that the matcher can't see
NOT_SEEN = ("quality", "mood", "concept", "artist", "parameter")  # properties of an image that nobody can check
DETAILS = ("count", "color", "position", "relation")  # claims about what is new that are measured
DONE, NOT_DONE = 0.6, 0.28  # probability from which an operation was carried out, below which it was not
LIKELY = 1.0  # log-odds by the matcher from which a detector may have overlooked what an operation is done to
CERTAIN = 4.0  # log-odds that no evidence exceeds: sources that agree are still mistaken together
NOTHING = -6.0  # log-odds of any operation where nothing changed
NOT_READ = frozenset({"not understood", "not English", "nothing to do"})  # flags of the parser


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
    found = measure(edit, observed)
    odds = PRIOR + sum(each.odds for each in found) + matcher_odds(edit, observed)
    targetless = missing_target(edit, observed)
    if targetless or any(each.odds < 0 for each in found):
        odds = min(odds, PRIOR)  # the matcher overrules neither a measurement nor a detector that knows the name
    odds = CERTAIN * float(np.tanh(odds / CERTAIN))
    if observed.failure in ("unchanged", "broken", "another_image"):
        odds = min(odds, NOTHING)
    verifiable = bool(found) or is_visible(edit, observed)
    finding, outcome, source = result_of(odds, found, verifiable)
    claim, probability = Claim(edit.operation, edit.phrase), round(sigmoid(odds), 4)
    boxes = found[0].boxes if found else [region.box for region in observed.change.regions if verifiable]
    sightings = found[0].sightings if found else ()
    check = Check(claim, finding, outcome, probability, source, place, next(iter(boxes), None), sightings)
    details = detail_checks(edit, place, observed) if found else ()
    return Operation(edit, odds, check, details, bool(found), verifiable, targetless)


def result_of(odds: float, found: Sequence[Measurement], verifiable: bool) -> tuple[Finding, Outcome, str]:
    """What was found of an operation, what it comes to, and who says so; an estimate is never certain."""
    probability = round(sigmoid(odds), 4)
    if not verifiable:
        return Finding(Found.NOT_MEASURABLE), Outcome.UNVERIFIABLE, NO_SOURCE
    if not found:
        outcome = Outcome.MISSING if odds <= NOTHING else Outcome.LOW_CONFIDENCE
        return Finding(Found.ESTIMATED, probability=probability), outcome, MATCHER
    outcome = Outcome.MATCHED if probability >= DONE else Outcome.LOW_CONFIDENCE
    outcome = Outcome.MISSING if probability < NOT_DONE else outcome
    return replace(found[0].finding, probability=probability), outcome, found[0].source


def missing_target(edit: Edit, observed: EditObservations) -> str:
    """What an operation is done to, if a detector that knows it well saw none of it before, nor does the matcher."""
    target = edit.target
    if target is None or edit.operation in ("add", "count", "background", "text") or target.attributes:
        return ""
    known = observed.seen[0].known.get(target.canonical)
    well = known is not None and known.closeness == 1 and known.words[0] in name_of(target.canonical).same
    if not well or best(target.canonical, observed.seen[0].sightings) >= TRACE:
        return ""
    likely = observed.settings.matcher and observed.estimate(target.canonical, 0) >= LIKELY
    return "" if likely else target.canonical


# -- by the matcher --------------------------------------------------------------------------------------------------


def is_visible(edit: Edit, observed: EditObservations) -> bool:
    """Whether the matcher can tell: the words of the result name something to be seen."""
    if NOT_READ & set(edit.flags) or not observed.settings.matcher:
        return False
    things = edit.result.things or ((edit.target,) if edit.target else ())
    concrete = {is_concrete(thing.canonical) for thing in things if thing.canonical != "text"}
    if not things:
        return any(each.kind not in NOT_SEEN and "style of" not in each.value for each in edit.result.properties)
    return True in concrete and None not in concrete


def matcher_odds(edit: Edit, observed: EditObservations) -> float:
    """What the matcher says: how much more the image, and where most changed, look like the result after the edit.

    What an operation is done to looks less like itself there; and if it is removed, so does the image.
    """
    if not observed.settings.matcher or "not English" in edit.flags:
        return 0.0
    phrase, target, odds = wanted_phrase(edit), edit.target.canonical if edit.target else "", 0.0
    if phrase:
        odds += WHOLE * (observed.estimate(phrase, 1) - observed.estimate(phrase, 0))
        odds += REGION * observed.estimate(phrase, 1, closely=True)
    elif target and edit.operation == "remove":
        odds -= WHOLE * (observed.estimate(target, 1) - observed.estimate(target, 0))
    if target:
        odds -= REGION * (observed.estimate(target, 1, closely=True) - observed.estimate(target, 0, closely=True))
    return odds


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


# -- details ---------------------------------------------------------------------------------------------------------


def detail_checks(edit: Edit, place: int, observed: EditObservations) -> tuple[Check, ...]:
    """Number, color and place of what was added, as far as they were stated and measured."""
    if edit.operation not in ("add", "replace"):
        return ()
    scene = replace(edit.result, properties=())
    new = [index for index, thing in enumerate(scene.things) if thing in new_things(edit)]
    checks = believe(scene, Image(new_sightings(edit, observed), lines=observed.lines[1]), observed.settings)
    return tuple(
        replace(check, thing=place, target=None)
        for check in checks
        if check.thing in new
        and check.claim.kind in DETAILS
        and (check.claim.count is None or check.claim.count.explicit)
        and check.outcome is not Outcome.UNVERIFIABLE
    )


def new_sightings(edit: Edit, observed: EditObservations) -> Detections:
    """What is seen after the edit; of what should be new, only what was not there before."""
    new, after, least = new_things(edit), observed.seen[1], observed.settings.low_confidence
    found = [s for s in after.sightings if s.label not in {thing.canonical for thing in new}]
    for thing in new:
        old = [s for s in observed.seen[0].sightings if s.label == thing.canonical and s.confidence >= least]
        mine = new_objects((s for s in after.sightings if s.label == thing.canonical), old, observed.change)
        found += evened_out(mine, observed.change, least) if thing.count.explicit else mine
    return Detections(tuple(sorted(found, key=lambda s: -s.confidence)), after.known)

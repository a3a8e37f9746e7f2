"""An operation as claims: that it was carried out, and the number, color and place of what was asked for.

The first claim stands for the operation: there now and not before, gone, replaced, larger, of another color. What it is
worth follows from what was measured in both versions, a detector that knows the names, and the matcher. Number, color
and place are those of a prompt, and suppose that the first claim holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onprompt.evidence.attributes import measure_text
from onprompt.evidence.beliefs import MATCHER, NO_SOURCE, Image, believe, log_odds, sigmoid
from onprompt.evidence.edits import objects
from onprompt.evidence.edits.observations import EditObservations, asked_for, new_things
from onprompt.evidence.grading import MINOR
from onprompt.evidence.sharing import share_out
from onprompt.language import correct_spelling, is_concrete, name_of
from onprompt.types import Box, Check, Claim, Detections, Edit, Finding, Found, Outcome, Picture, Scene, Sighting
from onprompt.vision import color
from onprompt.vision.adjustments import HAPPENED
from onprompt.vision.change import Mask
from onprompt.vision.geometry import position_of, ramp
from onprompt.vision.masks import masked_pixels
from onprompt.vision.motion import find_motion

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
# Log-odds of a measurement that is certain; of one that is often wrong: counts, or colors of what was not located
MEASURED, DOUBTFUL = 4.2, 1.68
ASKED = 1.75  # what is asked for is there far more often than any class in whatever a photo shows
SHIFT = 0.06  # of a center, in widths of the image, from which an object moved towards a side
LARGER, SMALLER = 1.15, 0.87  # ratio of areas
SMALL = ("small", "tiny", "mini", "little", "short", "thin", "slim", "narrow", "half")
SIDES = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "up": (0, -1), "bottom": (0, 1), "down": (0, 1)}
RECOLORED = 0.08, 0.3  # gain in the share of an object that has a color: none, clear
MIRRORED = ("mirrored", "horizontally", "flipped", "reversed", "the other way", "facing", "around")
TRACE = 0.1  # confidence below which an object was not there before
ALL = np.ones((1, 1), dtype=np.bool_)  # the mask of a whole box


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one source says of an operation: the log-odds that it was carried out, and what was found where."""

    odds: float
    finding: Finding
    source: str
    box: Box | None = None
    sightings: tuple[Sighting, ...] = ()


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
    said = next(iter(found), None) or by_matcher(edit, observed)
    claim, probability = Claim(edit.operation, edit.phrase), round(sigmoid(odds), 4)
    if said.source == NO_SOURCE:
        check = Check(claim, said.finding, Outcome.UNVERIFIABLE, probability, said.source, place)
    else:
        outcome = Outcome.LOW_CONFIDENCE
        if found and probability >= DONE:  # an estimate is never certain
            outcome = Outcome.MATCHED
        elif odds <= NOTHING or (found and probability < NOT_DONE):
            outcome = Outcome.MISSING
        finding = replace(said.finding, probability=probability)
        check = Check(claim, finding, outcome, probability, said.source, place, said.box, said.sightings)
    details = detail_checks(edit, place, observed) if found else ()
    verifiable = check.outcome is not Outcome.UNVERIFIABLE
    return Operation(edit, odds, check, details, bool(found), verifiable, targetless)


def by_matcher(edit: Edit, observed: EditObservations) -> Measurement:
    """What stands for an operation that nothing measures: an estimate of what can be seen, where most changed."""
    if not is_visible(edit, observed):
        return Measurement(0.0, Finding(Found.NOT_MEASURABLE), NO_SOURCE)
    box = next((region.box for region in observed.change.regions), None)
    return Measurement(0.0, Finding(Found.ESTIMATED), MATCHER, box)


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


# -- by measurements and detectors --------------------------------------------------------------------------------


def measured(
    score: float, before: str, after: str, source: str, box: Box | None = None, weight: float = MEASURED
) -> Measurement:
    """How far an operation was carried out, from 0 to 1, by what was measured before and after."""
    finding = Finding(Found.BEFORE_AFTER, f"{before} → {after}")
    return Measurement(weight * (2 * score - 1), finding, source, box)


def detected(name: str, odds: float, before: float, after: float, *sightings: Sighting) -> Measurement:
    """The log-odds that an object is there, or gone, as it should be, by its confidence before and after."""
    finding = Finding(Found.BEFORE_AFTER, name, confidences=(round(before, 4), round(after, 4)))
    return Measurement(odds, finding, "detector", sightings[0].box if sightings else None, sightings)


def measure(edit: Edit, observed: EditObservations) -> list[Measurement]:
    """What every source says of an operation, the most telling one first; none where only the matcher can tell."""
    own, located = whole(edit, observed), targets(edit, observed)
    if own is None and edit.operation in MEASURES:
        own = MEASURES[edit.operation](edit, observed)
    elif own is None and edit.operation in CHANGES and located:
        own = CHANGES[edit.operation](edit, located, observed)
    seen = sorted(detect_result(edit, located, observed), key=lambda each: each.odds)
    return [own, *seen] if own else seen


def detect_result(edit: Edit, located: Sequence[Sighting], observed: EditObservations) -> list[Measurement]:
    """What a detector that knows the names says of what should be there, and of what should be gone."""
    known = observed.seen[0].known
    if edit.scope == "all others":
        return others_gone(edit, observed)
    new = [appeared(thing.canonical, observed) for thing in new_things(edit) if thing.canonical in known]
    old = [vanished(t.canonical, located, observed) for t in edit.result.things if t.absent and t.canonical in known]
    # Several objects count as one: the least likely, with the mean of the log-odds.
    groups = [(min(found, key=lambda each: each.odds), found) for found in (new, old) if found]
    return [replace(least, odds=float(np.mean([each.odds for each in found]))) for least, found in groups]


def others_gone(edit: Edit, observed: EditObservations) -> list[Measurement]:
    """Of "everything except the woman": she is still there, and what else was there is not."""
    kept, name = {thing.canonical for thing in edit.keep}, edit.target.canonical if edit.target else ""
    boxes = [s.box for s in observed.seen[0].sightings if s.label in kept and s.confidence >= TRACE]
    gone, stays = [], []
    for each in observed.objects:
        if each.before and (not name or name in (each.before.label, each.before.word)):
            if any(each.before.box.iou(box) >= objects.SAME_PLACE for box in boxes):
                stays.append(each.after is not None)
            else:
                gone.append(each.kind == "removed")
    share, kept_share = float(np.mean(gone or 0)), float(np.mean(stays or 1))
    return [detected("everything else", log_odds(min(share, kept_share)), 1.0, 1 - share)] if gone else []


def appeared(name: str, observed: EditObservations) -> Measurement:
    """The log-odds of something new, where the image changed: elsewhere a detector that finds it is mistaken."""
    before, after = (version.sightings for version in observed.seen)
    if best(name, before) >= observed.settings.low_confidence:  # some were there: it is one more
        after = tuple(c.after for c in observed.objects if c.after and c.kind in ("added", "replaced"))
    found = [s for s in after if s.label == name and objects.is_touched(s.box, observed.change)]
    if not found:
        return detected(name, log_odds(0.0) + ASKED, 0.0, 0.0)
    chosen = max(found, key=lambda s: s.confidence)
    there = best(name, before, chosen.box)
    return detected(name, log_odds(chosen.confidence) + ASKED, there, chosen.confidence, chosen)


def vanished(name: str, located: Sequence[Sighting], observed: EditObservations) -> Measurement:
    """The log-odds that what should be gone is, where it was; if it was not located, by how much they fell.

    The surer it was there and is not any more, the surer that it is gone.
    """
    if not located:
        before, after = (best(name, version.sightings) for version in observed.seen)
        return detected(name, log_odds(before) - log_odds(after), before, after)
    each = [(sighting.confidence, still(sighting, observed)) for sighting in located]
    odds = [-log_odds(now) + (max(0.0, log_odds(was)) if now < 0.5 else 0.0) for was, now in each]
    before, after = max(each, key=lambda pair: pair[1])
    return detected(name, float(np.mean(odds)), before, after, located[0])


def still(sighting: Sighting, observed: EditObservations) -> float:
    """The confidence in an object after the edit, in its place; where the image did not change, as before."""
    if not objects.is_touched(sighting.box, observed.change):
        return sighting.confidence
    return best(sighting.label, observed.seen[1].sightings, sighting.box)


def best(name: str, sightings: Iterable[Sighting], place: Box | None = None) -> float:
    """The confidence of the best sighting of a name, anywhere or in one place."""
    own = (s for s in sightings if s.label == name and (place is None or s.box.iou(place) >= objects.SAME_PLACE))
    return max((s.confidence for s in own), default=0.0)


def targets(edit: Edit, observed: EditObservations) -> tuple[Sighting, ...]:
    """The sightings of what an operation is done to, in the image before it."""
    if edit.target is None:
        return ()
    names = [thing.canonical for thing in edit.source.things]
    if edit.target.canonical in names:
        share = share_out(edit.source, observed.seen[0], observed.settings)[names.index(edit.target.canonical)]
    else:
        share = share_out(Scene(edit.phrase, (edit.target,)), observed.seen[0], observed.settings)[0]
    confident = [s for s in share.candidates if s.confidence >= observed.settings.low_confidence]
    if confident and (edit.scope == "all" or edit.target.count.high is None):
        return tuple(confident)
    # Of several that are called so, that which changed is meant.
    changed = tuple(s for s in share.candidates if objects.is_touched(s.box, observed.change))
    untouched = not any(s in changed for s in share.chosen) and not edit.target.attributes
    return changed[: len(share.chosen)] if changed and untouched else share.chosen


def whole(edit: Edit, observed: EditObservations) -> Measurement | None:
    """An adjustment of the image as a whole."""
    names = asked_for(edit)
    if not names or ("not understood" in edit.flags and names != ("cropped",)):  # to crop is all there is to do
        return None
    made = max(names, key=lambda name: observed.adjusted.get(name, 0.0))
    strength = observed.adjusted.get(made, 0.0)
    after = made if strength >= HAPPENED else next(iter(observed.adjustments), "no such change")
    return measured(strength, "as it was", after, "pixels")


def recolor(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The colors of the target before and after; of where most changed, if the target is not located."""
    asked = [(t, a.value) for t in edit.result.things for a in t.attributes if a.kind == "color"]
    thing, value = next(((thing, value) for thing, value in asked if color.can_check(value)), (None, ""))
    if thing is None:
        return None
    own = edit.target is not None and thing.canonical == edit.target.canonical
    located = targets(edit, observed) if own else ()  # the hair of a woman is not the woman
    places = [(s.box, s.mask) for s in located] or [(region.box, None) for region in observed.change.regions[:1]]
    if not places:
        return None
    before, after = ([likeness(p, *place, value, observed) for place in places] for p in observed.pictures)
    gains = [
        ramp(new - old, *RECOLORED) * (observed.change.within(box) >= objects.TOUCHED)
        for (old, _), (new, _), (box, _) in zip(before, after, places, strict=True)
    ]
    weight = MEASURED if located else DOUBTFUL
    return measured(float(np.mean(gains)), before[0][1], after[0][1], "color", places[0][0], weight)


def likeness(
    picture: Picture, box: Box, mask: Mask | None, asked: str, observed: EditObservations
) -> tuple[float, str]:
    """How much of an object has a color, and the name of its largest color."""
    near, far = observed.settings.color_match, observed.settings.color_near
    pixels = masked_pixels(picture, box, ALL if mask is None else mask)
    swatches = color.dominant_colors(pixels, color.exposure_gain(picture.pixels), 0.1)
    total = sum(swatch.share for swatch in swatches) or 1.0
    fit = sum(color.likeness(swatch, asked, near, far) * swatch.share for swatch in swatches)
    return fit / total, swatches[0].name if swatches else "many colors"


def move(edit: Edit, located: Sequence[Sighting], observed: EditObservations) -> Measurement | None:
    """How far the target moved, to the side asked for if it has no other place; whether it was mirrored."""
    first, things = located[0].box, edit.result.things
    if turns := [a.value for thing in things for a in thing.attributes if a.kind == "orientation"]:
        motion = find_motion(first, observed.change)
        after = "mirrored" if motion and motion.mirrored else "not mirrored"
        mirrored = measured(float(after == "mirrored"), "as it was", after, "outline", first)
        return mirrored if any(word in " ".join(turns) for word in MIRRORED) else None
    second, least = place_after(located[0], observed), observed.settings.low_confidence
    others = [things[relation.target].canonical for thing in things[:1] for relation in thing.relations]
    beside = any(best(name, observed.seen[0].sightings) >= least for name in others)
    words = f"{edit.value} " + " ".join(a.value for t in things for a in t.attributes)
    side = next((SIDES[word] for word in SIDES if word in words.split()), None)
    if second is None or (side is None and not beside):
        return None
    shift = np.subtract(second.centre, first.centre)
    along = float(np.hypot(*shift)) if beside or side is None else float(shift @ side)
    return measured(float(along >= SHIFT), position_of(first), position_of(second), "boxes", first)


def resize(edit: Edit, located: Sequence[Sighting], observed: EditObservations) -> Measurement | None:
    """The ratio of the target's areas."""
    first, second = located[0].box, place_after(located[0], observed)
    if second is None or "no target" in edit.flags:
        return None
    asked = [a.value for thing in edit.result.things[:1] for a in thing.attributes if a.kind == "size"]
    words = " ".join([edit.value.split(" than ")[0], *asked[-1:]]).lower()
    ratio = second.area / max(first.area, 1e-9)
    size = "larger" if ratio >= LARGER else "smaller" if ratio <= SMALLER else "as large as before"
    wanted = "smaller" if any(word in words for word in SMALL) else "larger"
    return measured(float(size == wanted), "as it was", size, "boxes", first)


def place_after(sighting: Sighting, observed: EditObservations) -> Box | None:
    """Where an object is in the image after the edit, by its corners or by the detector."""
    if motion := find_motion(sighting.box, observed.change):
        return motion.box
    pairs = ((c.before, c.after) for c in observed.objects if c.before and c.after)
    return next((new.box for old, new in pairs if old.box.iou(sighting.box) >= objects.SAME_OBJECT), None)


def count(edit: Edit, observed: EditObservations) -> Measurement | None:
    """How many more or fewer there are."""
    if edit.target is None or edit.target.canonical not in observed.seen[0].known:
        return None
    name, least = edit.target.canonical, observed.settings.low_confidence
    sure = [[s for s in version.sightings if s.label == name and s.confidence >= least] for version in observed.seen]
    before, after = (len(objects.unique(sightings)) for sightings in sure)
    asked = edit.value.strip()
    more = asked[:1] in ("+", "-") and asked[1:].isdecimal()
    wanted = before + int(asked) if more else edit.result.things[0].count.exact if edit.result.things else None
    if wanted is None:
        return None
    score = 1.0 if after == wanted else 0.5 if (after - before) * (wanted - before) > 0 else 0.0
    return measured(score, str(before), str(after), "detector", weight=DOUBTFUL)


def text(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The text that can be read before and after."""
    if not edit.result.texts:
        return None
    before, after = (measure_text(edit.result.texts[0], lines) for lines in observed.lines)
    score, line = after.score if after.score > before.score else 0.0, next(iter(observed.lines[1]), None)
    return measured(score, before.value, after.value, "pp-ocr", line.box if line else None)


Located = Callable[[Edit, Sequence[Sighting], EditObservations], Measurement | None]
CHANGES: dict[str, Located] = {"move": move, "resize": resize}
MEASURES: dict[str, Callable[[Edit, EditObservations], Measurement | None]] = {
    "recolor": recolor,
    "count": count,
    "text": text,
}


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
        mine = objects.new_objects((s for s in after.sightings if s.label == thing.canonical), old, observed.change)
        found += objects.evened_out(mine, observed.change, least) if thing.count.explicit else mine
    return Detections(tuple(sorted(found, key=lambda s: -s.confidence)), after.known)

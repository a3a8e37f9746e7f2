"""What each source says of an operation: the log-odds that it was carried out, and what it found in both versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from onprompt.evidence.attributes import measure_text
from onprompt.evidence.beliefs import log_odds
from onprompt.evidence.edits.adjustments import asked_for
from onprompt.evidence.edits.objects import SAME_OBJECT, SAME_PLACE, TOUCHED, is_touched, unique
from onprompt.evidence.edits.observations import EditObservations, new_things
from onprompt.evidence.sharing import share_out
from onprompt.types import Box, Edit, Finding, Found, Picture, Scene, Sighting, Thing
from onprompt.vision import color
from onprompt.vision.adjustments import HAPPENED
from onprompt.vision.change import Mask
from onprompt.vision.geometry import position_of, ramp
from onprompt.vision.masks import masked_pixels
from onprompt.vision.motion import find_motion

MEASURED = 4.2  # log-odds of a measurement that is certain
DOUBTFUL = 0.4  # weight of one that is often wrong: counts, or colors of what was not located
ASKED = 1.75  # what is asked for is there far more often than any class in whatever a photo shows
SHIFT = 0.06  # of a center, in widths of the image, from which an object moved towards a side
LARGER, SMALLER = 1.15, 0.87  # ratio of areas
SMALL = ("small", "tiny", "mini", "little", "short", "thin", "slim", "narrow", "half")
SIDES = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "up": (0, -1), "bottom": (0, 1), "down": (0, 1)}
RECOLORED = 0.08, 0.3  # gain in the share of an object that has a color: none, clear
MIRRORED = ("mirrored", "horizontally", "flipped", "reversed", "the other way", "facing", "around")
CROPPED = ("cropped",)  # says all there is to do, whatever else of the instruction was not understood
TRACE = 0.1  # confidence below which an object was not there before
ALL = np.ones((1, 1), dtype=np.bool_)  # the mask of a whole box


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one source says of an operation."""

    odds: float
    finding: Finding
    source: str
    boxes: tuple[Box, ...] = ()
    sightings: tuple[Sighting, ...] = ()


def measured(
    score: float, before: str, after: str, source: str, boxes: Iterable[Box] = (), weight: float = 1.0
) -> Measurement:
    """How far an operation was carried out, from 0 to 1, by what was measured before and after."""
    finding = Finding(Found.BEFORE_AFTER, f"{before} → {after}" if before else after)
    return Measurement(MEASURED * weight * (2 * score - 1), finding, source, tuple(boxes))


def detected(name: str, odds: float, before: float, after: float, *sightings: Sighting) -> Measurement:
    """The log-odds that an object is there, or gone, as it should be, by its confidence before and after."""
    finding = Finding(Found.BEFORE_AFTER, name, confidences=(round(before, 4), round(after, 4)))
    return Measurement(odds, finding, "detector", tuple(s.box for s in sightings), sightings)


def measure(edit: Edit, observed: EditObservations) -> list[Measurement]:
    """What every source says of an operation, the most telling one first; none where only the matcher can tell."""
    own = whole(edit, observed)
    if own is None and edit.operation in MEASURES:
        own = MEASURES[edit.operation](edit, observed)
    seen = sorted(detect_result(edit, observed), key=lambda each: each.odds)
    return [own, *seen] if own else seen


# -- what is there, and what is gone ---------------------------------------------------------------------------------


def detect_result(edit: Edit, observed: EditObservations) -> list[Measurement]:
    """What a detector that knows the names says of what should be there, and of what should be gone."""
    known = observed.seen[0].known
    if edit.scope == "all others":
        return others_gone(edit, observed)
    new = [appeared(thing, observed) for thing in new_things(edit) if thing.canonical in known]
    old = [vanished(edit, t, observed) for t in edit.result.things if t.absent and t.canonical in known]
    # Several objects count as one: the least likely, with the mean of the log-odds.
    groups = [(min(found, key=lambda each: each.odds), found) for found in (new, old) if found]
    return [replace(least, odds=float(np.mean([each.odds for each in found]))) for least, found in groups]


def others_gone(edit: Edit, observed: EditObservations) -> list[Measurement]:
    """Of "everything except the woman": she is still there, and what else was there is not."""
    kept = {thing.canonical for thing in edit.keep}
    named = {edit.target.canonical} if edit.target else set()
    boxes = [s.box for s in observed.seen[0].sightings if s.label in kept and s.confidence >= TRACE]
    before = [
        (c, c.before) for c in observed.objects if c.before and (not named or {c.before.label, c.before.word} & named)
    ]
    mine = [any(s.box.iou(box) >= SAME_PLACE for box in boxes) for _, s in before]
    gone = [c.kind == "removed" for (c, _), own in zip(before, mine, strict=True) if not own]
    stays = [c.after is not None for (c, _), own in zip(before, mine, strict=True) if own]
    if not gone:
        return []
    share = float(np.mean(gone))
    return [detected("everything else", log_odds(min(share, float(np.mean(stays or 1)))), 1.0, 1 - share)]


def appeared(thing: Thing, observed: EditObservations) -> Measurement:
    """The log-odds of something new, where the image changed: elsewhere a detector that finds it is mistaken."""
    name, before = thing.canonical, best(thing.canonical, observed.seen[0].sightings)
    old = before >= observed.settings.low_confidence
    sightings = (
        [c.after for c in observed.objects if c.kind in ("added", "replaced")] if old else observed.seen[1].sightings
    )
    found = [s for s in sightings if s and s.label == name and is_touched(s.box, observed.change)]
    if not found:
        return detected(name, log_odds(0.0) + ASKED, 0.0, 0.0)
    chosen = max(found, key=lambda s: s.confidence)
    before = best(name, (s for s in observed.seen[0].sightings if s.box.iou(chosen.box) >= SAME_PLACE))
    return detected(name, log_odds(chosen.confidence) + ASKED, before, chosen.confidence, chosen)


def vanished(edit: Edit, thing: Thing, observed: EditObservations) -> Measurement:
    """The log-odds that what should be gone is, where it was; if it was not located, by how much they fell.

    The surer it was there and is not any more, the surer that it is gone.
    """
    name, located = thing.canonical, targets(edit, observed)
    if not located:
        before, after = (best(name, version.sightings) for version in observed.seen)
        return detected(name, log_odds(before) - log_odds(after), before, after)
    each = [(sighting.confidence, still(sighting, observed)) for sighting in located]
    odds = [-log_odds(now) + (max(0.0, log_odds(was)) if now < 0.5 else 0.0) for was, now in each]
    before, after = max(each, key=lambda pair: pair[1])
    return detected(name, float(np.mean(odds)), before, after, located[0])


def still(sighting: Sighting, observed: EditObservations) -> float:
    """The confidence in an object after the edit, in its place; where the image did not change, as before."""
    if not is_touched(sighting.box, observed.change):
        return sighting.confidence
    return best(sighting.label, (s for s in observed.seen[1].sightings if s.box.iou(sighting.box) >= SAME_PLACE))


def best(label: str, sightings: Iterable[Sighting]) -> float:
    """The confidence of the best sighting of a name."""
    return max((s.confidence for s in sightings if s.label == label), default=0.0)


def targets(edit: Edit, observed: EditObservations) -> tuple[Sighting, ...]:
    """The sightings of what an operation is done to, in the image before it."""
    if edit.target is None:
        return ()
    names = [thing.canonical for thing in edit.source.things]
    scene = edit.source if edit.target.canonical in names else Scene(edit.phrase, (edit.target,))
    index = next(place for place, thing in enumerate(scene.things) if thing.canonical == edit.target.canonical)
    share = share_out(scene, observed.seen[0], observed.settings)[index]
    confident = [s for s in share.candidates if s.confidence >= observed.settings.low_confidence]
    if confident and (edit.scope == "all" or edit.target.count.high is None):
        return tuple(confident)
    # Of several that are called so, that which changed is meant.
    changed = tuple(s for s in share.candidates if is_touched(s.box, observed.change))
    untouched = not any(s in changed for s in share.chosen) and not edit.target.attributes
    return changed[: len(share.chosen)] if changed and untouched else share.chosen


# -- how it changed --------------------------------------------------------------------------------------------------


def whole(edit: Edit, observed: EditObservations) -> Measurement | None:
    """An adjustment of the image as a whole."""
    names = asked_for(edit)
    if not names or ("not understood" in edit.flags and names != CROPPED):
        return None
    made = max(names, key=lambda name: observed.adjusted.get(name, 0.0))
    strength = observed.adjusted.get(made, 0.0)
    after = made if strength >= HAPPENED else next(iter(observed.adjustments), "no such change")
    return measured(strength, "as it was", after, "pixels")


def recolor(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The colors of the target before and after; of the changed region, if the target is not located."""
    asked = [(t, a.value) for t in edit.result.things for a in t.attributes if a.kind == "color"]
    thing, value = next(((thing, value) for thing, value in asked if color.can_check(value)), (None, ""))
    if thing is None:
        return None
    own = edit.target is not None and thing.canonical == edit.target.canonical
    located = targets(edit, observed) if own else ()  # the hair of a woman is not the woman
    places = [(s.box, ALL if s.mask is None else s.mask) for s in located] or [
        (r, ALL) for r in largest_region(observed)
    ]
    if not places:
        return None
    versions = [[likeness(p, *place, value, observed) for place in places] for p in observed.pictures]
    gains = [
        ramp(new - old, *RECOLORED) * (observed.change.within(box) >= TOUCHED)
        for (old, _), (new, _), (box, _) in zip(*versions, places, strict=True)
    ]
    names, weight = [version[0][1] for version in versions], 1.0 if located else DOUBTFUL
    return measured(float(np.mean(gains)), names[0], names[1], "color", [box for box, _ in places], weight)


def likeness(picture: Picture, box: Box, mask: Mask, asked: str, observed: EditObservations) -> tuple[float, str]:
    """How much of an object has a color, and the name of its largest color."""
    near, far = observed.settings.color_match, observed.settings.color_near
    swatches = color.dominant_colors(masked_pixels(picture, box, mask), color.exposure_gain(picture.pixels), 0.1)
    total = sum(swatch.share for swatch in swatches) or 1.0
    fit = sum(color.likeness(swatch, asked, near, far) * swatch.share for swatch in swatches)
    return fit / total, swatches[0].name if swatches else "many colors"


def largest_region(observed: EditObservations) -> list[Box]:
    """Where most changed, if anything did."""
    return [region.box for region in observed.change.regions[:1]]


def move(edit: Edit, observed: EditObservations) -> Measurement | None:
    """How far the target moved, to the side asked for if it has no other place; whether it was mirrored."""
    located = targets(edit, observed)
    if turns := [a.value for thing in edit.result.things for a in thing.attributes if a.kind == "orientation"]:
        return mirror(located, observed) if any(word in " ".join(turns) for word in MIRRORED) else None
    there = moved(located[0], observed) if located else None
    things, least = edit.result.things, observed.settings.low_confidence
    others = [things[relation.target].canonical for thing in things[:1] for relation in thing.relations]
    beside = any(best(name, observed.seen[0].sightings) >= least for name in others)
    words = f"{edit.value} " + " ".join(a.value for t in things for a in t.attributes)
    side = next((SIDES[word] for word in SIDES if word in words.split()), None)
    if there is None or (side is None and not beside):
        return None
    first, (box, weight) = located[0].box, there
    shift = np.subtract(box.centre, first.centre)
    along = float(np.hypot(*shift)) if beside or side is None else float(shift @ side)
    values = position_of(first), position_of(box)
    return measured(float(along >= SHIFT), *values, "boxes", (first, box), weight)


def mirror(located: tuple[Sighting, ...], observed: EditObservations) -> Measurement | None:
    """Whether the target looks like its mirror image; it is what changed, if it is not located."""
    boxes = [sighting.box for sighting in located[:1]]
    boxes += [box for box in largest_region(observed) if not boxes or box.iou(boxes[0]) >= SAME_PLACE / 2]
    if not boxes:
        return None
    turned = any(motion.mirrored for box in boxes if (motion := find_motion(box, observed.change)))
    after, weight = "mirrored" if turned else "not mirrored", 1.0 if located else DOUBTFUL
    return measured(float(turned), "as it was", after, "outline", boxes, weight)


def counterpart(sighting: Sighting, observed: EditObservations) -> Box | None:
    """Where the same object is in the image after the edit, by the detector."""
    pairs = ((c.before, c.after) for c in observed.objects if c.before and c.after)
    return next((new.box for old, new in pairs if old.box.iou(sighting.box) >= SAME_OBJECT), None)


def moved(sighting: Sighting, observed: EditObservations) -> tuple[Box, float] | None:
    """Where an object is after the edit, and how sure: by its corners, a detector, or another region that changed."""
    if motion := find_motion(sighting.box, observed.change):
        return motion.box, 1.0
    regions, other = observed.change.regions, counterpart(sighting, observed)
    if other and (other.iou(sighting.box) < SAME_PLACE or not regions):
        return other, 1.0
    apart = next((r.box for r in regions if r.box.iou(sighting.box) < SAME_PLACE / 2), None)
    if apart and observed.change.within(sighting.box) >= TOUCHED:
        return apart, DOUBTFUL
    return (other, 1.0) if other else None


def resize(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The ratio of the target's areas; by the region that changed, if the target is found in one version only."""
    located = targets(edit, observed)
    boxes = [sighting.box for sighting in located[:1]] or largest_region(observed)
    if not boxes or "no target" in edit.flags:
        return None
    first, weight = boxes[0], 1.0 if located else DOUBTFUL
    second = motion.box if (motion := find_motion(first, observed.change)) else None
    if second is None and located and (second := counterpart(located[0], observed)) is None:
        weight = DOUBTFUL
        second = next((region.box for region in observed.change.regions if region.box.iou(first) > 0), None)
    if second is None:
        return None
    asked = [a.value for thing in edit.result.things[:1] for a in thing.attributes if a.kind == "size"]
    words = " ".join([edit.value.split(" than ")[0], *asked[-1:]]).lower()
    ratio = second.area / max(first.area, 1e-9)
    size = "larger" if ratio >= LARGER else "smaller" if ratio <= SMALLER else "as large as before"
    wanted = "smaller" if any(word in words for word in SMALL) else "larger"
    return measured(float(size == wanted), "as it was", size, "boxes", (first, second), weight)


def count(edit: Edit, observed: EditObservations) -> Measurement | None:
    """How many more or fewer there are."""
    if edit.target is None or edit.target.canonical not in observed.seen[0].known:
        return None
    name, least = edit.target.canonical, observed.settings.low_confidence
    sure = [[s for s in version.sightings if s.label == name and s.confidence >= least] for version in observed.seen]
    before, after = (len(unique(sightings)) for sightings in sure)
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
    score = after.score if after.score > before.score else 0.0
    return measured(score, before.value, after.value, "pp-ocr", [line.box for line in observed.lines[1][:1]])


MEASURES: dict[str, Callable[[Edit, EditObservations], Measurement | None]] = {
    "recolor": recolor,
    "move": move,
    "resize": resize,
    "count": count,
    "text": text,
}

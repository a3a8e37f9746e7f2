"""What can be measured of an operation: a function for each kind, from both versions to a score and two values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from onprompt.evidence.attributes import measure_text
from onprompt.evidence.edits import adjustments
from onprompt.evidence.edits.motion import find_motion
from onprompt.evidence.edits.objects import SAME_PLACE, TOUCHED
from onprompt.evidence.edits.observations import EditObservations
from onprompt.evidence.sharing import share_out
from onprompt.settings import Settings
from onprompt.types import Box, Edit, Scene, Sighting
from onprompt.vision import color
from onprompt.vision.change import Mask, cells_of
from onprompt.vision.geometry import position_of, ramp

SHIFT = 0.06  # of a centre, in widths of the image, from which an object moved towards a side
LARGER, SMALLER = 1.15, 0.87  # ratio of areas
SMALL = ("small", "tiny", "mini", "little", "short", "thin", "slim", "narrow", "half")
SIDES = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "up": (0, -1), "bottom": (0, 1), "down": (0, 1)}
DOUBTFUL = 0.4  # weight of a measurement that is often wrong: counts, or colours of what was not located
RECOLOURED = 0.08, 0.3  # gain in the share of an object that has a colour: none, clear
MIRRORED = frozenset({"mirrored", "horizontally", "flipped", "reversed", "the other way", "facing", "around"})


@dataclass(frozen=True, slots=True)
class Measurement:
    """How far an operation was carried out, and what was measured before and after."""

    score: float
    before: str
    after: str
    source: str
    boxes: tuple[Box, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    weight: float = 1.0  # less where the measurement itself is in doubt


def targets(edit: Edit, observed: EditObservations) -> tuple[Sighting, ...]:
    """The sightings of what an operation is done to, in the image before it."""
    if edit.target is None:
        return ()
    names = [thing.canonical for thing in edit.source.things]
    scene = edit.source if edit.target.canonical in names else Scene(edit.phrase, (edit.target,))
    index = next(place for place, thing in enumerate(scene.things) if thing.canonical == edit.target.canonical)
    share = share_out(scene, observed.seen[0], observed.settings)[index]
    confident = [s for s in share.candidates if s.confidence >= observed.settings.low_confidence]
    several = edit.scope == "all" or edit.target.count.high is None
    return tuple(confident) if several and confident else share.chosen


def recolour(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The colours of the target before and after; of the changed region, if the target is not located."""
    coloured = [(thing, a.value) for thing in edit.result.things for a in thing.attributes if a.kind == "color"]
    coloured = [(thing, value) for thing, value in coloured if color.can_check(value)]
    if not coloured:
        return None
    thing, asked = coloured[0]
    whole = edit.target is not None and thing.canonical == edit.target.canonical
    located = targets(edit, observed) if whole else ()  # the hair of a woman is not the woman
    boxes = [sighting.box for sighting in located] or [region.box for region in observed.change.regions[:1]]
    if not boxes:
        return None
    shapes = [sighting.mask for sighting in located] or [None]
    results = [colour_change(box, shape, asked, observed) for box, shape in zip(boxes, shapes, strict=True)]
    score = float(np.mean([result[0] for result in results]))
    weight = 1.0 if located else DOUBTFUL
    return Measurement(score, *results[0][1:], "colour", tuple(boxes), located, weight)


def colour_change(box: Box, shape: Mask | None, asked: str, observed: EditObservations) -> tuple[float, str, str]:
    """How far an object took on a colour, and the colours it had and has."""
    versions = observed.change.before, observed.change.after
    (old, was), (new, now) = (likeness(pixels, box, shape, asked, observed.settings) for pixels in versions)
    changed = observed.change.within(box) >= TOUCHED
    return (ramp(new - old, *RECOLOURED) if changed else 0.0), was, now


def likeness(pixels: np.ndarray, box: Box, shape: Mask | None, asked: str, settings: Settings) -> tuple[float, str]:
    """How much of an object has a colour, and the name of its largest colour."""
    area = pixels[cells_of(box, pixels.shape)]
    inside = resized(shape, area.shape) if shape is not None else np.ones(area.shape[:2], dtype=np.bool_)
    swatches = color.dominant_colors(
        area[inside] if inside.any() else area.reshape(-1, 3), color.exposure_gain(pixels), 0.1
    )
    fits = [(color.likeness(s, asked, settings.color_match, settings.color_near), s.share) for s in swatches]
    total = sum(share for _, share in fits) or 1.0
    return sum(fit * share for fit, share in fits) / total, swatches[0].name if swatches else "many colours"


def resized(shape: Mask, size: tuple[int, ...]) -> Mask:
    """A mask at a number of rows and columns."""
    rows = np.arange(size[0]) * shape.shape[0] // size[0]
    columns = np.arange(size[1]) * shape.shape[1] // size[1]
    return np.asarray(shape[rows[:, None], columns], dtype=np.bool_)


def counterpart(sighting: Sighting, observed: EditObservations) -> Sighting | None:
    """The same object in the image after the edit."""
    return next((c.after for c in observed.objects if c.before and same(c.before, sighting)), None)


def same(a: Sighting, b: Sighting) -> bool:
    """Whether two sightings of one version are of one object."""
    return a.box.iou(b.box) >= 0.6


def move(edit: Edit, observed: EditObservations) -> Measurement | None:
    """How far the target moved, to the side asked for if it has no other place; whether it was mirrored."""
    located = targets(edit, observed)
    turns = [a.value for thing in edit.result.things for a in thing.attributes if a.kind == "orientation"]
    if turns:
        mirrored = any(word in " ".join(turns) for word in MIRRORED)
        return mirror(located, observed) if mirrored else None
    words = f"{edit.value} " + " ".join(a.value for t in edit.result.things for a in t.attributes)
    there = moved(located[0], observed) if located else None
    if there is None:
        return None
    first, (box, weight) = located[0].box, there
    dx, dy = (after - before for before, after in zip(first.centre, box.centre, strict=True))
    beside = moves_beside(edit, observed)
    side = "" if beside else next((word for word in SIDES if word in words.split()), "")
    if not side and not beside:
        return None
    along = dx * SIDES[side][0] + dy * SIDES[side][1] if side else float(np.hypot(dx, dy))
    values = position_of(first), position_of(box)
    return Measurement(float(along >= SHIFT), *values, "boxes", (first, box), located, weight)


def moves_beside(edit: Edit, observed: EditObservations) -> bool:
    """Whether the new place of the target is beside something else that was seen before."""
    first = edit.result.things[:1]
    others = {edit.result.things[each.target].canonical for thing in first for each in thing.relations}
    return any(
        s.label in others and s.confidence >= observed.settings.low_confidence for s in observed.seen[0].sightings
    )


def mirror(located: tuple[Sighting, ...], observed: EditObservations) -> Measurement | None:
    """Whether the target looks like its mirror image; it is what changed, if it is not located."""
    boxes = [sighting.box for sighting in located[:1]]
    regions = [region.box for region in observed.change.regions[:1]]
    boxes += [box for box in regions if not boxes or box.iou(boxes[0]) >= SAME_PLACE / 2]
    if not boxes:
        return None
    motions = [find_motion(box, observed.change) for box in boxes]
    turned = any(motion is not None and motion.mirrored for motion in motions)
    shown = "mirrored" if turned else "not mirrored"
    return Measurement(
        float(turned), "as it was", shown, "outline", tuple(boxes), located, 1.0 if located else DOUBTFUL
    )


def moved(sighting: Sighting, observed: EditObservations) -> tuple[Box, float] | None:
    """Where an object is after the edit, and how sure: by its corners, a detector, or another region that changed."""
    if motion := find_motion(sighting.box, observed.change):
        return motion.box, 1.0
    if (other := counterpart(sighting, observed)) and (
        other.box.iou(sighting.box) < SAME_PLACE or not observed.change.regions
    ):
        return other.box, 1.0
    apart = (r.box for r in observed.change.regions if r.box.iou(sighting.box) < SAME_PLACE / 2)
    region = next(apart, None) if observed.change.within(sighting.box) >= TOUCHED else None
    if region is not None:
        return region, DOUBTFUL
    return (other.box, 1.0) if other else None


def resize(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The ratio of the target's areas; by the region that changed, if the target is found in one version only."""
    found = None if "no target" in edit.flags else size_ratio(targets(edit, observed), observed)
    if found is None:
        return None
    ratio, boxes, weight = found
    asked = [a.value for thing in edit.result.things[:1] for a in thing.attributes if a.kind == "size"]
    words = " ".join([edit.value.split(" than ")[0], *asked[-1:]]).lower()
    smaller = any(word in words for word in SMALL)
    done = ratio <= SMALLER if smaller else ratio >= LARGER
    size = "larger" if ratio >= LARGER else "smaller" if ratio <= SMALLER else "as large as before"
    return Measurement(float(done), "as it was", size, "boxes", boxes, targets(edit, observed), weight)


def size_ratio(located: Sequence[Sighting], observed: EditObservations) -> tuple[float, tuple[Box, ...], float] | None:
    """The target's area after the edit against that before, both boxes, and how sure that is."""
    regions = [region.box for region in observed.change.regions]
    first = located[0].box if located else next(iter(regions), None)
    if first is None:
        return None
    if motion := find_motion(first, observed.change):
        return motion.scale**2, (first, motion.box), 1.0 if located else DOUBTFUL
    other = counterpart(located[0], observed) if located else None
    second = other.box if other else next((box for box in regions if located and box.iou(first) > 0), None)
    if second is None:
        return None
    return second.area / max(first.area, 1e-9), (first, second), 1.0 if other else DOUBTFUL


def count(edit: Edit, observed: EditObservations) -> Measurement | None:
    """How many more or fewer there are."""
    if edit.target is None or edit.target.canonical not in observed.seen[0].known:
        return None
    before, after = (number(edit.target.canonical, version.sightings, observed.settings) for version in observed.seen)
    asked = edit.value.strip()
    wanted = before + int(asked) if asked[:1] in "+-" and asked[1:].isdecimal() else None
    exact = edit.result.things[0].count.exact if edit.result.things else None
    wanted = exact if wanted is None else wanted
    if wanted is None:
        return None
    score = 1.0 if after == wanted else 0.5 if (after - before) * (wanted - before) > 0 else 0.0
    return Measurement(score, str(before), str(after), "detector", weight=DOUBTFUL)


def number(label: str, sightings: Sequence[Sighting], settings: Settings) -> int:
    """How many confident sightings of a name there are."""
    confident = [
        s for s in sightings if s.label == label and s.confidence >= settings.low_confidence and s.count == (1, 1)
    ]
    return sum(all(s.box.iou(t.box) < 0.6 for t in confident[:place]) for place, s in enumerate(confident))


def text(edit: Edit, observed: EditObservations) -> Measurement | None:
    """The text that can be read before and after."""
    asked = [a.value for thing in edit.result.things for a in thing.attributes if a.kind == "text"]
    if not asked:
        return None
    before, after = (measure_text(asked[0], lines) for lines in observed.lines)
    score = after.score if after.score > before.score else 0.0
    boxes = tuple(line.box for line in observed.lines[1][:1])
    return Measurement(score, before.value, after.value, "pp-ocr", boxes)


def whole(edit: Edit, observed: EditObservations) -> Measurement | None:
    """An adjustment of the image as a whole."""
    names = () if "not understood" in edit.flags else adjustments.asked_for(edit)
    if not names:
        return None
    strength = adjustments.strength(names, observed.adjusted)
    found = observed.adjustments
    made = max(names, key=lambda name: observed.adjusted.get(name, 0.0))
    after = made if strength >= adjustments.HAPPENED else found[0] if found else "no such change"
    return Measurement(strength, "as it was", after, "pixels")


MEASURES: dict[str, Callable[[Edit, EditObservations], Measurement | None]] = {
    "recolour": recolour,
    "move": move,
    "resize": resize,
    "count": count,
    "text": text,
}


def measure(edit: Edit, observed: EditObservations) -> Measurement | None:
    """What can be measured of an operation; None where only detectors and matcher can tell."""
    found = whole(edit, observed)
    if found is None and edit.operation in MEASURES:
        found = MEASURES[edit.operation](edit, observed)
    return found

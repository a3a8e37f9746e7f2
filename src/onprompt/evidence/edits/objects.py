"""The objects of both versions of an image: what was added, removed, moved, recolored, and each new one once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from onprompt.types import Box, ObjectChange, Sighting
from onprompt.vision.change import Change, cells_of, to_lab
from onprompt.vision.geometry import containment
from onprompt.vision.motion import find_motion

SAME_PLACE = 0.4  # IoU from which two boxes are in the same place
SAME_OBJECT = 0.6  # … from which two sightings of one version are of one object
TOUCHED = 0.15  # share of a box that must have changed for its object to have changed
NEW = 0.5  # … for an object to be new
PART = 0.5  # share of a box within another from which it is a part of it
ALIKE = 1.25  # ratio of sides up to which two regions have one shape
INFERRED = 0.8  # confidence in an object of which only a region of the same shape was recognized
REDRAWN = 10.0  # median ΔE of an image from which all of it changed
MOVED = 0.08  # shift of a center, in widths of the image, from which an object moved
RESIZED = 1.25  # ratio of areas from which it was resized
RECOLORED = 12.0  # ΔE of the mean color from which it was recolored


def match_objects(
    before: Iterable[Sighting], after: Iterable[Sighting], change: Change, least: float
) -> tuple[ObjectChange, ...]:
    """Each confident sighting of either version once, in the frame of the first; the most alike are matched first."""
    old, new = (unique(s for s in version if s.confidence >= least) for version in (before, after))
    pairs = [(alikeness(a, b), i, j) for i, a in enumerate(old) for j, b in enumerate(new)]
    partner: dict[int, int] = {}
    for alike, i, j in sorted(pairs, reverse=True):
        if alike > 0 and i not in partner and j not in partner.values():
            partner[i] = j
    changes = [ObjectChange(kind_of(old[i], new[j], change), old[i], new[j]) for i, j in partner.items()]
    # A detector that finds an object in one version only is mistaken where the image did not change.
    for i, sighting in enumerate(old):
        if i not in partner:
            changes.append(ObjectChange("removed" if is_touched(sighting.box, change) else "unchanged", sighting))
    for j, sighting in enumerate(new):
        if j not in partner.values():
            changes.append(ObjectChange("added" if is_touched(sighting.box, change) else "unchanged", None, sighting))
    return tuple(changes)


def unique(sightings: Iterable[Sighting]) -> list[Sighting]:
    """One sighting for each box: the same object may have been found by several names."""
    kept: list[Sighting] = []
    for sighting in sorted(sightings, key=lambda s: -s.confidence):
        same = (sighting.word == s.word and sighting.box.iou(s.box) >= SAME_OBJECT for s in kept)
        if not any(same):
            kept.append(sighting)
    return kept


def alikeness(a: Sighting, b: Sighting) -> float:
    """Of one kind in one place more than of one kind elsewhere, the nearer the more; then of two kinds in one place."""
    overlap = a.box.iou(b.box)
    here = overlap if overlap >= SAME_PLACE else 0.0
    if a.word != b.word:
        return here
    return 2 + here if here else 1 + 1 / (1 + distance(a.box, b.box))


def kind_of(a: Sighting, b: Sighting, change: Change) -> str:
    """What happened to an object."""
    if not is_touched(a.box, change) and not is_touched(b.box, change):
        return "unchanged"
    if a.word != b.word:
        return "replaced"
    far = distance(a.box, b.box) >= MOVED
    if far and a.box.iou(b.box) < SAME_PLACE:
        return "moved"
    if not 1 / RESIZED < b.box.area / max(a.box.area, 1e-9) < RESIZED:
        return "resized"
    if (motion := find_motion(a.box, change)) and motion.mirrored:
        return "turned"
    if far:
        return "moved"
    return "recolored" if color_shift(a.box, change) >= RECOLORED else "changed"


def is_touched(box: Box, change: Change, least: float = TOUCHED) -> bool:
    """Whether an image changed at a place; one that was redrawn did everywhere."""
    return change.residual >= REDRAWN or change.within(box) >= least


def distance(a: Box, b: Box) -> float:
    """How far two centers are apart, in widths of the image."""
    return float(np.hypot(*np.subtract(a.centre, b.centre)))


def color_shift(box: Box, change: Change) -> float:
    """ΔE of the mean color within a box, in hue and chroma only: light and shade come and go."""
    area = cells_of(box, change.before.shape)
    first, second = (to_lab(image[area]).reshape(-1, 3).mean(axis=0) for image in (change.before, change.after))
    return float(np.linalg.norm((second - first)[1:]))


# -- what is new -----------------------------------------------------------------------------------------------------


def new_objects(after: Iterable[Sighting], before: Sequence[Sighting], change: Change) -> list[Sighting]:
    """The new objects of one name: none where one was before, and neither parts of one nor several in one box."""
    kept: list[Sighting] = []
    for sighting in sorted(after, key=lambda s: -s.confidence):
        box, there = sighting.box, any(old.box.iou(sighting.box) >= SAME_PLACE for old in before)
        part = any(containment(box, other.box) >= PART for other in kept)
        several = sum(containment(other.box, box) >= PART for other in kept) > 1
        if not (there or part or several) and is_touched(box, change, NEW):
            kept.append(sighting)
    return kept


def evened_out(new: Sequence[Sighting], change: Change, least: float) -> list[Sighting]:
    """Several new objects, of which regions of one shape hold equally many: a detector overlooks some, and sees two."""
    within = {r.box: [s for s in new if containment(s.box, r.box) >= PART] for r in change.regions}
    result = [sighting for sighting in new if not any(sighting in own for own in within.values())]
    for box, own in within.items():
        sides = {other: (box.width / other.width, box.height / other.height) for other in within}
        alike = [within[other] for other, both in sides.items() if all(1 / ALIKE <= r <= ALIKE for r in both)]
        sure = [found for others in alike if (found := [s for s in others if s.confidence >= least])]
        if len(alike) > 1 and sure:
            fewest = min(sure, key=len)
            overlooked = [replace(each, box=box, mask=None, colors=()) for each in fewest]
            own = [replace(s, confidence=max(s.confidence, INFERRED)) for s in [*own, *overlooked][: len(fewest)]]
        result += own
    return result

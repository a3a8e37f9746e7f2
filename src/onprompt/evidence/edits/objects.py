"""The objects of both versions of an image, matched to each other: what was added, removed, moved, recoloured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from onprompt.evidence.edits.motion import find_motion
from onprompt.settings import Settings
from onprompt.types import Box, ObjectChange, Sighting
from onprompt.vision.change import Change, cells_of, to_lab

SAME_PLACE = 0.4  # IoU from which two boxes are in the same place
TOUCHED = 0.15  # share of a box that must have changed for its object to have changed
REDRAWN = 10.0  # median ΔE of an image from which all of it changed
MOVED = 0.08  # shift of a centre, in widths of the image, from which an object moved
RESIZED = 1.25  # ratio of areas from which it was resized
RECOLOURED = 12.0  # ΔE of the mean colour from which it was recoloured


def match_objects(
    before: Sequence[Sighting], after: Sequence[Sighting], change: Change, asked: set[str], settings: Settings
) -> tuple[ObjectChange, ...]:
    """Each confident sighting of either version once, in the frame of the first."""
    old, new = ([s for s in unique(version) if s.confidence >= settings.low_confidence] for version in (before, after))
    pairs: list[tuple[Sighting, Sighting]] = []
    # Of one kind in one place, then of one kind anywhere, the nearest first, then of different kinds in one place.
    pairs += take_pairs(old, new, lambda a, b: overlap(a, b) * (a.word == b.word))
    pairs += take_pairs(old, new, lambda a, b: (a.word == b.word) / (1 + distance(a.box, b.box)))
    pairs += take_pairs(old, new, overlap)
    changes = [ObjectChange(kind_of(a, b, change), a, b) for a, b in pairs]
    changes += [ObjectChange(touched(sighting, "removed", change), sighting, None) for sighting in old]
    changes += [ObjectChange(touched(sighting, "added", change), None, sighting) for sighting in new]
    return tuple(ObjectChange(c.kind, c.before, c.after, is_asked(c, asked)) for c in changes)


def unique(sightings: Iterable[Sighting]) -> Iterator[Sighting]:
    """One sighting for each box: the same object may have been found by several names."""
    kept: list[Sighting] = []
    for sighting in sorted(sightings, key=lambda s: -s.confidence):
        if sighting.count == (1, 1) and all(sighting.word != s.word or sighting.box.iou(s.box) < 0.6 for s in kept):
            kept.append(sighting)
            yield sighting


def overlap(a: Sighting, b: Sighting) -> float:
    """The IoU of two sightings in the same place; 0 elsewhere."""
    shared = a.box.iou(b.box)
    return shared if shared >= SAME_PLACE else 0.0


def take_pairs(
    old: list[Sighting], new: list[Sighting], fits: Callable[[Sighting, Sighting], float]
) -> list[tuple[Sighting, Sighting]]:
    """The best pairs, each sighting in one; they are taken off both lists."""
    ranked = sorted(((fits(a, b), i, j) for (i, a), (j, b) in product(enumerate(old), enumerate(new))), reverse=True)
    taken: list[tuple[int, int]] = []
    for value, i, j in ranked:
        if value > 0 and all(i != a and j != b for a, b in taken):
            taken.append((i, j))
    pairs = [(old[i], new[j]) for i, j in taken]
    for i in sorted((i for i, _ in taken), reverse=True):
        del old[i]
    for j in sorted((j for _, j in taken), reverse=True):
        del new[j]
    return pairs


def kind_of(a: Sighting, b: Sighting, change: Change) -> str:
    """What happened to an object."""
    if not is_touched(a.box, change) and not is_touched(b.box, change):
        return "unchanged"
    if a.word != b.word:
        return "replaced"
    if distance(a.box, b.box) >= MOVED and a.box.iou(b.box) < SAME_PLACE:
        return "moved"
    ratio = b.box.area / max(a.box.area, 1e-9)
    if max(ratio, 1 / max(ratio, 1e-9)) >= RESIZED:
        return "resized"
    if (motion := find_motion(a.box, change)) and motion.mirrored:
        return "turned"
    if distance(a.box, b.box) >= MOVED:
        return "moved"
    return "recoloured" if colour_shift(a.box, change) >= RECOLOURED else "changed"


def touched(sighting: Sighting, kind: str, change: Change) -> str:
    """A detector that finds an object in one version only is mistaken where the image did not change."""
    return kind if is_touched(sighting.box, change) else "unchanged"


def is_touched(box: Box, change: Change) -> bool:
    """Whether an image changed at a place; one that was redrawn did everywhere."""
    return change.residual >= REDRAWN or change.within(box) >= TOUCHED


def distance(a: Box, b: Box) -> float:
    """How far two centres are apart, in widths of the image."""
    return float(np.hypot(a.centre[0] - b.centre[0], a.centre[1] - b.centre[1]))


def colour_shift(box: Box, change: Change) -> float:
    """ΔE of the mean colour within a box, in hue and chroma only: light and shade come and go."""
    area = cells_of(box, change.before.shape)
    first, second = (to_lab(image[area]).reshape(-1, 3).mean(axis=0) for image in (change.before, change.after))
    return float(np.linalg.norm((second - first)[1:]))


def is_asked(change: ObjectChange, asked: set[str]) -> bool:
    """Whether the instruction names an object that changed."""
    return any(s is not None and ({s.label, s.word} & asked) for s in (change.before, change.after))

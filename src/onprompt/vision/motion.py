"""An object found again by its corners: mirrored, larger or smaller, or elsewhere. This needs no detector."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from onprompt.types import Box
from onprompt.vision.boxes import Floats
from onprompt.vision.change import Change, Corners, cells_of, find_corners, match_corners

SIDE, MOST = 256, 512  # pixels of the longer side of the object, and at most of what changed, as they are compared
CORNERS, NEAR = 6, 2.0  # how many must agree, and by how many pixels they may be off
STILL = 2.0  # pixels up to which a corner stayed where it was
TILTED = 0.2  # sine of the angle up to which an object still stands
Area = tuple[slice, slice]  # rows and columns


class Motion(NamedTuple):
    """What became of an object that looks as before."""

    box: Box  # where it is now
    scale: float
    mirrored: bool
    corners: int


def find_motion(box: Box, change: Change) -> Motion | None:
    """Where the object of a box went, if enough of its corners are found again where the image changed."""
    if not change.regions:
        return None
    area = cells_of(box, change.before.shape)
    after = corners_of(change.after, bounds(change.changed), MOST)
    plain, mirrored = (changed_corners(area, flip, after, change) for flip in (False, True))
    moved = [(a, b) for a, b in plain if np.abs(a - b).max() >= STILL]
    motions = [fit_motion(area, moved, False, change)]
    if len(mirrored) > len(plain) - len(moved):  # else it stayed as it was, and is symmetric
        motions.append(fit_motion(area, mirrored, True, change))
    return max((motion for motion in motions if motion), key=lambda motion: motion.corners, default=None)


def changed_corners(area: Area, mirrored: bool, after: Corners, change: Change) -> list[tuple[Floats, Floats]]:
    """The corners of an object, or of its mirror image, and where they are in what changed."""
    pairs = match_corners(corners_of(change.before, area, SIDE, mirrored), after)
    return [(a, b) for a, b in pairs if change.changed[int(b[1]), int(b[0])]]


def fit_motion(area: Area, pairs: list[tuple[Floats, Floats]], mirrored: bool, change: Change) -> Motion | None:
    """The scale and shift on which most corners agree."""
    rows, columns = area
    if len(pairs) < CORNERS:
        return None
    source, target = (np.ascontiguousarray(points) for points in np.swapaxes(pairs, 0, 1))
    transform, agreeing = cv2.estimateAffinePartial2D(source, target, ransacReprojThreshold=NEAR)
    if transform is None or int(agreeing.sum()) < CORNERS:
        return None
    scale = float(np.hypot(transform[0, 0], transform[1, 0]))
    if transform[0, 0] <= 0 or abs(transform[1, 0]) > TILTED * scale:
        return None
    outline = np.array([[[columns.start, rows.start], [columns.stop, rows.stop]]], dtype=np.float64)
    (left, top), (right, bottom) = cv2.transform(outline, transform)[0] / change.before.shape[1::-1]
    return Motion(Box(float(left), float(top), float(right), float(bottom)), scale, mirrored, int(agreeing.sum()))


def corners_of(pixels: np.ndarray, area: Area, side: int, mirrored: bool = False) -> Corners:
    """The corners of a part of an image, enlarged, in the pixels of the image."""
    rows, columns = area
    grey = cv2.cvtColor(np.ascontiguousarray(pixels[rows, columns]), cv2.COLOR_RGB2GRAY)
    zoom = side / max(grey.shape)
    large = cv2.resize(grey, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_CUBIC)
    found = find_corners(np.ascontiguousarray(large[:, ::-1]) if mirrored else large)
    return Corners(found.places / zoom + (columns.start, rows.start), found.looks)


def bounds(changed: np.ndarray) -> Area:
    """The rows and columns of all that changed."""
    rows, columns = np.nonzero(changed)
    return slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)

"""Boxes as arrays: overlap, and duplicates merged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def overlaps(some: Floats, others: Floats) -> Floats:
    """IoU of each of some boxes (left, top, right, bottom) with each of others: a table, or a row for a single box."""
    first = some[..., None, :]
    low, high = np.maximum(first[..., :2], others[:, :2]), np.minimum(first[..., 2:], others[:, 2:])
    sides = np.maximum(high - low, 0)
    shared = sides[..., 0] * sides[..., 1]
    joint = area(first) + area(others) - shared
    result: Floats = shared / np.maximum(joint, 1e-9)
    return result


def area(boxes: Floats) -> Floats:
    """Of each box."""
    result: Floats = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return result


def distinct(boxes: Floats, scores: Floats, groups: NDArray[np.int_], overlap: float) -> list[int]:
    """Non-maximum suppression: of boxes of one group that overlap more, the surest stays. Surest first."""
    order = np.argsort(-scores, kind="stable")
    boxes, groups = boxes[order], groups[order]
    same = (overlaps(boxes, boxes) > overlap) & (groups[:, None] == groups)
    left = np.ones(len(order), dtype=bool)
    kept: list[int] = []
    for place in range(len(order)):
        if left[place]:
            kept.append(int(order[place]))
            left &= ~same[place]
    return kept

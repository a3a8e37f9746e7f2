"""Boxes as arrays: overlap, and duplicates merged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def overlaps(box: Floats, others: Floats) -> Floats:
    """IoU of one box (left, top, right, bottom) with each of many."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=1)
    areas = (others[:, 2:] - others[:, :2]).prod(axis=1) + (box[2:] - box[:2]).prod()
    result: Floats = shared / np.maximum(areas - shared, 1e-9)
    return result


def distinct(boxes: Floats, scores: Floats, groups: NDArray[np.int_], overlap: float) -> list[int]:
    """Non-maximum suppression: of boxes of one group that overlap more, the surest stays. Surest first."""
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    while len(order):
        best = int(order[0])
        kept.append(best)
        rest = order[1:]
        same = (groups[rest] == groups[best]) & (overlaps(boxes[best], boxes[rest]) > overlap)
        order = rest[~same]
    return kept

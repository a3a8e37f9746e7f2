"""Boxes as arrays (left, top, right, bottom): intersection over union, and non-maximum suppression."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]
RawDetections = tuple[Floats, Floats]  # boxes as fractions of the image, and a row of class scores for each


def box_iou(boxes: Floats, others: Floats) -> Floats:
    """IoU of each box with each of the others: a matrix, or a row for a single box."""
    first = boxes[..., None, :]
    low, high = np.maximum(first[..., :2], others[:, :2]), np.minimum(first[..., 2:], others[:, 2:])
    sides = np.maximum(high - low, 0)
    intersection = sides[..., 0] * sides[..., 1]
    union = box_area(first) + box_area(others) - intersection
    iou: Floats = intersection / np.maximum(union, 1e-9)
    return iou


def box_area(boxes: Floats) -> Floats:
    """The area of each box."""
    area: Floats = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return area


def non_max_suppression(boxes: Floats, scores: Floats, classes: NDArray[np.int_], threshold: float) -> list[int]:
    """Of boxes of one class whose IoU exceeds the threshold, the index of the best; best first."""
    order = np.argsort(-scores, kind="stable")
    boxes, classes = boxes[order], classes[order]
    duplicates = (box_iou(boxes, boxes) > threshold) & (classes[:, None] == classes)
    remaining = np.ones(len(order), dtype=bool)
    kept: list[int] = []
    for rank, index in enumerate(order):
        if remaining[rank]:
            kept.append(int(index))
            remaining &= ~duplicates[rank]
    return kept

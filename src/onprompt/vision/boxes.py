"""Boxes as arrays (left, top, right, bottom): intersection over union, and non-maximum suppression."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]
RawDetections = tuple[Floats, Floats]  # boxes as fractions of the image, and a row of class scores for each


def box_iou(boxes: Floats, others: Floats) -> Floats:
    """IoU of each box with each of the others: a matrix, or a row for a single box."""
    return pairwise_iou(boxes[..., None, :], others)


def pairwise_iou(boxes: Floats, others: Floats) -> Floats:
    """IoU of boxes and others that belong together; shapes broadcast."""
    width = np.minimum(boxes[..., 2], others[..., 2]) - np.maximum(boxes[..., 0], others[..., 0])
    height = np.minimum(boxes[..., 3], others[..., 3]) - np.maximum(boxes[..., 1], others[..., 1])
    intersection = np.maximum(width, 0) * np.maximum(height, 0)
    union = box_area(boxes) + box_area(others) - intersection
    iou: Floats = intersection / np.maximum(union, 1e-9)
    return iou


def box_area(boxes: Floats) -> Floats:
    """The area of each box."""
    area: Floats = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return area


def non_max_suppression(boxes: Floats, scores: Floats, classes: NDArray[np.int_], threshold: float) -> list[int]:
    """Of boxes of one class whose IoU exceeds the threshold, the index of the best; best first."""
    order = np.lexsort((-scores, classes))  # by class, then best first
    first, second = pairs_within(classes[order])
    boxes = boxes[order]
    duplicates = pairwise_iou(boxes[first], boxes[second]) > threshold
    kept = np.ones(len(order), dtype=bool)
    for better, worse in zip(first[duplicates].tolist(), second[duplicates].tolist(), strict=True):
        if kept[better]:
            kept[worse] = False
    remaining = np.sort(order[kept])
    return [int(index) for index in remaining[np.argsort(-scores[remaining], kind="stable")]]


def pairs_within(groups: NDArray[np.int_]) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Each pair of places that hold the same value of a sorted array: the earlier places, and the later ones."""
    places = np.arange(len(groups))
    later = np.searchsorted(groups, groups, side="right") - places - 1  # how many of its group come after each
    first = np.repeat(places, later)
    return first, np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later) + first + 1

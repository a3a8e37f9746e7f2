"""Boxes as arrays (left, top, right, bottom): intersection over union, and non-maximum suppression."""

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]
LOWEST_SCORE = -1.0  # below all scores
RawDetections = tuple[Floats, Floats]  # boxes as fractions of the image, and a row of class scores for each


def box_iou(boxes: Floats, others: Floats) -> Floats:
    """IoU of each box with each of the others: a matrix, or a row for a single box."""
    first = boxes[..., None, :]
    width, height = (shared_side(first[..., low::2], others[:, low::2]) for low in (0, 1))
    intersection = np.multiply(width, height, out=width)  # in place: of many boxes, memory takes most of the time
    union = np.add(box_area(first), box_area(others), out=height)
    union -= intersection
    iou: Floats = np.divide(intersection, np.maximum(union, 1e-9, out=union), out=intersection)
    return iou


def shared_side(spans: Floats, others: Floats) -> Floats:
    """The length of what spans (low, high) share with others; 0 for nothing."""
    shared: Floats = np.minimum(spans[..., 1], others[..., 1])
    shared -= np.maximum(spans[..., 0], others[..., 0])
    return np.maximum(shared, 0, out=shared)


def box_area(boxes: Floats) -> Floats:
    """The area of each box."""
    area: Floats = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return area


def non_max_suppression(boxes: Floats, scores: Floats, classes: NDArray[np.int_], threshold: float) -> list[int]:
    """Of boxes of one class whose IoU exceeds the threshold, the index of the best; best first."""
    with_sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1).astype(np.float64)
    empty = np.flatnonzero(with_sizes[:, 2:].min(axis=1, initial=np.inf) <= 0)  # which OpenCV takes for equal
    full = np.setdiff1d(np.arange(len(boxes)), empty)
    rectangles, likely, kinds = (each[full].tolist() for each in (with_sizes, scores, classes))
    kept = cv2.dnn.NMSBoxesBatched(rectangles, likely, kinds, LOWEST_SCORE, threshold) if rectangles else ()
    chosen = np.sort(np.concatenate([full[list(kept)], empty]).astype(int)).tolist()
    return sorted(chosen, key=lambda index: -float(scores[index]))

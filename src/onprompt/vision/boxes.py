"""Boxes and scores as networks give them: overlaps, letterboxes and tiles."""

from collections.abc import Sequence
from itertools import product

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


def letterbox(pixels: Pixels, side: int, cell: int, fill: int, enlarge: int) -> tuple[Pixels, tuple[int, int]]:
    """The image with its long side scaled to `side`, padded to whole cells; and its size there."""
    height, width = pixels.shape[:2]
    ratio = side / max(height, width)
    inner = max(1, round(width * ratio)), max(1, round(height * ratio))
    padded = np.full((-(-inner[1] // cell) * cell, -(-inner[0] // cell) * cell, 3), fill, dtype=np.uint8)
    method = cv2.INTER_AREA if ratio < 1 else enlarge
    padded[: inner[1], : inner[0]] = cv2.resize(pixels, inner, interpolation=method)
    return padded, inner


TILE = 0.6  # a tile's fraction of the image's width and height
MAX_AREA = 0.04  # what covers more of the image than this is detected well enough in the whole
CORNERS = tuple(product((0.0, 1 - TILE), repeat=2))  # the top left corner of each tile
EDGE = 0.01  # a box this close to a tile's inner edge is cut off by it


def with_tiles(pixels: Pixels) -> list[Pixels]:
    """The whole image, then its tiles."""
    height, width = pixels.shape[:2]
    tiles = [
        pixels[int(y * height) : int((y + TILE) * height), int(x * width) : int((x + TILE) * width)] for x, y in CORNERS
    ]
    return [pixels, *map(np.ascontiguousarray, tiles)]


def merge_tiles(views: Sequence[RawDetections]) -> RawDetections:
    """What was detected in the whole image, and the small objects that were detected in the tiles after it."""
    whole, *tiles = views
    detections = [whole]
    for (x, y), (boxes, scores) in zip(CORNERS, tiles, strict=True):
        low, high = np.where([x, y], EDGE, -1), np.where([x, y], 2, 1 - EDGE)
        complete = (boxes[:, :2] >= low).all(axis=1) & (boxes[:, 2:] <= high).all(axis=1)
        placed = boxes * TILE + np.array([x, y, x, y], dtype=np.float32)
        small = (placed[:, 2:] - placed[:, :2]).prod(axis=1) <= MAX_AREA
        detections.append((placed[complete & small].astype(np.float32), scores[complete & small]))
    all_boxes, all_scores = zip(*detections, strict=True)
    return np.concatenate(all_boxes), np.concatenate(all_scores)

"""Tiled detection: the image in four overlapping tiles, for objects that are small or many."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from onprompt.vision.boxes import Pixels, RawDetections

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

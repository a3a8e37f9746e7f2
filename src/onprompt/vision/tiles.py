"""A closer look: the picture in four overlapping parts, for what is small or many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onprompt.vision.boxes import Floats

Pixels = NDArray[np.uint8]
Raw = tuple[Floats, Floats]  # boxes in shares of the picture, and a row of scores for each
PART = 0.6  # a part's share of the picture's width and height
SMALL = 0.04  # what covers more of the picture than this was seen well enough as a whole
CUT = 0.01  # a box this near to a part's inner edge is cut by it


def closer(network: Callable[[Pixels], Raw], pixels: Pixels) -> Raw:
    """What a network sees in the whole picture, and the small things that it sees in the parts."""
    height, width = pixels.shape[:2]
    found = [network(pixels)]
    for x in (0.0, 1 - PART):
        for y in (0.0, 1 - PART):
            part = pixels[int(y * height) : int((y + PART) * height), int(x * width) : int((x + PART) * width)]
            boxes, scores = network(np.ascontiguousarray(part))
            low, high = np.where([x, y], CUT, -1), np.where([x, y], 2, 1 - CUT)
            whole = (boxes[:, :2] >= low).all(axis=1) & (boxes[:, 2:] <= high).all(axis=1)
            placed = boxes * PART + np.array([x, y, x, y], dtype=np.float32)
            small = (placed[:, 2:] - placed[:, :2]).prod(axis=1) <= SMALL
            found.append((placed[whole & small].astype(np.float32), scores[whole & small]))
    boxes_all, scores_all = zip(*found, strict=True)
    return np.concatenate(boxes_all), np.concatenate(scores_all)

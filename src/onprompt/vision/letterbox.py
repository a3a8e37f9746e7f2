"""A picture as YOLO networks take it, and their boxes as shares of the picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.vision.blocks import STRIDES
from onprompt.vision.boxes import Floats

SIDE = 640
GREY = 114  # the border that the networks were trained with


def letterboxed(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[float, float]]:
    """The picture with its long side at SIDE, padded to whole cells; and its width and height there."""
    height, width = pixels.shape[:2]
    ratio = SIDE / max(height, width)
    inner = max(1, round(width * ratio)), max(1, round(height * ratio))
    coarse = max(STRIDES)
    padded = np.full((-(-inner[1] // coarse) * coarse, -(-inner[0] // coarse) * coarse, 3), GREY, dtype=np.uint8)
    method = cv2.INTER_AREA if ratio < 1 else cv2.INTER_LINEAR
    padded[: inner[1], : inner[0]] = cv2.resize(pixels, inner, interpolation=method)
    return padded, (float(inner[0]), float(inner[1]))


def decoded(distances: Floats, shape: tuple[int, ...], inner: tuple[float, float]) -> Floats:
    """Boxes in shares of the picture, from the distances of each cell's centre to its box's sides."""
    centres, strides = [], []
    for stride in STRIDES:
        rows, columns = np.mgrid[0 : shape[0] // stride, 0 : shape[1] // stride]
        centres.append(np.stack([columns.ravel(), rows.ravel()], axis=1) + 0.5)
        strides.append(np.full((centres[-1].shape[0], 1), stride))
    centre, stride_column = np.concatenate(centres), np.concatenate(strides)
    low, high = centre - distances[:2].T, centre + distances[2:].T
    boxes = np.concatenate([low, high], axis=1) * stride_column / np.array([*inner, *inner])
    shares: Floats = np.clip(boxes, 0, 1).astype(np.float32)
    return shares

"""An image as YOLO networks take it, and their boxes as fractions of the image."""

import cv2
import numpy as np

from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.runtime import Network
from onprompt_yolo.blocks import STRIDES

SIDE = 640
GREY = 114  # the border that the networks were trained with


def run_letterboxed(network: Network, pixels: Pixels, *inputs: Floats) -> tuple[Floats, Floats]:
    """Boxes and scores of an image by a YOLO network: a row for each of its cells."""
    padded, inner = letterbox(pixels)
    distances, scores = network.run([padded[None], *inputs])
    return decode_boxes(distances, padded.shape[:2], inner), scores.T


def letterbox(pixels: Pixels) -> tuple[Pixels, tuple[int, int]]:
    """The image with its long side scaled to SIDE, padded to whole cells; and its size there."""
    height, width = pixels.shape[:2]
    cell, ratio = max(STRIDES), SIDE / max(height, width)
    inner = max(1, round(width * ratio)), max(1, round(height * ratio))
    padded = np.full((-(-inner[1] // cell) * cell, -(-inner[0] // cell) * cell, 3), GREY, dtype=np.uint8)
    method = cv2.INTER_AREA if ratio < 1 else cv2.INTER_LINEAR
    padded[: inner[1], : inner[0]] = cv2.resize(pixels, inner, interpolation=method)
    return padded, inner


def decode_boxes(distances: Floats, shape: tuple[int, ...], inner: tuple[int, int]) -> Floats:
    """Boxes as fractions of the image, from the distances of each cell's centre to the sides of its box."""
    centres, strides = [], []
    for stride in STRIDES:
        rows, columns = np.mgrid[0 : shape[0] // stride, 0 : shape[1] // stride]
        centres.append(np.stack([columns.ravel(), rows.ravel()], axis=1) + 0.5)
        strides.append(np.full((centres[-1].shape[0], 1), stride))
    centre, stride_column = np.concatenate(centres), np.concatenate(strides)
    low, high = centre - distances[:2].T, centre + distances[2:].T
    boxes = np.concatenate([low, high], axis=1) * stride_column / np.array([*inner, *inner])
    return np.asarray(np.clip(boxes, 0, 1), dtype=np.float32)

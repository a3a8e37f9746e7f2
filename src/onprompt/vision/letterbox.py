"""An image scaled to the size of a network, with a border."""

import cv2
import numpy as np

from onprompt.vision.boxes import Pixels


def letterbox(pixels: Pixels, side: int, cell: int, fill: int, enlarge: int) -> tuple[Pixels, tuple[int, int]]:
    """The image with its long side scaled to `side`, padded to whole cells; and its size there."""
    height, width = pixels.shape[:2]
    ratio = side / max(height, width)
    inner = max(1, round(width * ratio)), max(1, round(height * ratio))
    padded = np.full((-(-inner[1] // cell) * cell, -(-inner[0] // cell) * cell, 3), fill, dtype=np.uint8)
    method = cv2.INTER_AREA if ratio < 1 else enlarge
    padded[: inner[1], : inner[0]] = cv2.resize(pixels, inner, interpolation=method)
    return padded, inner

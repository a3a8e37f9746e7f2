"""A detector's raw score as a probability: .5 means as often right as wrong on real photos."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# All curves were fitted by bench/calibrate.py on the boxes of 125 COCO photos (held-out error .006 to .032).
# Slope and offset over the logit of the raw score:
CURVES = {"picodet": (2.28, 0.0), "world": (1.10, 0.77)}
# Offset, slope for PicoDet, slope for YOLO-World over the logits of their own probabilities:
BOTH = (0.57, 0.65, 0.39)
PICODET_ALONE = (-1.03, 0.92)
WORLD_ALONE = (-1.45, 0.65)


def logit(p: NDArray[np.float32] | float) -> NDArray[np.float32]:
    """The log odds, finite at both ends."""
    q = np.clip(np.asarray(p, dtype=np.float64), 1e-6, 1 - 1e-6)
    return np.log(q / (1 - q)).astype(np.float32)


def sigmoid(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probability of log odds."""
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)


def calibrated(scores: NDArray[np.float32], source: str) -> NDArray[np.float32]:
    """Raw scores of a detector as probabilities."""
    slope, offset = CURVES[source]
    return sigmoid(slope * logit(scores) + offset)


def agreed(picodet: float | None, world: float | None) -> float:
    """The probability of an object that one or both of two detectors see, from their own probabilities."""
    if picodet is not None and world is not None:
        offset, first, second = BOTH
        return float(sigmoid(offset + first * logit(picodet) + second * logit(world)))
    if picodet is not None:
        return float(sigmoid(PICODET_ALONE[0] + PICODET_ALONE[1] * logit(picodet)))
    return float(sigmoid(WORLD_ALONE[0] + WORLD_ALONE[1] * logit(world or 0.0)))

"""The shape of an object's outline: round, square, rectangular or triangular, if it is one of these."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Trait
from onprompt.vision.geometry import ramp
from onprompt.vision.vocabulary import values_by_word

SIDE = 128  # cells of the longer side at which an outline is measured
TOLERANCE = 0.04  # how far an outline may deviate from straight lines, as a fraction of its length
ROUND = 0.84, 0.92  # 4π · area / perimeter²: surely not round, surely round
FULL = 0.85, 0.95  # share of the rotated box that a rectangle fills
HALF = 0.45, 0.60  # … and a triangle
SHAPE_WORDS = values_by_word("shape")


def traits(mask: NDArray[np.bool_], aspect_ratio: float) -> list[Trait]:
    """The shape of the outline, if any is likelier than not; masks are coarse, so confidence is seldom high."""
    width = min(SIDE, max(8, round(SIDE * aspect_ratio)))
    height = min(SIDE, max(8, round(SIDE / max(aspect_ratio, 1e-6))))
    fine = cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
    outlines, _ = cv2.findContours(np.pad(fine, 2).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not outlines:
        return []
    largest = max(outlines, key=cv2.contourArea)
    hull = cv2.convexHull(largest)
    solidity = cv2.contourArea(largest) / max(cv2.contourArea(hull), 1e-6)
    scores = {name: probability * solidity for name, probability in shape_probabilities(hull).items()}
    return [Trait("shape", name, round(score, 4)) for name, score in scores.items() if score >= 0.5]


def shape_probabilities(outline: NDArray[Any]) -> dict[str, float]:
    """How likely each shape is, by the outline's roundness, corners and minimum-area rectangle."""
    area, length = cv2.contourArea(outline), cv2.arcLength(outline, True)
    (_, sides, _) = cv2.minAreaRect(outline)
    filled = area / max(sides[0] * sides[1], 1e-6)
    corners = len(cv2.approxPolyDP(outline, TOLERANCE * length, True))
    evenness = min(sides) / max(*sides, 1e-6)
    roundness = ramp(4 * np.pi * area / max(length**2, 1e-6), *ROUND)
    four = ramp(filled, *FULL) * (corners == 4)
    return {
        "round": roundness * (corners > 4),
        "square": four * ramp(evenness, 0.7, 0.85),
        "rectangular": four * ramp(evenness, 0.95, 0.8),
        "triangular": float(HALF[0] <= filled <= HALF[1] and corners == 3),
    }

"""The shape of an object's outline, where it is a plain one: round, square, rectangular, triangular."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Trait
from onprompt.vision.geometry import ramp

FINE = 128  # cells of the longer side at which an outline is measured
SMOOTH = 0.04  # how far an outline may stray from straight lines, in shares of its length
ROUND = 0.84, 0.92  # 4π · area / perimeter²: surely not round, surely round
FULL = 0.85, 0.95  # share of the turned box that a rectangle fills
HALF = 0.45, 0.60  # … and a triangle
WORDS = {
    "round": "round circular circle disc disk spherical ball-shaped",
    "square": "square cubic cube-shaped cubical",
    "rectangular": "rectangular rectangle oblong",
    "triangular": "triangular triangle",
}
MEANT = {word: shape for shape, words in WORDS.items() for word in words.split()}


def traits(mask: NDArray[np.bool_], aspect: float) -> list[Trait]:
    """The plain shape that the outline has, if any is likelier than not; masks are coarse, so it is seldom sure."""
    width, height = (FINE, max(8, round(FINE / aspect))) if aspect >= 1 else (max(8, round(FINE * aspect)), FINE)
    fine = cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
    outlines, _ = cv2.findContours(np.pad(fine, 2).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not outlines:
        return []
    outline = cv2.convexHull(max(outlines, key=cv2.contourArea))
    solid = cv2.contourArea(max(outlines, key=cv2.contourArea)) / max(cv2.contourArea(outline), 1e-6)
    chances = plain_shapes(outline)
    return [Trait("shape", name, round(chance * solid, 4)) for name, chance in chances.items() if chance * solid >= 0.5]


def plain_shapes(outline: NDArray[Any]) -> dict[str, float]:
    """How likely each plain shape is, by the outline's roundness, corners and the box turned to fit it."""
    area, length = cv2.contourArea(outline), cv2.arcLength(outline, True)
    (_, sides, _) = cv2.minAreaRect(outline)
    turned = max(sides[0] * sides[1], 1e-6)
    corners = len(cv2.approxPolyDP(outline, SMOOTH * length, True))
    even = min(sides) / max(*sides, 1e-6)
    roundness = ramp(4 * np.pi * area / max(length**2, 1e-6), *ROUND)
    four = ramp(area / turned, *FULL) * (corners == 4)
    three = float(HALF[0] <= area / turned <= HALF[1] and corners == 3)
    return {
        "round": roundness * (corners > 4),
        "square": four * ramp(even, 0.7, 0.85),
        "rectangular": four * ramp(even, 0.95, 0.8),
        "triangular": three,
    }

"""The pixels of its box that an object fills, by EISeg, an interactive segmenter, and the shape of their outline."""

from itertools import product
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Picture, Trait
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.change import cells_of
from onprompt.vision.colour import SAMPLE
from onprompt.vision.geometry import ramp
from onprompt.vision.runtime import Network, Source, network, openvino_core, source, thread_safe_cache, with_pixel_input
from onprompt.vision.vocabulary import values_by_word

FILES = ("eiseg.pdmodel", "eiseg.pdiparams")
SIDE = 192  # pixels; 256 is no better by more than .005 IoU and takes twice as long
CONTEXT = 0.25  # how much of the surroundings is included, as a fraction of the box
INSIDE = 0.22  # positive clicks: the box's centre, and this far to its four sides
OUTSIDE = 0.06  # negative clicks: this far beyond its corners and the middle of its sides
RADIUS = 5  # pixels of a click
OUTLINE_SIDE = 128  # cells of the longer side at which an outline is measured
TOLERANCE = 0.04  # how far an outline may deviate from straight lines, as a fraction of its length
ROUND = 0.84, 0.92  # 4π · area / perimeter²: surely not round, surely round
FULL = 0.85, 0.95  # share of the rotated box that a rectangle fills
HALF = 0.45, 0.60  # … and a triangle
SHAPE_WORDS = values_by_word("shape")
Mask = NDArray[np.bool_]


@thread_safe_cache
def load_segmenter(made_of: Source) -> Network:
    """The network, compiled once per process: planes of clicks, and an image."""
    shapes = (1, 3, SIDE, SIDE), (1, SIDE, SIDE, 3)
    return network(
        "eiseg", made_of, lambda: with_pixel_input(openvino_core().read_model(made_of.file), 1), shapes=shapes
    )


def segment(picture: Picture, box: Box, settings: Settings) -> Mask:
    """The object's mask within its box. Where the network finds nothing, the ellipse inscribed in the box."""
    height, width = picture.pixels.shape[:2]
    left, top, right, bottom = crop_bounds(box, width, height)
    crop = cv2.resize(picture.pixels[top:bottom, left:right], (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    scale = np.array([SIDE / (right - left), SIDE / (bottom - top)])
    corners = np.array([[box.left, box.top], [box.right, box.bottom]]) * (width, height) - (left, top)
    (x0, y0), (x1, y1) = corners * scale
    inputs = click_maps(x0, y0, x1, y1)[None], crop[None]
    logits = load_segmenter(source(FILES, settings)).run(inputs)[0][0, 0]
    y, x = min(SIDE - 1, max(0, int(y0))), min(SIDE - 1, max(0, int(x0)))
    mask = logits[y : max(y + 1, round(y1)), x : max(x + 1, round(x1))] > 0
    return mask if mask.any() else ellipse(*mask.shape)


def crop_bounds(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """The box with its context, in whole pixels inside the image."""
    across, down = CONTEXT * box.width, CONTEXT * box.height
    left = min(width - 1, int(max(0, box.left - across) * width))
    top = min(height - 1, int(max(0, box.top - down) * height))
    right, bottom = -int(-min(1, box.right + across) * width // 1), -int(-min(1, box.bottom + down) * height // 1)
    return left, top, min(width, max(right, left + 1)), min(height, max(bottom, top + 1))


def click_maps(x0: float, y0: float, x1: float, y1: float) -> Floats:
    """Three planes: no previous mask, positive clicks, negative clicks."""
    x, y, width, height = (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0
    positive = [(dx * INSIDE, dy * INSIDE) for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))]
    beyond = 0.5 + OUTSIDE
    negative = [(dx * beyond, dy * beyond) for dx, dy in product((-1, 0, 1), repeat=2) if dx or dy]
    planes = np.zeros((3, SIDE, SIDE), dtype=np.float32)
    for plane, clicks in ((1, positive), (2, negative)):
        for dx, dy in clicks:
            click = x + dx * width, y + dy * height
            if all(0 <= coordinate < SIDE for coordinate in click):  # the image's edge may be the object's
                cv2.circle(planes[plane], (round(click[0]), round(click[1])), RADIUS, 1.0, -1)
    return planes


def ellipse(rows: int, columns: int) -> Mask:
    """The ellipse inscribed in a box: corners are mostly background."""
    y, x = (np.abs((np.arange(side) + 0.5) / side * 2 - 1) for side in (rows, columns))
    mask: Mask = y[:, None] ** 2 + x**2 <= 1
    return mask


def masked_pixels(picture: Picture, box: Box, mask: Mask) -> Pixels:
    """The pixels of the image that the mask of a box covers, in rows; of many, an even sample."""
    crop = picture.pixels[cells_of(box, picture.pixels.shape)]
    fine = cv2.resize(mask.astype(np.uint8), (crop.shape[1], crop.shape[0]), interpolation=cv2.INTER_NEAREST)
    covered = np.flatnonzero(fine) if fine.any() else np.arange(fine.size)
    rows, columns = np.divmod(covered[:: max(1, len(covered) // SAMPLE)], crop.shape[1])
    return crop[rows, columns]


def shape_traits(mask: Mask, aspect_ratio: float) -> list[Trait]:
    """The shape of the outline, if any is likelier than not; masks are coarse, so confidence is seldom high."""
    width = min(OUTLINE_SIDE, max(8, round(OUTLINE_SIDE * aspect_ratio)))
    height = min(OUTLINE_SIDE, max(8, round(OUTLINE_SIDE / max(aspect_ratio, 1e-6))))
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

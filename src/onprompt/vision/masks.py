"""The pixels of its box that an object fills, by EISeg, an interactive segmenter."""

from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Picture
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.change import cells_of
from onprompt.vision.color import SAMPLE
from onprompt.vision.runtime import Network, Source, network, openvino_core, source, thread_safe_cache, with_pixel_input

FILES = ("eiseg.pdmodel", "eiseg.pdiparams")
SIDE = 192  # pixels; 256 is no better by more than .005 IoU and takes twice as long
CONTEXT = 0.25  # how much of the surroundings is included, as a fraction of the box
INSIDE = 0.22  # positive clicks: the box's centre, and this far to its four sides
OUTSIDE = 0.06  # negative clicks: this far beyond its corners and the middle of its sides
RADIUS = 5  # pixels of a click
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

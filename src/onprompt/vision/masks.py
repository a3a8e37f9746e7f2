"""Which part of its box an object fills, by EISeg, which was made to be clicked at: the box does the clicking."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Picture
from onprompt.vision.runtime import Network, core, once
from onprompt.weights.cache import paths

FILES = ("eiseg.pdmodel", "eiseg.pdiparams")
SIDE = 192  # pixels; 256 is no better by more than .005 IoU and takes twice as long
AROUND = 0.25  # how much of the surroundings is shown, in shares of the box
INSIDE = 0.22  # the clicks that say "this": the box's centre, and so far to its four sides
OUTSIDE = 0.06  # the clicks that say "not this": so far beyond its corners and the middle of its sides
RADIUS = 5  # pixels of a click
MEAN, SPREAD = np.array((123.675, 116.28, 103.53)), np.array((58.395, 57.12, 57.375))  # of ImageNet


@once
def network(path: Path) -> Network:
    """Compiled once in a process."""
    return Network(core().read_model(path))


def outline(picture: Picture, box: Box, settings: Settings) -> NDArray[np.bool_]:
    """The object's cells within its box. Where the network finds nothing, the ellipse that the box holds."""
    height, width = picture.pixels.shape[:2]
    shown = surroundings(box, width, height)
    left, top, right, bottom = shown
    crop = cv2.resize(picture.pixels[top:bottom, left:right], (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    scale = np.array([SIDE / (right - left), SIDE / (bottom - top)])
    corners = np.array([[box.left, box.top], [box.right, box.bottom]]) * (width, height) - (left, top)
    (x0, y0), (x1, y1) = corners * scale
    image = ((crop - MEAN) / SPREAD).astype(np.float32).transpose(2, 0, 1)[None]
    odds = network(paths(FILES, settings)[FILES[0]]).run([clicks(x0, y0, x1, y1)[None], image])[0][0, 0]
    y, x = min(SIDE - 1, max(0, int(y0))), min(SIDE - 1, max(0, int(x0)))
    cells = odds[y : max(y + 1, round(y1)), x : max(x + 1, round(x1))] > 0
    return cells if cells.any() else ellipse(*cells.shape)


def surroundings(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """The box and what is around it, in whole pixels inside the picture."""
    across, down = AROUND * box.width, AROUND * box.height
    left = min(width - 1, int(max(0, box.left - across) * width))
    top = min(height - 1, int(max(0, box.top - down) * height))
    right, bottom = -int(-min(1, box.right + across) * width // 1), -int(-min(1, box.bottom + down) * height // 1)
    return left, top, min(width, max(right, left + 1)), min(height, max(bottom, top + 1))


def clicks(x0: float, y0: float, x1: float, y1: float) -> NDArray[np.float32]:
    """Three planes: no earlier mask, disks where the object is, disks where it is not."""
    x, y, width, height = (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0
    sides = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    yes = [(x + dx * INSIDE * width, y + dy * INSIDE * height) for dx, dy in sides]
    beyond = 0.5 + OUTSIDE
    no = [(x + dx * beyond * width, y + dy * beyond * height) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    planes = np.zeros((3, SIDE, SIDE), dtype=np.float32)
    for plane, places in ((1, yes), (2, no)):
        for place in places:
            if all(0 <= each < SIDE for each in place):  # the picture's edge may be the object's
                cv2.circle(planes[plane], (round(place[0]), round(place[1])), RADIUS, 1.0, -1)
    return planes


def ellipse(rows: int, columns: int) -> NDArray[np.bool_]:
    """The ellipse that touches a box's sides: corners are mostly background."""
    y, x = (np.abs((np.arange(side) + 0.5) / side * 2 - 1) for side in (rows, columns))
    found: NDArray[np.bool_] = y[:, None] ** 2 + x**2 <= 1
    return found


def pixels_inside(picture: Picture, box: Box, mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The pixels of the picture that a mask of a box covers, in rows."""
    height, width = picture.pixels.shape[:2]
    left, top = min(width - 1, int(box.left * width)), min(height - 1, int(box.top * height))
    right, bottom = max(left + 1, round(box.right * width)), max(top + 1, round(box.bottom * height))
    crop = picture.pixels[top:bottom, left:right]
    fine = cv2.resize(mask.astype(np.uint8), (crop.shape[1], crop.shape[0]), interpolation=cv2.INTER_NEAREST) > 0
    found: NDArray[np.uint8] = crop[fine] if fine.any() else crop.reshape(-1, 3)
    return found

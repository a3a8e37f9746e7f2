"""The size of an object, its position in the image, and whether the edge cuts it off."""

import math
from bisect import bisect_left

from onprompt.settings import Settings
from onprompt.types import Box
from onprompt.vision.vocabulary import values_by_word

SIZES = ("small", "medium", "large")
SIZE_WORDS = values_by_word("size")
COLUMNS, ROWS = ("left", "center", "right"), ("top", "middle", "bottom")
TOLERANCE = 0.05  # how far past its third of the image a centre may be and still be "on the left"
EDGE = 0.005  # a box this close to the image's edge may continue beyond it


def ramp(value: float, low: float, high: float) -> float:
    """Linear from 0 at `low` to 1 at `high`, clamped; falling where `low` is the larger."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def size_of(box: Box, settings: Settings) -> str:
    """Small, medium or large, by the box's share of the image."""
    return SIZES[bisect_left((settings.small_area, settings.medium_area), box.area)]


def size_confidence(box: Box, settings: Settings) -> float:
    """How far the area is from the next size: 1 where it is off by half as much again."""
    limits = (settings.small_area, settings.medium_area)
    apart = min(abs(math.log(max(box.area, 1e-9) / limit)) for limit in limits)
    return 0.5 + 0.5 * ramp(apart, 0.0, math.log(1.5))


def position_confidence(box: Box) -> float:
    """How far the centre is from the next third: 1 where it is off by the tolerance."""
    apart = min(abs(coordinate - line) for coordinate in box.centre for line in (1 / 3, 2 / 3))
    return 0.5 + 0.5 * ramp(apart, 0.0, TOLERANCE)


def position_of(box: Box) -> str:
    """The cell of a 3 × 3 grid that holds the centre: `top-left`, `center`."""
    x, y = box.centre
    column, row = COLUMNS[min(2, int(x * 3))], ROWS[min(2, int(y * 3))]
    return column if row == "middle" else row if column == "center" else f"{row}-{column}"


def is_grid_position(asked: str) -> bool:
    """Whether a position is one of the grid's: `top-left` is, `background` is not."""
    return all(word in COLUMNS or word in ROWS for word in asked.split("-"))


def position_score(box: Box, asked: str) -> float:
    """1 where the centre is in the asked third, within a tolerance; the minor score where it is next to it."""
    x, y = box.centre
    scores = [axis_score(x, COLUMNS.index(word)) for word in asked.split("-") if word in COLUMNS]
    scores += [axis_score(y, ROWS.index(word)) for word in asked.split("-") if word in ROWS]
    return min(scores, default=0.0)


def axis_score(coordinate: float, third: int) -> float:
    """How well a coordinate fits one of three thirds."""
    low, high = third / 3 - TOLERANCE, (third + 1) / 3 + TOLERANCE
    if low <= coordinate <= high:
        return 1.0
    return 0.5 if low - 1 / 6 <= coordinate <= high + 1 / 6 else 0.0


def is_truncated(box: Box) -> bool:
    """Whether the image's edge seems to cut off the object."""
    return box.left < EDGE or box.top < EDGE or box.right > 1 - EDGE or box.bottom > 1 - EDGE

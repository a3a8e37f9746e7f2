"""The size of an object, its place in the picture, and whether the edge cuts it."""

from __future__ import annotations

import math

from onprompt.settings import Settings
from onprompt.types import Box

SIZES = ("small", "medium", "large")
SIZE_WORDS = {
    word: size
    for size, words in (
        ("small", "small tiny little mini miniature minuscule petite teeny small-sized pocket-sized micro wee"),
        ("medium", "medium medium-sized mid-sized midsized mid-size midsize average-sized medium-size"),
        (
            "large",
            "large big huge giant enormous massive gigantic colossal oversized large-sized immense vast towering",
        ),
    )
    for word in words.split()
}
COLUMNS, ROWS = ("left", "center", "right"), ("top", "middle", "bottom")
OFFSET = 0.05  # how far past its third of the picture an object may reach and still be "on the left" (seed 000, step 3)
EDGE = 0.005  # a box this near to the picture's edge may go on beyond it


def ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high`, in a straight line between; the other way round where `low` is the larger."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def size_of(box: Box, settings: Settings) -> str:
    """Small, medium or large, by the box's share of the picture."""
    return SIZES[(box.area > settings.small_area) + (box.area > settings.medium_area)]


def sure_of_size(box: Box, settings: Settings) -> float:
    """How far the box is from the next size: sure where its area is off by half as much again."""
    apart = min(abs(math.log(max(box.area, 1e-9) / limit)) for limit in (settings.small_area, settings.medium_area))
    return 0.5 + 0.5 * ramp(apart, 0.0, math.log(1.5))


def sure_of_position(box: Box) -> float:
    """How far the centre is from the next third: sure where it is off by as much as is tolerated."""
    apart = min(abs(at - line) for at in box.centre for line in (1 / 3, 2 / 3))
    return 0.5 + 0.5 * ramp(apart, 0.0, OFFSET)


def position_of(box: Box) -> str:
    """The cell of a 3 × 3 grid that holds the centre: `top-left`, `center`."""
    x, y = box.centre
    column, row = COLUMNS[min(2, int(x * 3))], ROWS[min(2, int(y * 3))]
    return column if row == "middle" else row if column == "center" else f"{row}-{column}"


def is_place(asked: str) -> bool:
    """Whether a place is one of the grid's: `top-left` is, `background` is not."""
    return all(word in COLUMNS or word in ROWS for word in asked.split("-"))


def position_score(box: Box, asked: str, settings: Settings) -> float:
    """1 where the centre lies in the asked third (a small offset tolerated), the minor score where it is next to it."""
    x, y = box.centre
    scores = [axis_score(x, COLUMNS.index(word), settings) for word in asked.split("-") if word in COLUMNS]
    scores += [axis_score(y, ROWS.index(word), settings) for word in asked.split("-") if word in ROWS]
    return min(scores, default=0.0)


def axis_score(at: float, third: int, settings: Settings) -> float:
    """How well a coordinate fits one of three thirds."""
    low, high = third / 3 - OFFSET, (third + 1) / 3 + OFFSET
    if low <= at <= high:
        return 1.0
    return settings.minor_score if low - 1 / 6 <= at <= high + 1 / 6 else 0.0


def truncated(box: Box) -> bool:
    """Whether the picture's edge seems to cut the object."""
    return box.left < EDGE or box.top < EDGE or box.right > 1 - EDGE or box.bottom > 1 - EDGE

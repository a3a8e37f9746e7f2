"""Size, place, and how two boxes stand to each other. Each relation is a pure function with an answer in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable

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


def size_of(box: Box, settings: Settings) -> str:
    """Small, medium or large, by the box's share of the picture."""
    return SIZES[(box.area > settings.small_area) + (box.area > settings.medium_area)]


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


def share(x: float) -> float:
    """Cut to [0, 1]."""
    return min(1.0, max(0.0, x))


def shared_width(a: Box, b: Box) -> float:
    """How much of the narrower box's width the two have in common."""
    narrow = min(a.width, b.width)
    return share((min(a.right, b.right) - max(a.left, b.left)) / narrow) if narrow else 0.0


def shared_height(a: Box, b: Box) -> float:
    """How much of the lower box's height the two have in common."""
    low = min(a.height, b.height)
    return share((min(a.bottom, b.bottom) - max(a.top, b.top)) / low) if low else 0.0


def left_of(a: Box, b: Box) -> float:
    """The centre lies to the left, measured in mean widths: .5 where they are level."""
    return share(0.5 + (b.centre[0] - a.centre[0]) / max(a.width + b.width, 1e-6) * 2)


def right_of(a: Box, b: Box) -> float:
    """The mirror of left_of."""
    return left_of(b, a)


def above(a: Box, b: Box) -> float:
    """The centre lies higher, measured in mean heights: .5 where they are level."""
    return share(0.5 + (b.centre[1] - a.centre[1]) / max(a.height + b.height, 1e-6) * 2)


def below(a: Box, b: Box) -> float:
    """The mirror of above."""
    return above(b, a)


def on(a: Box, b: Box) -> float:
    """Its foot stands within the other's height, or a tenth of its own above it, and within the other's width."""
    gap = max(b.top - a.bottom, a.bottom - b.bottom) / max(a.height, 1e-6)
    return shared_width(a, b) * share(1.5 - 5 * max(0.0, gap)) * (1.0 if a.centre[1] <= b.bottom else 0.0)


def under(a: Box, b: Box) -> float:
    """Lower than the other, and within its width."""
    return below(a, b) * shared_width(a, b)


def next_to(a: Box, b: Box) -> float:
    """Level with the other and no further from it than their mean width."""
    gap = max(a.left, b.left) - min(a.right, b.right)
    near = share(1.5 - max(0.0, gap) / max((a.width + b.width) / 2, 1e-6))
    return near * share(0.5 + shared_height(a, b))


RELATIONS: dict[str, Callable[[Box, Box], float]] = {
    "left of": left_of,
    "right of": right_of,
    "above": above,
    "below": below,
    "on": on,
    "under": under,
    "next to": next_to,
}

"""The labels of boxes, placed so that none covers another."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from onprompt.types import Box


class Place(NamedTuple):
    """A rectangle in the units of the page."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Place") -> bool:
        """Whether two rectangles overlap."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


def place_labels(
    boxes: Sequence[Box], widths: Sequence[float], height: float, page: tuple[float, float]
) -> list[Place]:
    """For each box the place of its label, `widths` wide and `height` high, on a page of some width and height.

    Small boxes choose first, since their labels have the fewest places near them. A label for which all places near
    its box are taken goes to the nearest free one on the page; only on a page full of labels do two share a place.
    """
    places: dict[int, Place] = {}
    for index in sorted(range(len(boxes)), key=lambda index: boxes[index].area):
        tried = partial(candidates, boxes[index], min(widths[index], page[0]), height, page)
        free = (place for place in tried() if not any(place.meets(other) for other in places.values()))
        places[index] = next(free, None) or next(tried())
    return [places[index] for index in range(len(boxes))]


def candidates(box: Box, width: float, height: float, page: tuple[float, float]) -> Iterator[Place]:
    """Where a label may go, the best first: above, inside, below, along the sides, then anywhere, the nearest first."""
    left, top, right, bottom = box.left * page[0], box.top * page[1], box.right * page[0], box.bottom * page[1]
    near = [(x, y) for y in (top - height, top, bottom - height, bottom) for x in (left, right - width)]
    near += [(right, top), (left - width, top)]
    yield from (on_page(x, y, width, height, page) for x, y in near if -height <= y <= page[1])
    rows = [height * row for row in range(max(1, int(page[1] / height)))]
    columns = [min(width * column / 2, page[0] - width) for column in range(int(2 * page[0] / max(width, 1)) + 1)]
    anywhere = sorted((abs(x - left) + abs(y - top), x, y) for y in rows for x in columns)
    yield from (on_page(x, y, width, height, page) for _, x, y in anywhere)


def on_page(x: float, y: float, width: float, height: float, page: tuple[float, float]) -> Place:
    """A place moved onto the page."""
    left, top = max(0.0, min(x, page[0] - width)), max(0.0, min(y, page[1] - height))
    return Place(left, top, left + width, top + height)

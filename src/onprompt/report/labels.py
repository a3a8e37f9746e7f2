"""The labels of boxes, placed so that none covers another, and their colors: the same in pictures and on pages."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from onprompt.types import Box, Check, Outcome, Sighting, Verdict

# Safe for color-blind people, and dark enough for white text.
GOOD, WEAK, BAD, NEUTRAL = "#0b6b53", "#8a5800", "#b3361b", "#5b626b"
COLORS = {
    Outcome.MATCHED: GOOD,
    Outcome.PARTIAL: WEAK,
    Outcome.LOW_CONFIDENCE: WEAK,
    Outcome.MISMATCH: BAD,
    Outcome.MISSING: BAD,
    Outcome.UNVERIFIABLE: NEUTRAL,
}
SAME = 0.85  # overlap from which two boxes of one detector's word are one thing


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
    near = [
        *((x, top - height) for x in (left, right - width)),
        *((x, y) for y in (top, bottom - height) for x in (left, right - width)),
        *((x, bottom) for x in (left, right - width)),
        *((x, top) for x in (right, left - width)),
    ]
    yield from (on_page(x, y, width, height, page) for x, y in near if -height <= y <= page[1])
    rows = [height * row for row in range(max(1, int(page[1] / height)))]
    columns = [min(width * column / 2, page[0] - width) for column in range(int(2 * page[0] / max(width, 1)) + 1)]
    anywhere = sorted((abs(x - left) + abs(y - top), x, y) for y in rows for x in columns)
    yield from (on_page(x, y, width, height, page) for _, x, y in anywhere)


def on_page(x: float, y: float, width: float, height: float, page: tuple[float, float]) -> Place:
    """A place moved onto the page."""
    left, top = max(0.0, min(x, page[0] - width)), max(0.0, min(y, page[1] - height))
    return Place(left, top, left + width, top + height)


def located(verdict: Verdict, check: Check) -> tuple[Sighting, ...]:
    """What the boxes of a check are drawn around: what was chosen for it, or for a text all text that was read."""
    evidence = verdict.prompt_evidence
    if check.chosen or check.claim.kind != "text" or evidence is None:
        return check.chosen
    return tuple(sighting for sighting in evidence.sightings if sighting.text)


def distinct(sightings: Sequence[Sighting]) -> list[int]:
    """For each sighting the index of the first one that is the same thing: the same word in nearly the same place."""
    first: list[int] = []
    for index, sighting in enumerate(sightings):
        same = (
            other
            for other in range(index)
            if sightings[other].word == sighting.word and sightings[other].box.iou(sighting.box) >= SAME
        )
        first.append(next(same, index))
    return first

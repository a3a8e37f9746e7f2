"""What is new in an edited image is counted by the detector and by the regions that changed."""

import numpy as np
import pytest

from onprompt.evidence.edits.objects import evened_out, new_objects
from onprompt.types import Box, Sighting
from onprompt.vision.change import Change, compare

PLACES = (0.05, 0.4, 0.75)  # left edges of three squares
SIDE = 0.2


def square(left: float, top: float = 0.6, width: float = SIDE, height: float = SIDE) -> Box:
    return Box(left, top, left + width, top + height)


def sheep(box: Box, confidence: float = 0.9) -> Sighting:
    return Sighting("sheep", "sheep", box, confidence, "coco")


def with_squares(*boxes: Box) -> Change:
    before = np.random.default_rng(7).integers(90, 110, (300, 300, 3)).astype(np.uint8)
    after = before.copy()
    for box in boxes:
        after[round(box.top * 300) : round(box.bottom * 300), round(box.left * 300) : round(box.right * 300)] = 255
    return compare(before, after)


THREE = with_squares(*map(square, PLACES))
PART = sheep(square(0.07, 0.62, 0.1, 0.1), 0.7)
HEAP = sheep(Box(0.05, 0.6, 0.95, 0.8), 0.6)


@pytest.mark.parametrize(
    ("seen", "before", "number"),
    [
        ([sheep(square(left)) for left in PLACES], [], 3),
        ([sheep(square(PLACES[0])), sheep(square(PLACES[1]))], [], 3),  # one was overlooked
        ([sheep(square(PLACES[0])), PART], [], 3),  # its head is no sheep, and two were overlooked
        ([*(sheep(square(left)) for left in PLACES), HEAP], [], 3),  # all in one box are no fourth
        ([*(sheep(square(left)) for left in PLACES), sheep(square(0.4, 0.1))], [], 3),  # where nothing changed
        ([sheep(square(PLACES[0]))], [sheep(square(PLACES[0]))], 0),  # it was there before
        ([], [], 0),  # regions alone are no sheep
    ],
)
def test_what_was_added_is_counted(seen: list[Sighting], before: list[Sighting], number: int) -> None:
    found = evened_out(new_objects(seen, before, THREE), THREE, 0.5)
    assert sum(sighting.confidence >= 0.5 for sighting in found) == number


def test_a_region_of_another_shape_holds_no_more() -> None:
    change = with_squares(square(0.05), square(0.5, 0.1, 0.4, 0.12))
    assert len(evened_out(new_objects([sheep(square(0.05))], [], change), change, 0.5)) == 1

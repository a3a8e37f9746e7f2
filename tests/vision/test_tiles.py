"""A look at tiles, with a network that finds red squares and sees only what is large enough."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from onprompt.vision.boxes import MAX_AREA, Boxes, Pixels, merge_tiles, with_tiles

RED = 255, 0, 0


def red_things(pixels: Pixels) -> Boxes:
    """A network that tells of each red patch, surer the more of the picture it covers."""
    red = ((pixels[:, :, 0] > 200) & (pixels[:, :, 1] < 50)).astype(np.uint8)
    _, _, patches, _ = cv2.connectedComponentsWithStats(red, connectivity=4)
    height, width = pixels.shape[:2]
    rows = [((x / width, y / height, (x + w) / width, (y + h) / height), area) for x, y, w, h, area in patches[1:]]
    boxes = np.array([box for box, _ in rows], dtype=np.float32).reshape(-1, 4)
    scores = np.array([area / (width * height) for _, area in rows], dtype=np.float32)
    return Boxes(boxes, scores, np.zeros(len(rows), dtype=int))


def short_sighted(pixels: Pixels) -> Boxes:
    """The same, blind to what is narrower than a twelfth of the picture."""
    found = red_things(pixels)
    return found.only(found.corners[:, 2] - found.corners[:, 0] >= 1 / 12)


def picture(*squares: tuple[int, int, int], size: tuple[int, int] = (200, 200)) -> Pixels:
    """Red squares (left, top, side) on gray; the size is width and height."""
    pixels = np.full((size[1], size[0], 3), 120, dtype=np.uint8)
    for left, top, side in squares:
        pixels[top : top + side, left : left + side] = RED
    return pixels


def detect_tiled(network: Callable[[Pixels], Boxes], pixels: Pixels) -> Boxes:
    """What a network detects in the whole picture, and the small things that it detects in the tiles."""
    return merge_tiles([network(view) for view in with_tiles(pixels)])


def once(found: Boxes) -> list[tuple[float, ...]]:
    """The boxes, duplicates merged as detectors do."""
    return sorted(tuple(row) for row in found.once(0.6).corners.tolist())


def share(left: int, top: int, side: int, width: int = 200, height: int = 200) -> tuple[float, ...]:
    return left / width, top / height, (left + side) / width, (top + side) / height


@pytest.mark.parametrize("place", [(10, 10), (170, 10), (10, 170), (170, 170), (93, 93), (93, 20), (20, 93)])
def test_what_is_too_small_for_the_whole_is_found_in_a_part(place: tuple[int, int]) -> None:
    pixels = picture((*place, 14))
    assert len(short_sighted(pixels).corners) == 0
    assert once(detect_tiled(short_sighted, pixels)) == [pytest.approx(share(*place, 14), abs=1e-5)]


def test_all_of_many_small_things_are_found_once_each() -> None:
    places = [(x, y) for x in range(4, 190, 43) for y in range(4, 190, 43)]
    pixels = picture(*((x, y, 14) for x, y in places))
    assert once(detect_tiled(short_sighted, pixels)) == [pytest.approx(share(x, y, 14), abs=1e-5) for x, y in places]


@pytest.mark.parametrize("square", [(10, 10, 60), (60, 60, 80), (150, 150, 42), (0, 0, 200)])
def test_what_is_large_is_told_by_the_whole_alone(square: tuple[int, int, int]) -> None:
    assert (square[2] / 200) ** 2 > MAX_AREA
    pixels = picture(square)
    boxes, scores, _ = detect_tiled(red_things, pixels)
    assert boxes.tolist() == [pytest.approx(share(*square), abs=1e-5)]
    assert scores.tolist() == red_things(pixels).scores.tolist()


@pytest.mark.parametrize(
    ("square", "parts"),
    [
        ((10, 10, 20), 1),  # in the corner part alone
        ((90, 10, 20), 2),  # in both upper parts
        ((90, 90, 20), 4),  # in all
        ((110, 10, 20), 1),  # cut by the inner edge of the left part: 120 of 200
        ((70, 10, 20), 1),  # cut by the inner edge of the right part: 80 of 200
        ((10, 110, 20), 1),
        ((10, 70, 20), 1),
        ((110, 110, 20), 1),
        ((100, 10, 20), 1),  # it ends just at that edge, so it may go on
        ((0, 0, 20), 1),  # an outer edge cuts nothing that goes on
        ((180, 180, 20), 1),
    ],
)
def test_what_an_inner_edge_cuts_is_left_to_the_other_parts(square: tuple[int, int, int], parts: int) -> None:
    boxes, scores, _ = detect_tiled(red_things, picture(square))
    assert len(boxes) == len(scores) == 1 + parts
    assert all(box == pytest.approx(share(*square), abs=1e-5) for box in boxes.tolist())

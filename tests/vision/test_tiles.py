"""A look at tiles, with a network that finds red squares and sees only what is large enough."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from onprompt.vision.boxes import MAX_AREA, TILE, Boxes, Pixels, merge_tiles, with_tiles

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


@pytest.mark.parametrize("size", [(331, 257), (640, 97), (97, 640)])
def test_places_are_right_in_pictures_of_odd_sizes(size: tuple[int, int]) -> None:
    width, height = size
    for left, top in ((3, 5), (width - 12, height - 14), (3, height - 14), (width - 12, 5)):
        pixels = picture((left, top, 8), size=size)
        found, *_ = detect_tiled(red_things, pixels)
        assert len(found) == 2
        expected = np.array(share(left, top, 8, width, height))
        assert (np.abs(found - expected) * (*size, *size)).max() <= 1.0  # a part begins at a whole pixel


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


def test_a_long_thing_across_the_middle_is_told_by_the_whole_alone() -> None:
    pixels = picture()
    pixels[96:104, 20:180] = RED
    boxes, *_ = detect_tiled(red_things, pixels)
    assert boxes.tolist() == [pytest.approx((0.1, 0.48, 0.9, 0.52))]


def test_scores_stay_with_their_boxes() -> None:
    boxes, scores, _ = detect_tiled(red_things, picture((10, 10, 20), (40, 40, 10), (150, 150, 16)))
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    whole, parts = slice(0, 3), slice(3, None)
    assert scores[whole] == pytest.approx(areas[whole], abs=1e-5)
    assert scores[parts] == pytest.approx(areas[parts] / TILE**2, abs=1e-5)
    assert len(scores[parts]) == 3


def test_four_parts_and_the_whole_are_looked_at() -> None:
    looked: list[tuple[int, ...]] = []

    def blind(pixels: Pixels) -> Boxes:
        looked.append(pixels.shape)
        assert pixels.flags.c_contiguous
        return Boxes(*(np.zeros(shape, dtype=np.float32) for shape in ((0, 4), (0, 3), 0)))

    boxes, scores, _ = detect_tiled(blind, picture(size=(200, 100)))
    assert looked == [(100, 200, 3), *[(60, 120, 3)] * 4]
    assert (boxes.shape, scores.shape) == ((0, 4), (0, 3))


@pytest.mark.parametrize("size", [(2, 2), (2, 300), (300, 2)])
def test_the_smallest_pictures_have_parts(size: tuple[int, int]) -> None:
    boxes, *_ = detect_tiled(red_things, picture((0, 0, 2), size=size))
    assert len(boxes) >= 1

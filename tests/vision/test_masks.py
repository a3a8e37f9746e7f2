"""Outlines of drawn things, found by the real network, and the pixels inside them."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onprompt.settings import Settings
from onprompt.types import Box, Decoded, Picture
from onprompt.vision import masks
from onprompt.vision.image import load_picture
from onprompt.vision.masks import ellipse, masked_pixels, segment
from tests.conftest import Pixels, photo

Mask = NDArray[np.bool_]
RED, GREEN = (210, 40, 40), (90, 140, 90)


def disk(left: int, top: int, right: int, bottom: int, size: tuple[int, int] = (320, 240)) -> Pixels:
    """A red disk or oval on a green field."""
    image = Image.new("RGB", size, GREEN)
    ImageDraw.Draw(image).ellipse((left, top, right, bottom), fill=RED)
    return np.asarray(image)


def boxed(picture: Picture, left: float, top: float, right: float, bottom: float) -> Box:
    height, width = picture.pixels.shape[:2]
    return Box(left / width, top / height, right / width, bottom / height)


def full_size(mask: Mask, width: int, height: int) -> Mask:
    return np.asarray(Image.fromarray(mask).resize((width, height), Image.Resampling.NEAREST))


def iou(one: Mask, other: Mask) -> float:
    return float((one & other).sum() / (one | other).sum())


@pytest.mark.parametrize(
    ("left", "top", "right", "bottom"),
    [(110, 70, 210, 170), (40, 90, 280, 150), (130, 20, 190, 220), (10, 10, 60, 60), (250, 170, 310, 230)],
)
def test_a_disk_is_outlined_in_its_box(left: int, top: int, right: int, bottom: int, settings: Settings) -> None:
    picture = load_picture(disk(left, top, right, bottom), settings)
    found = segment(picture, boxed(picture, left, top, right + 1, bottom + 1), settings)
    width, height = right + 1 - left, bottom + 1 - top
    truth = (picture.pixels == RED).all(axis=2)[top : bottom + 1, left : right + 1]
    assert iou(full_size(found, width, height), truth) > 0.8
    assert found.dtype == bool


def test_a_square_fills_its_box_where_a_disk_does_not(settings: Settings) -> None:
    pixels = disk(0, 0, 0, 0).copy()
    pixels[70:170, 110:210] = RED
    picture = load_picture(pixels, settings)
    box = boxed(picture, 110, 70, 210, 170)
    assert segment(picture, box, settings).mean() > 0.95
    round_one = load_picture(disk(110, 70, 209, 169), settings)
    assert segment(round_one, box, settings).mean() == pytest.approx(np.pi / 4, abs=0.06)


def test_a_loose_box_holds_background_too(settings: Settings) -> None:
    picture = load_picture(disk(110, 70, 209, 169), settings)
    found = segment(picture, boxed(picture, 100, 60, 220, 180), settings)
    truth = (picture.pixels == RED).all(axis=2)[60:180, 100:220]
    assert iou(full_size(found, 120, 120), truth) > 0.8


@pytest.mark.parametrize(
    ("left", "top", "right", "bottom"),
    [(-60, 80, 60, 200), (260, 80, 380, 200), (100, -50, 220, 70), (100, 180, 220, 300)],
    ids=["left", "right", "top", "bottom"],
)
def test_what_the_pictures_edge_cuts_is_outlined_up_to_it(
    left: int, top: int, right: int, bottom: int, settings: Settings
) -> None:
    picture = load_picture(disk(left, top, right, bottom), settings)
    left, top, right, bottom = max(0, left), max(0, top), min(320, right + 1), min(240, bottom + 1)
    found = segment(picture, boxed(picture, left, top, right, bottom), settings)
    truth = (picture.pixels == RED).all(axis=2)[top:bottom, left:right]
    assert iou(full_size(found, right - left, bottom - top), truth) > 0.8


@pytest.mark.parametrize(
    "box",
    [
        *(Box(0, 0, 0, 0), Box(0.5, 0.5, 0.5, 0.5), Box(0.3, 0.2, 0.3, 0.9), Box(0.2, 0.4, 0.9, 0.4)),
        *(Box(0, 0, 1, 1), Box(0, 0, 0.001, 0.001), Box(0.999, 0.999, 1, 1), Box(0.99, 0, 1, 1), Box(0, 0.99, 1, 1)),
    ],
)
@pytest.mark.parametrize("size", [(2, 2), (3, 500), (500, 3), (80, 50)])
def test_no_box_breaks_anything(box: Box, size: tuple[int, int], settings: Settings) -> None:
    picture = load_picture(np.full((size[1], size[0], 3), RED, dtype=np.uint8), settings)
    found = segment(picture, box, settings)
    assert found.any()
    inside = masked_pixels(picture, box, found)
    assert len(inside) >= 1
    assert (inside == RED).all()


def test_a_real_cat_is_most_of_its_box_and_the_same_every_time(settings: Settings) -> None:
    picture = load_picture(photo("chelsea.png"), settings)
    box = Box(0.2, 0.05, 0.9, 0.98)
    found = segment(picture, box, settings)
    assert 0.4 < found.mean() < 0.98
    assert (found == segment(picture, box, settings)).all()


# ---- parts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(100, 100), (40, 160), (160, 40)])
def test_an_ellipse_touches_all_sides_and_leaves_the_corners(size: tuple[int, int]) -> None:
    found = ellipse(*size)
    assert found.shape == size
    assert found.mean() == pytest.approx(np.pi / 4, abs=0.01)
    assert all(edge.any() for edge in (found[0], found[-1], found[:, 0], found[:, -1]))
    assert not any(found[y, x] for y in (0, -1) for x in (0, -1))
    assert (found == found[::-1]).all()
    assert (found == found[:, ::-1]).all()


def test_the_smallest_ellipses_are_not_empty() -> None:
    assert ellipse(1, 1).tolist() == [[True]]
    assert ellipse(2, 2).all()
    assert ellipse(1, 9).any()


def quarters() -> Picture:
    """Four pixels by four, each quarter of another level."""
    levels = np.kron(np.array([[10, 20], [30, 40]]), np.ones((2, 2))).astype(np.uint8)
    return Picture("quarters", "", lambda: Decoded(np.repeat(levels[:, :, None], 3, axis=2), (4, 4)))


@pytest.mark.parametrize(
    ("box", "mask", "levels"),
    [
        (Box(0, 0, 1, 1), [[True, False], [False, False]], [10] * 4),
        (Box(0, 0, 1, 1), [[True, False], [False, True]], [10] * 4 + [40] * 4),
        (Box(0, 0, 1, 1), [[True]], [10] * 4 + [20] * 4 + [30] * 4 + [40] * 4),
        (Box(0.5, 0, 1, 1), [[True], [False]], [20] * 4),
        (Box(0, 0.5, 1, 1), [[False, True]], [40] * 4),
        (Box(0.5, 0.5, 1, 1), [[False]], [40] * 4),  # a mask of nothing leaves the whole box
        (Box(0.25, 0.25, 0.25, 0.25), [[True]], [10]),
    ],
)
def test_pixels_inside_a_mask(box: Box, mask: list[list[bool]], levels: list[int]) -> None:
    found = masked_pixels(quarters(), box, np.array(mask))
    assert found.shape == (len(levels), 3)
    assert sorted(found[:, 0].tolist()) == levels


def test_surroundings_are_a_quarter_more_on_each_side_inside_the_picture() -> None:
    assert masks.crop_bounds(Box(0.4, 0.4, 0.6, 0.6), 200, 100) == (70, 35, 130, 65)
    assert masks.crop_bounds(Box(0, 0, 1, 1), 200, 100) == (0, 0, 200, 100)
    assert masks.crop_bounds(Box(0.5, 0.5, 0.5, 0.5), 200, 100) == (100, 50, 101, 51)
    assert masks.crop_bounds(Box(0.9, 0, 1, 0.1), 200, 100) == (175, 0, 200, 13)


def test_clicks_say_what_is_meant_and_what_is_not() -> None:
    earlier, yes, no = masks.click_maps(40, 40, 140, 140)
    assert not earlier.any()
    assert yes[90, 90] == yes[90, 112] == yes[90, 68] == yes[112, 90] == yes[68, 90] == 1
    assert no[34, 34] == no[34, 90] == no[146, 146] == no[90, 146] == 1
    assert no[90, 90] == yes[34, 34] == 0
    inside = np.zeros_like(yes)
    inside[40:140, 40:140] = 1
    assert not (yes * (1 - inside)).any()


def test_no_click_falls_beyond_the_picture() -> None:
    _, yes, no = masks.click_maps(0, 0, 192, 192)
    assert yes.any()
    assert not no.any()

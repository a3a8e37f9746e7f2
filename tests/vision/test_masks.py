"""Outlines of drawn things, found by the real network, and the pixels inside them."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onprompt.settings import Settings
from onprompt.types import Box, Decoded, Picture
from onprompt.vision.image import load_picture
from onprompt.vision.masks import ellipse, masked_pixels, segment
from tests.conftest import Pixels

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
    [
        *((110, 70, 210, 170), (40, 90, 280, 150), (130, 20, 190, 220), (10, 10, 60, 60), (250, 170, 310, 230)),
        *((-60, 80, 60, 200), (260, 80, 380, 200), (100, -50, 220, 70), (100, 180, 220, 300)),  # cut by the edge
    ],
)
def test_a_disk_is_outlined_as_far_as_it_is_in_the_picture(
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


@pytest.mark.parametrize("size", [(100, 100), (40, 160)])
def test_an_ellipse_leaves_the_corners(size: tuple[int, int]) -> None:
    found = ellipse(*size)
    assert found.shape == size
    assert found.mean() == pytest.approx(np.pi / 4, abs=0.01)
    assert not any(found[y, x] for y in (0, -1) for x in (0, -1))


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

"""Plain shapes of drawn outlines."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onprompt.vision import masks

Mask = NDArray[np.bool_]
Points = list[tuple[float, float]]


def cropped(mask: Mask) -> Mask:
    """The mask as a box around it holds it."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].copy()


def polygon(points: Points, turned: float = 0, size: int = 300) -> Mask:
    """A filled polygon about the middle, turned by some degrees."""
    turn = np.radians(turned)
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    image = Image.new("1", (size, size))
    ImageDraw.Draw(image).polygon([tuple(matrix @ point + size / 2) for point in points], fill=1)
    return cropped(np.asarray(image))


def ellipse(width: int, height: int) -> Mask:
    image = Image.new("1", (width + 2, height + 2))
    ImageDraw.Draw(image).ellipse((1, 1, width, height), fill=1)
    return cropped(np.asarray(image))


def star(points: int) -> Mask:
    turns = np.arange(2 * points) * np.pi / points
    far = np.where(np.arange(2 * points) % 2, 30, 100)
    return polygon([(float(r * np.cos(t)), float(r * np.sin(t))) for r, t in zip(far, turns, strict=True)])


def aspect(mask: Mask) -> float:
    return float(mask.shape[1] / mask.shape[0])


def shapes(mask: Mask) -> set[str]:
    return {trait.value for trait in masks.shape_traits(mask, aspect(mask))}


SQUARE: Points = [(-80, -80), (80, -80), (80, 80), (-80, 80)]
OBLONG: Points = [(-100, -40), (100, -40), (100, 40), (-100, 40)]
TRIANGLE: Points = [(-90, 70), (90, 70), (0, -90)]
COMB = np.ones((120, 120), dtype=bool)
COMB[15:, np.arange(120) % 20 >= 5] = False


@pytest.mark.parametrize("turned", [0, 10, 30, 45, 75])
@pytest.mark.parametrize(
    ("points", "name"), [(SQUARE, "square"), (OBLONG, "rectangular"), (TRIANGLE, "triangular")], ids=str
)
def test_straight_sided_shapes_however_they_are_turned(points: Points, name: str, turned: float) -> None:
    assert shapes(polygon(points, turned)) == {name}


@pytest.mark.parametrize("side", [12, 50, 200])
def test_disks_of_any_size_are_round(side: int) -> None:
    (trait,) = masks.shape_traits(ellipse(side, side), 1.0)
    assert (trait.kind, trait.value) == ("shape", "round")
    assert 0.8 < trait.confidence <= 1


@pytest.mark.parametrize("mask", [ellipse(200, 80), star(5), star(7), COMB], ids=["long oval", "5", "7", "comb"])
def test_ragged_and_other_things_have_no_plain_shape(mask: Mask) -> None:
    assert shapes(mask) == set()


def test_a_hole_in_the_middle_leaves_the_outline_as_it_is() -> None:
    ring = ellipse(100, 100)
    ring[30:70, 30:70] = False
    assert shapes(ring) == {"round"}


def test_crumbs_beside_a_thing_are_not_its_outline() -> None:
    mask = np.zeros((100, 140), dtype=bool)
    mask[:, :100] = ellipse(100, 100)
    mask[:8, 120:128] = mask[40:44, 130:134] = True
    assert shapes(mask) == {"round"}


def test_bites_out_of_a_thing_make_it_less_sure() -> None:
    bitten = polygon(SQUARE)
    whole = masks.shape_traits(bitten, 1.0)[0]
    bitten[60:100, :40] = False
    (trait,) = masks.shape_traits(bitten, 1.0)
    assert trait.value == whole.value == "square"
    assert 0.5 <= trait.confidence < whole.confidence - 0.03


def test_a_mask_is_measured_in_the_pictures_proportions() -> None:
    cells = np.ones((40, 40), dtype=bool)
    assert {trait.value for trait in masks.shape_traits(cells, 1.0)} == {"square"}
    assert {trait.value for trait in masks.shape_traits(cells, 2.0)} == {"rectangular"}
    assert {trait.value for trait in masks.shape_traits(cells, 0.5)} == {"rectangular"}
    assert masks.shape_traits(ellipse(40, 40), 2.5) == []


def test_between_square_and_rectangle_it_may_be_either() -> None:
    assert shapes(np.ones((80, 100), dtype=bool)) == {"square", "rectangular"}
    assert shapes(np.ones((95, 100), dtype=bool)) == {"square"}
    assert shapes(np.ones((65, 100), dtype=bool)) == {"rectangular"}


@pytest.mark.parametrize("size", [(1, 1), (50, 50), (3, 90)])
def test_an_empty_mask_has_no_shape(size: tuple[int, int]) -> None:
    assert masks.shape_traits(np.zeros(size, dtype=bool), 1.0) == []


def test_a_mask_of_one_cell_has_the_shape_of_its_box() -> None:
    assert {trait.value for trait in masks.shape_traits(np.ones((1, 1), dtype=bool), 1.0)} == {"square"}
    assert {trait.value for trait in masks.shape_traits(np.ones((1, 1), dtype=bool), 3.0)} == {"rectangular"}


@pytest.mark.parametrize("proportion", [0.0, 1e-9, 1e9])
def test_boxes_without_width_or_height_break_nothing(proportion: float) -> None:
    assert masks.shape_traits(np.ones((1, 1), dtype=bool), proportion) == []


@pytest.mark.parametrize(
    ("word", "meant"),
    [("circular", "round"), ("cubic", "square"), ("oblong", "rectangular"), ("triangle", "triangular")],
)
def test_words_mean_shapes(word: str, meant: str) -> None:
    assert masks.SHAPE_WORDS[word] == meant
    assert masks.SHAPE_WORDS[meant] == meant


def test_words_mean_only_what_is_measured() -> None:
    outline = np.array([[[0, 0]], [[0, 9]], [[9, 9]], [[9, 0]]], dtype=np.int32)
    assert set(masks.SHAPE_WORDS.values()) == set(masks.shape_probabilities(outline))
    assert "star-shaped" not in masks.SHAPE_WORDS

"""Size, place and relations of boxes."""

import pytest

from onprompt.settings import Settings
from onprompt.types import Box
from onprompt.vision import geometry
from onprompt.vision.geometry import RELATIONS

LEFT, RIGHT = Box(0.1, 0.4, 0.3, 0.6), Box(0.6, 0.4, 0.8, 0.6)
TOP, BOTTOM = Box(0.4, 0.1, 0.6, 0.3), Box(0.4, 0.6, 0.6, 0.9)
TABLE, CUP, DOG = Box(0.1, 0.5, 0.9, 0.9), Box(0.4, 0.3, 0.5, 0.52), Box(0.4, 0.6, 0.6, 0.8)


@pytest.mark.parametrize(
    ("name", "a", "b", "holds"),
    [
        *(("left of", LEFT, RIGHT, True), ("left of", RIGHT, LEFT, False), ("right of", RIGHT, LEFT, True)),
        *(("above", TOP, BOTTOM, True), ("above", BOTTOM, TOP, False), ("below", BOTTOM, TOP, True)),
        *(("on", CUP, TABLE, True), ("on", DOG, TABLE, True), ("on", TABLE, CUP, False), ("on", TOP, RIGHT, False)),
        *(("under", BOTTOM, TOP, True), ("under", RIGHT, TOP, False), ("under", TOP, BOTTOM, False)),
        *(("next to", LEFT, Box(0.32, 0.4, 0.5, 0.6), True), ("next to", LEFT, Box(0.85, 0.4, 1.0, 0.6), False)),
        ("on", Box(0.4, 0.0, 0.5, 0.1), TABLE, False),
    ],
)
def test_relations(name: str, a: Box, b: Box, holds: bool, settings: Settings) -> None:
    likely = RELATIONS[name](a, b)
    assert 0 <= likely <= 1
    assert (likely >= settings.relation_sure) == holds
    assert (likely < settings.relation_unsure) == (not holds)


def test_level_boxes_leave_left_and_right_open(settings: Settings) -> None:
    assert RELATIONS["left of"](TOP, BOTTOM) == RELATIONS["right of"](TOP, BOTTOM) == 0.5


@pytest.mark.parametrize("name", RELATIONS)
def test_every_relation_takes_boxes_without_size(name: str) -> None:
    point = Box(0.5, 0.5, 0.5, 0.5)
    assert 0 <= RELATIONS[name](point, point) <= 1


@pytest.mark.parametrize(
    ("area", "size"), [(0.049, "small"), (0.05, "small"), (0.051, "medium"), (0.2, "medium"), (0.21, "large")]
)
def test_sizes_by_share_of_the_picture(area: float, size: str, settings: Settings) -> None:
    assert geometry.size_of(Box(0, 0, area, 1), settings) == size


@pytest.mark.parametrize(
    ("x", "y", "position"),
    [
        (0.1, 0.1, "top-left"),
        (0.5, 0.5, "center"),
        (0.9, 0.5, "right"),
        (0.5, 0.9, "bottom"),
        (1.0, 1.0, "bottom-right"),
    ],
)
def test_positions_on_the_grid(x: float, y: float, position: str) -> None:
    assert geometry.position_of(Box(x, y, x, y)) == position


@pytest.mark.parametrize(
    ("x", "asked", "score"),
    [
        (0.1, "left", 1),
        (0.37, "left", 1),
        (0.45, "left", 0.5),
        (0.8, "left", 0),
        (0.5, "center-middle", 1),
        (0.1, "top-left", 0),
    ],
)
def test_a_small_offset_is_tolerated(x: float, asked: str, score: float, settings: Settings) -> None:
    assert geometry.position_score(Box(x, 0.6, x, 0.6), asked, settings) == score


def test_what_the_edge_cuts_is_noted() -> None:
    assert geometry.truncated(Box(0.0, 0.2, 0.4, 0.6))
    assert not geometry.truncated(LEFT)

"""Size and place of boxes."""

import pytest

from onprompt.settings import Settings
from onprompt.types import Box
from onprompt.vision import geometry


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
def test_a_small_offset_is_tolerated(x: float, asked: str, score: float) -> None:
    assert geometry.position_score(Box(x, 0.6, x, 0.6), asked) == score


def test_what_the_edge_cuts_is_noted() -> None:
    assert geometry.is_truncated(Box(0.0, 0.2, 0.4, 0.6))
    assert not geometry.is_truncated(Box(0.1, 0.4, 0.3, 0.6))


def test_near_a_limit_size_and_place_are_less_sure(settings: Settings) -> None:
    assert geometry.size_confidence(Box(0, 0, 0.05, 1), settings) == pytest.approx(0.5)
    assert geometry.size_confidence(Box(0, 0, 0.1, 1), settings) == 1.0
    assert geometry.position_confidence(Box(1 / 3, 0.5, 1 / 3, 0.5)) == pytest.approx(0.5)
    assert geometry.position_confidence(Box(0.5, 0.5, 0.5, 0.5)) == 1.0


def test_a_ramp_rises_or_falls_between_its_ends() -> None:
    assert [geometry.ramp(x, 1, 3) for x in (0, 1, 2, 3, 9)] == [0, 0, 0.5, 1, 1]
    assert [geometry.ramp(x, 3, 1) for x in (0, 1, 2, 3, 9)] == [1, 1, 0.5, 0, 0]

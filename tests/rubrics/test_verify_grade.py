"""The protocol's thresholds, at every boundary."""

import itertools

import pytest

from onprompt.rubrics.verify import score_of
from onprompt.settings import Settings


@pytest.mark.parametrize(
    ("presence", "attributes", "score"),
    [
        *((1.0, 1.0, 4), (0.90, 0.90, 4), (0.8999, 1.0, 3), (1.0, 0.8999, 3)),
        *((0.80, 0.50, 3), (0.7999, 1.0, 2), (1.0, 0.4999, 2)),
        *((0.42, 0.0, 2), (0.4199, 1.0, 1), (0.10, 0.0, 1), (0.0999, 1.0, 0), (0.0, 1.0, 0)),
    ],
)
def test_the_thresholds(presence: float, attributes: float, score: int, settings: Settings) -> None:
    assert score_of(presence, attributes, settings) == score


def test_the_score_never_falls_when_a_measure_rises(settings: Settings) -> None:
    grid = [step / 40 for step in range(41)]
    for presence, attributes in itertools.product(grid[:-1], grid[:-1]):
        here = score_of(presence, attributes, settings)
        assert here <= score_of(presence + 1 / 40, attributes, settings)
        assert here <= score_of(presence, attributes + 1 / 40, settings)

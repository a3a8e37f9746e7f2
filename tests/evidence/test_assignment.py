"""The assignment of sightings is scipy's, ties included."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from onprompt.evidence.assignment import best_assignment


@pytest.mark.parametrize("digits", [0, 1, 15])
def test_as_scipy(digits: int) -> None:
    random = np.random.default_rng(digits)
    for _ in range(300):
        rewards = np.round(random.random(random.integers(1, 9, 2)), digits)
        rows, columns = linear_sum_assignment(rewards, maximize=True)
        assert best_assignment(rewards) == list(zip(rows.tolist(), columns.tolist(), strict=True))

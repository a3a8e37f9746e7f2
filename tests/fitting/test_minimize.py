"""The minimum of functions whose minimum is known."""

import numpy as np
import pytest

from onprompt.fitting.weights import minimize


def test_a_bowl_that_is_not_round() -> None:
    found = minimize(lambda x: float((x[0] - 3) ** 2 + 50 * (x[1] + x[0]) ** 2), np.zeros(2))
    assert found == pytest.approx([3, -3], abs=1e-4)


def test_a_curved_valley() -> None:
    found = minimize(lambda x: float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2), np.array([-1.2, 1.0]))
    assert found == pytest.approx([1, 1], abs=1e-3)


def test_a_steep_start_does_not_overshoot() -> None:
    found = minimize(lambda x: float(np.exp(x[0]) - 5 * x[0]), np.array([6.0]))
    assert found == pytest.approx([np.log(5)], abs=1e-4)

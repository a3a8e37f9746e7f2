"""The minimum of a smooth function of a few variables, by BFGS; gradients are differences."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEP = 1e-6  # of a difference
SMALL = 1e-7  # gradient at which it ends
ROUNDS = 200
ENOUGH = 1e-4  # share of the descent that the slope promises, which a step must bring
SHORTEST, LONGEST = 1e-10, 1.0  # steps: an estimate may be far off at first


def minimize(loss: Callable[[Array], float], start: Array) -> Array:
    """Where the loss is smallest, near the start."""
    x, slope, inverse = start, gradient(loss, start), np.eye(len(start))
    for _ in range(ROUNDS):
        if np.abs(slope).max(initial=0.0) < SMALL:
            break
        if slope @ inverse @ slope <= 0:  # rounding has spoilt the estimate
            inverse = np.eye(len(start))
        direction = -inverse @ slope
        direction *= min(1.0, LONGEST / float(np.linalg.norm(direction)))
        moved = line_search(loss, x, direction, float(slope @ direction))
        if moved is None:
            break
        before, slope = slope, gradient(loss, moved)
        inverse = updated(inverse, moved - x, slope - before)
        x = moved
    return x


def gradient(loss: Callable[[Array], float], x: Array) -> Array:
    """Central differences."""
    steps = STEP * np.eye(len(x))
    return np.array([(loss(x + step) - loss(x - step)) / (2 * STEP) for step in steps])


def line_search(loss: Callable[[Array], float], x: Array, direction: Array, descent: float) -> Array | None:
    """The first of ever shorter steps that descends enough; None if none does."""
    here, length = loss(x), 1.0
    while length > SHORTEST:
        if loss(x + length * direction) <= here + ENOUGH * length * descent:
            moved: Array = x + length * direction
            return moved
        length /= 2
    return None


def updated(inverse: Array, step: Array, change: Array) -> Array:
    """The estimate of the inverse second derivatives, with what the last step has shown."""
    along = float(step @ change)
    if along <= 1e-12:
        return inverse
    left = np.eye(len(step)) - np.outer(step, change) / along
    new: Array = left @ inverse @ left.T + np.outer(step, step) / along
    return new

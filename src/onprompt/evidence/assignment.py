"""Who gets what, so that the sum of all rewards is largest: the assignment problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def assign(rewards: Sequence[Sequence[float]]) -> dict[int, int]:
    """The column of each row, no column twice, with the largest sum of rewards; a row without a reward gets none.

    By shortest augmenting paths (Jonker and Volgenant): each row takes its best column, and whoever holds that column
    moves on to another as long as the sum gains by it.
    """
    if not rewards or not rewards[0]:
        return {}
    table = np.asarray(rewards, dtype=np.float64)
    rows, columns = table.shape
    cost = np.zeros((rows, columns + rows))  # as many more columns, for rows that get nothing
    cost[:, :columns] = -np.maximum(table, 0)
    price, holder = np.zeros(columns + rows), np.full(columns + rows, -1, dtype=np.int64)
    gain = np.zeros(rows)
    for row in range(rows):
        column, came_from = path_to_a_free_column(row, cost, price, gain, holder)
        while column >= 0:
            before = came_from[column]
            holder[column] = row if before < 0 else holder[before]
            column = before
    return {int(row): column for column, row in enumerate(holder[:columns]) if row >= 0 and table[row, column] > 0}


def path_to_a_free_column(
    row: int, cost: Floats, price: Floats, gain: Floats, holder: NDArray[np.int64]
) -> tuple[int, list[int]]:
    """The free column that costs least to reach, and for each column the one before it on the way."""
    size = cost.shape[1]
    reach, came_from, done = np.full(size, np.inf), [-1] * size, np.zeros(size, dtype=bool)
    here, spent, last = row, 0.0, -1
    while True:
        further = spent + cost[here] - gain[here] - price
        better = ~done & (further < reach)
        reach[better] = further[better]
        for column in np.flatnonzero(better):
            came_from[column] = last
        last = int(np.argmin(np.where(done, np.inf, reach)))
        spent, done[last] = float(reach[last]), True
        if holder[last] < 0:
            break
        here = int(holder[last])
    passed = np.flatnonzero(done)
    gain[row] += spent
    for column in passed:
        if holder[column] >= 0:
            gain[holder[column]] += spent - reach[column]
        price[column] -= spent - reach[column]
    return last, came_from

"""The assignment problem: one column for each row, for the largest sum; importing scipy's takes .7 s."""

import numpy as np
from numpy.typing import NDArray

Rewards = NDArray[np.float64]


def best_assignment(rewards: Rewards) -> list[tuple[int, int]]:
    """Pairs of row and column, as many as fit, with the largest sum of rewards; sorted by row.

    Shortest augmenting paths (Crouse 2016), with ties broken as scipy's linear_sum_assignment breaks them.
    """
    if rewards.shape[1] < rewards.shape[0]:
        return sorted((row, column) for column, row in best_assignment(rewards.T))
    costs = (-rewards).tolist()
    rows, columns = rewards.shape
    of_row, of_column = [-1] * rows, [-1] * columns
    u, v = [0.0] * rows, [0.0] * columns
    for start in range(rows):
        augment(start, costs, of_row, of_column, u, v)
    return list(enumerate(of_row))


def augment(
    start: int, costs: list[list[float]], of_row: list[int], of_column: list[int], u: list[float], v: list[float]
) -> None:
    """Assign one more row by the shortest path to a free column; `u` and `v` are the dual variables."""
    columns = len(of_column)
    shortest, path = [float("inf")] * columns, [-1] * columns
    remaining = list(range(columns - 1, -1, -1))  # from the last: a constant matrix then gives the diagonal
    seen_rows: list[int] = []
    seen_columns: list[int] = []
    length, row, sink = 0.0, start, -1
    while sink == -1:
        seen_rows.append(row)
        index, lowest = -1, float("inf")
        for position, column in enumerate(remaining):
            reduced = length + costs[row][column] - u[row] - v[column]
            if reduced < shortest[column]:
                path[column], shortest[column] = row, reduced
            # Among equals, a free column ends the search.
            if shortest[column] < lowest or (shortest[column] == lowest and of_column[column] == -1):
                lowest, index = shortest[column], position
        length, column = lowest, remaining[index]
        seen_columns.append(column)
        remaining[index] = remaining[-1]
        remaining.pop()
        sink, row = (column, row) if of_column[column] == -1 else (-1, of_column[column])
    u[start] += length
    for other in seen_rows:
        if other != start:
            u[other] += length - shortest[of_row[other]]
    for column in seen_columns:
        v[column] -= length - shortest[column]
    while True:
        row = path[sink]
        of_column[sink], (of_row[row], sink) = row, (sink, of_row[row])
        if row == start:
            return

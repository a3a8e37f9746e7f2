"""Who gets what, against an independent solver."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from onprompt.evidence.assignment import assign


@pytest.mark.parametrize("seed", range(200))
def test_the_sum_is_the_largest_there_is(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows, columns = chance.integers(1, 8, 2)
    table = chance.random((rows, columns)) * (chance.random((rows, columns)) < 0.6)
    table = np.round(table, 1 if seed % 2 else 6)  # with equal rewards, and without
    found = assign(table.tolist())
    assert len(set(found.values())) == len(found), "no column twice"
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    assert sum(table[pair] for pair in found.items()) == pytest.approx(best)


def test_who_has_no_reward_gets_nothing() -> None:
    assert assign([[0.0, 0.0], [0.0, 0.5]]) == {1: 1}
    assert assign([]) == assign([[], []]) == {}

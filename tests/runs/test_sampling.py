"""Reviews in random order: how precise agreement is by then, and that all raters have the same order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from onprompt.runs.reading import RunRow
from onprompt.runs.reviews import agreement_words, half_width, in_random_order


@pytest.mark.parametrize(("correlation", "size"), [(0.5, 246), (0.7, 129), (0.85, 47)])
def test_the_precision_is_that_of_simulated_raters(correlation: float, size: int) -> None:
    assert half_width(size, correlation) <= 0.1 < half_width(size - 1, correlation)
    generator = np.random.default_rng(0)
    pairs = generator.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=(1500, size))
    found = [stats.spearmanr(pair).statistic for pair in pairs]
    low, high = np.percentile(found, [2.5, 97.5])
    assert (high - low) / 2 == pytest.approx(0.1, abs=0.012)


def test_how_many_more_are_needed() -> None:
    assert agreement_words(0.7, 100).endswith("0.70 ± 0.11 on 100 verdicts; about 29 more for ±0.10")
    assert agreement_words(0.7, 129).endswith("0.70 ± 0.10 on 129 verdicts")
    assert "more for" in agreement_words(-0.4, 5)


def test_the_order_is_random_and_stays_when_a_run_grows() -> None:
    rows = [RunRow(f"{place}.png", value=place % 5 / 4, number=place) for place in range(1000)]
    order = in_random_order(rows)
    assert sorted(order) == list(range(1000))
    assert order == in_random_order(reversed(rows))
    assert [number for number in order if number < 500] == in_random_order(rows[:500])
    assert max(Counter(number % 5 for number in order[:200]).values()) < 60, "each part is like the whole"
    unclear = RunRow("x", value=0.5, flags=("not_verifiable",), number=1000)
    assert in_random_order([unclear, RunRow("y", number=1001), *rows]) == order

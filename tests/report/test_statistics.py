"""Each statistic against a library, a textbook or a plain loop; resamples against repeating the drawn items."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from onprompt.report import statistics
from onprompt.report.statistics import Array, Measure, bootstrap_weights, wilson


def once(measure: Measure, n: int) -> float:
    """The statistic of the items themselves."""
    return float(measure(np.ones((1, n)))[0])


def noisy(n: int, seed: int = 0, levels: int = 4) -> tuple[Array, Array]:
    """A judge and people who mostly agree, with many ties on both sides."""
    generator = np.random.default_rng(seed)
    human = generator.integers(levels, size=n) / 2
    return np.round(human + generator.normal(size=n), 1), human


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [3, 10, 200])
def test_correlations_match_scipy(n: int, seed: int) -> None:
    x, y = noisy(n, seed)
    assert once(statistics.spearman(x, y), n) == pytest.approx(stats.spearmanr(x, y)[0])
    assert once(statistics.kendall(x, y, "b"), n) == pytest.approx(stats.kendalltau(x, y)[0])
    assert once(statistics.kendall(x, y, "c"), n) == pytest.approx(stats.kendalltau(x, y, variant="c")[0])
    a, b = np.random.default_rng(seed).normal(size=(2, n))  # as many levels as items
    assert once(statistics.kendall(a, b, "b"), n) == pytest.approx(stats.kendalltau(a, b)[0])


def test_auc_matches_scipy_and_scikit_learn() -> None:
    x, y = noisy(100)
    result = once(statistics.auc(x, y > 0.5), 100)
    good, bad = x[y > 0.5], x[y <= 0.5]
    assert result == pytest.approx(stats.mannwhitneyu(good, bad).statistic / len(good) / len(bad))
    metrics = pytest.importorskip("sklearn.metrics")
    assert result == pytest.approx(metrics.roc_auc_score(y > 0.5, x))


@pytest.mark.parametrize("seed", range(3))
def test_kappa_matches_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    one, other = np.random.default_rng(seed).integers(5, size=(2, 60))
    other[:30] = one[:30]
    expected = metrics.cohen_kappa_score(one, other, weights="quadratic", labels=range(5))
    assert once(statistics.kappa(one, other), 60) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # Newcombe (1998), table I; Brown, Cai and DasGupta (2001)
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_matches_the_textbook(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_pair_accuracy_matches_a_plain_loop() -> None:
    x, y = noisy(80)
    group = np.random.default_rng(1).integers(15, size=80)
    right, number = 0.0, 0
    for i, j in itertools.combinations(range(80), 2):
        if group[i] == group[j] and abs(y[i] - y[j]) >= 1:
            number += 1
            right += 0.5 if x[i] == x[j] else float((x[i] - x[j]) * (y[i] - y[j]) > 0)
    measure, counted = statistics.pair_accuracy(x, y, group, 1.0)
    assert once(measure, 80) == pytest.approx(right / number)
    assert counted == number
    thirds = np.array([2 / 3, 1.0])  # a third apart, less a hair
    assert statistics.pair_accuracy(thirds, thirds, np.zeros(2, np.intp), 1 / 3)[1] == 1


def test_a_resample_equals_repeating_its_items() -> None:
    x, y = noisy(60)
    group = np.arange(60) // 4
    scores = np.random.default_rng(2).integers(4, size=60)
    grades, levels = scores.astype(float), 2 * y
    for weights in bootstrap_weights(15, 60, 5, seed=1):
        for row in weights[:, group]:
            drawn = np.repeat(np.arange(60), row.astype(int))
            a, b = x[drawn], y[drawn]
            for measure, again in [
                (statistics.spearman(x, y), stats.spearmanr(a, b)[0]),
                (statistics.kendall(x, y, "b"), stats.kendalltau(a, b)[0]),
                (statistics.kendall(x, y, "c"), stats.kendalltau(a, b, variant="c")[0]),
                (statistics.auc(x, y > 0.5), once(statistics.auc(a, b > 0.5), 60)),
                (statistics.kappa(grades, levels), once(statistics.kappa(grades[drawn], levels[drawn]), 60)),
            ]:
                assert measure(row[None])[0] == pytest.approx(again)


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 1e9])
def test_constants_have_no_correlation(constant: float) -> None:
    x, y = np.full(101, constant), np.arange(101.0)
    for measure in (statistics.spearman(x, y), statistics.kendall(x, y, "b"), statistics.kendall(x, y, "c")):
        assert math.isnan(once(measure, 101))

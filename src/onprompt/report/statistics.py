"""Estimates with confidence intervals, and the statistics of agreement for many bootstrap resamples at once.

A resample is a row of weights: how often each item was drawn. A rank in a resample is a sum of weights, so nothing is
sorted twice. scipy gives the same numbers, but one resample at a time: 5 to 50 times slower.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Levels = NDArray[np.intp]  # for each item the index of its value among the distinct values
Measure = Callable[[Array], Array]  # weights, a row per resample → the statistic of each, NaN where undefined

DIGITS = 9  # to which means are rounded, so that the order of summation breaks no tie
MIN_PROMPTS = 5  # fewer have too few distinct resamples for a 95 % interval
CELLS = 1_000_000  # numbers in an array at a time: 8 MB
Z = 1.959963984540054  # the 97.5th percentile of the normal distribution
MANY = 10_000  # values from which on a mean is as good as normally distributed


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % confidence interval and sample size; `why` explains what is missing."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        return f"{self.value:.3f}" + ("" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]")


def rounded(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The `dict_factory` of JSON documents: numbers to four digits."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in fields}


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion (1927), as scipy's binomtest has it, whose import takes a second."""
    share, square = successes / trials, Z * Z / trials
    middle, margin = share + square / 2, Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials))
    low, high = (middle - margin) / (1 + square), (middle + margin) / (1 + square)
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)


def bootstrap_weights(groups: int, row_size: int, resamples: int, seed: int) -> Iterator[Array]:
    """How often each group is drawn, a row per resample, in batches that fit in memory at `row_size` numbers a row."""
    generator = np.random.default_rng(seed)
    batch = max(1, CELLS // max(row_size, 1))
    for start in range(0, resamples, batch):
        rows = min(batch, resamples - start)
        drawn = generator.integers(groups, size=(rows, groups)) + groups * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups).astype(np.float64)


def bootstrap_estimate(value: float, draws: Sequence[Array], prompts: int, n: int) -> Estimate:
    """An estimate with the 2.5th and 97.5th percentile of its resamples; undefined ones are ignored."""
    if prompts < MIN_PROMPTS:
        return Estimate(value, n=n, why=f"no interval: fewer than {MIN_PROMPTS} prompts")
    resampled = np.concatenate([*draws, []])
    defined = resampled[np.isfinite(resampled)]
    if len(defined) <= len(resampled) / 2:
        return Estimate(value, n=n, why="no interval: undefined in most resamples")
    low, high = np.percentile(defined, [2.5, 97.5])
    return Estimate(value, float(low), float(high), n)


def bootstrap_mean(values: Array, resamples: int, seed: int) -> Estimate:
    """The mean over prompts."""
    n = len(values)
    draws = [weights @ values / n for weights in bootstrap_weights(n, n, resamples, seed)]
    return bootstrap_estimate(float(values.mean()), draws, n, n)


def mean_of(values: Array, resamples: int = 1000, seed: int = 0) -> Estimate:
    """The mean of any number of values, one per prompt; of very many, its interval follows from the standard error."""
    if not len(values):
        return Estimate(why="no values")
    if len(values) < MANY:
        return bootstrap_mean(np.sort(values), resamples, seed)  # the same interval in whatever order they come
    mean, margin = float(values.mean()), Z * float(values.std(ddof=1)) / len(values) ** 0.5
    return Estimate(mean, mean - margin, mean + margin, len(values))


def to_levels(values: Array) -> Levels:
    """The index of each value among the distinct values."""
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def level_weights(levels: Levels, weights: Array) -> Array:
    """The weight of each level in each resample."""
    rows, number = len(weights), int(levels.max()) + 1
    cells = levels + number * np.arange(rows)[:, None]
    return np.asarray(np.bincount(cells.ravel(), weights.ravel(), rows * number), float).reshape(rows, number)


def ranks(levels: Levels, weights: Array) -> Array:
    """The rank of each item in each resample; ties share their mean rank."""
    total = level_weights(levels, weights)
    shared: Array = (np.cumsum(total, axis=1) - (total - 1) / 2)[:, levels]
    return shared


def ratio(numerator: Array, denominator: Array) -> Array:
    """The quotient, NaN where the denominator is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def spearman(x: Array, y: Array) -> Measure:
    """Spearman's ρ."""
    x_levels, y_levels = to_levels(x), to_levels(y)

    def measure(weights: Array) -> Array:
        middle = (weights.sum(axis=1, keepdims=True) + 1) / 2
        a, b = ranks(x_levels, weights) - middle, ranks(y_levels, weights) - middle
        variances = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        return ratio((weights * a * b).sum(axis=1), np.sqrt(variances))

    return measure


def kendall(x: Array, y: Array, variant: str) -> Measure:
    """Kendall's τ-b or τ-c, or Somers' D of x given y."""
    x_levels, y_levels = to_levels(x), to_levels(y)
    sides = (x_levels, y_levels, to_levels(x_levels * (y_levels.max() + 1.0) + y_levels))
    discordant = discordant_pairs(*sorted((x_levels, y_levels), key=np.max, reverse=True))  # fewer levels, fewer bits

    def measure(weights: Array) -> Array:
        n = weights.sum(axis=1)
        counts = [level_weights(side, weights) for side in sides]
        pairs = n * (n - 1) / 2
        x_ties, y_ties, both_ties = ((count * (count - 1) / 2).sum(axis=1) for count in counts)
        net = pairs - x_ties - y_ties + both_ties - 2 * discordant(weights)  # concordant less discordant
        levels = np.minimum(*((count > 0).sum(axis=1) for count in counts[:2]))
        denominators = {
            "b": np.sqrt((pairs - x_ties) * (pairs - y_ties)),
            "c": n * n * (levels - 1) / (2 * np.maximum(levels, 1)),
            "d": pairs - y_ties,
        }
        return ratio(net, denominators[variant])

    return measure


def discordant_pairs(x: Levels, y: Levels) -> Measure:
    """The number of pairs that x and y order differently, counted bit by bit of y: n log n, few bits for few levels."""
    order = np.lexsort((y, x))  # ties of x are in y's order, so never counted
    steps = []
    for bit in range(int(y.max()).bit_length()):
        block = np.argsort(y[order] >> (bit + 1), kind="stable")  # pairs equal in higher bits first differ in this one
        places = order[block]
        high = y[places] >> (bit + 1)
        steps.append((places, (y[places] >> bit & 1).astype(np.float64), np.searchsorted(high, high)))

    def measure(weights: Array) -> Array:
        count = np.zeros(len(weights))
        for places, is_larger, start in steps:
            drawn = weights[:, places]
            larger = drawn * is_larger
            before = np.cumsum(larger, axis=1) - larger
            count += ((before - before[:, start]) * (drawn - larger)).sum(axis=1)
        return count

    return measure


def pair_accuracy(x: Array, y: Array, group: Levels, apart: float) -> tuple[Measure, int]:
    """The share of pairs in a group, `apart` or more in y, that x orders as y does (ties count half); their number."""
    correct, number = np.zeros(len(x)), np.zeros(len(x))
    members: dict[int, list[int]] = {}
    for place, prompt in enumerate(group.tolist()):
        earlier = np.array(members.setdefault(prompt, []), np.intp)
        far = earlier[np.abs(y[earlier] - y[place]) >= apart - 10.0**-DIGITS]
        number[place] = len(far)
        correct[place] = (np.sign(x[far] - x[place]) * np.sign(y[far] - y[place]) + 1).sum() / 2
        members[prompt].append(place)
    return (lambda weights: ratio(weights @ correct, weights @ number)), int(number.sum())


def auc(x: Array, good: NDArray[np.bool_]) -> Measure:
    """The area under the ROC curve of x as a classifier of good items."""
    somers_d = kendall(x, good.astype(np.float64), "d")
    return lambda weights: (1 + somers_d(weights)) / 2


def kappa(x: Array, y: Array) -> Measure:
    """Cohen's κ with quadratic weights, by its moments."""

    def measure(weights: Array) -> Array:
        n = np.maximum(weights.sum(axis=1), 1)
        expected = weights @ (x * x + y * y) - 2 * (weights @ x) * (weights @ y) / n
        return 1 - ratio(weights @ (x - y) ** 2, expected)

    return measure


def alpha(counts: Array) -> Measure:
    """Krippendorff's ordinal α; `counts` says how often each item was given each level."""
    raters = counts.sum(axis=1)
    paired = raters > 1  # a single rating can't agree with another
    share = paired / np.maximum(raters - 1, 1)

    def measure(weights: Array) -> Array:
        total = (weights * paired) @ counts
        n = total.sum(axis=1)
        rank = np.cumsum(total, axis=1) - (total + n[:, None]) / 2  # from the middle, so that constants give 0
        observed = raters * (rank**2 @ counts.T) - (rank @ counts.T) ** 2
        expected = n * (total * rank**2).sum(axis=1)
        return 1 - ratio((weights * share * observed).sum(axis=1) * (n - 1), expected)

    return measure

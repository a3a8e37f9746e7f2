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

CONSTANT = "one side is constant"
MIN_ITEMS = 3  # any correlation of two items is 1 or −1
DIGITS = 9  # to which means are rounded, so that the order of summation breaks no tie
RESAMPLES, SEED = 1000, 0  # of every interval
MIN_PROMPTS = 5  # fewer have too few distinct resamples for a 95 % interval
FEW_PROMPTS = f"no interval: fewer than {MIN_PROMPTS} prompts"
CELLS = 1_000_000  # numbers in an array at a time: 8 MB
Z = 1.959963984540054  # the 97.5th percentile of the normal distribution
MANY = 10_000  # prompts from which on a mean is as good as normally distributed
LARGE = 5000  # items from which on the spread of a statistic among BLOCKS parts gives its standard error
BLOCKS, SMALLEST = 50, 20  # parts of the prompts, and the prompts in each


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % confidence interval and sample size; `why` explains what is missing."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str = ""

    def __str__(self) -> str:
        return self.words(3)

    @property
    def short(self) -> str:
        """With two digits, for sentences and pages."""
        return self.words(2)

    def words(self, digits: int) -> str:
        """`0.729 [0.650, 0.801]`."""
        if self.value is None:
            return "–"
        interval = "" if self.low is None else f" [{self.low:.{digits}f}, {self.high:.{digits}f}]"
        return f"{self.value:.{digits}f}{interval}"


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
        return Estimate(value, n=n, why=FEW_PROMPTS)
    resampled = np.concatenate([*draws, []])
    defined = resampled[np.isfinite(resampled)]
    if len(defined) <= len(resampled) / 2:
        return Estimate(value, n=n, why="no interval: undefined in most resamples")
    low, high = np.percentile(defined, [2.5, 97.5])
    return Estimate(value, float(low), float(high), n)


def normal_estimate(value: float, error: float, n: int) -> Estimate:
    """An estimate whose interval follows from its standard error."""
    if math.isnan(error):
        return Estimate(value, n=n, why="no interval: undefined in most parts of the data")
    return Estimate(value, value - Z * error, value + Z * error, n)


def mean_of(values: Array) -> Estimate:
    """The mean of values, one per prompt; its interval is the same in whatever order they come, and mirrors theirs."""
    n = len(values)
    if not n:
        return Estimate(why="no verdict")
    values = np.sort(values)
    mean = math.fsum(values) / n
    if mean < 0:
        mirrored = mean_of(-values)
        low, high = (None if end is None else -end for end in (mirrored.high, mirrored.low))
        return Estimate(mean, low, high, n, mirrored.why)
    if n >= MANY:
        return normal_estimate(mean, float(values.std(ddof=1)) / n**0.5, n)
    return bootstrap_estimate(mean, [w @ values / n for w in bootstrap_weights(n, n, RESAMPLES, SEED)], n, n)


def mean_over_prompts(numbers: Iterable[tuple[str, float]]) -> Estimate:
    """The mean over prompts of the mean over a prompt's numbers: every mean that onprompt states."""
    prompts: dict[str, list[float]] = {}
    for prompt, number in numbers:
        prompts.setdefault(prompt, []).append(number)
    return mean_of(np.array([math.fsum(each) / len(each) for each in prompts.values()]))


@dataclass(frozen=True, slots=True)
class Statistic:
    """The mean of measures, such as one for each rater; its sample size, and why there is none."""

    n: int
    why: str
    measures: Sequence[Measure] = ()

    def __call__(self, weights: Array) -> Array:
        values = np.array([measure(weights) for measure in self.measures]).reshape(-1, len(weights))
        defined = np.isfinite(values)
        return ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0))

    def value(self, items: int) -> float:
        """The statistic of the items themselves, NaN where undefined."""
        return float(self(np.ones((1, items)))[0])


def estimates(prepare: Callable[[Levels], Sequence[Statistic]], group: Levels) -> list[Estimate]:
    """The statistics that `prepare` makes of the items at some places, with intervals over groups of items.

    By resamples of whole groups; of very many groups, by how far the statistics of equal parts of them are apart.
    """
    groups, places = int(group.max(initial=-1)) + 1, np.arange(len(group))
    prepared = prepare(places)
    values = [statistic.value(len(group)) for statistic in prepared]
    found = [Estimate(n=statistic.n, why=statistic.why) for statistic in prepared]
    defined = [index for index, value in enumerate(values) if math.isfinite(value)]
    if defined and in_blocks(len(group), groups):
        part = (np.random.default_rng(SEED).permutation(groups) % BLOCKS)[group]
        blocks = [places[part == block] for block in range(BLOCKS)]
        parts = np.array([[each.value(len(block)) for each in prepare(block)] for block in blocks])
        for index in defined:
            known = parts[np.isfinite(parts[:, index]), index]
            error = float(np.std(known, ddof=1)) / len(known) ** 0.5 if len(known) > BLOCKS / 2 else math.nan
            found[index] = normal_estimate(values[index], error, prepared[index].n)
        return found
    draws: list[list[Array]] = [[] for _ in prepared]
    for drawn in bootstrap_weights(groups, len(group), RESAMPLES, SEED) if defined and groups > 1 else ():
        weights = drawn[:, group]
        for index in defined:
            draws[index].append(prepared[index](weights))
    for index in defined:
        found[index] = bootstrap_estimate(values[index], draws[index], groups, prepared[index].n)
    return found


def in_blocks(items: int, groups: int) -> bool:
    """Whether intervals come from equal parts of the groups, as resampling large data would take minutes."""
    return items >= LARGE and groups >= BLOCKS * SMALLEST


def correlation(x: Sequence[float], y: Sequence[float], names: Sequence[str]) -> Estimate:
    """Spearman's ρ of two lists of numbers, with its interval over the named groups, such as prompts."""
    if len(x) < MIN_ITEMS:
        return Estimate(n=len(x), why=f"only {len(x)} items")
    first, second, group = np.array(x, float), np.array(y, float), to_groups(names)

    def prepare(places: Levels) -> list[Statistic]:
        return [Statistic(len(places), CONSTANT, [spearman(first[places], second[places])])]

    return estimates(prepare, group)[0]


def to_groups(names: Sequence[str]) -> Levels:
    """The number of each item's group, in the order of the groups' names."""
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names], np.intp)


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
    order = np.argsort(group, kind="stable")
    grouped, first, distance = group[order], np.arange(len(x)), 0
    while len(first):  # the pairs whose items are ever further apart in the order
        distance += 1
        first = first[: np.searchsorted(first, len(x) - distance)]
        first = first[grouped[first + distance] == grouped[first]]
        one, other = order[first], order[first + distance]
        far = np.abs(y[one] - y[other]) >= apart - 10.0**-DIGITS
        one, other = one[far], other[far]
        number += np.bincount(other, minlength=len(x))
        agrees = (np.sign(x[other] - x[one]) * np.sign(y[other] - y[one]) + 1) / 2
        correct += np.bincount(other, agrees, len(x))
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

"""The statistics of agreement, pure: each is made ready once for its items and measured for any weights of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onprompt.report.ratings import DIGITS

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Measure = Callable[[Array], Array]  # weights, a row for each resample → the figure of each, NaN where there is none


def codes(values: Array) -> Codes:
    """For each value how many different ones are smaller."""
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def totals(levels: Codes, weights: Array, number: int) -> Array:
    """The weight of each level in each resample."""
    rows = len(weights)
    places = levels + number * np.arange(rows)[:, None]
    return np.asarray(np.bincount(places.ravel(), weights.ravel(), rows * number), np.float64).reshape(rows, number)


def ranks(levels: Codes, weights: Array) -> Array:
    """The rank of each item in each resample; what is tied shares the mean of its ranks."""
    total = totals(levels, weights, int(levels.max()) + 1)
    shared: Array = (np.cumsum(total, axis=1) - (total - 1) / 2)[:, levels]
    return shared


def ratio(above: Array, below: Array) -> Array:
    """NaN where nothing is below."""
    found: Array = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return found


def spearman(x: Array, y: Array) -> Measure:
    """The correlation of ranks."""
    xs, ys = codes(x), codes(y)

    def measure(weights: Array) -> Array:
        middle = (weights.sum(axis=1, keepdims=True) + 1) / 2
        a, b = ranks(xs, weights) - middle, ranks(ys, weights) - middle
        spread = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        return ratio((weights * a * b).sum(axis=1), np.sqrt(spread))

    return measure


def kendall(x: Array, y: Array, variant: str) -> Measure:
    """Concordant less discordant pairs: τ-b of those untied on a side, τ-c by the shorter side's levels."""
    xs, ys = codes(x), codes(y)
    sides = (xs, ys, codes(xs * (ys.max() + 1.0) + ys))
    discordant = inversions(*sorted((xs, ys), key=np.max, reverse=True))  # the fewer levels, the fewer bits

    def measure(weights: Array) -> Array:
        n = weights.sum(axis=1)
        counts = [totals(side, weights, int(side.max()) + 1) for side in sides]
        tied_x, tied_y, tied = ((each * (each - 1) / 2).sum(axis=1) for each in counts)
        every = n * (n - 1) / 2
        net = every - tied_x - tied_y + tied - 2 * discordant(weights)
        if variant == "b":
            return ratio(net, np.sqrt((every - tied_x) * (every - tied_y)))
        levels = np.minimum(*((each > 0).sum(axis=1) for each in counts[:2]))
        return ratio(2 * net * levels, n * n * (levels - 1))

    return measure


def inversions(xs: Codes, ys: Codes) -> Measure:
    """Pairs that x orders one way and y the other, counted bit by bit of y: n log n, and few bits for few levels."""
    order = np.lexsort((ys, xs))  # what x ties is in y's order, so never counted
    steps = []
    for bit in range(int(ys.max()).bit_length()):
        block = np.argsort(ys[order] >> (bit + 1), kind="stable")  # pairs alike in higher bits differ first in this
        place = order[block]
        high = ys[place] >> (bit + 1)
        steps.append((place, (ys[place] >> bit & 1).astype(np.float64), np.searchsorted(high, high)))

    def measure(weights: Array) -> Array:
        count = np.zeros(len(weights))
        for place, one, start in steps:
            drawn = weights[:, place]
            larger = drawn * one
            before = np.cumsum(larger, axis=1) - larger
            count += ((before - before[:, start]) * (drawn - larger)).sum(axis=1)
        return count

    return measure


def pair_accuracy(x: Array, y: Array, group: Codes, apart: float) -> tuple[Measure, int]:
    """The share of one prompt's pairs, `apart` or more in y, that x orders alike, a tie counting half; how many."""
    right, number = np.zeros(len(x)), np.zeros(len(x))
    places: dict[int, list[int]] = {}
    for place, prompt in enumerate(group.tolist()):
        others = np.array(places.setdefault(prompt, []), np.intp)
        far = others[np.abs(y[others] - y[place]) >= apart - 10.0**-DIGITS]
        number[place] = len(far)
        right[place] = (np.sign(x[far] - x[place]) * np.sign(y[far] - y[place]) + 1).sum() / 2
        places[prompt].append(place)
    return (lambda weights: ratio(weights @ right, weights @ number)), int(number.sum())


def auc(x: Array, good: NDArray[np.bool_]) -> Measure:
    """How likely a good item has the higher x, a tie counting half."""
    xs = codes(x)

    def measure(weights: Array) -> Array:
        mine = weights * good
        n = mine.sum(axis=1)
        above = (mine * ranks(xs, weights)).sum(axis=1) - n * (n + 1) / 2
        return ratio(above, n * (weights.sum(axis=1) - n))

    return measure


def kappa(one: Codes, other: Codes, levels: int) -> Measure:
    """Cohen's κ with quadratic weights; codes are places on the scale."""
    distance = np.subtract.outer(np.arange(levels), np.arange(levels)) ** 2.0

    def measure(weights: Array) -> Array:
        table = totals(one * levels + other, weights, levels**2).reshape(-1, levels, levels)
        chance = np.einsum("ri,rj,ij->r", table.sum(axis=2), table.sum(axis=1), distance)
        chance /= np.maximum(weights.sum(axis=1), 1)
        return 1 - ratio((table * distance).sum(axis=(1, 2)), chance)

    return measure


def alpha(counts: Array) -> Measure:
    """Krippendorff's α with the ordinal metric, of how often each item was given each level."""
    raters = counts.sum(axis=1)
    share = np.divide(1.0, raters - 1, out=np.zeros(len(raters)), where=raters > 1)  # what one rated can't agree

    def measure(weights: Array) -> Array:
        given = [weights[row] * share for row in range(len(weights))]
        table = np.array([(counts.T * each) @ counts - np.diag(each @ counts) for each in given])
        total = table.sum(axis=2)
        place = np.cumsum(total, axis=1) - total / 2
        distance = (place[:, :, None] - place[:, None, :]) ** 2
        chance = np.einsum("ri,rj,rij->r", total, total, distance)
        return 1 - ratio((table * distance).sum(axis=(1, 2)) * (total.sum(axis=1) - 1), chance)

    return measure

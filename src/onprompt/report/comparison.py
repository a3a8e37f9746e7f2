"""Which system is better: a ranking, and a paired test of each two on the prompts that both have.

A system's mean is over its prompts, and a prompt's value the mean over its pictures. Two systems are compared on their
common prompts only, and there on common ids where there are some; two without a common prompt are not compared at all:
what differs might be the prompts. Intervals are of each figure alone; p-values are corrected for all pairs.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onprompt.errors import UserError
from onprompt.report.ratings import Item

Array = NDArray[np.float64]

FEWEST_PROMPTS = 5  # fewer have too few different resamples for a 95 % interval
CELLS = 1_000_000  # numbers in an array at a time: 8 MB
EXACT = 16  # up to so many prompts all 2^n signs are tried
FLIPS = 20_000  # random signs where there are more prompts
SURE = 0.05  # the corrected p below which a difference is shown
SAME = 1e-9  # means that differ by less are a tie: the order in which floats are added makes no winner


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, its 95 % interval and how many it is of; `why` says what keeps it from having either."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        return f"{self.value:.3f}" + ("" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A system with its mean; the figure's n counts prompts."""

    name: str
    mean: Figure
    items: int
    no_verdict: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, the one with the higher mean difference first; `p` is None where no prompt is common."""

    better: str
    worse: str
    effect: Figure
    p_alone: float | None
    p: float | None  # corrected
    wins: int = 0
    ties: int = 0
    losses: int = 0

    @property
    def shown(self) -> bool:
        """Whether a difference is shown."""
        return self.p is not None and self.p < SURE

    @property
    def verdict(self) -> str:
        """`A is better than B (+0.08 [0.05, 0.11], p = .003)`."""
        if self.p is None:
            return f"{self.better} and {self.worse} are not compared: {self.effect.why}"
        low, high = self.effect.low, self.effect.high
        interval = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
        figures = f"({self.effect.value:+.3f}{interval}, {p_words(self.p)})"
        if self.shown:
            return f"{self.better} is better than {self.worse} {figures}"
        return f"no difference shown between {self.better} and {self.worse} {figures}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems from the best mean on, each two of them, and what to know of both."""

    ranking: tuple[Ranked, ...]
    pairs: tuple[Pair, ...]
    warnings: tuple[str, ...]
    resamples: int
    seed: int


# ---- resamples of prompts ------------------------------------------------------------------------------------------


def resampled(groups: int, wide: int, resamples: int, seed: int) -> Iterator[Array]:
    """How often each group is drawn, a row for each resample; few rows at a time where they become `wide`."""
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // max(wide, 1))
    for start in range(0, resamples, rows):
        number = min(rows, resamples - start)
        drawn = generator.integers(groups, size=(number, groups)) + groups * np.arange(number)[:, None]
        yield np.bincount(drawn.ravel(), minlength=number * groups).reshape(number, groups).astype(np.float64)


def with_interval(value: float, draws: Sequence[Array], prompts: int, n: int) -> Figure:
    """A figure with the middle 95 % of its resamples; those that have none count as neither high nor low."""
    every = np.concatenate([*draws, []])
    known = every[np.isfinite(every)]
    if prompts < FEWEST_PROMPTS:
        return Figure(value, None, None, n, f"no interval: fewer than {FEWEST_PROMPTS} prompts")
    if len(known) <= len(every) / 2:
        return Figure(value, None, None, n, "no interval: most resamples have no figure")
    low, high = np.percentile(known, [2.5, 97.5])
    return Figure(value, float(low), float(high), n)


def mean_figure(values: Array, resamples: int, seed: int) -> Figure:
    """The mean of prompts."""
    n = len(values)
    draws = [weights @ values / n for weights in resampled(n, n, resamples, seed)]
    return with_interval(float(values.mean()), draws, n, n)


# ---- comparing -----------------------------------------------------------------------------------------------------

Values = dict[str, dict[str, float]]  # of each prompt the value of each id


def systems(runs: Mapping[str, Sequence[Item]], by_model: bool = False) -> dict[str, list[Item]]:
    """What is compared: the runs, or the models in them; a model that several runs have is told apart by its run."""
    if not by_model:
        return {name: list(items) for name, items in runs.items()}
    # A row that could not be read has neither a model nor a value.
    runs = {run: [item for item in items if item.model or item.value is not None] for run, items in runs.items()}
    homes = Counter(model for items in runs.values() for model in {item.model for item in items})
    if "" in homes:
        raise UserError("some items don't say which model made the picture, so models can't be compared")
    found: dict[str, list[Item]] = {}
    for run, items in runs.items():
        for item in items:
            found.setdefault(item.model if homes[item.model] == 1 else f"{item.model} ({run})", []).append(item)
    return found


def compare(items: Mapping[str, Sequence[Item]], resamples: int = 1000, seed: int = 0) -> Comparison:
    """Rank systems by their items, and test each two."""
    if len(items) < 2:
        raise UserError(f"two systems are needed to compare, and there is {', '.join(items) or 'none'}")
    values = {name: by_prompt(name, each) for name, each in items.items()}
    ranking = sorted(
        (ranked(name, each, values[name], resamples, seed) for name, each in items.items()),
        key=lambda each: -math.inf if each.mean.value is None else each.mean.value,
        reverse=True,
    )
    couples = list(itertools.combinations([each.name for each in ranking], 2))
    differences = [paired(values[one], values[other]) for one, other in couples]
    alone = sign_flip_tests(differences, seed)
    corrected = holm(alone)
    pairs = (pair(*each, resamples, seed) for each in zip(couples, differences, alone, corrected, strict=True))
    return Comparison(tuple(ranking), tuple(pairs), tuple(warnings(values)), resamples, seed)


def by_prompt(name: str, items: Sequence[Item]) -> Values:
    """The values of a system; what has no prompt stands for itself."""
    found: Values = {}
    for item in items:
        if item.value is not None:
            prompt = found.setdefault(item.group or item.id, {})
            if item.id in prompt:
                raise UserError(f"{name}: item {item.id!r} is there twice")
            prompt[item.id] = item.value
    return found


def ranked(name: str, items: Sequence[Item], values: Values, resamples: int, seed: int) -> Ranked:
    """A system's place is by its mean over prompts."""
    judged = sum(len(each) for each in values.values())
    if not values:
        return Ranked(name, Figure(None, None, None, 0, "no verdict"), 0, len(items))
    means = np.array([math.fsum(each.values()) / len(each) for each in values.values()])
    return Ranked(name, mean_figure(means, resamples, seed), judged, len(items) - judged)


def paired(one: Values, other: Values) -> dict[str, float]:
    """For each common prompt how much higher the first is: on common ids, or where there are none on all."""
    found = {}
    for prompt in sorted(one.keys() & other.keys()):
        left, right = one[prompt], other[prompt]
        common = sorted(left.keys() & right.keys())
        lefts, rights = ([side[key] for key in common or sorted(side)] for side in (left, right))
        difference = math.fsum(lefts) / len(lefts) - math.fsum(rights) / len(rights)
        found[prompt] = 0.0 if abs(difference) < SAME else difference
    return found


def pair(
    names: tuple[str, str], by_prompt: Mapping[str, float], alone: float | None, p: float | None, *draw: int
) -> Pair:
    """Two systems, turned so that the effect is not negative."""
    if not by_prompt:
        return Pair(*names, Figure(None, None, None, 0, "they have no prompt in common"), None, None)
    differences = np.array(list(by_prompt.values()))
    if differences.mean() < 0:
        names, differences = (names[1], names[0]), -differences
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    effect = mean_figure(differences, *draw)
    return Pair(*names, effect, alone, p, wins, len(differences) - wins - losses, losses)


def warnings(values: Mapping[str, Values]) -> Iterator[str]:
    """What makes the ranking less than fair."""
    if len({frozenset(each) for each in values.values()}) > 1:
        yield "the systems don't have the same prompts: each is ranked by its own, each two compared on common ones"


# ---- tests ---------------------------------------------------------------------------------------------------------


def sign_flip_tests(differences: Sequence[Mapping[str, float]], seed: int) -> list[float | None]:
    """For each pair how often its sum would be as far from 0 if the signs were chance; None where nothing is common."""
    found: list[float | None] = [None] * len(differences)
    many = []
    for index, each in enumerate(differences):
        values = np.array([value for value in each.values() if value])  # a zero has no sign
        if each and len(values) <= EXACT:
            found[index] = exact(values)
        elif each:
            many.append(index)
    for index, p in zip(many, chance([differences[index] for index in many], seed), strict=True):
        found[index] = p
    return found


def exact(values: Array) -> float:
    """The share of all signs with a sum as far from 0 as this one."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return float((np.abs(sums) >= abs(values.sum()) - SAME).mean())


def chance(differences: Sequence[Mapping[str, float]], seed: int) -> list[float]:
    """As `exact`, by the same random signs for all pairs; one that lacks a prompt has 0 there: no change."""
    prompts = sorted({prompt for each in differences for prompt in each})
    table = np.array([[each.get(prompt, 0.0) for each in differences] for prompt in prompts])
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // max(len(prompts), 1))
    as_far = np.ones(len(differences))  # the signs that were seen are one of the chances
    for start in range(0, FLIPS if differences else 0, rows):
        signs = generator.integers(2, size=(min(rows, FLIPS - start), len(prompts)), dtype=np.int8) * 2.0 - 1.0
        as_far += (np.abs(signs @ table) >= np.abs(table.sum(axis=0)) - SAME).sum(axis=0)
    return [float(each) for each in as_far / (FLIPS + 1)]


def holm(alone: Sequence[float | None]) -> list[float | None]:
    """Each p times the number of those not smaller, never less than the one before (Holm 1979)."""
    found: list[float | None] = [None] * len(alone)
    order = sorted((p, index) for index, p in enumerate(alone) if p is not None)
    highest = 0.0
    for place, (p, index) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - place)))
        found[index] = highest
    return found


# ---- for people and programs ---------------------------------------------------------------------------------------


def p_words(p: float) -> str:
    """`p = .003`, `p < .001`."""
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("0.", ".") if p < 0.1 else f"p = {p:.2f}".replace("0.", ".")


def lines(comparison: Comparison) -> Iterator[str]:
    """The ranking as a table, then a line for each two."""
    width = max(len(each.name) for each in comparison.ranking)
    yield f"{'':{width + 4}}  {'mean [95 %]':22}  prompts   items  no verdict"
    for place, each in enumerate(comparison.ranking, 1):
        counts = f"{each.mean.n:7,} {each.items:7,} {each.no_verdict:11,}"
        yield f"{place:3} {each.name:{width}}  {each.mean!s:22}  {counts}"
    for pair in comparison.pairs:
        yield pair.verdict + (f", {pair.wins} won, {pair.ties} tied, {pair.losses} lost" if pair.effect.n else "")
    yield from (f"warning: {warning}" for warning in comparison.warnings)
    tested = sum(pair.p is not None for pair in comparison.pairs)
    yield f"an interval is of one figure alone; p is corrected for all {tested} pairs (Holm), shown below {SURE:g}"


def document(comparison: Comparison) -> dict[str, Any]:
    """All figures as JSON."""
    return {
        "format": "onprompt.comparison/1",
        "ranking": [asdict(each) | {"mean": figure_entry(each.mean)} for each in comparison.ranking],
        "pairs": [pair_entry(each) for each in comparison.pairs],
        "warnings": list(comparison.warnings),
        "resamples": comparison.resamples,
        "seed": comparison.seed,
    }


def pair_entry(pair: Pair) -> dict[str, Any]:
    """Two systems."""
    entry = asdict(pair) | {"effect": figure_entry(pair.effect), "shown": pair.shown, "verdict": pair.verdict}
    return entry | {name: None if entry[name] is None else round(entry[name], 6) for name in ("p_alone", "p")}


def figure_entry(figure: Figure) -> dict[str, Any]:
    """A figure to four digits; what it lacks is null, and `why` says why."""
    numbers = {"value": figure.value, "low": figure.low, "high": figure.high}
    rounded = {name: None if number is None else round(number, 4) for name, number in numbers.items()}
    return rounded | {"n": figure.n, "why": figure.why}

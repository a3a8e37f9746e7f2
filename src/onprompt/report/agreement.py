"""How well a run agrees with people, beside how well one of them agrees with the rest.

A statistic is made ready once for its items and then measured for any weights of them: a resample of prompts is a row
that says how often each item was drawn. So nothing is sorted twice; a rank in a resample is a sum of weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.report.comparison import Figure, figure_entry, resampled, with_interval
from onprompt.report.ratings import DIGITS, Item, Ratings, mean, one_against_rest
from onprompt.report.statistics import Array, Codes, Measure, alpha, auc, kappa, kendall, pair_accuracy, ratio, spearman

TITLES = {
    "spearman": "Spearman",
    "kendall_b": "Kendall τ-b",
    "kendall_c": "Kendall τ-c",
    "pair_accuracy": "pair accuracy",
    "auc": "AUC",
    "alpha": "Krippendorff α",
    "kappa": "quadratic κ",
}
FEWEST_ITEMS = 3  # of two items any correlation is 1 or −1


@dataclass(frozen=True, slots=True)
class Terms:
    """What figures rest on: the scales, the rating above which an item is good, and how far apart pairs must be."""

    scale: range
    human_scale: tuple[float, float] | None
    threshold: float | None
    apart: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Part:
    """The figures of some items: of the judge, and of one rater against the mean of the others."""

    n: int
    prompts: int
    judge: Mapping[str, Figure]
    ceiling: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Overall and by category, and how many were left out: an item without a rating is not asked for a verdict."""

    overall: Part
    categories: Mapping[str, Part]
    raters: int
    no_verdict: int
    no_rating: int
    no_item: int
    terms: Terms


@dataclass(frozen=True, slots=True)
class Statistic:
    """A measure, how many it is of, and what to say where it has no value."""

    measure: Measure
    n: int
    why: str


# ---- of a run ------------------------------------------------------------------------------------------------------


def agreement(
    items: Sequence[Item],
    ratings: Ratings,
    scale: range,
    human_scale: tuple[float, float] | None = None,
    threshold: float | None = None,
    apart: float = 0.33,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """A run against people; `human_scale` is from their worst rating to their best, its middle the usual threshold."""
    if human_scale and not human_scale[0] < human_scale[1]:
        raise UserError(f"people's scale goes from its worst to a higher best rating, not {human_scale}")
    middle = sum(human_scale) / 2 if human_scale and threshold is None else threshold
    terms = Terms(scale, human_scale, middle, apart, resamples, seed)
    ids = {item.id for item in items}
    said = {name for name, opinions in ratings.by_item.items() if opinions}
    if not said & ids:
        examples = f"the run has {min(ids, default='none')!r}, the ratings {min(said, default='none')!r}"
        raise UserError(f"no item of the run is rated: are these the same ids? For one, {examples}")
    check(items, scale)
    rated = [item for item in items if item.id in said]
    used = [item for item in rated if item.value is not None]
    names = sorted({item.category for item in used})
    categories = {
        name: part([item for item in used if item.category == name], ratings, terms)
        for name in (names if len(names) > 1 else ())
    }
    left_out = len(rated) - len(used), len(items) - len(rated), len(said - ids)
    return Agreement(part(used, ratings, terms), categories, len(ratings.raters), *left_out, terms)


def check(items: Sequence[Item], scale: range) -> None:
    """Complain of what no figure should rest on."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise UserError(f"item {item.id!r} is there twice")
        if item.score is not None and item.score not in scale:
            raise UserError(f"item {item.id!r} has the score {item.score}, not {scale[0]} to {scale[-1]}")
        if item.value is not None and not math.isfinite(item.value):
            raise UserError(f"item {item.id!r} has the value {item.value}, which is no number")
        seen.add(item.id)


def part(items: Sequence[Item], ratings: Ratings, terms: Terms) -> Part:
    """The figures of some items, judge and raters by the same resamples."""
    value = np.array([item.value for item in items], np.float64)
    score = np.array([math.nan if item.score is None else item.score for item in items])
    human = np.array([mean(ratings.by_item[item.id].values()) for item in items])
    prompts = {name: place for place, name in enumerate(sorted({item.group or item.id for item in items}))}
    group = np.array([prompts[item.group or item.id] for item in items], np.intp)
    judge = statistics(value, score, human, group, terms)
    each = [
        (one.places, statistics(one.own, onto(one.own, terms), one.rest, group[one.places], terms))
        for one in one_against_rest(ratings, [item.id for item in items])
    ]
    ceiling = {name: mean_of([(places, found[name]) for places, found in each]) for name in TITLES}
    figures = evaluated([*judge.values(), *ceiling.values()], group, len(prompts), terms)
    half = len(TITLES)
    return Part(
        len(items),
        len(prompts),
        dict(zip(TITLES, figures[:half], strict=True)),
        dict(zip(TITLES, figures[half:], strict=True)),
    )


def statistics(value: Array, score: Array, human: Array, group: Codes, terms: Terms) -> dict[str, Statistic]:
    """All statistics of two opinions, made ready."""
    n, flat = len(value), "one side says the same of all items"
    scored = np.flatnonzero(np.isfinite(score))
    if n < FEWEST_ITEMS:
        return dict.fromkeys(TITLES, Statistic(nothing, n, f"only {n} items"))
    accuracy, pairs = pair_accuracy(value, human, group, terms.apart)
    found = {
        "spearman": Statistic(spearman(value, human), n, flat),
        "kendall_b": Statistic(kendall(value, human, "b"), n, flat),
        "kendall_c": Statistic(kendall(value, human, "c"), n, flat),
        "pair_accuracy": Statistic(accuracy, pairs, f"no two items of one prompt are {terms.apart:g} apart"),
        **dict.fromkeys(("auc", "alpha", "kappa"), Statistic(nothing, n, "people's scale is not known")),
    }
    if terms.threshold is not None:
        why = f"all ratings are on one side of {terms.threshold:g}"
        found["auc"] = Statistic(auc(value, human > terms.threshold), n, why)
    if terms.human_scale:
        levels, first = len(terms.scale), terms.scale[0]
        one, other = ((each[scored] - first).astype(np.intp) for each in (score, onto(human, terms)))
        why = flat if len(scored) else "the judge gives no scores"
        counts = np.eye(levels)[one] + np.eye(levels)[other]
        found["alpha"] = Statistic(among(scored, alpha(counts)), len(scored), why)
        found["kappa"] = Statistic(among(scored, kappa(one, other, levels)), len(scored), why)
    return found


def onto(human: Array, terms: Terms) -> Array:
    """Ratings on the rubric's scale: worst to lowest, best to highest, evenly between, halves rounded up."""
    if not terms.human_scale:
        return np.full(len(human), math.nan)
    low, high = terms.human_scale
    if len(off := human[(human < low) | (human > high)]):
        raise UserError(f"a rating of {off[0]:g} is not on people's scale, {low:g} to {high:g}")
    share = (human - low) / (high - low)
    placed: Array = np.floor(np.round(share * (len(terms.scale) - 1), DIGITS) + 0.5) + terms.scale[0]
    return placed


def among(places: Codes, measure: Measure) -> Measure:
    """The measure of some of the items, which are in order; all of them need no copy."""
    return lambda weights: measure(weights if len(places) == weights.shape[1] else weights[:, places])


def nothing(weights: Array) -> Array:
    """The measure that has no figure."""
    return np.full(len(weights), math.nan)


def mean_of(raters: Sequence[tuple[Codes, Statistic]]) -> Statistic:
    """The mean over the raters who have a figure; its n counts these."""
    known = [among(places, each.measure) for places, each in raters if math.isfinite(once(each.measure, len(places)))]
    if not known:
        return Statistic(nothing, 0, raters[0][1].why if raters else "no item has two raters")

    def measure(weights: Array) -> Array:
        each = np.array([one(weights) for one in known])
        there = np.isfinite(each)
        return ratio(np.where(there, each, 0.0).sum(axis=0), there.sum(axis=0))

    return Statistic(measure, len(known), "")


def once(measure: Measure, n: int) -> float:
    """The figure of the items as they are."""
    return float(measure(np.ones((1, n)))[0])


def evaluated(statistics: Sequence[Statistic], group: Codes, prompts: int, terms: Terms) -> list[Figure]:
    """Each statistic with its interval, all by the same resamples of whole prompts."""
    values = [once(each.measure, len(group)) for each in statistics]
    known = [place for place, value in enumerate(values) if math.isfinite(value)]
    draws: dict[int, list[Array]] = {place: [] for place in known}
    for drawn in resampled(prompts, len(group), terms.resamples, terms.seed) if known and prompts > 1 else ():
        weights = drawn[:, group]
        for place in known:
            draws[place].append(statistics[place].measure(weights))
    return [
        with_interval(value, draws[place], prompts, each.n)
        if place in draws
        else Figure(None, None, None, each.n, each.why)
        for place, (value, each) in enumerate(zip(values, statistics, strict=True))
    ]


# ---- for people and programs ---------------------------------------------------------------------------------------


def lines(agreement: Agreement) -> Iterator[str]:
    """A table of the figures, one of the categories, and what they rest on."""
    whole, terms = agreement.overall, agreement.terms
    yield f"{whole.n:,} items of {whole.prompts:,} prompts, {agreement.raters:,} raters"
    yield (
        f"left out: {agreement.no_verdict:,} without a verdict, {agreement.no_rating:,} without a rating; "
        f"{agreement.no_item:,} ratings without an item"
    )
    yield f"{'':16}{'judge [95 %]':24}one rater against the rest"
    for name, title in TITLES.items():
        judge, ceiling = whole.judge[name], whole.ceiling[name]
        yield f"{title:16}{judge!s:24}{ceiling!s:24}{judge.why or ceiling.why}".rstrip()
    width = max(map(len, agreement.categories), default=0)
    for name, each in agreement.categories.items():
        figures = (f"{TITLES[key]} {each.judge[key]!s:22}" for key in ("spearman", "pair_accuracy"))
        yield f"{name:{width}}  {each.n:6,} items  {'  '.join(figures)}".rstrip()
    yield f"pairs: of one prompt, rated at least {terms.apart:g} apart"
    yield f"intervals: {terms.resamples:,} resamples of prompts"
    if terms.threshold is not None:
        yield f"AUC: rated above {terms.threshold:g} or not"
    if terms.human_scale:
        low, high = terms.human_scale
        scale = f"{terms.scale[0]} to {terms.scale[-1]}"
        yield f"α (ordinal) and κ: ratings of {low:g} to {high:g} put evenly on {scale} and rounded"


def document(agreement: Agreement) -> dict[str, Any]:
    """All figures as JSON."""
    scale = agreement.terms.scale
    return {
        "format": "onprompt.agreement/1",
        **{name: getattr(agreement, name) for name in ("raters", "no_verdict", "no_rating", "no_item")},
        "terms": asdict(agreement.terms) | {"scale": [scale[0], scale[-1]]},
        "overall": part_entry(agreement.overall),
        "categories": {name: part_entry(each) for name, each in agreement.categories.items()},
    }


def part_entry(part: Part) -> dict[str, Any]:
    """The figures of some items."""
    judge, ceiling = ({name: figure_entry(each) for name, each in side.items()} for side in (part.judge, part.ceiling))
    return {"items": part.n, "prompts": part.prompts, "judge": judge, "ceiling": ceiling}

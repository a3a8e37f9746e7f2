"""The figures of a report: means with intervals, rankings with tests, distributions, agreement with people."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.pages.judged import Column, Entry
from onprompt.report import agreement, comparison, statistics
from onprompt.report.agreement import Agreement, Terms
from onprompt.report.comparison import Comparison, Ranked
from onprompt.report.ratings import Item, Ratings
from onprompt.report.statistics import Estimate
from onprompt.types import Outcome

RESAMPLES, SEED = 1000, 0
BINS = 20  # of the distribution of values
GRID = 25  # cells across of a scatter plot
# How outcomes are summed up, in the order in which they are drawn.
SHARES = {
    "as asked": (Outcome.MATCHED,),
    "in part or uncertain": (Outcome.PARTIAL, Outcome.LOW_CONFIDENCE),
    "wrong or missing": (Outcome.MISMATCH, Outcome.MISSING),
    "not checked": (Outcome.UNVERIFIABLE,),
}
KINDS = {"object": "objects", "count": "counts", "color": "colours", "relation": "relations", "action": "actions"}
MODELS = 25  # that are tested against each other; of more, only the ranking is shown
CATEGORIES = 60  # that are listed
SHOWN_KINDS = 8  # kinds of checks in the table of models
FIRST = ("object", "count", "color", "relation", "text")  # the kinds that most people look for


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: its name, where it begins and how long it is, from 0 to 1, and how many it stands for."""

    name: str
    start: float
    share: float
    number: int


@dataclass(frozen=True, slots=True)
class KindOfCheck:
    """The outcomes of one kind of check."""

    name: str
    number: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ModelTable:
    """For each model and kind of check the share of the claims that could be checked which was as asked."""

    kinds: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The figures of one run."""

    column: Column
    mean: Ranked
    score: Estimate | None  # on the scale of the rubric
    flagged: int
    coverage: float | None
    leaderboard: Comparison | None
    models: ModelTable | None
    categories: tuple[Ranked, ...]
    more_categories: int  # that are not listed
    scores: Mapping[str, list[tuple[int, int, float]]]  # by factor: score, how many, and the length of its bar
    histogram: tuple[int, ...]
    kinds: tuple[KindOfCheck, ...]
    people: Agreement | None
    no_agreement: str  # why there are ratings and no agreement
    errors: tuple[tuple[str, int, str], ...]  # kind, how many, and an example


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two runs beside each other: how their values correlate, and how often they meet in each cell of a grid."""

    first: str
    second: str
    common: int
    spearman: Estimate
    cells: tuple[tuple[int, int, float], ...]  # column, row, and how dark


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a report."""

    columns: tuple[ColumnFigures, ...]
    runs: Comparison | None
    pairings: tuple[Pairing, ...]
    warnings: tuple[str, ...]
    raters: int


def figures(
    columns: Sequence[Column], entries: Sequence[Entry], ratings: Ratings | None, terms: Mapping[str, Any]
) -> Figures:
    """The figures over all samples."""
    several = len(columns) > 1
    judges = {column.judge for column in columns}
    warnings = [f"these runs are by different judges, whose values differ in meaning: {', '.join(sorted(judges))}"]
    return Figures(
        tuple(column_figures(column, ratings, terms) for column in columns),
        comparison.compare({column.name: column.items for column in columns}) if several else None,
        tuple(pairing(columns[0], other, place, entries) for place, other in enumerate(columns[1:], 1)),
        tuple(warnings if len(judges) > 1 else ()),
        len(ratings.raters) if ratings else 0,
    )


def column_figures(column: Column, ratings: Ratings | None, terms: Mapping[str, Any]) -> ColumnFigures:
    """The figures of one run."""
    found = list(column.results.values())
    covered = [result.coverage for result in found if result.coverage is not None]
    examples: dict[str, str] = {}
    for result in found:
        if result.error:
            examples.setdefault(result.error, result.message)
    people, no_agreement = against_people(column, ratings, terms)
    categories = list(by_category(column))
    ranking = leaderboard(column)
    return ColumnFigures(
        column,
        ranked(column.name, column.items),
        mean_score(column),
        sum(bool(result.flags) for result in found),
        math.fsum(covered) / len(covered) if covered else None,
        ranking,
        models_by_kind(column, ranking) if ranking else None,
        tuple(categories[:CATEGORIES]),
        len(categories[CATEGORIES:]),
        score_bars(column),
        tuple(histogram(column)),
        tuple(kinds_of_checks(column.kinds)),
        people,
        no_agreement,
        tuple((kind, number, examples.get(kind, "")) for kind, number in column.overview.faults.items()),
    )


def ranked(name: str, items: Sequence[Item]) -> Ranked:
    """A mean over prompts with its interval."""
    return comparison.rank(name, len(items), comparison.by_prompt(name, items), RESAMPLES, SEED)


def mean_score(column: Column) -> Estimate | None:
    """The mean score on the rubric's scale; None if the rubric has several factors and no overall score."""
    by_prompt: dict[str, list[int]] = {}
    for item in column.items:
        if item.score is not None:
            by_prompt.setdefault(item.group or item.id, []).append(item.score)
    means = np.array([math.fsum(scores) / len(scores) for scores in by_prompt.values()])
    return statistics.bootstrap_mean(means, RESAMPLES, SEED) if len(means) else None


def leaderboard(column: Column) -> Comparison | None:
    """The models of a run ranked and tested; None if there are not at least two, or some samples name none."""
    try:
        systems = comparison.systems({column.name: column.items}, by_model=True)
        if len(systems) <= MODELS:
            return comparison.compare(systems, RESAMPLES, SEED)
    except UserError:
        return None
    means = [ranked(name, items) for name, items in systems.items()]
    ranking = sorted(means, key=lambda each: each.mean.value or 0.0, reverse=True)
    return Comparison(tuple(ranking), (), (f"more than {MODELS} models: not tested two by two",), RESAMPLES, SEED)


def models_by_kind(column: Column, ranking: Comparison) -> ModelTable | None:
    """The models in the order of the ranking, and what they get right."""
    kinds = [kind for kind in in_order(column.kinds) if share_right(column.kinds[kind]) is not None][:SHOWN_KINDS]
    rows = [
        (system.name, tuple(share_right(column.kinds_by_model.get(system.name, {}).get(kind, {})) for kind in kinds))
        for system in ranking.ranking
    ]
    return ModelTable(tuple(KINDS.get(kind, kind) for kind in kinds), tuple(rows)) if kinds else None


def share_right(outcomes: Mapping[str, int]) -> float | None:
    """The share of the claims that were as asked among those that could be checked."""
    checked = total(outcomes) - outcomes.get(Outcome.UNVERIFIABLE, 0)
    return outcomes.get(Outcome.MATCHED, 0) / checked if checked else None


def by_category(column: Column) -> Iterator[Ranked]:
    """The mean of each category, the worst first."""
    groups: dict[str, list[Item]] = {}
    for item in column.items:
        if item.category:
            groups.setdefault(item.category, []).append(item)
    means = [ranked(name, items) for name, items in groups.items()] if len(groups) > 1 else []
    yield from sorted(means, key=lambda each: math.inf if each.mean.value is None else each.mean.value)


def score_bars(column: Column) -> dict[str, list[tuple[int, int, float]]]:
    """How often each score was given for each factor of the rubric."""
    counted = [result for result in column.results.values() if result.counts]
    bars = {}
    for factor, scale in column.scales.items():
        counts = Counter(result.factors.get(factor) for result in counted)
        longest = max((counts[score] for score in scale), default=0) or 1
        bars[factor] = [(score, counts[score], counts[score] / longest) for score in scale]
    return bars


def histogram(column: Column) -> list[int]:
    """How many values are in each twentieth of 0 to 1."""
    values = [item.value for item in column.items if item.value is not None]
    return [int(number) for number in np.histogram(np.clip(values, 0, 1), bins=BINS, range=(0, 1))[0]]


def kinds_of_checks(kinds: Mapping[str, Mapping[str, int]]) -> Iterator[KindOfCheck]:
    """Each kind of check with the shares of its outcomes: the usual kinds first, then the most frequent."""
    for kind in in_order(kinds):
        number, start, parts = total(kinds[kind]), 0.0, []
        for name, outcomes in SHARES.items():
            count = sum(kinds[kind].get(outcome, 0) for outcome in outcomes)
            parts.append(Part(name, start, count / number, count))
            start += count / number
        yield KindOfCheck(KINDS.get(kind, kind), number, tuple(parts))


def in_order(kinds: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The usual kinds first, then the most frequent."""
    return sorted(kinds, key=lambda kind: (FIRST.index(kind) if kind in FIRST else len(FIRST), -total(kinds[kind])))


def total(outcomes: Mapping[str, int]) -> int:
    """How many checks there are of a kind."""
    return sum(outcomes.values())


def against_people(column: Column, ratings: Ratings | None, terms: Mapping[str, Any]) -> tuple[Agreement | None, str]:
    """How well a run agrees with people; or why that can't be said."""
    if ratings is None:
        return None, ""
    scale = column.scales.get("score", range(2))
    try:
        return agreement.agreement(column.items, ratings, Terms(scale, **terms)), ""
    except UserError as error:
        return None, str(error)


def pairing(first: Column, second: Column, place: int, entries: Sequence[Entry]) -> Pairing:
    """Two runs on the samples for which both have a value."""
    both = [(entry, entry.results[0], entry.results[place]) for entry in entries]
    known = [(e.prompt or e.id, a.value, b.value) for e, a, b in both if a and b and a.counts and b.counts]
    x, y = (np.array([row[side] for row in known], np.float64) for side in (1, 2))
    prompts = {name: number for number, name in enumerate(dict.fromkeys(name for name, _, _ in known))}
    group = np.array([prompts[name] for name, _, _ in known], np.intp)
    correlation = Estimate(n=len(known), why=f"only {len(known)} common samples")
    if len(known) >= agreement.MIN_ITEMS:
        measure = agreement.Statistic(len(known), agreement.CONSTANT, [statistics.spearman(x, y)])
        terms = Terms(range(2), resamples=RESAMPLES, seed=SEED)
        (correlation,) = agreement.bootstrap([measure], group, len(prompts), terms)
    counts, _, _ = np.histogram2d(x, y, bins=GRID, range=((0, 1), (0, 1)))
    darkest = math.sqrt(counts.max()) or 1.0 if len(known) else 1.0
    cells = tuple(
        (int(column), int(row), round(0.15 + 0.85 * math.sqrt(counts[column, row]) / darkest, 2))
        for column, row in np.argwhere(counts)
    )
    return Pairing(first.name, second.name, len(known), correlation, cells)

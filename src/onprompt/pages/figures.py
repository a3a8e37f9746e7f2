"""What a report is made of: the samples of one or more runs beside each other, and the figures over all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.report import agreement, comparison
from onprompt.report.agreement import Agreement, Terms
from onprompt.report.comparison import Comparison, Group
from onprompt.report.ratings import Ratings, mean
from onprompt.report.statistics import Estimate
from onprompt.runs.reading import Run, RunRow, judge_names, open_runs, same_images
from onprompt.samples import load_rubric
from onprompt.types import Outcome

UNCHECKED = 10  # claims that are listed
FAILED = (Outcome.MISSING, Outcome.MISMATCH, Outcome.PARTIAL)
Outcomes = Mapping[str, Counter[str]]  # by kind of check, how often each outcome
BINS = 20  # of the distribution of values
GRID = 25  # cells across of a scatter plot
# How outcomes are summed up, in the order in which they are drawn.
SHARES = {
    "as asked": (Outcome.MATCHED,),
    "in part": (Outcome.PARTIAL,),
    "uncertain": (Outcome.LOW_CONFIDENCE,),
    "wrong or missing": (Outcome.MISMATCH, Outcome.MISSING),
    "not checked": (Outcome.UNVERIFIABLE,),
}
KINDS = {
    **{"object": "objects", "count": "stated counts", "implied count": "counts of “a”", "color": "colors"},
    **{"relation": "relations", "action": "actions"},
}
MODELS = 25  # that are tested against each other; of more, only the ranking is shown
CATEGORIES = 60  # that are listed
SHOWN_KINDS = 8  # kinds of checks in the table of models
FIRST = ("object", "count", "implied count", "color", "relation", "text")  # the kinds that most people look for


@dataclass(frozen=True)
class Column:
    """A run with its rows and checks."""

    name: str
    run: Run
    rows: Mapping[str, RunRow]  # by id
    kinds: Outcomes
    kinds_by_model: Mapping[str, Outcomes]
    failed: Mapping[int, tuple[str, ...]]  # the kinds of checks that failed, by the number of a sample
    unchecked: Sequence[tuple[str, str, str, int]]  # kind, claim, why and how often

    @cached_property
    def scales(self) -> Mapping[str, range]:
        """The factors of the rubric with their scales."""
        return load_rubric(self.run.rubric).factors

    @cached_property
    def items(self) -> list[RunRow]:
        """The rows in order."""
        return list(self.rows.values())


@dataclass(slots=True)
class Entry:
    """One sample in all runs; None where a run does not have it."""

    index: int
    id: str
    results: tuple[RunRow | None, ...]
    failed: tuple[str, ...]  # kinds of checks
    rating: float | None = None  # the mean of people
    disputed: float | None = None  # how far runs, voices, or the judge and people are apart, from 0 to 1
    pictures: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""

    @property
    def first(self) -> RunRow:
        """The sample, as the first run that has it knows it."""
        return next(result for result in self.results if result)

    @property
    def prompt(self) -> str:
        return self.first.prompt

    @property
    def values(self) -> list[float]:
        """The values that count."""
        return [result.value for result in self.results if result and result.value is not None and result.counts]

    @property
    def worst(self) -> float | None:
        """The lowest value that counts."""
        return min(self.values, default=None)

    @property
    def needs_review(self) -> bool:
        """Whether it is flagged, or has no verdict."""
        return any(result.flagged for result in self.results if result) or not self.values

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of all runs."""
        return tuple(dict.fromkeys(flag for result in self.results if result for flag in result.flags))


def read_columns(paths: Sequence[Path], configurations: Sequence[int] = ()) -> list[Column]:
    """The runs to report on, one column for each run and configuration."""
    columns = [read_column(name, run) for name, run in open_runs(paths, configurations).items()]
    if len(rubrics := {column.run.rubric for column in columns}) > 1:
        raise UserError(f"can't put runs of {' and '.join(sorted(rubrics))} into one report: their values differ")
    return columns


def read_column(name: str, run: Run) -> Column:
    """A run with its rows, and its checks counted by kind."""
    if run.rubric not in plugins.names("rubrics"):
        raise UserError(f"{run.path} is a run of {run.rubric}, whose results are no verdicts to report on")
    rows = {row.id: row for row in run.rows()}
    models = {row.number: row.model for row in rows.values()}
    kinds: dict[str, Counter[str]] = {}
    by_model: dict[str, dict[str, Counter[str]]] = {}
    failed: dict[int, dict[str, None]] = {}
    unchecked: Counter[tuple[str, str, str]] = Counter()
    for check in run.checks():
        for counts in (kinds, by_model.setdefault(models.get(check.sample, ""), {})):
            counts.setdefault(check.kind, Counter())[check.outcome] += 1
        if check.outcome in FAILED:
            failed.setdefault(check.sample, {})[check.kind] = None
        if check.outcome == Outcome.UNVERIFIABLE:
            unchecked[check.kind, check.asked, check.found] += 1
    most = sorted(unchecked.items(), key=lambda each: (-each[1], each[0]))[:UNCHECKED]
    by_number = {number: tuple(names) for number, names in failed.items()}
    return Column(name, run, rows, kinds, by_model, by_number, [(*about, number) for about, number in most])


def read_entries(columns: Sequence[Column], ratings: Ratings | None, scale: tuple[float, float] | None) -> list[Entry]:
    """All samples of all runs, in order, with how far judges and people are apart."""
    ids = dict.fromkeys(name for column in columns for name in column.rows)
    entries = []
    for index, name in enumerate(ids, 1):
        found = tuple(column.rows.get(name) for column in columns)
        kinds = [column.failed.get(result.number, ()) for column, result in zip(columns, found, strict=True) if result]
        entries.append(Entry(index, name, found, tuple(dict.fromkeys(kind for each in kinds for kind in each))))
    if ratings:
        rate(entries, ratings, scale)
    for entry in entries:
        entry.disputed = disputed(entry)
    return entries


def rate(entries: Iterable[Entry], ratings: Ratings, scale: tuple[float, float] | None) -> None:
    """Give each sample the mean of its ratings, on a scale from 0 to 1."""
    given = [rating for by_rater in ratings.by_item.values() for rating in by_rater.values()]
    low, high = scale or (min(given, default=0.0), max(given, default=1.0))
    for entry in entries:
        own = ratings.by_item.get(entry.id)
        if own and high > low:
            entry.rating = (mean(own.values()) - low) / (high - low)


def disputed(entry: Entry) -> float | None:
    """How far the values of runs are apart, or the only value from people; None if there is nothing to compare."""
    values = entry.values
    apart = max(values) - min(values) if len(values) > 1 else None
    people = max((abs(value - entry.rating) for value in values), default=None) if entry.rating is not None else None
    both = [each for each in (apart, people) if each is not None]
    return max(both, default=None)


def choose(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """The samples that are shown one by one, in order: the worst, the flagged and the most disputed ones first."""
    if not limit or len(entries) <= limit:
        return list(entries)
    places: Counter[int] = Counter()
    for order in orders(entries).values():
        for place, entry in enumerate(order):
            places[entry.index] = min(places.get(entry.index, len(entries)), place)
    chosen = {entry.index for entry in sorted(entries, key=lambda entry: (places[entry.index], entry.index))[:limit]}
    return [entry for entry in entries if entry.index in chosen]


def orders(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The orders in which samples can be looked at; only disputed ones are in the order of dispute."""
    worst = sorted(entries, key=by_value)
    flagged = sorted(entries, key=lambda entry: (not entry.needs_review, by_value(entry)))
    apart = [entry for entry in entries if entry.disputed is not None]
    by_dispute = sorted(apart, key=lambda entry: (-(entry.disputed or 0.0), entry.index))
    return {"worst": worst, "flagged": flagged, **({"disputed": by_dispute} if by_dispute else {})}


def by_value(entry: Entry) -> tuple[bool, float, int]:
    """The order from the worst to the best; those without a value that counts are last."""
    return entry.worst is None, entry.worst or 0.0, entry.index


def by_prompt(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The samples of each prompt, in the order of models; one without a prompt stands alone."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.prompt or f"\0{entry.id}", []).append(entry)
    return {prompt: sorted(group, key=lambda entry: entry.first.model) for prompt, group in groups.items()}


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
    rows: tuple[tuple[str, tuple[tuple[float, int] | None, ...]], ...]  # the share, and of how many


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The figures of one run."""

    column: Column
    mean: Group
    score: Estimate | None  # on the scale of the rubric
    flagged: int
    coverage: float | None
    leaderboard: Comparison | None
    models: ModelTable | None
    categories: tuple[Group, ...]
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
    runs, rows = {c.name: c.run for c in columns}, {c.name: c.items for c in columns}
    several_judges = len({run.fingerprint for run in runs.values()}) > 1
    ranked = len(columns) > 1 and not (several_judges and same_images(rows))  # judges of the same images are not
    return Figures(
        tuple(column_figures(column, ratings, terms) for column in columns),
        comparison.compare(rows) if ranked else None,
        tuple(pairing(columns[0], other, place, entries) for place, other in enumerate(columns[1:], 1)),
        comparison.judge_warnings(judge_names(runs).values()),
        len(ratings.raters) if ratings else 0,
    )


def column_figures(column: Column, ratings: Ratings | None, terms: Mapping[str, Any]) -> ColumnFigures:
    """The figures of one run."""
    found = list(column.rows.values())
    covered = [result.coverage for result in found if result.coverage is not None]
    examples: dict[str, str] = {}
    for result in found:
        if result.error:
            examples.setdefault(result.error, result.message)
    people, no_agreement = against_people(column, ratings, terms)
    categories = by_category(column)
    ranking = leaderboard(column)
    whole = comparison.make_group(column.name, column.items)
    return ColumnFigures(
        column,
        whole,
        whole.score if whole.score.n else None,
        sum(result.flagged for result in found),
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
        tuple((kind, number, examples.get(kind, "")) for kind, number in column.run.overview.errors.items()),
    )


def leaderboard(column: Column) -> Comparison | None:
    """The models of a run ranked and tested; None if there are not at least two, or some samples name none."""
    try:
        systems = comparison.systems({column.name: column.items}, by_model=True)
        if len(systems) <= MODELS:
            return comparison.compare(systems)
    except UserError:
        return None
    ranking = comparison.ranking(comparison.make_group(name, items) for name, items in systems.items())
    return Comparison(tuple(ranking), (), (f"more than {MODELS} models: not tested two by two",))


def models_by_kind(column: Column, ranking: Comparison) -> ModelTable | None:
    """The models in the order of the ranking, and what they get right."""
    kinds = [kind for kind in in_order(column.kinds) if share_right(column.kinds[kind]) is not None][:SHOWN_KINDS]
    rows = [
        (system.name, tuple(share_right(column.kinds_by_model.get(system.name, {}).get(kind, {})) for kind in kinds))
        for system in ranking.ranking
    ]
    return ModelTable(tuple(KINDS.get(kind, kind) for kind in kinds), tuple(rows)) if kinds else None


def share_right(outcomes: Mapping[str, int]) -> tuple[float, int] | None:
    """The share of the claims that were as asked among those that could be checked, and how many these are."""
    checked = total(outcomes) - outcomes.get(Outcome.UNVERIFIABLE, 0)
    return (outcomes.get(Outcome.MATCHED, 0) / checked, checked) if checked else None


def by_category(column: Column) -> list[Group]:
    """The mean of each category, the worst first."""
    named = [item for item in column.items if item.category]
    groups = comparison.by_group(named, [item.category for item in named])
    known = [group for group in reversed(groups) if group.mean.value is not None]
    return [*known, *(group for group in groups if group.mean.value is None)] if len(groups) > 1 else []


def score_bars(column: Column) -> dict[str, list[tuple[int, int, float]]]:
    """How often each score was given for each factor of the rubric."""
    counted = [result for result in column.rows.values() if result.counts]
    bars = {}
    for factor, scale in column.scales.items():
        counts = Counter(result.factors.get(factor) for result in counted)
        longest = max((counts[score] for score in scale), default=0) or 1
        bars[factor] = [(score, counts[score], counts[score] / longest) for score in scale]
    return bars


def histogram(column: Column) -> list[int]:
    """How many values are in each twentieth of 0 to 1."""
    values = [item.known_value for item in column.items if item.known_value is not None]
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
    pair = comparison.judge_pair(first.name, second.name, first.items, second.items)
    both = [(entry.results[0], entry.results[place]) for entry in entries]
    known = [(a.value, b.value) for a, b in both if a and b and a.counts and b.counts]
    x, y = (np.array([row[side] for row in known], np.float64) for side in (0, 1))
    counts, _, _ = np.histogram2d(x, y, bins=GRID, range=((0, 1), (0, 1)))
    darkest = math.sqrt(counts.max()) or 1.0 if len(known) else 1.0
    cells = tuple(
        (int(column), int(row), round(0.15 + 0.85 * math.sqrt(counts[column, row]) / darkest, 2))
        for column, row in np.argwhere(counts)
    )
    return Pairing(first.name, second.name, len(known), pair.spearman, cells)

"""What a report is made of: the samples of one or more runs beside each other, and the figures over all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.report import agreement, comparison
from onprompt.report.agreement import Terms
from onprompt.report.comparison import Comparison, Group, JudgePair
from onprompt.report.ratings import Ratings, mean
from onprompt.runs.reading import Run, RunRow, judge_names, open_runs, same_images
from onprompt.samples import load_rubric
from onprompt.settings import PRIVATE
from onprompt.types import Outcome, Rubric
from onprompt.wording import plural
from onprompt.wording.labels import KINDS, LOOK, MEANINGS

FAILED = (Outcome.MISSING, Outcome.MISMATCH, Outcome.PARTIAL)
Outcomes = Mapping[str, Mapping[str, int]]  # by kind of claim, how often each outcome
BINS = 20  # of the distribution of values
GRID = 25  # cells across of a scatter plot
# How outcomes are summed up, in the order in which they are drawn.
SHARES = {
    "holds": (Outcome.MATCHED,),
    "in part": (Outcome.PARTIAL,),
    "uncertain": (Outcome.LOW_CONFIDENCE,),
    "wrong or missing": (Outcome.MISMATCH, Outcome.MISSING),
    "not checked": (Outcome.UNVERIFIABLE,),
}
MODELS = 25  # that are tested against each other; of more, only the ranking is shown
CATEGORIES, SHOWN_KINDS = 60, 8  # categories that are listed; columns of a grid


@dataclass(frozen=True)
class Column:
    """A run with its rows and checks."""

    name: str
    run: Run
    rubric: Rubric
    rows: Mapping[str, RunRow]  # by id
    kinds: Outcomes
    kinds_by_model: Mapping[str, Outcomes]
    failed: Mapping[int, Mapping[str, None]]  # the kinds of claims that failed, by the number of a sample


@dataclass(slots=True)
class Entry:
    """One sample in all runs; None where a run does not have it."""

    index: int
    id: str
    results: tuple[RunRow | None, ...]
    failed: tuple[str, ...]  # kinds of claims
    rating: float | None = None  # the mean of people, 0 to 1
    disputed: float | None = None  # how far runs, or the judge and people are apart, from 0 to 1
    picture: Any = None  # a thumbnail
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
        return [result.value for result in self.results if result and result.value is not None and result.counts]

    @property
    def worst(self) -> float | None:
        return min(self.values, default=None)

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(flag for result in self.results if result for flag in result.flags))

    @property
    def needs_review(self) -> bool:
        """Whether somebody should look at it, or it has no verdict."""
        return not LOOK.keys().isdisjoint(self.flags) or not self.values


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
    for check in run.checks():
        for counts in (kinds, by_model.setdefault(models.get(check.sample, ""), {})):
            counts.setdefault(check.kind, Counter())[check.outcome] += 1
        if check.outcome in FAILED:
            failed.setdefault(check.sample, {})[check.kind] = None
    return Column(name, run, load_rubric(run.rubric), rows, kinds, by_model, failed)


def read_entries(columns: Sequence[Column], ratings: Ratings | None, scale: tuple[float, float] | None) -> list[Entry]:
    """All samples of all runs, in order, with people's mean rating and how far judges and people are apart."""
    given = [rating for by_rater in ratings.by_item.values() for rating in by_rater.values()] if ratings else []
    low, high = scale or (min(given, default=0.0), max(given, default=1.0))
    entries = []
    for index, name in enumerate(dict.fromkeys(name for column in columns for name in column.rows), 1):
        found = tuple(column.rows.get(name) for column in columns)
        kinds = [column.failed.get(row.number, ()) for column, row in zip(columns, found, strict=True) if row]
        entry = Entry(index, name, found, tuple(dict.fromkeys(kind for each in kinds for kind in each)))
        if ratings and (own := ratings.by_item.get(name)) and high > low:
            entry.rating = (mean(own.values()) - low) / (high - low)
        apart = [max(entry.values) - min(entry.values)] if len(entry.values) > 1 else []
        people = [abs(value - entry.rating) for value in entry.values] if entry.rating is not None else []
        entry.disputed = max([*apart, *people], default=None)
        entries.append(entry)
    return entries


def choose(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """The samples that are shown one by one, in order: the worst, the flagged and the most disputed ones first."""
    if not limit or len(entries) <= limit:
        return list(entries)
    places: dict[int, int] = {}
    for order in orders(entries).values():
        for place, entry in enumerate(order):
            places[entry.index] = min(places.get(entry.index, len(entries)), place)
    chosen = {entry.index for entry in sorted(entries, key=lambda entry: (places[entry.index], entry.index))[:limit]}
    return [entry for entry in entries if entry.index in chosen]


def orders(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The orders in which samples can be looked at; only disputed ones are in the order of dispute."""

    def by_value(entry: Entry) -> tuple[bool, float, int]:  # those without a value that counts are last
        return entry.worst is None, entry.worst or 0.0, entry.index

    flagged = sorted(entries, key=lambda entry: (not entry.needs_review, by_value(entry)))
    apart = [entry for entry in entries if entry.disputed is not None]
    by_dispute = sorted(apart, key=lambda entry: (-(entry.disputed or 0.0), entry.index))
    found = {"worst": sorted(entries, key=by_value), "flagged": flagged}
    return found | ({"disputed": by_dispute} if by_dispute else {})


@dataclass(frozen=True, slots=True)
class KindOfClaim:
    """The outcomes of one kind of claim: for each of `SHARES` where its part of a bar begins, its share and number."""

    key: str
    name: str
    number: int
    parts: tuple[tuple[str, float, float, int], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A figure for each model in each column: value and number of samples or claims."""

    title: str
    facet: str  # by which samples of a column can be filtered
    columns: tuple[tuple[str, str], ...]  # key and name
    rows: tuple[tuple[str, tuple[tuple[float, int] | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Scatter:
    """Samples by two values: how often they meet in each cell of a grid."""

    across: str
    up: str
    number: int
    cells: tuple[tuple[int, int, float], ...]  # column, row, and how dark


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a report."""

    columns: tuple[Mapping[str, Any], ...]  # the figures of each run
    runs: Comparison | None  # judges of the same images are not ranked
    pairings: tuple[tuple[JudgePair, Scatter], ...]
    differing: tuple[tuple[str, tuple[str, ...]], ...]  # what runs differ in, with the value of each
    warnings: tuple[str, ...]
    raters: int
    conclusion: str


def figures(
    columns: Sequence[Column], entries: Sequence[Entry], ratings: Ratings | None, terms: Mapping[str, Any]
) -> Figures:
    """The figures over all samples."""
    runs = {column.name: column.run for column in columns}
    rows = {column.name: list(column.rows.values()) for column in columns}
    several_judges = len({run.fingerprint for run in runs.values()}) > 1
    ranked = len(columns) > 1 and not (several_judges and same_images(rows))
    ranking = comparison.compare(rows) if ranked else None
    made = tuple(column_figures(column, place, entries, ratings, terms) for place, column in enumerate(columns))
    pairings = []
    for place, other in enumerate(columns[1:], 1):
        both = [(entry.results[0], entry.results[place]) for entry in entries]
        points = [(a.value or 0.0, b.value or 0.0) for a, b in both if a and b and a.counts and b.counts]
        pair = comparison.judge_pair(columns[0].name, other.name, rows[columns[0].name], rows[other.name])
        pairings.append((pair, scatter(columns[0].name, other.name, points)))
    return Figures(
        made,
        ranking,
        tuple(pairings),
        tuple(what_differs(columns)),
        comparison.judge_warnings(judge_names(runs).values()),
        len(ratings.raters) if ratings else 0,
        comparison.conclusion(ranking, "run", "has the highest values") if ranking else conclusion(made[0]),
    )


def column_figures(
    column: Column, place: int, entries: Sequence[Entry], ratings: Ratings | None, terms: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures of one run."""
    rows = list(column.rows.values())
    covered = [row.coverage for row in rows if row.coverage is not None]
    examples: dict[str, str] = {}
    for row in rows:
        examples.setdefault(row.error, row.message)
    flags = Counter(flag for row in rows for flag in row.flags)
    people, no_agreement = None, ""
    if ratings:
        try:
            people = agreement.agreement(rows, ratings, Terms(column.rubric.factors.get("score", range(2)), **terms))
        except UserError as error:
            no_agreement = str(error)
    named = [row for row in rows if row.category]
    groups = comparison.by_group(named, [row.category for row in named])
    categories = sorted(groups, key=lambda group: math.inf if group.mean.value is None else group.mean.value)
    categories = categories if len(groups) > 1 else []
    ranking = leaderboard(column.name, rows)
    rated = [(e.rating, e.results[place]) for e in entries if e.rating is not None]
    points = [(rating, row.value or 0.0) for rating, row in rated if row and row.counts]
    values = [row.known_value for row in rows if row.known_value is not None]
    return {
        "column": column,
        "whole": comparison.make_group(column.name, rows),  # its mean value and score
        "to_look_at": sum(not LOOK.keys().isdisjoint(row.flags) for row in rows),
        "flags": tuple((flag, MEANINGS.get(flag, ""), number, flag in LOOK) for flag, number in flags.most_common()),
        "coverage": math.fsum(covered) / len(covered) if covered else None,
        "leaderboard": ranking,
        "grids": tuple(grids(column, ranking, [each.name for each in categories])) if ranking else (),
        "categories": tuple(categories[:CATEGORIES]),
        "more_categories": len(categories[CATEGORIES:]),  # that are not listed
        "scores": score_bars(column.rubric, [row for row in rows if row.counts]),
        "histogram": tuple(np.histogram(np.clip(values, 0, 1), bins=BINS, range=(0, 1))[0].tolist()),
        "kinds": tuple(kinds_of_claims(column.kinds)),
        "people": people,
        "no_agreement": no_agreement,  # why there are ratings and no agreement
        "scatter": scatter("rating by people", "value", points) if points else None,
        "errors": tuple((kind, number, examples.get(kind, "")) for kind, number in column.run.overview.errors.items()),
    }


def leaderboard(name: str, rows: Sequence[RunRow]) -> Comparison | None:
    """The models of a run ranked and tested; None if there are not at least two, or some samples name none."""
    try:
        systems = comparison.systems({name: rows}, by_model=True)
        if len(systems) <= MODELS:
            return comparison.compare(systems)
    except UserError:
        return None
    ranking = comparison.ranking(comparison.make_group(model, items) for model, items in systems.items())
    return Comparison(tuple(ranking), (), (f"more than {MODELS} models: not tested pairwise",))


def conclusion(made: Mapping[str, Any]) -> str:
    """A run in one sentence: which model is best and how sure that is, or how good the images are."""
    whole: Group = made["whole"]
    edits = bool(made["column"].rubric.source_image)
    if made["leaderboard"]:
        best = "follows its instructions best" if edits else "fits its prompts best"
        return comparison.conclusion(made["leaderboard"], "model", best)
    if whole.mean.value is None:
        return "No sample has a value."
    checked = {k.name: (k.parts[0][3], k.number - k.parts[-1][3]) for k in made["kinds"] if k.number > k.parts[-1][3]}
    weak = min(checked, key=lambda name: checked[name][0] / checked[name][1], default="")
    least = f"; {weak} hold least often ({checked[weak][0]:,} of {checked[weak][1]:,})" if len(checked) > 1 else ""
    prompts = plural(whole.mean.n, "prompt")
    return f"The {'edits' if edits else 'images'} have a mean value of {whole.mean.short} over {prompts}{least}."


def grids(column: Column, ranking: Comparison, categories: Sequence[str]) -> Iterator[Grid]:
    """The models in the order of the ranking: which kinds of claims hold, and their mean value by category."""
    names = [system.name for system in ranking.ranking]
    kinds = [kind for kind in in_order(column.kinds) if share_right(column.kinds[kind])][:SHOWN_KINDS]
    if kinds:
        found = [column.kinds_by_model.get(name, {}) for name in names]
        cells = [tuple(share_right(each.get(kind, {})) for kind in kinds) for each in found]
        heads = tuple((kind, KINDS.get(kind, kind)) for kind in kinds)
        yield Grid("Share of checked claims that hold", "failure", heads, tuple(zip(names, cells, strict=True)))
    if listed := categories[:SHOWN_KINDS]:
        values: dict[tuple[str, str], list[float]] = {}
        for row in column.rows.values():
            if row.known_value is not None:
                values.setdefault((row.model, row.category), []).append(row.known_value)
        means = {key: (math.fsum(own) / len(own), len(own)) for key, own in values.items()}
        rows = tuple((name, tuple(means.get((name, category)) for category in listed)) for name in names)
        yield Grid("Mean value by category", "category", tuple((name, name) for name in listed), rows)


def share_right(outcomes: Mapping[str, int]) -> tuple[float, int] | None:
    """The share of the claims that hold among those that could be checked, and their number."""
    checked = sum(outcomes.values()) - outcomes.get(Outcome.UNVERIFIABLE, 0)
    return (outcomes.get(Outcome.MATCHED, 0) / checked, checked) if checked else None


def score_bars(rubric: Rubric, rows: Sequence[RunRow]) -> dict[str, list[tuple[int, int, float]]]:
    """How often each score was given for each factor of the rubric."""
    bars = {}
    for factor, scale in rubric.factors.items():
        counts = Counter(row.factors.get(factor) for row in rows)
        longest = max((counts[score] for score in scale), default=0) or 1
        bars[factor] = [(score, counts[score], counts[score] / longest) for score in scale]
    return bars


def kinds_of_claims(kinds: Outcomes) -> Iterator[KindOfClaim]:
    """Each kind of claim with the shares of its outcomes."""
    for kind in in_order(kinds):
        number, start, parts = sum(kinds[kind].values()), 0.0, []
        for name, outcomes in SHARES.items():
            count = sum(kinds[kind].get(outcome, 0) for outcome in outcomes)
            parts.append((name, start, count / number, count))
            start += count / number
        yield KindOfClaim(kind, KINDS.get(kind, kind), number, tuple(parts))


def in_order(kinds: Outcomes) -> list[str]:
    """The usual kinds first, then the most frequent."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    return sorted(kinds, key=lambda kind: (order.get(kind, len(KINDS)), -sum(kinds[kind].values())))


def scatter(across: str, up: str, points: Sequence[tuple[float, float]]) -> Scatter:
    """Samples by two values from 0 to 1: the darkness of each cell."""
    x, y = np.array(points).reshape(-1, 2).T
    counts, _, _ = np.histogram2d(x, y, bins=GRID, range=((0, 1), (0, 1)))
    darkness = 0.15 + 0.85 * np.sqrt(counts / max(counts.max(), 1))
    cells = tuple((int(i), int(j), round(float(darkness[i, j]), 2)) for i, j in np.argwhere(counts))
    return Scatter(across, up, len(points), cells)


def what_differs(columns: Sequence[Column]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Judge, model, settings and versions in which runs differ."""
    facts = []
    for column in columns:
        settings = {k: v for k, v in column.run.identity.get("settings", {}).items() if k not in PRIVATE}
        about = {"judge": column.run.judge, "samples": f"{len(column.rows):,}"}
        facts.append(about | settings | dict(column.run.last.versions))
    for name in dict.fromkeys(name for each in facts for name in each):
        values = tuple(str(each.get(name, "–")) for each in facts)
        if len(set(values)) > 1:
            yield name, values

"""What a report is made of: the samples of one or more runs beside each other, and the figures over all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.report import agreement, comparison, statistics
from onprompt.report.agreement import Agreement, Terms
from onprompt.report.comparison import Comparison, Ranked
from onprompt.report.ratings import Ratings, mean
from onprompt.report.statistics import Estimate
from onprompt.runs.reading import Run, RunRow, open_runs
from onprompt.samples import load_rubric
from onprompt.settings import PRIVATE
from onprompt.types import Flag, Outcome, Rubric
from onprompt.wording import plural

FAILED = (Outcome.MISSING, Outcome.MISMATCH, Outcome.PARTIAL)
Outcomes = Mapping[str, Mapping[str, int]]  # by kind of claim, how often each outcome
RESAMPLES, SEED = 1000, 0
BINS = 20  # of the distribution of values
GRID = 25  # cells across of a scatter plot
DOTS = 400  # samples up to which a scatter plot has a dot for each
# How outcomes are summed up, in the order in which they are drawn.
SHARES = {
    "holds": (Outcome.MATCHED,),
    "in part": (Outcome.PARTIAL,),
    "uncertain": (Outcome.LOW_CONFIDENCE,),
    "wrong or missing": (Outcome.MISMATCH, Outcome.MISSING),
    "not checked": (Outcome.UNVERIFIABLE,),
}
ONE = "count of one"  # that "a cup" implies; an object that was found at all usually holds it
KINDS = {
    **{"object": "objects", "count": "counts of two or more", ONE: "counts of one (“a”, “one”)", "color": "colors"},
    **{"relation": "relations", "action": "actions"},
}
MODELS = 25  # that are tested against each other; of more, only the ranking is shown
CATEGORIES, UNCHECKED = 60, 10  # categories and claims that are listed
SHOWN_KINDS = 8  # kinds of claims in the table of models
FIRST = ("object", "count", ONE, "color", "relation", "text")  # the kinds that most people look for
FLAGS = {  # what each means, and whether somebody should look at the sample
    Flag.NEEDS_REVIEW: ("uncertain: a person should look at it", True),
    Flag.NOT_VERIFIABLE: ("nothing could be checked: the score is a placeholder, in no mean", True),
    Flag.LOW_CONFIDENCE: ("detected with low confidence", True),
    Flag.JUDGES_DISAGREE: ("the judges are far apart", True),
    Flag.MODEL_FAILED: ("a model could not be asked", True),
    Flag.MODEL_UNREADABLE: ("a model's answer could not be read", True),
    Flag.SOME_ANSWERS_UNREADABLE: ("some of several answers could not be read", False),
    Flag.ASKED_AGAIN: ("an answer could not be read and was asked for again", False),
    Flag.NO_SECOND_ANSWER: ("a model gave no second answer; its first one counts", False),
    Flag.YES_NOT_KNOWN: ("the model gives no probability of “yes”", False),
    Flag.USAGE_ESTIMATED: ("tokens are estimated", False),
}


@dataclass(frozen=True)
class Column:
    """A run with its rows and checks."""

    name: str
    run: Run
    rubric: Rubric
    rows: Mapping[str, RunRow]  # by id
    kinds: Outcomes
    kinds_by_model: Mapping[str, Outcomes]
    failed: Mapping[int, tuple[str, ...]]  # the kinds of claims that failed, by the number of a sample
    unchecked: Sequence[tuple[str, str, str, int]]  # kind, claim, why and how often


@dataclass(slots=True)
class Entry:
    """One sample in all runs; None where a run does not have it."""

    index: int
    id: str
    results: tuple[RunRow | None, ...]
    failed: tuple[str, ...]  # kinds of claims
    rating: float | None = None  # the mean of people, 0 to 1
    disputed: float | None = None  # how far runs, voices, or the judge and people are apart, from 0 to 1
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
        """The values that count."""
        return [result.value for result in self.results if result and result.value is not None and result.counts]

    @property
    def worst(self) -> float | None:
        """The lowest value that counts."""
        return min(self.values, default=None)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of all runs."""
        return tuple(dict.fromkeys(flag for result in self.results if result for flag in result.flags))

    @property
    def to_look_at(self) -> tuple[str, ...]:
        """The flags that ask for a look."""
        return tuple(flag for flag in self.flags if asks_for_a_look(flag))

    @property
    def needs_review(self) -> bool:
        """Whether somebody should look at it, or it has no verdict."""
        return bool(self.to_look_at) or not self.values


def asks_for_a_look(flag: str) -> bool:
    """Whether a flag is more than information; a rubric's own flags are information."""
    return flag in FLAGS and FLAGS[Flag(flag)][1]


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
        kind = ONE if check.kind == "count" and check.asked == "1" else check.kind
        for counts in (kinds, by_model.setdefault(models.get(check.sample, ""), {})):
            counts.setdefault(kind, Counter())[check.outcome] += 1
        if check.outcome in FAILED:
            failed.setdefault(check.sample, {})[kind] = None
        if check.outcome == Outcome.UNVERIFIABLE:
            unchecked[check.kind, check.asked, check.found] += 1
    most = sorted(unchecked.items(), key=lambda each: (-each[1], each[0]))[:UNCHECKED]
    by_number = {number: tuple(names) for number, names in failed.items()}
    listed = [(*about, number) for about, number in most]
    return Column(name, run, load_rubric(run.rubric), rows, kinds, by_model, by_number, listed)


def read_entries(columns: Sequence[Column], ratings: Ratings | None, scale: tuple[float, float] | None) -> list[Entry]:
    """All samples of all runs, in order, with people's mean rating and how far judges and people are apart."""
    given = [rating for by_rater in ratings.by_item.values() for rating in by_rater.values()] if ratings else []
    low, high = scale or (min(given, default=0.0), max(given, default=1.0))
    entries = []
    for index, name in enumerate(dict.fromkeys(name for column in columns for name in column.rows), 1):
        found = tuple(column.rows.get(name) for column in columns)
        kinds = [column.failed.get(result.number, ()) for column, result in zip(columns, found, strict=True) if result]
        entry = Entry(index, name, found, tuple(dict.fromkeys(kind for each in kinds for kind in each)))
        own = ratings.by_item.get(name) if ratings else None
        if own and high > low:
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
    places: Counter[int] = Counter()
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
    """Samples by two values: how often they meet in each cell of a grid, or a dot for each."""

    across: str
    up: str
    number: int
    cells: tuple[tuple[int, int, float], ...] = ()  # column, row, and how dark
    dots: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The figures of one run."""

    column: Column
    mean: Ranked
    score: Estimate | None  # on the scale of the rubric
    to_look_at: int
    flags: tuple[tuple[str, str, int, bool], ...]  # name, meaning, samples, and whether it asks for a look
    coverage: float | None
    leaderboard: Comparison | None
    grids: tuple[Grid, ...]
    categories: tuple[Ranked, ...]
    more_categories: int  # that are not listed
    scores: Mapping[str, list[tuple[int, int, float]]]  # by factor: score, how many, and the length of its bar
    histogram: tuple[int, ...]
    kinds: tuple[KindOfClaim, ...]
    people: Agreement | None
    no_agreement: str  # why there are ratings and no agreement
    scatter: Scatter | None  # of values against people's ratings
    errors: tuple[tuple[str, int, str], ...]  # kind, how many, and an example


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two runs beside each other: how their values correlate."""

    first: str
    second: str
    common: int
    spearman: Estimate
    scatter: Scatter


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a report."""

    columns: tuple[ColumnFigures, ...]
    runs: Comparison | None
    pairings: tuple[Pairing, ...]
    differing: tuple[tuple[str, tuple[str, ...]], ...]  # what runs differ in, with the value of each
    warnings: tuple[str, ...]
    raters: int
    conclusion: str


def figures(
    columns: Sequence[Column], entries: Sequence[Entry], ratings: Ratings | None, terms: Mapping[str, Any]
) -> Figures:
    """The figures over all samples."""
    rows = {column.name: list(column.rows.values()) for column in columns}
    runs = comparison.compare(rows) if len(columns) > 1 else None
    made = tuple(column_figures(column, place, entries, ratings, terms) for place, column in enumerate(columns))
    return Figures(
        made,
        runs,
        tuple(pairing(columns[0], other, place, entries) for place, other in enumerate(columns[1:], 1)),
        tuple(what_differs(columns)),
        comparison.judge_warnings(column.run.judge for column in columns),
        len(ratings.raters) if ratings else 0,
        conclusion(made, runs),
    )


def column_figures(
    column: Column, place: int, entries: Sequence[Entry], ratings: Ratings | None, terms: Mapping[str, Any]
) -> ColumnFigures:
    """The figures of one run."""
    rows = list(column.rows.values())
    covered = [row.coverage for row in rows if row.coverage is not None]
    examples: dict[str, str] = {}
    for row in rows:
        examples.setdefault(row.error, row.message)
    flags = Counter(flag for row in rows for flag in row.flags)
    scale = column.rubric.factors.get("score", range(2))
    people, no_agreement = None, ""
    if ratings:
        try:
            people = agreement.agreement(rows, ratings, Terms(scale, **terms))
        except UserError as error:
            no_agreement = str(error)
    groups: dict[str, list[RunRow]] = {}
    for row in rows:
        if row.category:
            groups.setdefault(row.category, []).append(row)
    means = [ranked(name, items) for name, items in groups.items()] if len(groups) > 1 else []
    categories = sorted(means, key=lambda each: math.inf if each.mean.value is None else each.mean.value)
    ranking = leaderboard(column.name, rows)
    known = [(e.rating, row) for e in entries if (row := e.results[place]) and e.rating is not None and row.counts]
    values = [row.known_value for row in rows if row.known_value is not None]
    return ColumnFigures(
        column=column,
        mean=ranked(column.name, rows),
        score=mean_score(rows),
        to_look_at=sum(any(map(asks_for_a_look, row.flags)) for row in rows),
        flags=tuple(
            (flag, FLAGS[Flag(flag)][0] if flag in FLAGS else "", number, asks_for_a_look(flag))
            for flag, number in sorted(flags.items(), key=lambda each: (not asks_for_a_look(each[0]), -each[1]))
        ),
        coverage=math.fsum(covered) / len(covered) if covered else None,
        leaderboard=ranking,
        grids=tuple(grids(column, ranking, [each.name for each in categories])) if ranking else (),
        categories=tuple(categories[:CATEGORIES]),
        more_categories=len(categories[CATEGORIES:]),
        scores=score_bars(column.rubric, [row for row in rows if row.counts]),
        histogram=tuple(np.histogram(np.clip(values, 0, 1), bins=BINS, range=(0, 1))[0].tolist()),
        kinds=tuple(kinds_of_claims(column.kinds)),
        people=people,
        no_agreement=no_agreement,
        scatter=scatter("rating by people", "value", [(r, row.value or 0.0) for r, row in known]) if known else None,
        errors=tuple((kind, number, examples.get(kind, "")) for kind, number in column.run.overview.errors.items()),
    )


def ranked(name: str, items: Sequence[RunRow]) -> Ranked:
    """A mean over prompts with its interval."""
    return comparison.rank(name, len(items), comparison.by_prompt(name, items), RESAMPLES, SEED)


def mean_score(rows: Iterable[RunRow]) -> Estimate | None:
    """The mean score on the rubric's scale; None if the rubric has several factors and no overall score."""
    by_prompt: dict[str, list[int]] = {}
    for row in rows:
        if row.known_score is not None:
            by_prompt.setdefault(row.group, []).append(row.known_score)
    means = np.array([math.fsum(scores) / len(scores) for scores in by_prompt.values()])
    return statistics.bootstrap_mean(means, RESAMPLES, SEED) if len(means) else None


def leaderboard(name: str, rows: Sequence[RunRow]) -> Comparison | None:
    """The models of a run ranked and tested; None if there are not at least two, or some samples name none."""
    try:
        systems = comparison.systems({name: rows}, by_model=True)
        if len(systems) <= MODELS:
            return comparison.compare(systems, RESAMPLES, SEED)
    except UserError:
        return None
    means = [ranked(name, items) for name, items in systems.items()]
    ranking = sorted(means, key=lambda each: each.mean.value or 0.0, reverse=True)
    return Comparison(tuple(ranking), (), (f"more than {MODELS} models: not tested pairwise",), RESAMPLES, SEED)


def ranks(compared: Comparison) -> dict[str, int]:
    """One more than the number of systems that are significantly better; without tests the place in the order."""
    if not compared.pairs:
        return {system.name: place for place, system in enumerate(compared.ranking, 1)}
    beaten = Counter(pair.worse for pair in compared.pairs if pair.significant)
    return {system.name: 1 + beaten[system.name] for system in compared.ranking}


def conclusion(made: Sequence[ColumnFigures], runs: Comparison | None) -> str:
    """The report in one sentence: which is best and how sure that is, or how good the one there is."""
    ranking = runs or made[0].leaderboard
    first = made[0]
    edits = bool(first.column.rubric.source_image)
    if ranking and ranking.ranking[0].mean.value is not None:
        place, best = ranks(ranking), ranking.ranking[0]
        top = sum(place[system.name] == 1 for system in ranking.ranking)
        sure = sum(pair.significant for pair in ranking.pairs)
        what = plural(top, "run" if runs else "model")
        fits = "follows its instructions best" if edits else "fits its prompts best"
        if top == len(place):
            return f"No significant difference among {what}; {best.name} is first ({words(best.mean)})."
        named = f"{best.name} {'has the highest values' if runs else fits} ({words(best.mean)})"
        if top > 1:
            named = f"No significant difference among the best {what}; {best.name} is first ({words(best.mean)})"
        is_are = "is" if sure == 1 else "are"
        tests = f"; {sure} of {plural(len(ranking.pairs), 'difference')} {is_are} significant" if ranking.pairs else ""
        return f"{named}{tests}."
    if first.mean.mean.value is None:
        return "No sample has a value."
    checked = {k.name: (k.parts[0][3], k.number - k.parts[-1][3]) for k in first.kinds if k.number > k.parts[-1][3]}
    weak = min(checked, key=lambda name: checked[name][0] / checked[name][1], default="")
    least = f"; {weak} hold least often ({checked[weak][0]:,} of {checked[weak][1]:,})" if len(checked) > 1 else ""
    what = "edits" if edits else "images"
    return (
        f"The {what} have a mean value of {words(first.mean.mean)} over {plural(first.mean.mean.n, 'prompt')}{least}."
    )


def words(estimate: Estimate) -> str:
    """`0.63 [0.59, 0.67]`."""
    if estimate.value is None:
        return "–"
    return f"{estimate.value:.2f}" + ("" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]")


def grids(column: Column, ranking: Comparison, categories: Sequence[str]) -> Iterator[Grid]:
    """The models in the order of the ranking: which kinds of claims hold, and their mean value by category."""
    kinds = [kind for kind in in_order(column.kinds) if share_right(column.kinds[kind])][:SHOWN_KINDS]
    names = [system.name for system in ranking.ranking]
    if kinds:
        cells = (
            (name, tuple(share_right(column.kinds_by_model.get(name, {}).get(k, {})) for k in kinds)) for name in names
        )
        heads = tuple((kind, KINDS.get(kind, kind)) for kind in kinds)
        yield Grid("Share of checked claims that hold", "failure", heads, tuple(cells))
    if categories:
        values: dict[tuple[str, str], list[float]] = {}
        for row in column.rows.values():
            if row.known_value is not None:
                values.setdefault((row.model, row.category), []).append(row.known_value)
        means = {key: (math.fsum(own) / len(own), len(own)) for key, own in values.items()}
        listed = categories[:SHOWN_KINDS]
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
    order = {kind: place for place, kind in enumerate(FIRST)}
    return sorted(kinds, key=lambda kind: (order.get(kind, len(FIRST)), -sum(kinds[kind].values())))


def scatter(across: str, up: str, points: Sequence[tuple[float, float]]) -> Scatter:
    """Samples by two values from 0 to 1; of many the darkness of each cell."""
    if len(points) <= DOTS:
        return Scatter(across, up, len(points), dots=tuple((round(x, 3), round(y, 3)) for x, y in points))
    x, y = np.array(points).T
    counts, _, _ = np.histogram2d(x, y, bins=GRID, range=((0, 1), (0, 1)))
    darkest = math.sqrt(counts.max()) or 1.0
    shades = (
        (int(i), int(j), round(0.15 + 0.85 * math.sqrt(counts[i, j]) / darkest, 2)) for i, j in np.argwhere(counts)
    )
    return Scatter(across, up, len(points), tuple(shades))


def pairing(first: Column, second: Column, place: int, entries: Sequence[Entry]) -> Pairing:
    """Two runs on the samples for which both have a value."""
    both = [(entry, entry.results[0], entry.results[place]) for entry in entries]
    known = [(e.prompt or e.id, a.value, b.value) for e, a, b in both if a and b and a.counts and b.counts]
    prompts = {name: number for number, name in enumerate(dict.fromkeys(name for name, _, _ in known))}
    correlation = Estimate(n=len(known), why=f"only {len(known)} common samples")
    if len(known) >= agreement.MIN_ITEMS:
        x, y = (np.array([row[side] for row in known], np.float64) for side in (1, 2))
        measure = agreement.Statistic(len(known), agreement.CONSTANT, [statistics.spearman(x, y)])
        group = np.array([prompts[name] for name, _, _ in known], np.intp)
        terms = Terms(range(2), resamples=RESAMPLES, seed=SEED)
        (correlation,) = agreement.bootstrap([measure], group, len(prompts), terms)
    points = [(a or 0.0, b or 0.0) for _, a, b in known]
    return Pairing(first.name, second.name, len(known), correlation, scatter(first.name, second.name, points))


def what_differs(columns: Sequence[Column]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Judge, model, settings and versions in which runs differ."""
    facts = []
    for column in columns:
        run, last = column.run, column.run.last
        settings = {k: v for k, v in run.identity.get("settings", {}).items() if k not in PRIVATE}
        facts.append({"judge": run.judge, "samples": f"{len(column.rows):,}", **settings, **last.versions})
    for name in dict.fromkeys(name for each in facts for name in each):
        values = tuple(str(each.get(name, "–")) for each in facts)
        if len(set(values)) > 1:
            yield name, values

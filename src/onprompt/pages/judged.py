"""The samples of one or more runs beside each other: what a report is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.report.ratings import Item, Ratings, mean
from onprompt.runs import findings
from onprompt.runs.ledger import Ledger
from onprompt.runs.results import (
    LastRun,
    Result,
    last_run,
    outcomes_by_kind,
    outcomes_by_model,
    results,
    unchecked,
)
from onprompt.samples import load_rubric

UNCHECKED = 10  # claims that are listed


@dataclass(frozen=True)
class Column:
    """One way of judging in one run file."""

    name: str
    path: Path
    generation: int
    identity: Mapping[str, Any]
    overview: findings.Overview
    last: LastRun
    results: Mapping[str, Result]  # by id
    kinds: Mapping[str, Mapping[str, int]]  # of checks: how often each had which outcome
    kinds_by_model: Mapping[str, Mapping[str, Mapping[str, int]]]
    failed: Mapping[int, tuple[str, ...]]  # the kinds of checks that failed, by the number of a sample
    unchecked: Sequence[tuple[Any, ...]]

    @property
    def rubric(self) -> str:
        """The rubric's name."""
        return str(self.identity["rubric"])

    @property
    def judge(self) -> str:
        """Who judged: the judge, and the models that it asked."""
        models = self.identity.get("model") or self.identity.get("models") or ""
        return " ".join(filter(None, (str(self.identity["judge"]), as_words(models))))

    @cached_property
    def scales(self) -> Mapping[str, range]:
        """The factors of the rubric with their scales."""
        return load_rubric(self.rubric).factors

    @cached_property
    def items(self) -> list[Item]:
        """The samples as statistics take them; one of which nothing could be checked has no value."""
        return [
            Item(r.id, r.prompt, r.value if r.counts else None, r.score if r.counts else None, r.category, r.model)
            for r in self.results.values()
        ]


def as_words(models: Any) -> str:
    """One model or several, as they are called."""
    return models if isinstance(models, str) else ", ".join(str(each) for each in models)


@dataclass(slots=True)
class Entry:
    """One sample in all runs; None where a run does not have it."""

    index: int
    id: str
    results: tuple[Result | None, ...]
    failed: tuple[str, ...]  # kinds of checks
    rating: float | None = None  # the mean of people
    disputed: float | None = None  # how far runs, voices, or the judge and people are apart, from 0 to 1
    pictures: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""

    @property
    def first(self) -> Result:
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
        return bool(self.flags) or not self.values

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of all runs."""
        return tuple(dict.fromkeys(flag for result in self.results if result for flag in result.flags))


def read_columns(paths: Sequence[Path], generations: Sequence[int] = ()) -> list[Column]:
    """The runs to report on, one column for each run and generation."""
    if len(set(paths)) < len(paths):
        raise UserError("the same run is given twice")
    ambiguous = len({path.stem for path in paths}) < len(paths)
    columns = []
    for path in paths:
        with Ledger(path) as ledger:
            for wanted in generations or [0]:
                name = str(path) if ambiguous else path.stem
                name += f", generation {wanted}" if len(generations) > 1 else ""
                columns.append(read_column(ledger, findings.choose_generation(ledger, wanted), name))
    if len(rubrics := {column.rubric for column in columns}) > 1:
        raise UserError(f"can't put runs of {' and '.join(sorted(rubrics))} into one report: their values differ")
    return columns


def read_column(ledger: Ledger, generation: int, name: str) -> Column:
    """One generation of a run file."""
    identity = findings.identity(ledger, generation)
    if identity["rubric"] not in plugins.names("rubrics"):
        raise UserError(f"{ledger.path} is a run of {identity['rubric']}, whose results are no verdicts to report on")
    kinds, failed = outcomes_by_kind(ledger, generation)
    return Column(
        name,
        ledger.path,
        generation,
        identity,
        findings.overview(ledger, generation),
        last_run(ledger, generation),
        {result.id: result for result in results(ledger, generation)},
        kinds,
        outcomes_by_model(ledger, generation),
        failed,
        unchecked(ledger, generation, UNCHECKED),
    )


def read_entries(columns: Sequence[Column], ratings: Ratings | None, scale: tuple[float, float] | None) -> list[Entry]:
    """All samples of all runs, in order, with how far judges and people are apart."""
    ids = dict.fromkeys(name for column in columns for name in column.results)
    entries = []
    for index, name in enumerate(ids, 1):
        found = tuple(column.results.get(name) for column in columns)
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

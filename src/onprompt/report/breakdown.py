"""A run by model, by category or by kind of check: mean value and mean score with their intervals.

A mean is over prompts, and a prompt's value the mean over its samples, as in a comparison. What has no verdict, or
nothing that could be checked, is in no mean, and counted.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from onprompt.report.statistics import Estimate, mean_of, rounded
from onprompt.runs.reading import CheckRow, RunRow
from onprompt.types import Outcome

NONE = "(none)"  # the name of a group of samples that name no model or no category


@dataclass(frozen=True, slots=True)
class Group:
    """Some samples of a run; the estimates' n counts prompts."""

    name: str
    value: Estimate
    score: Estimate
    samples: int
    no_verdict: int


@dataclass(frozen=True, slots=True)
class Kind:
    """All checks of one kind: their mean score without those that could not be verified, and how they came out."""

    name: str
    score: Estimate
    outcomes: Mapping[str, int] = field(default_factory=dict)


def by_group(items: Sequence[RunRow], names: Iterable[str]) -> list[Group]:
    """The items by name, the best group first."""
    groups: dict[str, list[RunRow]] = {}
    for item, name in zip(items, names, strict=True):
        groups.setdefault(name or NONE, []).append(item)
    made = [make_group(name, members) for name, members in groups.items()]
    return sorted(made, key=lambda group: -math.inf if group.value.value is None else group.value.value, reverse=True)


def make_group(name: str, items: Sequence[RunRow]) -> Group:
    """The means of some items."""
    judged = [item for item in items if item.counts]
    values = mean_over_prompts((item.group, item.value) for item in judged if item.value is not None)
    scores = mean_over_prompts((item.group, item.score) for item in judged if item.score is not None)
    return Group(name, values, scores, len(judged), len(items) - len(judged))


def mean_over_prompts(numbers: Iterable[tuple[str, float]]) -> Estimate:
    """The mean over prompts of the mean over a prompt's numbers."""
    prompts: dict[str, list[float]] = {}
    for prompt, number in numbers:
        prompts.setdefault(prompt, []).append(number)
    return mean_of(np.array([math.fsum(each) / len(each) for each in prompts.values()]))


def by_kind(rows: Iterable[RunRow], checks: Iterable[CheckRow]) -> list[Kind]:
    """The checks of a run by their kinds, the most frequent first; those of placeholders are left out."""
    prompts = {row.number: row.group for row in rows if row.counts}
    outcomes: dict[str, Counter[str]] = {}
    scores: dict[str, dict[str, list[float]]] = {}
    for check in checks:
        if check.sample in prompts:
            outcomes.setdefault(check.kind, Counter())[check.outcome] += 1
            if check.outcome != Outcome.UNVERIFIABLE:
                scores.setdefault(check.kind, {}).setdefault(prompts[check.sample], []).append(check.score)
    kinds = [
        Kind(name, mean_of(np.array([math.fsum(each) / len(each) for each in scores.get(name, {}).values()])), counts)
        for name, counts in outcomes.items()
    ]
    return sorted(kinds, key=lambda kind: -sum(kind.outcomes.values()))


def group_lines(groups: Sequence[Group], title: str) -> Iterator[str]:
    """A table of groups."""
    width = max([len(title), *(len(group.name) for group in groups)])
    yield f"{title:{width}}  {'mean value [95 % CI]':22}  {'mean score [95 % CI]':22}  prompts  samples  no verdict"
    for group in groups:
        counts = f"{group.value.n:7,} {group.samples:8,} {group.no_verdict:11,}"
        yield f"{group.name:{width}}  {group.value!s:22}  {group.score!s:22}  {counts}"
    yield "\nmeans and intervals are over prompts; samples without a verdict, or with nothing to check, are in no mean"


def kind_lines(kinds: Sequence[Kind]) -> Iterator[str]:
    """A table of kinds of checks."""
    shown = [outcome for outcome in Outcome if any(outcome in kind.outcomes for kind in kinds)]
    width = max([5, *(len(kind.name) for kind in kinds)])
    heads = "  ".join(f"{words(outcome):>{len(words(outcome))}}" for outcome in shown)
    yield f"{'check':{width}}  {'mean score [95 % CI]':22}   checks  {heads}"
    for kind in kinds:
        counts = "  ".join(f"{kind.outcomes.get(outcome, 0):{len(words(outcome))},}" for outcome in shown)
        yield f"{kind.name:{width}}  {kind.score!s:22}  {sum(kind.outcomes.values()):7,}  {counts}"
    yield "\nthe score of a check is from 0 to 1; unverifiable ones are in no mean; intervals are over prompts"


def words(outcome: Outcome) -> str:
    """An outcome as the head of a column."""
    return outcome.value.replace("_", " ")


def document(rows: Sequence[Group | Kind], by: str) -> dict[str, Any]:
    """JSON."""
    return {
        "format": "onprompt.breakdown/1",
        "by": by,
        "groups": [asdict(row, dict_factory=rounded) for row in rows],
    }

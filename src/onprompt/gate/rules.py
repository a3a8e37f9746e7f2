"""Conditions that a run has to meet: `value=.7`, `score=3@.9`, `errors=0`.

What has no verdict, or nothing that could be checked, is in no mean and in no share; `errors` and `not_verifiable`
count it. A condition on nothing is not met.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from onprompt.errors import UserError
from onprompt.gate.results import Result
from onprompt.plugins import did_you_mean
from onprompt.report.statistics import mean_of, wilson

COUNTS = ("errors", "not_verifiable", "flagged", "cost")  # what --fail-over takes
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
UNDER = re.compile(rf"(?P<metric>\w+)=(?P<limit>{NUMBER})(?:@(?P<share>{NUMBER})(?P<percent>%?))?")
OVER = re.compile(rf"(?P<metric>\w+)=(?P<limit>{NUMBER})(?P<percent>%?)")
ALMOST = 1e-9  # .9 of 10 samples is 9 of them, whatever the sum of floating-point numbers is


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition: `limit` on the mean, the count or, if `level` is given, on the share of samples that reach it."""

    text: str  # as it was given
    metric: str
    limit: float
    level: float | None = None
    over: bool = False  # whether it fails above the limit
    relative: bool = False  # whether the limit is a share of all samples


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a condition: in words what was asked for and measured, and the samples that missed the level."""

    name: str
    asked: str
    measured: str
    met: bool
    missed: tuple[str, ...] = ()


def parse_under(text: str) -> Rule:
    """`value=.7` (the mean) or `score=3@.9` (at least 90 % of the samples score 3 or more)."""
    match = UNDER.fullmatch(text.strip())
    if not match:
        raise UserError(
            f"--fail-under takes METRIC=LIMIT or METRIC=LEVEL@SHARE, such as value=.7 or score=3@.9: {text!r}"
        )
    limit = float(match["limit"])
    if match["share"] is None:
        return Rule(text.strip(), match["metric"], limit)
    share = float(match["share"]) / (100 if match["percent"] else 1)
    if not 0 < share <= 1:
        raise UserError(f"the share in {text!r} must be above 0 and at most 1, such as .9 or 90%")
    return Rule(text.strip(), match["metric"], share, limit)


def parse_over(text: str) -> Rule:
    """`errors=0`, or with a share of all samples `errors=2%`."""
    match = OVER.fullmatch(text.strip())
    if not match:
        raise UserError(f"--fail-over takes METRIC=LIMIT, such as errors=0 or flagged=5%, not {text!r}")
    if match["metric"] not in COUNTS:
        raise UserError(f"--fail-over has no metric {match['metric']!r}{did_you_mean(match['metric'], COUNTS)}")
    if match["percent"] and match["metric"] == "cost":
        raise UserError("cost is in US dollars, not in percent")
    share = 100 if match["percent"] else 1
    return Rule(text.strip(), match["metric"], float(match["limit"]) / share, over=True, relative=share > 1)


def decide(rules: Sequence[Rule], results: Sequence[Result]) -> Iterator[Decision]:
    """Whether each condition is met."""
    for rule in rules:
        yield decide_count(rule, results) if rule.over else decide_under(rule, results)


def decide_under(rule: Rule, results: Sequence[Result]) -> Decision:
    """A condition on a mean, or on the share of samples that reach a level."""
    judged = [result for result in results if result.counts]
    known = sorted({name for result in judged for name in result.metrics})
    if judged and rule.metric not in known:
        raise UserError(f"--fail-under has no metric {rule.metric!r} here{did_you_mean(rule.metric, known)}")
    numbers = {result.id: result.metrics[rule.metric] for result in judged if rule.metric in result.metrics}
    if rule.level is not None:
        return decide_share(rule, numbers)
    asked = f"mean {rule.metric} of at least {rule.limit:g}"
    if not numbers:
        return Decision(rule.text, asked, "nothing to measure", met=False)
    prompts: dict[str, list[float]] = {}
    for result in judged:
        if result.id in numbers:
            prompts.setdefault(result.prompt or result.id, []).append(numbers[result.id])
    mean = mean_of(np.array([math.fsum(values) / len(values) for values in prompts.values()]))
    return Decision(rule.text, asked, str(mean), (mean.value or 0.0) >= rule.limit - ALMOST)


def decide_share(rule: Rule, numbers: dict[str, float]) -> Decision:
    """Enough samples reach the level."""
    level = rule.level or 0.0
    asked = f"{rule.metric} of at least {level:g} in at least {rule.limit:.4g} of the samples"
    if not numbers:
        return Decision(rule.text, asked, "nothing to measure", met=False)
    missed = tuple(name for name, number in numbers.items() if number < level - ALMOST)
    reached = len(numbers) - len(missed)
    low, high = wilson(reached, len(numbers))
    measured = f"{reached / len(numbers):.3f} [{low:.3f}, {high:.3f}]: {reached:,} of {len(numbers):,}"
    return Decision(rule.text, asked, measured, reached >= rule.limit * len(numbers) - ALMOST, missed)


def decide_count(rule: Rule, results: Sequence[Result]) -> Decision:
    """Not too many, or not too much."""
    if rule.metric == "cost":
        known = [result.cost for result in results if result.cost is not None]
        spent = math.fsum(known)
        return Decision(rule.text, f"cost of at most ${rule.limit:g}", f"${spent:.4f}", spent <= rule.limit + ALMOST)
    missed = tuple(result.id for result in results if result.is_counted_as(rule.metric))
    words = rule.metric.replace("_", " ")
    limit = f"{rule.limit:.4g} of the samples" if rule.relative else f"{rule.limit:g}"
    allowed = rule.limit * len(results) if rule.relative else rule.limit
    measured = f"{len(missed):,} of {len(results):,}"
    return Decision(rule.text, f"{words}: at most {limit}", measured, len(missed) <= allowed + ALMOST, missed)

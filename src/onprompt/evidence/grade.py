"""Step 5: matches → presence, attribute accuracy, coverage and `value`. The score follows by the rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onprompt.evidence.estimates import MATCHER
from onprompt.evidence.matches import Match, weighted_mean
from onprompt.types import Outcome

if TYPE_CHECKING:
    from onprompt.settings import Settings


@dataclass(frozen=True, slots=True)
class Grade:
    """The seed's two measures, `value`, and how much of the prompt could be checked at all."""

    value: float
    presence: float
    attribute_accuracy: float
    coverage: float
    estimated: float  # the share of the checks that rest on the matcher's estimate alone
    verifiable: bool


def grade(matches: Sequence[Match], settings: Settings, whole: float | None = None) -> Grade:
    """Averages over what is verifiable. Where nothing is, the prior stands in.

    `whole` is the matcher's estimate of the picture as a whole, where there is one: it counts in `value` only.
    """
    checks = [check for match in matches for check in match.checks]
    verified = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    coverage = len(verified) / len(checks) if checks else 0.0
    estimated = sum(check.source == MATCHER for check in verified) / len(checks) if checks else 0.0
    weights = [weight(match) for match in matches]
    total = sum(weights)
    presence = settings.prior
    if total > 0:
        presence = sum(w * match.score(settings) for w, match in zip(weights, matches, strict=True)) / total
    # Means of exact scores may fall short of a threshold by rounding alone.
    presence, accuracy = round(presence, 9), round(attribute_accuracy(matches), 9)
    return Grade(value_of(matches, whole, settings), presence, accuracy, coverage, estimated, total > 0)


def value_of(matches: Sequence[Match], whole: float | None, settings: Settings) -> float:
    """`value`, in 0 to 1: the mean over the objects of how likely each is there as asked for, and the whole."""
    weights = [weight(match) for match in matches]
    total = sum(weights)
    parts = sum(w * worth(match, settings) for w, match in zip(weights, matches, strict=True))
    objects = parts / total if total else settings.prior
    return objects if whole is None else settings.value_whole * whole + (1 - settings.value_whole) * objects


def worth(match: Match, settings: Settings) -> float:
    """How likely an object is there, less what is wrong with its number, its attributes and its relations."""
    if match.thing.absent or not match.is_object or match.outcome is Outcome.UNVERIFIABLE:
        return match.score(settings)
    if not match.there:
        return 1 - match.confidence
    number = 1 - settings.value_count * (1 - match.count)
    return match.confidence * number * (1 - settings.value_details * (1 - weighted_mean(match.details)))


def weight(match: Match) -> float:
    """How much an object counts: not at all if unverifiable, else by its importance."""
    return match.thing.importance if match.verifiable else 0.0


def attribute_accuracy(matches: Sequence[Match]) -> float:
    """The mean over all attributes and relations of the objects that were found; 1 where there is none."""
    return weighted_mean([check for match in matches if match.there for check in match.details])

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
    """The protocol's two measures, `value`, and how much of the prompt could be checked."""

    value: float
    presence: float
    attribute_accuracy: float
    coverage: float
    estimated: float  # the share of the checks that are only estimates
    verifiable: bool


def grade(matches: Sequence[Match], settings: Settings, overall: float | None = None) -> Grade:
    """Averages over what is verifiable, or the prior if nothing is.

    `overall` is the matcher's estimate of the image as a whole, if there is one: it counts only in `value`.
    """
    checks = [check for match in matches for check in match.checks]
    verified = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    coverage = len(verified) / len(checks) if checks else 0.0
    estimated = sum(check.source == MATCHER for check in verified) / len(checks) if checks else 0.0
    total = sum(map(weight, matches))
    presence, objects = settings.prior, settings.prior
    if total > 0:
        presence = sum(weight(match) * match.score(settings) for match in matches) / total
        objects = sum(weight(match) * worth(match, settings) for match in matches) / total
    value = objects if overall is None else settings.value_whole * overall + (1 - settings.value_whole) * objects
    # Means of exact scores may fall short of a threshold by rounding alone.
    presence, accuracy = round(presence, 9), round(attribute_accuracy(matches), 9)
    return Grade(value, presence, accuracy, coverage, estimated, total > 0)


def worth(match: Match, settings: Settings) -> float:
    """The part of an object in `value`: how likely it is there, less what is wrong with its count and details."""
    if match.thing.absent or not match.is_object or match.outcome is Outcome.UNVERIFIABLE:
        return match.score(settings)
    if not match.there:
        return 1 - match.confidence
    number = 1 - settings.value_count * (1 - match.count)
    return match.confidence * number * (1 - settings.value_details * (1 - weighted_mean(match.details)))


def weight(match: Match) -> float:
    """The weight of an object: its importance, or 0 if it is unverifiable."""
    return match.thing.importance if match.verifiable else 0.0


def attribute_accuracy(matches: Sequence[Match]) -> float:
    """The mean over all attributes and relations of the objects that are there; 1 if there is none."""
    return weighted_mean([check for match in matches if match.there for check in match.details])

"""Step 5: matches → presence, attribute accuracy, coverage and the score of 0 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onprompt.evidence.guesses import SOURCE
from onprompt.evidence.match import Match, weighted_mean
from onprompt.settings import Settings
from onprompt.types import Outcome


@dataclass(frozen=True, slots=True)
class Grade:
    """The seed's two measures, the score that follows, and how much of the prompt could be checked at all."""

    score: int
    value: float
    presence: float
    attribute_accuracy: float
    coverage: float
    guessed: float  # the share of the checks that rest on the matcher's guess alone
    verifiable: bool


def score_of(presence: float, attribute_accuracy: float, settings: Settings) -> int:
    """The seed's thresholds, exactly (seed 000, step 5)."""
    if presence >= settings.presence_4 and attribute_accuracy >= settings.attributes_4:
        return 4
    if presence >= settings.presence_3 and attribute_accuracy >= settings.attributes_3:
        return 3
    if presence >= settings.presence_2:
        return 2
    return 1 if presence >= settings.presence_1 else 0


def grade(matches: Sequence[Match], settings: Settings, whole: float | None = None) -> Grade:
    """Averages over what is verifiable. Where nothing is, the prior stands in and the score follows from it.

    `whole` is the matcher's guess at the picture as a whole, where there is one: it counts in `value` only.
    """
    checks = [check for match in matches for check in match.checks]
    told = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    coverage = len(told) / len(checks) if checks else 0.0
    guessed = sum(check.source == SOURCE for check in told) / len(checks) if checks else 0.0
    weights = [weight(match) for match in matches]
    total = sum(weights)
    verifiable = total > 0
    presence = settings.prior
    if verifiable:
        presence = sum(w * match.score(settings) for w, match in zip(weights, matches, strict=True)) / total
    accuracy = attribute_accuracy(matches)
    # Means of exact scores may fall short of a threshold by rounding alone.
    presence, accuracy = round(presence, 9), round(accuracy, 9)
    score = score_of(presence, accuracy, settings)
    return Grade(score, value_of(matches, whole, settings), presence, accuracy, coverage, guessed, verifiable)


def value_of(matches: Sequence[Match], whole: float | None, settings: Settings) -> float:
    """`value`, in 0 to 1: the mean over the objects of how likely each is there as asked for, and the guess at all."""
    weights = [weight(match) for match in matches]
    total = sum(weights)
    parts = sum(w * worth(match, settings) for w, match in zip(weights, matches, strict=True))
    objects = parts / total if total else settings.prior
    return objects if whole is None else settings.value_whole * whole + (1 - settings.value_whole) * objects


def worth(match: Match, settings: Settings) -> float:
    """How likely an object is there, less what is wrong with its number, its attributes and its relations."""
    if match.thing.absent or match.checks[0].kind != "object" or match.outcome is Outcome.UNVERIFIABLE:
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

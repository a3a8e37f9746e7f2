"""Step 5: matches → presence, attribute accuracy, coverage and the score of 0 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


def grade(matches: Sequence[Match], settings: Settings) -> Grade:
    """Averages over what is verifiable. Where nothing is, the value is the prior and the score follows from it."""
    checks = [check for match in matches for check in match.checks]
    coverage = sum(check.outcome is not Outcome.UNVERIFIABLE for check in checks) / len(checks) if checks else 0.0
    weights = [weight(match) for match in matches]
    total = sum(weights)
    verifiable = total > 0
    presence = settings.prior
    if verifiable:
        presence = sum(w * match.score(settings) for w, match in zip(weights, matches, strict=True)) / total
    accuracy = attribute_accuracy(matches)
    # Means of exact scores may fall short of a threshold by rounding alone.
    presence, accuracy = round(presence, 9), round(accuracy, 9)
    value = presence * (1 + accuracy) / 2  # wrong attributes cost up to half of what is there
    return Grade(score_of(presence, accuracy, settings), value, presence, accuracy, coverage, verifiable)


def weight(match: Match) -> float:
    """How much an object counts: not at all if unverifiable, else by its importance."""
    return match.thing.importance if match.verifiable else 0.0


def attribute_accuracy(matches: Sequence[Match]) -> float:
    """The mean over all attributes and relations of the objects that were found; 1 where there is none."""
    found = [match for match in matches if match.outcome is not Outcome.MISSING]
    return weighted_mean([check for match in found for check in match.details])

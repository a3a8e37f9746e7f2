"""Step 5: matches → presence, attribute accuracy, coverage and `value`. The score follows by the rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onprompt.evidence.estimates import MATCHER, log_odds, log_overall, sigmoid
from onprompt.evidence.matches import Match, weighted_mean
from onprompt.types import Check, Found, Outcome

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
    faultless: bool = True  # no count, attribute or relation is wrong, and no object known only as a broader class
    complete: bool = True  # every claim was checked, and none only estimated

    def reconcile(self, score: int, top: int, settings: Settings) -> tuple[int, float]:
        """Score and value that do not contradict each other.

        If every claim was checked, or none, the value is moved to within `value_band` of the score. Otherwise the
        value takes more into account than was checked: a low one lowers the score.
        """
        band = settings.value_band
        if self.verifiable and not self.complete:
            if score == top and self.value < settings.value_4:
                score -= 1
            while score and score / top - self.value > band:
                score -= 1
        return score, min(max(self.value, score / top - band), score / top + band)


def grade(matches: Sequence[Match], settings: Settings, overall: float | None = None) -> Grade:
    """Averages over what is verifiable, or the prior if nothing is.

    `overall` is the matcher's estimate of the image as a whole, if there is one: it counts only in `value`.
    """
    checks = [check for match in matches for check in match.checks]
    verified = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    coverage = len(verified) / len(checks) if checks else 0.0
    estimated = sum(check.source == MATCHER for check in verified) / len(checks) if checks else 0.0
    total = sum(map(weight, matches))
    presence, odds = settings.prior, log_odds(settings.prior)
    if total > 0:
        presence = sum(weight(match) * match.score(settings) for match in matches) / total
        odds = sum(weight(match) * odds_of(match, settings) for match in matches) / total
    value = value_of(odds, overall, settings)
    # Means of exact scores may fall short of a threshold by rounding alone.
    presence, accuracy = round(presence, 9), round(attribute_accuracy(matches, settings), 9)
    faultless, complete = not faults(checks, settings), not any(map(is_open, checks))
    return Grade(value, presence, accuracy, coverage, estimated, total > 0, faultless, complete)


def value_of(odds: float, overall: float | None, settings: Settings) -> float:
    """A probability, from the mean log-odds of the objects and the overall estimate, which can only lower it."""
    return sigmoid(odds + settings.value_whole * log_overall(overall))


def odds_of(match: Match, settings: Settings) -> float:
    """The part of an object in `value`: the log-odds that it is there, less what is wrong with it."""
    if match.thing.absent or not match.is_object or match.outcome is Outcome.UNVERIFIABLE:
        return log_odds(match.score(settings))
    missing = log_odds(0.0) + settings.asked_shift  # no present object is worth less
    if not match.there:
        return min(log_odds(1 - match.confidence), missing)
    wrong = settings.value_count * (1 - match.count) + settings.value_details * (1 - weighted_mean(match.details))
    return max(log_odds(match.confidence) - wrong, missing)


def weight(match: Match) -> float:
    """The weight of an object: its importance, or 0 if it is unverifiable."""
    return match.thing.importance if match.verifiable else 0.0


def attribute_accuracy(matches: Sequence[Match], settings: Settings) -> float:
    """The mean score of the attributes, relations and counts of each object that is there; 1 if there is none.

    A wrong attribute of one object among several is a smaller fault than that of the only one.
    """
    there = [match for match in matches if match.there and weight(match) > 0 and not match.thing.absent]
    total = sum(map(weight, there))
    return sum(weight(match) * detail_score(match, settings) for match in there) / total if total else 1.0


def is_open(check: Check) -> bool:
    """Whether a claim could not be checked or only be estimated; a relation to a missing object is settled by that."""
    unchecked = check.outcome is Outcome.UNVERIFIABLE and check.finding.kind is not Found.TARGET_MISSING
    return unchecked or check.source == MATCHER


def faults(checks: Sequence[Check], settings: Settings) -> list[Check]:
    """The counts, attributes and relations that are wrong with confidence, and objects of a broader class."""
    wrong = [check for check in checks if check.outcome in (Outcome.PARTIAL, Outcome.MISMATCH)]
    return [check for check in wrong if check.score < settings.attributes_4]


def detail_score(match: Match, settings: Settings) -> float:
    """The mean score of an object's attributes, relations and wrong count.

    What is of low confidence is a minor mismatch at most.
    """
    wrong_counts = [check for check in match.checks if check.claim.kind == "count" and check.score < 1]
    return weighted_mean([tolerant(check, settings) for check in (*match.details, *wrong_counts)])


def tolerant(check: Check, settings: Settings) -> Check:
    """A check whose mismatch is only a minor one if it is of low confidence."""
    weak = check.outcome is Outcome.LOW_CONFIDENCE and check.score < settings.minor_score
    return replace(check, score=settings.minor_score) if weak else check

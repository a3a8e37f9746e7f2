"""Step 3: the number asked for, and the number found."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from onprompt.evidence.matches import WEAK
from onprompt.settings import Settings
from onprompt.types import Check, Claim, Count, Finding, Found, Outcome, Sighting

FEW, CROWD = 3, 10  # as many still pass for "a dog", as many are a crowd


def count_score(count: Count, number: int, settings: Settings) -> float:
    """1 within the range asked for; else a power of the ratio to its nearer end (the protocol's partial penalty)."""
    if count.low <= number and (count.high is None or number <= count.high):
        return 1.0
    if not count.explicit and count.high is None:
        return settings.minor_score  # one, but "dogs" were asked for
    if not count.explicit and count.high == 1:  # "a dog" does not mean "only one dog", but not a pack either
        return settings.article_surplus if number <= FEW else settings.minor_score if number < CROWD else 0.0
    near = count.low if number < count.low else count.high or 0
    score = float((min(near, number) / max(near, number)) ** settings.count_steepness)
    return max(score, settings.minor_score) if abs(number - near) == 1 else score


def count_claim(claim: Claim, count: Count) -> Claim:
    """The claim about the number of an object."""
    return Claim("count", name=claim.name, count=count)


def count_check(
    check: Check,
    count: Count,
    chosen: Sequence[Sighting],
    candidates: Sequence[Sighting],
    crowd: Sighting | None,
    settings: Settings,
) -> Check:
    """The number found against the number asked for; of low confidence if weak sightings could make up the difference.

    Of a crowd only a range is known: a number within it is neither wrong nor right with confidence.
    """
    number, score = len(chosen), count_score(count, len(chosen), settings)
    outcome, confidence = outcome_of(score, settings), min(sighting.confidence for sighting in chosen)
    finding = Finding(Found.COUNTED, number=number)
    faint = [s.confidence for s in candidates if s not in chosen]
    weak = [confidence for confidence in faint if WEAK <= confidence < settings.low_confidence]
    if check.outcome is Outcome.LOW_CONFIDENCE:
        outcome = Outcome.LOW_CONFIDENCE
    if crowd and score < 1 and count.low <= crowd.count[1] and (count.high is None or crowd.count[0] <= count.high):
        outcome, score = Outcome.LOW_CONFIDENCE, settings.minor_score
        finding = Finding(Found.COUNTED, number=crowd.count[0], most=crowd.count[1])
        confidence = min(crowd.confidence, settings.low_confidence)
    elif number < count.low <= number + len(weak):
        outcome, score = Outcome.LOW_CONFIDENCE, expected_score(count, number, weak, settings)
        finding, confidence = replace(finding, confidences=tuple(weak)), max(weak)
    claim = count_claim(check.claim, count)
    return replace(check, claim=claim, finding=finding, outcome=outcome, score=score, confidence=confidence)


def expected_score(count: Count, number: int, weak: Sequence[float], settings: Settings) -> float:
    """The expected count score, over how many of the weak sightings are real.

    The k-th highest confidence is the probability of at least k, so exactly k has the k-th less the next.
    """
    at_least = [1.0, *sorted(weak, reverse=True), 0.0]
    exactly = [lower - upper for lower, upper in itertools.pairwise(at_least)]
    return sum(probability * count_score(count, number + k, settings) for k, probability in enumerate(exactly))


def outcome_of(score: float, settings: Settings) -> Outcome:
    """The outcome of a count score."""
    if score >= settings.article_surplus:
        return Outcome.MATCHED
    return Outcome.PARTIAL if score >= settings.minor_score else Outcome.MISMATCH

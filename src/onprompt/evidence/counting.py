"""Step 3: how many were asked for, how many are there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from onprompt.settings import Settings
from onprompt.types import Check, Claim, Count, Finding, Found, Outcome, Sighting


def count_score(count: Count, number: int, settings: Settings) -> float:
    """1 within the range asked for; else the ratio to its nearer end, to a power (the seed's partial penalty)."""
    if count.low <= number and (count.high is None or number <= count.high):
        return 1.0
    if not count.explicit and count.high is None:
        return settings.minor_score  # one where "dogs" were asked for
    if not count.explicit and count.high == 1:
        return settings.article_surplus  # "a dog" is not "just one dog"
    near = count.low if number < count.low else count.high or 0
    return float((min(near, number) / max(near, number)) ** settings.count_steepness)


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
    """How many there are against how many were asked for; weak sightings that could make it up leave it open.

    Of a crowd only a range is known: a number within it can't be called wrong, nor right with confidence.
    """
    number, score = len(chosen), count_score(count, len(chosen), settings)
    counted = replace(
        check,
        claim=count_claim(check.claim, count),
        finding=Finding(Found.COUNTED, number=number),
        outcome=outcome_of(score, settings),
        score=score,
        confidence=min(sighting.confidence for sighting in chosen),
    )
    if check.outcome is Outcome.LOW_CONFIDENCE:
        counted = replace(counted, outcome=Outcome.LOW_CONFIDENCE)
    if crowd and score < 1 and count.low <= crowd.count[1] and (count.high is None or crowd.count[0] <= count.high):
        return replace(
            counted,
            finding=Finding(Found.COUNTED, number=crowd.count[0], most=crowd.count[1]),
            outcome=Outcome.LOW_CONFIDENCE,
            score=settings.minor_score,
            confidence=min(crowd.confidence, settings.low_confidence),
        )
    weak = [s.confidence for s in candidates if s.confidence < settings.low_confidence and s not in chosen]
    if number >= count.low or number + len(weak) < count.low:
        return counted
    return replace(
        counted,
        finding=Finding(Found.COUNTED, number=number, confidences=tuple(weak)),
        outcome=Outcome.LOW_CONFIDENCE,
        score=expected_score(count, number, weak, settings),
        confidence=max(weak),
    )


def expected_score(count: Count, number: int, weak: Sequence[float], settings: Settings) -> float:
    """The mean count score over how many of the weak sightings may be real.

    The confidence of each is the probability that there are at least so many, so exactly k has the k-th less the next.
    """
    at_least = [1.0, *sorted(weak, reverse=True), 0.0]
    exactly = [more - most for more, most in itertools.pairwise(at_least)]
    return sum(chance * count_score(count, number + k, settings) for k, chance in enumerate(exactly))


def outcome_of(score: float, settings: Settings) -> Outcome:
    """A right number, nearly right, or wrong."""
    if score == 1:
        return Outcome.MATCHED
    return Outcome.PARTIAL if score >= settings.minor_score else Outcome.MISMATCH

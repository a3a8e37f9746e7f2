"""The matcher's estimates: how likely a phrase is true of the image, and how well the image fits overall.

An estimate replaces a check that nothing else can make, supports a weak sighting, and is always marked as one. The
overall estimate has a weight in `value`, and in the probability of objects that no detector knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from onprompt.evidence.image_properties import CONFIDENT, unmeasured
from onprompt.types import Check, Claim, Finding, Found, Outcome, Scene, Trait

if TYPE_CHECKING:
    from onprompt.settings import Settings

MATCHER = "matcher"  # the source of an estimate
MARGIN = 0.02  # probabilities are clipped to this distance from 0 and 1
# What the matcher can't see: numbers, letters, sizes, relative positions, and where something faces.
NOT_ESTIMATED = frozenset({"count", "text", "size", "position", "shape", "sex", "age"})
PLACES = ("left of", "right of", "above", "below", "in front of", "behind", "between", "facing")
Estimate = Callable[[str], float | None]  # how likely a phrase is true of the image, if known


def no_estimate(_: str) -> None:
    """No estimate: there is no matcher, or it does not know the language."""


def log_odds(probability: float) -> float:
    """The log-odds of a probability, clipped."""
    bounded = min(max(probability, MARGIN), 1 - MARGIN)
    return math.log(bounded / (1 - bounded))


def sigmoid(odds: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + math.exp(-odds))


class Whole(NamedTuple):
    """What is known of the image as a whole."""

    artwork: float = 0.0  # the probability that it is drawn or painted
    overall: float | None = None  # the probability that it fits the prompt


NOTHING_KNOWN = Whole()


def fused_probability(
    detected: float | None,
    estimate: float | None,
    settings: Settings,
    whole: Whole = NOTHING_KNOWN,
    calibrated: bool = True,
) -> float | None:
    """How likely an object is there, by a detector (None if it does not know the name) and the matcher.

    Detectors are calibrated on whatever a photo shows, and most classes are in few photos. What a prompt asks for is
    there far more often, which adds to the log-odds. That nothing was detected says less in artwork, and next to
    nothing of the names of an open vocabulary that no confidence was calibrated on: to what is known of them without
    a detector, a sighting adds much and silence takes little.
    """
    odds = 0.0 if estimate is None else log_odds(estimate)
    unaided = (
        settings.estimate_weight * odds + settings.estimate_shift + settings.estimate_whole * log_overall(whole.overall)
    )
    if detected is None:
        return None if estimate is None else round(sigmoid(unaided), 4)
    own = log_odds(detected)
    if own < 0:
        own *= 1 - max(settings.artwork_doubt * whole.artwork, 0.0 if calibrated else settings.open_doubt)
    return round(sigmoid(own + (settings.matcher_weight * odds + settings.asked_shift if calibrated else unaided)), 4)


def log_overall(overall: float | None) -> float:
    """The logarithm of the overall estimate; 0 if there is none."""
    return 0.0 if overall is None else math.log(max(overall, MARGIN))


def can_estimate(claim: Claim) -> bool:
    """Whether the matcher can judge a claim about an object."""
    return not (claim.kind in NOT_ESTIMATED or claim.negated or claim.value.startswith(PLACES))


def claim_estimate(claim: Claim, estimate: Estimate) -> float | None:
    """How likely a claim is true by the matcher alone; None if it can't tell."""
    return estimate(phrase_of(claim)) if can_estimate(claim) else None


def phrase_of(claim: Claim) -> str:
    """An attribute or relation as a phrase: `brown owl`, `owl on a branch`."""
    if claim.kind == "relation":
        return f"{claim.name} {claim.value} {claim.target}"
    return f"{claim.name} {claim.value}" if claim.kind == "action" else f"{claim.value} {claim.name}"


def estimate_open(check: Check, estimate: Estimate) -> Check:
    """An unverifiable claim with the matcher's estimate, which is shown and stays out of every score.

    The matcher knows what is in an image, but hardly which object has which colour or does what.
    """
    if check.outcome is not Outcome.UNVERIFIABLE or check.finding.kind is Found.TARGET_MISSING:
        return check
    probability = claim_estimate(check.claim, estimate)
    if probability is None:
        return check
    finding = Finding(Found.ESTIMATED, probability=probability)
    return replace(check, finding=finding, confidence=probability, source=MATCHER)


def contest(check: Check, estimate: Estimate) -> Check:
    """A mismatch that the matcher contradicts is of low confidence.

    Not for colours, which are measured far better than they are estimated.
    """
    if check.outcome is not Outcome.MISMATCH or check.claim.kind == "color":
        return check
    probability = claim_estimate(check.claim, estimate)
    if probability is None or probability < CONFIDENT:
        return check
    finding = replace(check.finding, estimate=probability)
    return replace(check, finding=finding, outcome=Outcome.LOW_CONFIDENCE, confidence=1 - probability)


def estimated_presence(check: Check, probability: float, settings: Settings, undecided: bool = True) -> Check:
    """The check of an object that no detector knows: an estimate alone is of low confidence and earns no full marks.

    Between likely and unlikely it is unverifiable, unless something else about it could be checked (not `undecided`).
    """
    finding = Finding(Found.ESTIMATED, probability=probability)
    check = replace(check, finding=finding, confidence=probability, source=MATCHER)
    if undecided and settings.estimate_low <= probability < settings.estimate_high:
        return check
    return replace(check, outcome=Outcome.LOW_CONFIDENCE, score=settings.estimate_score)


def overall_estimate(prompt: str, probability: float) -> Check:
    """How likely the prompt describes this image."""
    return global_estimate(Claim("whole", prompt), probability)


def property_estimates(scene: Scene, properties: Sequence[Trait], estimate: Estimate) -> tuple[Check, ...]:
    """Estimates of the properties of the image that nothing measures."""
    values = dict.fromkeys(asked.value for asked in unmeasured(scene, properties))
    probabilities = [(value, estimate(value)) for value in values]
    return tuple(global_estimate(Claim("property", value), p) for value, p in probabilities if p is not None)


def global_estimate(claim: Claim, probability: float) -> Check:
    """A claim about the image as a whole that only the matcher can judge: always of low confidence."""
    finding, confidence = Finding(Found.ESTIMATED, probability=probability), max(probability, 1 - probability)
    return Check(claim, finding, Outcome.LOW_CONFIDENCE, probability, confidence, MATCHER)


def disagrees(presence: float, overall: float | None, settings: Settings) -> bool:
    """Whether the overall estimate is far from the evidence."""
    return overall is not None and abs(overall - presence) >= settings.matcher_disagrees

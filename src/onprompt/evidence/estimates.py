"""What the matcher estimates: how likely a phrase is true of the picture, and how well the picture fits as a whole.

An estimate stands in where nothing else can check a claim, helps a weak sighting, and is always marked as one. The
estimate of the whole never enters the seed's grade; it has a weight in `value`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onprompt.evidence.image_properties import CONFIDENT, NOT_SHOWN, measurement
from onprompt.types import Check, Claim, Finding, Found, Outcome, Scene, Trait

if TYPE_CHECKING:
    from onprompt.settings import Settings

MATCHER = "matcher"  # the source of an estimate
NEAREST = 0.02  # how near to impossible or certain a probability is taken to be at most
# What the matcher can't see: numbers, letters, sizes, and where things are relative to each other.
NOT_ESTIMATED = frozenset({"count", "text", "size", "position", "shape"})
PLACES = ("left of", "right of", "above", "below", "in front of", "behind", "between", "facing")
Estimate = Callable[[str], float | None]  # how likely a phrase is true of the picture; None where nobody knows


def no_estimate(_: str) -> None:
    """Where there is no matcher, or it does not know the language."""


def log_odds(probability: float) -> float:
    """0 for even odds."""
    bounded = min(max(probability, NEAREST), 1 - NEAREST)
    return math.log(bounded / (1 - bounded))


def sigmoid(odds: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + math.exp(-odds))


def fused_probability(detected: float | None, estimate: float | None, settings: Settings) -> float | None:
    """How likely an object is there, by a detector (None: it does not know the name) and by the matcher.

    Their log-odds are added with fitted weights. An estimate never lowers the confidence of a confident sighting.
    """
    if estimate is None:
        return detected
    if detected is None:
        return round(sigmoid(log_odds(estimate) + settings.guess_shift), 4)
    odds = settings.fuse_detector * log_odds(detected) + settings.fuse_matcher * log_odds(estimate)
    fused = round(sigmoid(odds + settings.fuse_shift), 4)
    return max(detected, fused) if detected >= settings.low_confidence else fused


def can_estimate(claim: Claim) -> bool:
    """Whether the matcher has an eye for a claim about an object."""
    place = claim.kind == "relation" and claim.value.startswith(PLACES)
    return not (claim.kind in NOT_ESTIMATED or claim.negated or place)


def claim_estimate(claim: Claim, estimate: Estimate, settings: Settings) -> float | None:
    """How likely a claim is true by the matcher alone; None where it can't tell."""
    return fused_probability(None, estimate(phrase_of(claim)), settings) if can_estimate(claim) else None


def phrase_of(claim: Claim) -> str:
    """An attribute or relation in words that may stand alone: `brown owl`, `owl on a branch`."""
    if claim.kind == "relation":
        return f"{claim.name} {claim.value} {claim.target}"
    return f"{claim.name} {claim.value}" if claim.is_interaction else f"{claim.value} {claim.name}"


def estimate_open(check: Check, estimate: Estimate, settings: Settings) -> Check:
    """A claim that could not be checked, by the matcher. It may speak for a claim, never against it."""
    if check.outcome is not Outcome.UNVERIFIABLE:
        return check
    probability = claim_estimate(check.claim, estimate, settings)
    if probability is None or probability < settings.low_confidence:
        return check
    finding = Finding(Found.ESTIMATED, probability=probability)
    return replace(check, finding=finding, outcome=Outcome.MATCHED, score=1.0, confidence=probability, source=MATCHER)


def contest(check: Check, estimate: Estimate, settings: Settings) -> Check:
    """A claim that was measured to be wrong and looks right: measures that disagree are of low confidence.

    Colours are measured far better than they are estimated.
    """
    if check.outcome is not Outcome.MISMATCH or check.claim.kind == "color":
        return check
    probability = claim_estimate(check.claim, estimate, settings)
    if probability is None or probability < CONFIDENT:
        return check
    finding = replace(check.finding, estimate=probability)
    return replace(check, finding=finding, outcome=Outcome.LOW_CONFIDENCE, confidence=1 - probability)


def estimated_presence(check: Check, probability: float, settings: Settings) -> Check:
    """An object that nobody located, by the thresholds that sightings have."""
    finding = Finding(Found.ESTIMATED, probability=probability)
    check = replace(check, source=MATCHER, finding=finding, confidence=probability, score=1.0)
    if probability < settings.missing_below:
        return replace(check, outcome=Outcome.MISSING, score=0.0, confidence=round(1 - probability, 4))
    confident = probability >= settings.low_confidence
    return replace(check, outcome=Outcome.MATCHED if confident else Outcome.LOW_CONFIDENCE)


def whole_estimate(prompt: str, probability: float) -> Check:
    """How likely the prompt describes this picture, and not another one."""
    return beside(Claim("whole", prompt), probability)


def property_estimates(scene: Scene, properties: Sequence[Trait], estimate: Estimate) -> tuple[Check, ...]:
    """An estimate of all that the prompt says of the picture as a whole and that nothing measures."""
    asked = (each for each in scene.properties if each.kind not in NOT_SHOWN and measurement(each, properties) is None)
    probabilities = [(value, estimate(value)) for value in dict.fromkeys(each.value for each in asked)]
    return tuple(beside(Claim("property", value), p) for value, p in probabilities if p is not None)


def beside(claim: Claim, probability: float) -> Check:
    """A claim about the picture as a whole that only the matcher can speak to: always of low confidence."""
    finding, confidence = Finding(Found.ESTIMATED, probability=probability), max(probability, 1 - probability)
    return Check(claim, finding, Outcome.LOW_CONFIDENCE, probability, confidence, MATCHER)


def disagrees(presence: float, whole: float | None, settings: Settings) -> bool:
    """Whether the estimate of the whole is far from the evidence."""
    return whole is not None and abs(whole - presence) >= settings.matcher_disagrees

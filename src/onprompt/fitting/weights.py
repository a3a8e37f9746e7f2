"""Weights that agree best with ratings, kept near the defaults; and weights without any rating."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.models.voices import EVIDENCE
from onprompt.report.statistics import Array, Levels, ranks, ratio, to_levels
from onprompt.wording import plural

SPREAD = 1.0  # the standard deviation that log-weights are expected to have around the defaults: bench/fit.py
SMALLEST = 0.01  # weight of a model: with 0 it could not speak alone where all others fail
DIGITS = 3  # of weights in a file
MIN_VOICES = 3  # of two, one correlation can't tell who is better
MIN_SAMPLES = 50
FACTORINGS = 200
SAME = 1e-9  # standard deviation of scores that do not differ
LARGEST = 0.95  # share of a voice's variance that the factor may explain: none is perfect
STEP = 1e-6  # of a difference
SMALL = 1e-7  # gradient at which it ends
DESCENTS = 200
ENOUGH = 1e-4  # share of the descent that the slope promises, which a step must bring
SHORTEST, LONGEST = 1e-10, 1.0  # steps: an estimate may be far off at first


@dataclass(frozen=True, slots=True)
class Voices:
    """What voices say of some samples: a column per model, and one for the evidence.

    NaN where a model gave no score, or where nothing could be checked.
    """

    models: tuple[str, ...]
    values: Array
    defaults: Array  # the models' weights
    evidence: Array  # no column if the evidence has no voice
    evidence_weight: float = 0.2

    def take(self, places: Levels) -> Voices:
        """What they say of some of the samples."""
        return replace(self, values=self.values[places], evidence=self.evidence[places])

    @property
    def names(self) -> tuple[str, ...]:
        """All voices, the evidence last."""
        return (*self.models, *([EVIDENCE] if self.evidence.shape[1] else []))

    def column(self, name: str) -> Array:
        """What one voice says."""
        values: Array = self.values[:, self.models.index(name)] if name in self.models else self.evidence[:, 0]
        return values


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight per model, and that of the evidence beside all models together."""

    models: Array
    evidence: float


def default_weights(voices: Voices) -> Weights:
    """The weights that a jury has by default."""
    return Weights(voices.defaults, voices.evidence_weight)


def equal_weights(voices: Voices) -> Weights:
    """The same weight for each model and the evidence."""
    number = len(voices.models)
    return Weights(np.ones(number), 1 / max(number, 1))


def jury_values(voices: Voices, weights: Weights) -> Array:
    """The jury's value of each sample, as `models.voices` computes it for one."""
    heard = np.where(np.isfinite(voices.values), weights.models, 0.0)
    models = ratio((heard * np.nan_to_num(voices.values)).sum(axis=1), heard.sum(axis=1))
    if not voices.evidence.shape[1]:
        return models
    measured = voices.evidence[:, 0]
    if not voices.models:
        return measured
    share = np.where(np.isfinite(measured), weights.evidence, 0.0)
    combined: Array = (models + share * np.nan_to_num(measured)) / (1 + share)
    return combined


def as_settings(voices: Voices, weights: Weights) -> dict[str, Any]:
    """Weights as the settings that a jury reads."""
    found: dict[str, Any] = {}
    if voices.models:
        rounded = np.maximum(np.round(weights.models, DIGITS), SMALLEST).tolist()
        found["jury_weights"] = dict(zip(voices.models, rounded, strict=True))
        if voices.evidence.shape[1]:
            found["jury_evidence_weight"] = round(float(weights.evidence), DIGITS)
    return found


def fit(voices: Voices, human: Array, prompts: int) -> Weights:
    """The most likely weights, if ratings' ranks are linear in the jury's value and log-weights normal around defaults.

    Prompts are counted in place of ratings: images of one prompt tend to be rated, and misjudged, alike.
    """
    rated = standardized(order(human))
    free = len(voices.models) + bool(voices.models and voices.evidence.shape[1])
    steps = np.zeros(free if free > 1 else 0)

    def loss(steps: Array) -> float:
        agreement = float(np.mean(standardized(jury_values(voices, scaled(voices, steps))) * rated))
        return prompts / 2 * math.log(1 - min(agreement * abs(agreement), 0.9999)) + float(steps @ steps) / (
            2 * SPREAD**2
        )

    return scaled(voices, minimize(loss, steps) if len(steps) else steps)


def scaled(voices: Voices, steps: Array) -> Weights:
    """The defaults times the exponentials of some steps; models' weights keep their sum."""
    if not len(steps):
        return default_weights(voices)
    number = len(voices.models)
    models = voices.defaults * np.exp(steps[:number])
    models = models * voices.defaults.sum() / models.sum()
    return Weights(models, voices.evidence_weight * math.exp(sum(steps[number:])))


def order(values: Array) -> Array:
    """The rank of each value; ties share their mean rank."""
    found: Array = ranks(to_levels(values), np.ones((1, len(values))))[0]
    return found


def standardized(values: Array) -> Array:
    """Values with mean 0 and standard deviation 1; zeros if they are all the same."""
    centred = values - values.mean()
    deviation = centred.std()
    return np.zeros(len(values)) if deviation < 1e-12 else centred / deviation


def one_factor_weights(voices: Voices) -> Weights:
    """Each voice by how much it tells of what all have in common; the models' weights are 1 on average.

    It trusts the majority: voices that make the same mistakes look better than they are.
    """
    names = voices.names
    if len(names) < MIN_VOICES:
        raise UserError(
            f"without ratings, weights need at least {MIN_VOICES} voices, of which each is compared with the others; "
            f"this run has {', '.join(names) or 'none'}"
        )
    table = np.column_stack([voices.column(name) for name in names])
    complete = table[np.isfinite(table).all(axis=1)]
    if len(complete) < MIN_SAMPLES:
        raise UserError(
            f"too few samples to fit weights: {plural(len(complete), 'sample')} scored by all of {', '.join(names)}, "
            f"and at least {MIN_SAMPLES} are needed"
        )
    loadings = np.zeros(len(names))
    varies = complete.std(axis=0) > SAME  # who gives every sample the same score agrees with nobody
    if varies.sum() < MIN_VOICES:
        raise UserError(
            f"fewer than {MIN_VOICES} voices give different scores to different samples: nothing to compare"
        )
    loadings[varies] = one_factor(np.asarray(np.corrcoef(complete[:, varies].T)))
    weights = np.maximum(loadings, 0.0) / (1 - np.minimum(loadings**2, LARGEST))
    number = len(voices.models)
    if not weights[:number].any():
        raise UserError("the models of this run do not agree with each other at all: there are no weights to find")
    evidence = weights[number:].sum() / weights[:number].sum()
    return Weights(weights[:number] * number / weights[:number].sum(), float(evidence))


def one_factor(correlation: Array) -> Array:
    """How strongly each voice depends on what all have in common, by principal axis factoring."""
    common = np.full(len(correlation), 0.5)
    loadings = common
    for _ in range(FACTORINGS):
        reduced = correlation.copy()
        np.fill_diagonal(reduced, common)
        roots, axes = np.linalg.eigh(reduced)
        loadings = axes[:, -1] * np.sqrt(max(roots[-1], 0.0))
        common = np.clip(loadings**2, 0.01, LARGEST)
    signed: Array = loadings * np.sign(loadings.sum())
    return signed


def minimize(loss: Callable[[Array], float], start: Array) -> Array:
    """Where the loss is smallest, near the start."""
    x, slope, inverse = start, gradient(loss, start), np.eye(len(start))
    for _ in range(DESCENTS):
        if np.abs(slope).max(initial=0.0) < SMALL:
            break
        if slope @ inverse @ slope <= 0:  # rounding has spoilt the estimate
            inverse = np.eye(len(start))
        direction = -inverse @ slope
        direction *= min(1.0, LONGEST / float(np.linalg.norm(direction)))
        moved = line_search(loss, x, direction, float(slope @ direction))
        if moved is None:
            break
        before, slope = slope, gradient(loss, moved)
        inverse = updated(inverse, moved - x, slope - before)
        x = moved
    return x


def gradient(loss: Callable[[Array], float], x: Array) -> Array:
    """Central differences."""
    steps = STEP * np.eye(len(x))
    return np.array([(loss(x + step) - loss(x - step)) / (2 * STEP) for step in steps])


def line_search(loss: Callable[[Array], float], x: Array, direction: Array, descent: float) -> Array | None:
    """The first of ever shorter steps that descends enough; None if none does."""
    here, length = loss(x), 1.0
    while length > SHORTEST:
        if loss(x + length * direction) <= here + ENOUGH * length * descent:
            moved: Array = x + length * direction
            return moved
        length /= 2
    return None


def updated(inverse: Array, step: Array, change: Array) -> Array:
    """The estimate of the inverse second derivatives, with what the last step has shown."""
    along = float(step @ change)
    if along <= 1e-12:
        return inverse
    left = np.eye(len(step)) - np.outer(step, change) / along
    new: Array = left @ inverse @ left.T + np.outer(step, step) / along
    return new

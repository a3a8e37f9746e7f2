"""Weights that agree best with ratings, kept near the defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from onprompt.fitting.minimize import minimize
from onprompt.models.voices import EVIDENCE
from onprompt.report.statistics import Array, Levels, ranks, ratio, to_levels

SPREAD = 1.0  # the standard deviation that log-weights are expected to have around the defaults: bench/fit.py
SMALLEST = 0.01  # weight of a model: with 0 it could not speak alone where all others fail
DIGITS = 3  # of weights in a file
ROUNDS = 5  # of weights given the parts, and parts given the weights


@dataclass(frozen=True, slots=True)
class Voices:
    """What voices say of some samples: a column per model, and a column per way of grading the evidence.

    NaN where a model gave no score, or where nothing could be checked.
    """

    models: tuple[str, ...]
    values: Array
    defaults: Array  # the models' weights
    evidence: Array  # no columns if the evidence has no voice
    parts: tuple[Mapping[str, float], ...] = ({},)  # the settings of each way of grading, the defaults first
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
    """A weight per model, that of the evidence beside all models together, and how the evidence is graded."""

    models: Array
    evidence: float
    way: int = 0


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
    measured = voices.evidence[:, weights.way]
    if not voices.models:
        return measured
    share = np.where(np.isfinite(measured), weights.evidence, 0.0)
    combined: Array = (models + share * np.nan_to_num(measured)) / (1 + share)
    return combined


def as_settings(voices: Voices, weights: Weights) -> dict[str, Any]:
    """Weights as the settings that a jury and the evidence read, without those that are the defaults of a part."""
    found: dict[str, Any] = {}
    if voices.models:
        rounded = np.maximum(np.round(weights.models, DIGITS), SMALLEST).tolist()
        found["jury_weights"] = dict(zip(voices.models, rounded, strict=True))
        if voices.evidence.shape[1]:
            found["jury_evidence_weight"] = round(float(weights.evidence), DIGITS)
    usual = voices.parts[0]
    return found | {name: value for name, value in voices.parts[weights.way].items() if value != usual[name]}


def fit(voices: Voices, human: Array, prompts: int) -> Weights:
    """The most likely weights, if ratings' ranks are linear in the jury's value and log-weights normal around defaults.

    Prompts are counted in place of ratings: images of one prompt tend to be rated, and misjudged, alike.
    """
    rated = standardized(order(human))
    free = len(voices.models) + bool(voices.models and voices.evidence.shape[1])
    steps, way = np.zeros(free if free > 1 else 0), 0

    def loss(steps: Array, way: int) -> float:
        agreement = float(np.mean(standardized(jury_values(voices, scaled(voices, steps, way))) * rated))
        moved = float(steps @ steps) + sum(distance(voices.parts, way))
        return prompts / 2 * math.log(1 - min(agreement * abs(agreement), 0.9999)) + moved / (2 * SPREAD**2)

    for _ in range(ROUNDS):
        if len(steps):
            steps = minimize(partial(loss, way=way), steps)
        before, way = way, min(range(len(voices.parts)), key=lambda other: loss(steps, other))
        if way == before:
            break
    return scaled(voices, steps, way)


def scaled(voices: Voices, steps: Array, way: int) -> Weights:
    """The defaults times the exponentials of some steps; models' weights keep their sum."""
    if not len(steps):
        return replace(default_weights(voices), way=way)
    number = len(voices.models)
    models = voices.defaults * np.exp(steps[:number])
    models = models * voices.defaults.sum() / models.sum()
    return Weights(models, voices.evidence_weight * math.exp(sum(steps[number:])), way)


def distance(parts: tuple[Mapping[str, float], ...], way: int) -> list[float]:
    """The squared log-ratios of a way of grading the evidence to the default."""
    return [math.log(value / parts[0][name]) ** 2 for name, value in parts[way].items()]


def order(values: Array) -> Array:
    """The rank of each value; ties share their mean rank."""
    found: Array = ranks(to_levels(values), np.ones((1, len(values))))[0]
    return found


def standardized(values: Array) -> Array:
    """Values with mean 0 and standard deviation 1; zeros if they are all the same."""
    centred = values - values.mean()
    deviation = centred.std()
    return np.zeros(len(values)) if deviation < 1e-12 else centred / deviation

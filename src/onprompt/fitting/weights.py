"""Weights of voices that agree best with ratings, kept near the defaults; and weights without any rating."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.models.voices import EVIDENCE, weight_of
from onprompt.report.statistics import Array, Levels, ranks, ratio, to_levels
from onprompt.runs.reading import Run, StoredDocument
from onprompt.settings import Settings
from onprompt.types import Flag
from onprompt.wording import plural

SPREAD = 1.0  # the standard deviation that log-weights are expected to have around the defaults: bench/fit.py
SMALLEST = 0.01  # weight of a model: with 0 it could not speak alone where all others fail
DIGITS = 3  # of weights in a file
MIN_VOICES = 3  # of two, one correlation can't tell who is better
MIN_SAMPLES = 50
FACTORINGS = 200
SAME = 1e-9  # standard deviation of scores that do not differ
LARGEST = 0.95  # share of a voice's variance that the factor may explain: none is perfect
STEP = 1e-4  # of a difference
SHORTEST, LONGEST = 1e-7, 1.0  # steps: one that is shorter is the last, and the first may be far off
DESCENTS, STRONGEST = 300, 1e12  # steps that are tried, and the damping at which none is left to try


@dataclass(frozen=True, slots=True)
class Voices:
    """What voices say of some samples: a column per model, and the last for the evidence, if that has a voice.

    NaN where a model gave no score, or where nothing could be checked. A weight of the evidence is beside all models
    together; those of models only mean something beside each other.
    """

    names: tuple[str, ...]
    values: Array
    defaults: Array  # weights

    @property
    def models(self) -> tuple[str, ...]:
        """All voices but the evidence."""
        return tuple(name for name in self.names if name != EVIDENCE)

    def take(self, places: Levels) -> Voices:
        """What they say of some of the samples."""
        return replace(self, values=self.values[places])


def read(run: Run, rated: Collection[str] | None = None) -> tuple[list[str], Voices]:
    """The samples with a score, all or those that are rated, and what each voice says of them: nothing is asked."""
    said = {name: scores_of(heard) for _, name, heard in run.documents() if rated is None or name in rated}
    said = {name: scores for name, scores in said.items() if scores}
    found = dict.fromkeys(voice for scores in said.values() for voice in scores)
    names = (*(name for name in found if name != EVIDENCE), *([EVIDENCE] if EVIDENCE in found else []))
    values = [[scores.get(name, math.nan) for name in names] for scores in said.values()]
    usual = Settings()
    weights = [usual.jury_evidence_weight if name == EVIDENCE else weight_of(name, usual) for name in names]
    return list(said), Voices(names, np.array(values, float).reshape(len(said), len(names)), np.array(weights))


def scores_of(heard: StoredDocument) -> dict[str, float]:
    """What each voice of a stored verdict says; nothing if it is not of a jury or the evidence, or a placeholder."""
    if heard.judge == EVIDENCE and Flag.NOT_VERIFIABLE not in heard.flags:
        return {EVIDENCE: heard.value}
    return {voice.name: voice.value for voice in heard.voices if voice.value is not None}


def equal_weights(voices: Voices) -> Array:
    """The same weight for each model and the evidence."""
    return np.array([1 / max(len(voices.models), 1) if name == EVIDENCE else 1.0 for name in voices.names])


def jury_values(voices: Voices, weights: Array) -> Array:
    """The jury's value of each sample, as `models.voices` computes it for one."""
    number = len(voices.models)
    heard, said = np.where(np.isfinite(voices.values), weights, 0.0), np.nan_to_num(voices.values)
    models = ratio((heard * said)[:, :number].sum(axis=1), heard[:, :number].sum(axis=1))
    if number == len(voices.names):
        return models
    if not number:
        return np.asarray(voices.values[:, 0])
    combined: Array = (models + heard[:, -1] * said[:, -1]) / (1 + heard[:, -1])
    return combined


def as_settings(voices: Voices, weights: Array) -> dict[str, Any]:
    """Weights as the settings that a jury reads."""
    number = len(voices.models)
    rounded = np.maximum(np.round(weights[:number], DIGITS), SMALLEST).tolist()
    found: dict[str, Any] = {"jury_weights": dict(zip(voices.models, rounded, strict=True))} if number else {}
    if found and number < len(voices.names):
        found["jury_evidence_weight"] = round(float(weights[-1]), DIGITS)
    return found


def fit(voices: Voices, human: Array, prompts: int) -> Array:
    """The most likely weights, if ratings' ranks are linear in the jury's value and log-weights normal around defaults.

    Prompts are counted in place of ratings: images of one prompt tend to be rated, and misjudged, alike.
    """
    rated = standardized(order(human))

    def loss(steps: Array) -> float:
        agreement = float(np.mean(standardized(jury_values(voices, scaled(voices, steps))) * rated))
        fitted = prompts / 2 * math.log(1 - min(agreement * abs(agreement), 0.9999))
        return fitted + float(steps @ steps) / (2 * SPREAD**2)

    if len(voices.names) < 2:
        return voices.defaults
    return scaled(voices, minimize(loss, np.zeros(len(voices.names))))


def scaled(voices: Voices, steps: Array) -> Array:
    """The defaults times the exponentials of some steps; models' weights keep their sum."""
    weights, models = voices.defaults * np.exp(steps), slice(len(voices.models))
    weights[models] *= voices.defaults[models].sum() / weights[models].sum()
    return weights


def order(values: Array) -> Array:
    """The rank of each value; ties share their mean rank."""
    found: Array = ranks(to_levels(values), np.ones((1, len(values))))[0]
    return found


def standardized(values: Array) -> Array:
    """Values with mean 0 and standard deviation 1; zeros if they are all the same."""
    centred = values - values.mean()
    deviation = centred.std()
    return np.zeros(len(values)) if deviation < 1e-12 else centred / deviation


def minimize(loss: Callable[[Array], float], start: Array) -> Array:
    """Where the loss is smallest, near the start: Newton's method, damped wherever a step does not descend."""
    x, here, damping = start, loss(start), 1e-3
    slope, curve = derivatives(loss, x)
    for _ in range(DESCENTS):
        step = -np.linalg.solve(curve + damping * np.eye(len(x)), slope)
        step *= LONGEST / max(float(np.linalg.norm(step)), LONGEST)
        below = loss(x + step)
        if below < here:
            x, here, damping = x + step, below, damping / 10
            if np.abs(step).max() < SHORTEST:
                break
            slope, curve = derivatives(loss, x)
        elif (damping := damping * 10) > STRONGEST:
            break
    return x


def derivatives(loss: Callable[[Array], float], x: Array) -> tuple[Array, Array]:
    """The first and the second, by central differences."""
    steps = STEP * np.eye(len(x))
    slope = np.array([loss(x + a) - loss(x - a) for a in steps]) / (2 * STEP)
    corners = [[loss(x + a + b) - loss(x + a - b) - loss(x - a + b) + loss(x - a - b) for a in steps] for b in steps]
    return slope, np.array(corners) / (4 * STEP**2)


def one_factor_weights(voices: Voices) -> Array:
    """Each voice by how much it tells of what all have in common; the models' weights are 1 on average.

    It trusts the majority: voices that make the same mistakes look better than they are.
    """
    names, number = voices.names, len(voices.models)
    if len(names) < MIN_VOICES:
        raise UserError(
            f"without ratings, weights need at least {MIN_VOICES} voices, of which each is compared with the others; "
            f"this run has {', '.join(names) or 'none'}"
        )
    complete = voices.values[np.isfinite(voices.values).all(axis=1)]
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
    total = weights[:number].sum()
    if not total:
        raise UserError("the models of this run do not agree with each other at all: there are no weights to find")
    weights[:number] *= number
    return np.asarray(weights / total)


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

"""Weights without any rating: by a one-factor model of how voices agree with each other."""

from __future__ import annotations

import numpy as np

from onprompt.errors import UserError
from onprompt.fitting.weights import Voices, Weights
from onprompt.report.statistics import Array
from onprompt.wording import plural

MIN_VOICES = 3  # of two, one correlation can't tell who is better
MIN_SAMPLES = 50
STEPS = 200
SAME = 1e-9  # standard deviation of scores that do not differ
LARGEST = 0.95  # share of a voice's variance that the factor may explain: none is perfect


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
    for _ in range(STEPS):
        reduced = correlation.copy()
        np.fill_diagonal(reduced, common)
        roots, axes = np.linalg.eigh(reduced)
        loadings = axes[:, -1] * np.sqrt(max(roots[-1], 0.0))
        common = np.clip(loadings**2, 0.01, LARGEST)
    signed: Array = loadings * np.sign(loadings.sum())
    return signed

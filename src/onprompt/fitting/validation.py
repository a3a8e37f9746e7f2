"""How much fitted weights bring, on prompts that they were not fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from onprompt.errors import UserError
from onprompt.fitting.weights import Voices, as_settings, equal_weights, fit, jury_values, order
from onprompt.report import statistics
from onprompt.report.statistics import Array, Estimate, Levels
from onprompt.wording import plural

FOLDS = 10
RESAMPLES = 1000
SEED = 0
MIN_RATED = 50  # samples; bench/fit.py shows what fifty bring
MIN_PROMPTS = 8  # with fewer, a fold leaves out too much


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights by ratings, and what they bring where they were not fitted: Spearman, and differences of Spearman."""

    weights: Array
    samples: int
    prompts: int
    fitted: Estimate
    defaults: Estimate
    equal: Estimate
    over_defaults: Estimate
    over_equal: Estimate
    changed: bool = True  # whether the weights by all ratings are others than the defaults
    unused: int = 0  # rated samples that the run lacks, or has no score for

    @property
    def helps(self) -> bool:
        """Whether the fitted weights agree better with the raters than the defaults do."""
        return self.changed and (self.over_defaults.value or 0.0) > 0


def fit_and_validate(voices: Voices, human: Array, prompt: Levels) -> Fit:
    """Weights by all ratings; every figure by weights that never saw a rating of the same prompt."""
    check(voices, human, prompt)
    held_out = np.full(len(human), np.nan)
    for train, test in folds(prompt):
        weights = fit(voices.take(train), human[train], len(set(prompt[train])))
        # Values by different weights can't be compared with each other; ranks among all samples can.
        held_out[test] = order(jury_values(voices, weights))[test]
    default, equal = (jury_values(voices, weights) for weights in (voices.defaults, equal_weights(voices)))
    measures = [statistics.spearman(values, human) for values in (held_out, default, equal)]
    draws = [
        np.array([measure(weights[:, prompt]) for measure in measures])
        for weights in statistics.bootstrap_weights(prompt.max() + 1, len(human), RESAMPLES, SEED)
    ]
    exact = np.array([measure(np.ones((1, len(human))))[0] for measure in measures])

    def estimate(*signs: int) -> Estimate:
        combined = [np.tensordot(signs, drawn, 1) for drawn in draws]
        return statistics.bootstrap_estimate(float(exact @ signs), combined, int(prompt.max()) + 1, len(human))

    figures = estimate(1, 0, 0), estimate(0, 1, 0), estimate(0, 0, 1), estimate(1, -1, 0), estimate(1, 0, -1)
    weights = fit(voices, human, len(set(prompt)))
    changed = as_settings(voices, weights) != as_settings(voices, voices.defaults)
    return Fit(weights, len(human), len(set(prompt)), *figures, changed)


def check(voices: Voices, human: Array, prompt: Levels) -> None:
    """Refuse what no weights can be fitted to."""
    if len(voices.names) < 2:
        raise UserError("nothing to fit: a single voice has no weight; run a jury (--model A --model B)")
    if len(human) < MIN_RATED:
        raise UserError(
            f"too few ratings to fit weights: {plural(len(human), 'rated sample')} with a verdict, and at least "
            f"{MIN_RATED} are needed; the defaults are better than a guess"
        )
    if (prompts := len(set(prompt))) < MIN_PROMPTS:
        raise UserError(
            f"too few prompts to fit weights: {prompts}, and at least {MIN_PROMPTS} are needed, since weights are "
            "tested on prompts that they were not fitted to"
        )
    if np.ptp(human) == 0:
        raise UserError(f"all mean ratings are {human[0]:g}: nothing to fit")


def folds(prompt: Levels) -> Iterator[tuple[Levels, Levels]]:
    """Places to fit to and places to test on, with whole prompts left out."""
    number = int(prompt.max()) + 1
    shuffled = np.random.default_rng(SEED).permutation(number)
    fold = np.empty(number, np.intp)
    fold[shuffled] = np.arange(number) % min(FOLDS, number)
    of_item = fold[prompt]
    for each in range(min(FOLDS, number)):
        yield np.flatnonzero(of_item != each), np.flatnonzero(of_item == each)

"""How much fitted weights bring, on prompts that they were not fitted to: as figures, in words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.fitting.weights import Voices, as_settings, equal_weights, fit, jury_values, order
from onprompt.models.voices import EVIDENCE
from onprompt.report import statistics
from onprompt.report.statistics import Array, Estimate, Levels, rounded
from onprompt.wording import plural

FOLDS = 10
RESAMPLES = 1000
SEED = 0
MIN_RATED = 50  # samples; bench/fit.py shows what fifty bring
MIN_PROMPTS = 8  # with fewer, a fold leaves out too much
# Figures by name: their titles, and what each is of Spearman by fitted, default and equal weights.
FIGURES = {
    "fitted": ("fitted weights", (1, 0, 0)),
    "defaults": ("default weights", (0, 1, 0)),
    "equal": ("equal weights", (0, 0, 1)),
    "over_defaults": ("fitted − default", (1, -1, 0)),
    "over_equal": ("fitted − equal", (1, 0, -1)),
}
NO_RATINGS = (
    "Without ratings, weights follow from how the voices agree with each other (one-factor model). Voices that make\n"
    "the same mistakes look better than they are, and what the weights bring can't be measured without ratings."
)


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights by ratings, and what they bring where they were not fitted."""

    weights: Array
    samples: int
    prompts: int
    figures: Mapping[str, Estimate]  # by the names of `FIGURES`
    changed: bool = True  # whether the weights by all ratings are others than the defaults
    unused: int = 0  # rated samples that the run lacks, or has no score for

    @property
    def helps(self) -> bool:
        """Whether the fitted weights agree better with the raters than the defaults do."""
        return self.changed and (self.figures["over_defaults"].value or 0.0) > 0

    @property
    def conclusion(self) -> str:
        """The result in words."""
        low = self.figures["over_defaults"].low
        if not self.changed:
            return "The weights that agree best with all of these ratings are the default ones: keep them."
        if not self.helps:
            return "The fitted weights agree no better with these raters than the default ones: keep the defaults."
        if low is None or low <= 0:
            return "The fitted weights agree better with these raters, but it may be chance: more ratings would tell."
        return "The fitted weights agree better with these raters than the default ones."

    @property
    def notes(self) -> dict[str, list[float]]:
        """What a file of weights says of what they bring: each figure and its interval."""
        return {
            f"spearman_{name}": [round(number, 4) for number in (each.value, each.low, each.high) if number is not None]
            for name, each in self.figures.items()
        }

    def lines(self) -> Iterator[str]:
        """What the weights bring, and whether that is more than chance."""
        used = f"{plural(self.samples, 'rated sample')} of {plural(self.prompts, 'prompt')}"
        yield f"{used}; not used, since the run has no score for them: {self.unused:,}"
        yield f"\n{'on prompts left out':22}Spearman ρ [95 % CI]"
        yield from (f"{FIGURES[name][0]:22}{estimate}" for name, estimate in self.figures.items())
        yield f"\n{self.conclusion}"
        yield (
            f"Each of {FOLDS} parts of the prompts was judged with weights that were fitted to the others. "
            f"CI: {RESAMPLES:,} bootstrap resamples of prompts"
        )


def fit_and_validate(voices: Voices, human: Array, prompt: Levels) -> Fit:
    """Weights by all ratings; every figure by weights that never saw a rating of the same prompt."""
    check(voices, human, prompt)
    held_out, prompts = np.full(len(human), np.nan), int(prompt.max()) + 1
    for train, test in folds(prompt):
        weights = fit(voices.take(train), human[train], len(set(prompt[train])))
        # Values by different weights can't be compared with each other; ranks among all samples can.
        held_out[test] = order(jury_values(voices, weights))[test]
    default, equal = (jury_values(voices, weights) for weights in (voices.defaults, equal_weights(voices)))
    measures = [statistics.spearman(values, human) for values in (held_out, default, equal)]
    draws = [
        np.array([measure(weights[:, prompt]) for measure in measures])
        for weights in statistics.bootstrap_weights(prompts, len(human), RESAMPLES, SEED)
    ]
    exact = np.array([measure(np.ones((1, len(human))))[0] for measure in measures])
    figures = {}
    for name, (_, signs) in FIGURES.items():
        combined = [np.tensordot(signs, drawn, 1) for drawn in draws]
        figures[name] = statistics.bootstrap_estimate(float(exact @ signs), combined, prompts, len(human))
    weights = fit(voices, human, len(set(prompt)))
    changed = as_settings(voices, weights) != as_settings(voices, voices.defaults)
    return Fit(weights, len(human), len(set(prompt)), figures, changed)


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


def weight_lines(voices: Voices, weights: Array) -> Iterator[str]:
    """Every weight, by default and fitted."""
    usual, found = (as_settings(voices, each) for each in (voices.defaults, weights))
    for each in (usual, found):
        beside = each.pop("jury_evidence_weight", None)
        each |= each.pop("jury_weights", {}) | ({} if beside is None else {EVIDENCE: beside})
    width = max(map(len, found), default=0) + 2
    yield f"{'weight':{width}}default  fitted"
    yield from (f"{name:{width}}{usual[name]:7.3f}  {value:6.3f}" for name, value in found.items())


def document(voices: Voices, weights: Array, about: Mapping[str, Any], fit: Fit | None) -> dict[str, Any]:
    """JSON."""
    return {
        "format": "onprompt.fit/1",
        **about,
        "weights": as_settings(voices, weights),
        "default_weights": as_settings(voices, voices.defaults),
        "spearman": {n: asdict(each, dict_factory=rounded) for n, each in fit.figures.items()} if fit else None,
    }

"""Fitted weights and what they bring, as a table, as JSON, and as notes in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from onprompt.fitting.validation import FOLDS, RESAMPLES, Fit
from onprompt.fitting.weights import Voices, as_settings
from onprompt.models.voices import EVIDENCE
from onprompt.report.statistics import Array, Estimate, rounded
from onprompt.wording import plural

FIGURES = {
    "fitted": "fitted weights",
    "defaults": "default weights",
    "equal": "equal weights",
    "over_defaults": "fitted − default",
    "over_equal": "fitted − equal",
}
NO_RATINGS = (
    "Without ratings, weights follow from how the voices agree with each other (one-factor model). Voices that make\n"
    "the same mistakes look better than they are, and what the weights bring can't be measured without ratings."
)


def weight_lines(voices: Voices, weights: Array) -> Iterator[str]:
    """Every weight, by default and fitted."""
    usual, found = (listed(voices, each) for each in (voices.defaults, weights))
    width = max(map(len, found), default=0) + 2
    yield f"{'weight':{width}}default  fitted"
    for name, value in found.items():
        yield f"{name:{width}}{usual[name]:7.3f}  {value:6.3f}"


def listed(voices: Voices, weights: Array) -> dict[str, float]:
    """Weights by name: those of models, and of the evidence beside them."""
    found = as_settings(voices, weights)
    beside = {EVIDENCE: found["jury_evidence_weight"]} if "jury_evidence_weight" in found else {}
    return {**found.get("jury_weights", {}), **beside}


def fit_lines(fit: Fit) -> Iterator[str]:
    """What the weights bring, and whether that is more than chance."""
    used = f"{plural(fit.samples, 'rated sample')} of {plural(fit.prompts, 'prompt')}"
    yield f"{used}; not used, since the run has no score for them: {fit.unused:,}"
    yield f"\n{'on prompts left out':22}Spearman ρ [95 % CI]"
    for name, title in FIGURES.items():
        yield f"{title:22}{getattr(fit, name)}"
    yield f"\n{conclusion(fit)}"
    yield (
        f"Each of {FOLDS} parts of the prompts was judged with weights that were fitted to the others. "
        f"CI: {RESAMPLES:,} bootstrap resamples of prompts"
    )


def conclusion(fit: Fit) -> str:
    """The result in words."""
    gain = fit.over_defaults
    if not fit.changed:
        return "The weights that agree best with all of these ratings are the default ones: keep them."
    if not fit.helps:
        return "The fitted weights agree no better with these raters than the default ones: keep the defaults."
    if gain.low is None or gain.low <= 0:
        return "The fitted weights agree better with these raters, but it may be chance: more ratings would tell."
    return "The fitted weights agree better with these raters than the default ones."


def document(voices: Voices, weights: Array, about: Mapping[str, Any], fit: Fit | None) -> dict[str, Any]:
    """JSON."""
    figures = {name: asdict(getattr(fit, name), dict_factory=rounded) for name in FIGURES} if fit else None
    return {
        "format": "onprompt.fit/1",
        **about,
        "weights": as_settings(voices, weights),
        "default_weights": as_settings(voices, voices.defaults),
        "spearman": figures,
    }


def notes(fit: Fit | None) -> dict[str, list[float]]:
    """What a file of weights says of what they bring: each figure and its interval."""
    estimates: dict[str, Estimate] = {name: getattr(fit, name) for name in FIGURES} if fit else {}
    return {
        f"spearman_{name}": [round(number, 4) for number in (each.value, each.low, each.high) if number is not None]
        for name, each in estimates.items()
    }

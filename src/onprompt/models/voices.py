"""How the voices of a jury add up: weighted means on fixed scales, so that no verdict depends on another sample."""

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from onprompt.settings import Settings
from onprompt.types import FactorScore, Rubric, Voice

EVIDENCE = "evidence"
CLAIMS = "claims:"  # before the name of a model that is asked claim by claim


@cache
def known_weights() -> Mapping[str, float]:
    """Weights of models that are known to be weak judges, by patterns of the last part of their names."""
    path = Path(__file__).with_name("known_weights.toml")
    return {str(name): float(weight) for name, weight in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def weight_of(model: str, settings: Settings) -> float:
    """The weight of a model before the evidence: by the settings, or the table of weak judges, or 1."""
    own = dict(settings.jury_weights)
    if model in own:
        return own[model]
    name = model.rpartition("/")[2].lower()
    return next((weight for pattern, weight in known_weights().items() if fnmatchcase(name, pattern)), 1.0)


def weights(names: Sequence[str], settings: Settings) -> list[float]:
    """The weights of models' voices: several of one model share its weight, except one with a weight of its own."""
    own = {name: weight for name, weight in settings.jury_weights if name.startswith(CLAIMS)}
    sharing = Counter(name.removeprefix(CLAIMS) for name in names if name not in own)
    models = [(name, name.removeprefix(CLAIMS)) for name in names]
    return [own[name] if name in own else weight_of(model, settings) / sharing[model] for name, model in models]


def shares(models: Sequence[float], evidence: float = 0.0) -> list[float]:
    """What part of the jury's value each has: models by their weights, which add up to 1, then the evidence."""
    total = sum(models)
    parts = [*(weight / total for weight in models), *([evidence] if evidence else [])]
    return [part / sum(parts) for part in parts]


def with_shares(voices: Sequence[Voice], settings: Settings) -> tuple[Voice, ...]:
    """Voices with their shares of the jury's value; one without a value has none."""
    heard = [voice.name for voice in voices if voice.value is not None]
    models = [name for name in heard if name != EVIDENCE]
    parts = shares(weights(models, settings), settings.jury_evidence_weight if EVIDENCE in heard else 0.0)
    given = dict(zip((*models, EVIDENCE), parts, strict=False))
    return tuple(replace(voice, weight=given.get(voice.name, 0.0)) for voice in voices)


def mean_value(voices: Sequence[Voice]) -> float:
    """The value of the jury."""
    return math.fsum(voice.weight * (voice.value or 0.0) for voice in voices)


def spread(voices: Sequence[Voice]) -> float | None:
    """How far apart the models are, or a single model and the evidence: the largest difference of two values."""
    models = [voice.value for voice in voices if voice.value is not None and voice.name != EVIDENCE]
    values = models if len(models) > 1 else [voice.value for voice in voices if voice.value is not None]
    return max(values) - min(values) if len(values) > 1 else None


def nearest(voices: Sequence[Voice], value: float) -> Voice:
    """The model whose value is nearest to the jury's, the first of several: its words stand for the jury."""
    models = [voice for voice in voices if voice.weight and voice.name != EVIDENCE]
    return min(models, key=lambda voice: abs((voice.value or 0.0) - value))


def mean_factors(voices: Sequence[Voice], rubric: Rubric) -> dict[str, FactorScore]:
    """The factors of the jury, each on its own scale; a single one follows from the value."""
    heard = [voice for voice in voices if voice.weight]
    said = nearest(voices, mean_value(voices)).factors
    found = {}
    for name, scale in rubric.factors.items():
        share = math.fsum(voice.weight * rubric.share(name, voice.factors[name].finest) for voice in heard)
        share = mean_value(voices) if len(rubric.factors) == 1 else share
        exact = scale[0] + share * (scale[-1] - scale[0])
        score = min(max(math.floor(exact + 0.5), scale[0]), scale[-1])
        scores = tuple(voice.factors[name].score for voice in heard)
        found[name] = FactorScore(score, said[name].reason, exact, scores)
    return found

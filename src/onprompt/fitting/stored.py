"""What the voices of a run say, from its stored verdicts: nothing is asked or measured again."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from onprompt.fitting.weights import Voices
from onprompt.models.voices import EVIDENCE, weight_of
from onprompt.runs.reading import Run, StoredVoices
from onprompt.settings import Settings
from onprompt.types import Flag

Said = tuple[dict[str, float], float | None]  # values by model, and that of the evidence
NOTHING: Said = ({}, None)


def read(run: Run, rated: Collection[str] | None = None) -> tuple[list[str], Voices]:
    """The samples with a score, all or those that are rated, and what each voice says of them."""
    said: dict[str, Said] = {}
    for name, heard in run.voices():
        if (rated is None or name in rated) and (scores := scores_of(heard)) != NOTHING:
            said[name] = scores
    models = tuple(dict.fromkeys(model for by_model, _ in said.values() for model in by_model))
    values = [[by_model.get(model, math.nan) for model in models] for by_model, _ in said.values()]
    evidence = [[math.nan if value is None else value] for _, value in said.values()]
    seen = np.array(evidence, float).reshape(len(said), 1)
    defaults = Settings()
    return list(said), Voices(
        models=models,
        values=np.array(values, float).reshape(len(said), len(models)),
        defaults=np.array([weight_of(model, defaults) for model in models]),
        evidence=seen if np.isfinite(seen).any() else seen[:, :0],
        evidence_weight=defaults.jury_evidence_weight,
    )


def scores_of(heard: StoredVoices) -> Said:
    """What each voice of a stored verdict says; nothing if it is not of a jury or the evidence, or a placeholder."""
    if heard.judge == EVIDENCE and Flag.NOT_VERIFIABLE not in heard.flags:
        return {}, heard.value
    voices = {voice.name: voice.value for voice in heard.voices if voice.value is not None}
    return voices, voices.pop(EVIDENCE, None)

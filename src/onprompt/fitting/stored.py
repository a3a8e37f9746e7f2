"""What the voices of a run say, from its stored verdicts: nothing is asked or measured again."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection
from functools import cache

import numpy as np

from onprompt import serial
from onprompt.evidence.estimates import no_estimate
from onprompt.evidence.matches import group_by_object
from onprompt.evidence.observations import Observations
from onprompt.fitted import PARTS
from onprompt.fitting.weights import Voices
from onprompt.models.voices import EVIDENCE, weight_of
from onprompt.runs.file import RunFile, damaged
from onprompt.runs.reading import NOTHING_CHECKED, Run, StoredVoices
from onprompt.settings import Settings
from onprompt.types import PromptEvidence, Rubric, Seen, Verdict

FACTORS = (1.0, 0.5, 2.0)  # of each part of the evidence's value; the default first
WAYS = tuple(itertools.product(FACTORS, repeat=len(PARTS)))
Said = tuple[dict[str, float], list[float]]  # values by model, and by way of grading the evidence


def read(run: Run, rubric: Rubric, rated: Collection[str] | None = None) -> tuple[list[str], Voices]:
    """The samples with a score, all or those that are rated, and what each voice says of them."""
    said: dict[str, Said] = {}
    with run.opened() as file:
        for name, text in run.documents():
            if (rated is None or name in rated) and any(scores := scores_of(file, text, rubric)):
                said[name] = scores
    models = tuple(dict.fromkeys(model for by_model, _ in said.values() for model in by_model))
    ways = min((len(values) for _, values in said.values() if values), default=0)
    values = [[by_model.get(model, math.nan) for model in models] for by_model, _ in said.values()]
    evidence = [graded[:ways] or [math.nan] * ways for _, graded in said.values()]
    defaults = Settings()
    return list(said), Voices(
        models=models,
        values=np.array(values, float).reshape(len(said), len(models)),
        defaults=np.array([weight_of(model, defaults) for model in models]),
        evidence=np.array(evidence, float).reshape(len(said), ways),
        parts=tuple(parts(way) for way in WAYS[: max(ways, 1)]),
        evidence_weight=defaults.jury_evidence_weight,
    )


def scores_of(file: RunFile, document: str, rubric: Rubric) -> Said:
    """What each voice of a stored verdict says; nothing if it is not of a jury or the evidence, or a placeholder."""
    heard: StoredVoices = file.read(document, StoredVoices)
    if heard.judge == EVIDENCE and NOTHING_CHECKED not in heard.flags:
        return {}, evidence_values(file, document, heard.value, rubric)
    voices = {voice.name: voice.value for voice in heard.voices if voice.value is not None}
    measured = voices.pop(EVIDENCE, None)
    return voices, [] if measured is None else evidence_values(file, document, measured, rubric)


def evidence_values(file: RunFile, stored: str, value: float, rubric: Rubric) -> list[float]:
    """The evidence's value by every way of grading; just its value if only a prompt's evidence could be graded anew."""
    document = file.read(stored, dict)
    if not serial.is_current(document):
        return [value]
    verdict = file.read_verdict(document)
    if verdict.prompt_evidence is None or rubric.grade is None:
        return [value]
    settings = json.dumps(verdict.provenance.get("settings"), sort_keys=True)
    observed = observations(verdict, verdict.prompt_evidence)
    try:
        ways = [with_parts(settings, way) for way in WAYS]
    except (TypeError, ValueError) as error:
        raise damaged(file.path, f"settings of a verdict that are none: {error}") from None
    return [rubric.grade(observed, way).value for way in ways]


def observations(verdict: Verdict, seen: PromptEvidence) -> Observations:
    """What the evidence knew before it graded."""
    overall = next((check.score for check in seen.estimates if check.claim.kind == "whole"), None)
    matches = tuple(group_by_object(seen.scene, verdict.checks))
    return Observations(seen.scene, Seen((), {}), (), seen.properties, no_estimate, overall, 0.0, matches, seen.blank)


@cache
def with_parts(settings: str, way: tuple[float, ...]) -> Settings:
    """The settings of a verdict, with the parts of the evidence's value weighted in another way."""
    stored = {name: value for name, value in json.loads(settings).items() if name in Settings.model_fields}
    return Settings(**{**stored, **parts(way)})  # those that an older version had are left out


@cache
def parts(way: tuple[float, ...]) -> dict[str, float]:
    """The settings of a way of grading the evidence."""
    return {name: Settings.model_fields[name].default * factor for name, factor in zip(PARTS, way, strict=True)}

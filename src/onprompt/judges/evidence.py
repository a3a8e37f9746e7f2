"""The explainable judge: parse, detect, match, grade. On a CPU, without an account."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onprompt import stages
from onprompt.errors import UserError
from onprompt.evidence.observe import observe
from onprompt.settings import PRIVATE, Settings
from onprompt.types import Flag, Judge, Rubric, Sample, Verdict
from onprompt.vision.detection import APPEARANCE_FILES
from onprompt.vision.detectors import load_detector
from onprompt.vision.matchers import load_matcher
from onprompt.vision.matchers.small import ARTWORK_FILES
from onprompt.vision.people import KIND_FILES
from onprompt.vision.runtime import available_cores
from onprompt.weights.cache import hashes

if TYPE_CHECKING:
    from onprompt.evidence.edits.grade import JudgedEdit
    from onprompt.evidence.observe import Observations

MEASURED_ENOUGH = 0.5  # share of an edit's operations
REVIEW_WIDTH = 0.75  # of the interval, above which a verdict needs review
PACKAGES = ("onprompt", "numpy", "opencv-python-headless", "openvino", "pillow", "rapidocr", "tokenizers")


def load(settings: Settings, rubric: Rubric) -> EvidenceJudge:
    """The judge for a rubric that can grade evidence."""
    if rubric.grade is None:
        raise UserError(
            f"the evidence judge does not support {rubric.name!r}; choose a model, such as --model openai/gpt-5.2"
        )
    return EvidenceJudge(settings, rubric)


class EvidenceJudge(Judge):
    """The `verify` protocol as a program."""

    def __init__(self, settings: Settings, rubric: Rubric) -> None:
        self.settings, self.rubric = settings, rubric
        self.slots = available_cores() + 1  # while one waits for the interpreter, the others keep the cores busy
        self.bound_by = "model" if settings.names_a_model else "cores"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            "judge": "evidence",
            "rubric_version": self.rubric.version,
            "onprompt": metadata.version("onprompt"),
            "weights": hash_weights(True, True, self.settings),
            **matcher_identity(self.settings),
        }

    def judge(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        return self.verdict(sample, self.observe(sample))

    def observe(self, sample: Sample) -> Any:
        """What is known before grading."""
        if self.rubric.observe:
            return self.rubric.observe(sample, self.settings)
        return observe(sample.prompt, sample.picture, sample.options.get("major", ()), self.settings)

    def verdict(self, sample: Sample, observed: Observations | JudgedEdit) -> Verdict:
        """The verdict by the rubric's grades."""
        about = provenance(sample, observed.weights, self.rubric, self.settings)
        return graded_verdict(sample, observed, self.rubric, self.settings, about)


def graded_verdict(
    sample: Sample, observed: Observations | JudgedEdit, rubric: Rubric, settings: Settings, about: Mapping[str, Any]
) -> Verdict:
    """What a rubric makes of what was observed; `about` says how it came about."""
    assert rubric.grade is not None  # noqa: S101 checked by load
    stages.enter("grade")
    graded = rubric.grade(observed, settings)
    measures = {**observed.measures(settings), **graded.measures}
    review = needs_review(graded.interval, measures.get("coverage"))
    flags = {**observed.flags(settings), Flag.NEEDS_REVIEW: review}
    return Verdict(
        rubric=rubric.name,
        judge=str(about["judge"]),
        sample=sample,
        value=graded.value,
        factors=graded.factors,
        summary=graded.summary,
        flags=tuple(flag for flag, holds in flags.items() if holds),
        checks=observed.checks,
        measures=measures,
        evidence=observed.evidence(settings),
        provenance=about,
        interval=graded.interval,
    )


def needs_review(interval: tuple[float, float] | None, coverage: float | None) -> bool:
    """Whether a person should look: the value is uncertain; or, without an interval, little could be checked."""
    if interval is not None:
        return interval[1] - interval[0] > REVIEW_WIDTH
    return coverage is not None and coverage < MEASURED_ENOUGH


@cache
def versions(settings: Settings) -> dict[str, str]:
    """The versions of the packages in use: ours, and those of plug-ins."""
    plugins = load_detector(settings), load_matcher(settings) if settings.matcher else None
    packages = (*PACKAGES, *(name for plugin in plugins for name in getattr(plugin, "packages", ())))
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def hash_weights(measures: bool, people: bool, settings: Settings) -> dict[str, str]:
    """The sha256 of the model files in use, with those that measure attributes, and those that tell men from women."""
    return hashes(
        [
            *load_detector(settings).files,
            *(APPEARANCE_FILES if measures else ()),
            *(KIND_FILES if people else ()),
            *((*ARTWORK_FILES, *load_matcher(settings).files) if settings.matcher else ()),
        ]
    )


def matcher_identity(settings: Settings) -> dict[str, Any]:
    """Which model estimates, if not our own, and by which curves."""
    identity = load_matcher(settings).identity if settings.matcher else {}
    return {"matcher": dict(identity)} if identity else {}


def public_name(plugin: str) -> str:
    """A plug-in as the settings name it, without the folder of a model or file."""
    kind, _, model = plugin.partition(":")
    return f"{kind}:{Path(model).name}" if Path(model).is_absolute() else plugin


def provenance(sample: Sample, weights: tuple[bool, bool], rubric: Rubric, settings: Settings) -> dict[str, Any]:
    """All that is needed to reproduce a verdict, without the user's paths and addresses."""
    names: dict[str, Any] = {"detector": public_name(settings.detector), "matcher": public_name(settings.matcher)}
    names["model"], *_ = settings.model.partition("@http")
    names["models"] = [model.partition("@http")[0] for model in settings.models]
    return {
        "rubric": f"{rubric.name}/{rubric.version}",
        "judge": "evidence",
        "versions": versions(settings),
        "settings": settings.model_dump(mode="json", exclude=set(PRIVATE)) | names,
        "weights": hash_weights(*weights, settings),
        **matcher_identity(settings),
        "image_sha256": sample.picture.sha256,
        **{f"{name}_sha256": picture.sha256 for name, picture in sample.pictures.items()},
    }

"""The explainable judge: parse, detect, match, grade. On a CPU, without an account."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.evidence.estimates import disagrees
from onprompt.evidence.grade import Grade
from onprompt.evidence.image_properties import CONFIDENT, contradictions
from onprompt.evidence.match import is_occluded
from onprompt.evidence.matches import Match
from onprompt.evidence.observations import Observations, observe
from onprompt.evidence.people import traits_of
from onprompt.evidence.plan import names_to_measure
from onprompt.settings import PRIVATE, Settings
from onprompt.types import FactorScore, Graded, Judge, Outcome, Picture, Rubric, Sample, Scene, Verdict
from onprompt.vision.detection import load_detector
from onprompt.vision.face import FILES as FACE_FILES
from onprompt.vision.masks import FILES as MASK_FILES
from onprompt.vision.matcher import FILES as MATCHER_FILES
from onprompt.vision.matcher import WEIGHTS
from onprompt.vision.person_kind import FILES as PERSON_FILES
from onprompt.vision.person_kind import WEIGHTS as PERSON_WEIGHTS
from onprompt.vision.pose import FILES as POSE_FILES
from onprompt.weights.cache import hashes

PACKAGES = (
    *("onprompt", "numpy", "onnxruntime", "opencv-python-headless", "openvino", "pillow", "rapidocr", "spacy"),
    "tokenizers",
)


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
        self.slots = os.cpu_count() or 1
        self.bound_by = "model" if settings.detector.startswith("hf:") else "cores"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            "judge": "evidence",
            "rubric_version": self.rubric.version,
            "onprompt": metadata.version("onprompt"),
            "weights": hash_weights(True, True, self.settings),
        }

    def judge(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        return self.verdict(sample, self.observe(sample))

    def observe(self, sample: Sample) -> Observations:
        """What is known before grading."""
        return observe(sample.prompt, sample.picture, sample.options.get("major", ()), self.settings)

    def verdict(self, sample: Sample, observed: Observations) -> Verdict:
        """The verdict by the rubric's grades."""
        assert self.rubric.grade is not None  # noqa: S101 checked by load
        graded, grade = self.rubric.grade(observed, self.settings), observed.grade(self.settings)
        return Verdict(
            rubric=self.rubric.name,
            judge="evidence",
            sample=sample,
            value=graded.value,
            factors={"score": FactorScore(graded.score, graded.summary)},
            summary=graded.summary,
            flags=tuple(flag for flag, holds in self.flags(sample.picture, observed, grade).items() if holds),
            checks=tuple(check for match in observed.matches for check in match.checks),
            measures=measures(grade, graded),
            evidence=observed.evidence(self.settings),
            provenance=provenance(sample.picture, observed.scene, self.rubric, self.settings),
        )

    def flags(self, picture: Picture, observed: Observations, grade: Grade) -> dict[str, bool]:
        """What to know before trusting the score."""
        matches, settings = observed.matches, self.settings
        checks = [check for match in matches for check in match.checks]
        return {
            **dict.fromkeys(observed.scene.flags, True),
            "not_verifiable": not grade.verifiable,
            "low_confidence": any(check.outcome is Outcome.LOW_CONFIDENCE for check in checks),
            "occluded": any(is_occluded(sighting) for match in matches for sighting in match.chosen),
            "several_candidates": any(several_candidates(match, settings) for match in matches),
            "needs_review": grade.coverage - grade.estimated < settings.review_below,
            "one_frame_of_an_animation": any(note.startswith("frame") for note in picture.notes),
            "blank_image": observed.blank,
            "stylised": observed.artwork >= CONFIDENT,  # networks trained on photos detect less in it
            "whole_picture_differs": bool(contradictions(observed.scene, observed.properties)),
            "matcher_disagrees": grade.verifiable and disagrees(grade.presence, observed.overall, settings),
        }


def measures(grade: Grade, graded: Graded) -> dict[str, float | None]:
    """The numbers behind the score."""
    return {
        "presence": grade.presence,
        "attribute_accuracy": grade.attribute_accuracy,
        "coverage": grade.coverage,
        "estimated": grade.estimated,
        **graded.measures,
    }


def several_candidates(match: Match, settings: Settings) -> bool:
    """Whether there are more confident candidates than were asked for."""
    confident = [s for s in match.first.candidates if s.confidence >= settings.low_confidence]
    high = match.thing.count.high
    asked = high is not None and not match.thing.absent and match.outcome is not Outcome.MISSING
    return asked and len(confident) > (high or 0)


@cache
def versions(detector_name: str) -> dict[str, str]:
    """The versions of the packages in use."""
    more = ("torch", "transformers") if detector_name.startswith("hf:") else ()
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in (*PACKAGES, *more)}}


def hash_weights(measures: bool, people: bool, settings: Settings) -> dict[str, str]:
    """The sha256 of the model files in use, with those that measure attributes, and those that tell men from women."""
    return hashes(
        [
            *load_detector(settings).files,
            *((*MASK_FILES, *POSE_FILES, *FACE_FILES) if measures else ()),
            *((*PERSON_FILES, str(PERSON_WEIGHTS)) if people else ()),
            *((*MATCHER_FILES, str(WEIGHTS)) if settings.matcher else ()),
        ]
    )


def provenance(picture: Picture, scene: Scene, rubric: Rubric, settings: Settings) -> dict[str, Any]:
    """All that is needed to reproduce a verdict, without the user's paths and addresses."""
    kind, _, model = settings.detector.partition(":")
    detector_name = f"{kind}:{Path(model).name}" if Path(model).is_absolute() else settings.detector
    return {
        "rubric": f"{rubric.name}/{rubric.version}",
        "judge": "evidence",
        "versions": versions(settings.detector),
        "settings": settings.model_dump(mode="json", exclude=set(PRIVATE)) | {"detector": detector_name},
        "weights": hash_weights(bool(names_to_measure(scene)), any(map(traits_of, scene.things)), settings),
        "image_sha256": picture.sha256,
    }

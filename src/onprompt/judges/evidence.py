"""The explainable judge: parse, look, match, grade, explain. On a CPU, with no account."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from onprompt.errors import PromptError, UserError
from onprompt.evidence import explain
from onprompt.evidence.grade import Grade, grade
from onprompt.evidence.guesses import Guess, disagrees, nobody, of_the_picture, whole_check
from onprompt.evidence.match import Match, hidden, match
from onprompt.evidence.rating import rated
from onprompt.evidence.whole import SURELY, about_the_medium, belied
from onprompt.language.ontology import canonical, name_of
from onprompt.language.parser import parse
from onprompt.language.spelling import mended
from onprompt.rubrics.rate import RUBRIC as RATE
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.settings import PRIVATE, Settings
from onprompt.types import Known, Name, Outcome, Picture, Rubric, Sample, Scene, Seen, Sighting, Thing, Trait, Verdict
from onprompt.vision.detection import detect, load_detector
from onprompt.vision.face import FILES as FACE_FILES
from onprompt.vision.geometry import SIZE_WORDS
from onprompt.vision.global_properties import is_blank, medium, properties
from onprompt.vision.masks import FILES as MASK_FILES
from onprompt.vision.matcher import FILES as MATCHER_FILES
from onprompt.vision.matcher import WEIGHTS, load_matcher
from onprompt.vision.pose import FILES as POSE_FILES
from onprompt.vision.relations import NEED_JOINTS
from onprompt.vision.text import read_text
from onprompt.vision.text_embedding import MAX_LENGTH
from onprompt.weights.cache import hashes

OURS = (
    "onprompt",
    "numpy",
    "onnxruntime",
    "opencv-python-headless",
    "openvino",
    "pillow",
    "rapidocr",
    "spacy",
    "tokenizers",
)
MANY = 5  # of one name, from which a closer look is taken
MEASURED = ("color", "action", "shape", "expression")


def load(settings: Settings, rubric: Rubric) -> EvidenceJudge:
    """The judge for a rubric that it can serve."""
    if rubric.name not in (VERIFY.name, RATE.name):
        raise UserError(f"the evidence judge can't serve {rubric.name} yet: name a model, such as openai/gpt-5.2")
    return EvidenceJudge(settings, rubric)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was asked for, what was seen, and what the one says of the other."""

    scene: Scene
    seen: Seen
    lines: tuple[Sighting, ...]
    whole: tuple[Trait, ...]
    guess: Guess
    fits: float | None  # the guess at the picture as a whole
    matches: tuple[Match, ...]
    empty: bool  # whether the picture shows nothing at all


class EvidenceJudge:
    """Seed 000, steps 1 to 6, as a program."""

    def __init__(self, settings: Settings, rubric: Rubric = VERIFY) -> None:
        self.settings, self.rubric = settings, rubric
        self.slots = os.cpu_count() or 1

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            "judge": "evidence",
            "rubric_version": self.rubric.version,
            "onprompt": metadata.version("onprompt"),
            "weights": weights_of(True, self.settings),
        }

    def judge(self, sample: Sample) -> Verdict:
        """The straight line from prompt and image to verdict."""
        return self.verdict(sample, self.evidence(sample))

    def evidence(self, sample: Sample) -> Evidence:
        """Parse, look and match."""
        scene = weighed(parse(sample.prompt, self.settings), sample.major, self.settings)
        empty = is_blank(sample.picture)
        seen = nothing(scene) if empty else detect(sample.picture, names(scene), self.settings, asked_closely(scene))
        lines = read_text(sample.picture) if asks_for_text(scene) and not empty else ()
        whole = self.measured(sample.picture, scene)
        guess, fits = (never, None) if empty else self.guesser(sample, scene)
        matches = match(scene, seen, lines, self.settings, guess)
        return Evidence(scene, seen, lines, whole, guess, fits, matches, empty)

    def verdict(self, sample: Sample, found: Evidence) -> Verdict:
        """Grade and explain."""
        scene, whole, matches, empty, fits = found.scene, found.whole, found.matches, found.empty, found.fits
        force = self.settings.model_copy(update={"prior": 0.0}) if empty else self.settings
        graded = grade(matches, force, fits)
        untrue = belied(scene, whole)
        guesses = () if fits is None else (whole_check(sample.prompt, fits), *of_the_picture(scene, whole, found.guess))
        pairs = [explain.pair(each) for each in matches]
        marks = {
            **flags(scene, sample.picture, matches, graded, self.settings),
            "blank_image": empty,
            "stylised": not empty and self.stylised(sample.picture),
            "whole_picture_differs": bool(untrue),
            "matcher_disagrees": graded.verifiable and disagrees(graded.presence, fits, self.settings),
        }
        verdict = Verdict(
            rubric=self.rubric.name,
            score=graded.score,
            value=graded.value,
            presence=graded.presence,
            attribute_accuracy=graded.attribute_accuracy,
            coverage=graded.coverage,
            guessed=graded.guessed,
            flags=tuple(flag for flag, holds in marks.items() if holds),
            checks=tuple(check for each in matches for check in each.checks),
            guesses=guesses,
            pairs=tuple(pairs),
            differences=(*(p for p, each in zip(pairs, matches, strict=True) if explain.differs(each)), *untrue),
            summary=explain.summary(matches, graded, scene, whole, empty),
            scene=scene,
            picture=sample.picture,
            sightings=(*found.seen.sightings, *found.lines),
            extras=explain.extras(scene, found.seen, matches, self.settings),
            provenance=provenance(sample.picture, bool(asked_closely(scene)), self.rubric, self.settings),
        )
        return rated(verdict, matches, force) if self.rubric is RATE else verdict

    def stylised(self, picture: Picture) -> bool:
        """Whether the picture is surely drawn or painted: what was made for photos sees less in it."""
        return self.settings.matcher and load_matcher(self.settings).embed_image(picture).artwork >= SURELY

    def measured(self, picture: Picture, scene: Scene) -> tuple[Trait, ...]:
        """What is measured of the picture as a whole, if the prompt says anything of that."""
        if not scene.properties:
            return ()
        asked = self.settings.matcher and any(about_the_medium(each) for each in scene.properties)
        return (*properties(picture), *([medium(picture, self.settings)] if asked else []))

    def guesser(self, sample: Sample, scene: Scene) -> tuple[Guess, float | None]:
        """Who guesses at a phrase, and the guess at the whole; nobody does in a language it can't read."""
        if not self.settings.matcher or "not English" in scene.flags:
            return nobody, None
        model = load_matcher(self.settings)
        text = wanted(sample.prompt, scene)
        fits = model.probabilities(sample.picture, [mended(text[:MAX_LENGTH])])[0] if text else None

        @cache
        def guess(phrase: str) -> float:
            return model.phrase_probabilities(sample.picture, [mended(phrase)])[0]

        return guess, fits


def wanted(prompt: str, scene: Scene) -> str:
    """A prompt for the matcher, which takes a "no cat" for a cat: without what must not be there."""
    there = [thing.phrase for thing in scene.things if not thing.absent]
    return prompt if len(there) == len(scene.things) else ", ".join(there)


def nothing(scene: Scene) -> Seen:
    """What is seen in an empty picture, whatever the prompt names: none of it."""
    return Seen((), {thing.canonical: Known((thing.canonical,)) for thing in scene.things})


def never(_: str) -> float:
    """The guess at anything in an empty picture."""
    return 0.0


def names(scene: Scene) -> list[Name]:
    """What to look for, each name once; words of another language may be English ones by chance, so none of these."""
    if "not English" in scene.flags:
        return []
    fine = {thing.canonical for thing in scene.things if small_or_many(thing)}
    labels = dict.fromkeys(thing.canonical for thing in scene.things if thing.canonical != "text")
    return [replace(name_of(label), fine=label in fine) for label in labels]


def small_or_many(thing: Thing) -> bool:
    """Whether something is asked for that is easily overlooked."""
    return thing.count.low >= MANY or any(
        each.kind == "size" and SIZE_WORDS.get(each.value) == "small" for each in thing.attributes
    )


def asked_closely(scene: Scene) -> set[str]:
    """The names of which more than size and place is asked: that costs a network's look at each sighting."""
    return {
        thing.canonical
        for thing in scene.things
        if any(each.kind in MEASURED for each in thing.attributes)
        or any(each.name in NEED_JOINTS for each in thing.relations)
    }


def weighed(scene: Scene, major: Sequence[str], settings: Settings) -> Scene:
    """The scene with the named objects weighing more; what the prompt itself says of weights still counts."""
    heavy = {canonical(name) for name in major}
    if strangers := heavy - {thing.canonical for thing in scene.things}:
        raise PromptError(f"marked as major but not in the prompt: {', '.join(sorted(strangers))}")
    heavier = [
        replace(thing, importance=thing.importance * settings.major_weight) if thing.canonical in heavy else thing
        for thing in scene.things
    ]
    return replace(scene, things=tuple(heavier))


def asks_for_text(scene: Scene) -> bool:
    """Whether any object is to bear text."""
    return any(attribute.kind == "text" for thing in scene.things for attribute in thing.attributes)


def flags(
    scene: Scene, picture: Picture, matches: Sequence[Match], graded: Grade, settings: Settings
) -> dict[str, bool]:
    """What a person should know before trusting the score."""
    checks = [check for each in matches for check in each.checks]
    return {
        **dict.fromkeys(scene.flags, True),
        "not_verifiable": not graded.verifiable,
        "low_confidence": any(check.outcome is Outcome.LOW_CONFIDENCE for check in checks),
        "occluded": any(hidden(one) for each in matches for one in each.chosen),
        "several_candidates": any(several(each, settings) for each in matches),
        "needs_review": graded.coverage - graded.guessed < settings.review_below,
        "one_frame_of_an_animation": any(note.startswith("frame") for note in picture.notes),
    }


def several(match: Match, settings: Settings) -> bool:
    """Whether more sure sightings than were asked for could each be the one that is meant."""
    sure = [each for each in match.checks[0].candidates if each.confidence >= settings.low_confidence]
    most = match.thing.count.high
    return not match.thing.absent and most is not None and len(sure) > most and match.outcome is not Outcome.MISSING


@cache
def versions(detector_name: str) -> dict[str, str]:
    """What ran."""
    more = ("torch", "transformers") if detector_name.startswith("hf:") else ()
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in (*OURS, *more)}}


def weights_of(closely: bool, settings: Settings) -> dict[str, str]:
    """The sha256 of the model files in use."""
    return hashes(
        [
            *load_detector(settings).files,
            *((*MASK_FILES, *POSE_FILES, *FACE_FILES) if closely else ()),
            *((*MATCHER_FILES, str(WEIGHTS)) if settings.matcher else ()),
        ]
    )


def provenance(picture: Picture, closely: bool, rubric: Rubric, settings: Settings) -> dict[str, Any]:
    """All that is needed to get the same verdict again. Paths and addresses of the user's stay out."""
    kind, _, model = settings.detector.partition(":")
    named = f"{kind}:{Path(model).name}" if Path(model).is_absolute() else settings.detector
    return {
        "rubric": f"{rubric.name}/{rubric.version}",
        "judge": "evidence",
        "versions": versions(settings.detector),
        "settings": settings.model_dump(mode="json", exclude=set(PRIVATE)) | {"detector": named},
        "weights": weights_of(closely, settings),
        "image_sha256": picture.sha256,
    }

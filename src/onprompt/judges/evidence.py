"""The explainable judge: parse, look, match, grade, explain. On a CPU, with no account."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from onprompt.errors import PromptError
from onprompt.evidence import explain
from onprompt.evidence.estimates import blended, disagrees, estimates, whole_check
from onprompt.evidence.grade import Grade, grade
from onprompt.evidence.match import Match, match
from onprompt.language.ontology import canonical, name_of
from onprompt.language.parser import parse
from onprompt.language.spelling import mended
from onprompt.rubrics.verify import RUBRIC
from onprompt.settings import Settings
from onprompt.types import Check, Name, Outcome, Picture, Sample, Scene, Thing, Trait, Verdict
from onprompt.vision.face import FILES as FACE_FILES
from onprompt.vision.geometry import SIZE_WORDS
from onprompt.vision.look import detector, look
from onprompt.vision.masks import FILES as MASK_FILES
from onprompt.vision.matcher import FILES as MATCHER_FILES
from onprompt.vision.matcher import TRAINED, matcher
from onprompt.vision.pose import FILES as POSE_FILES
from onprompt.vision.relations import NEED_JOINTS
from onprompt.vision.text import read_text
from onprompt.vision.whole import medium, properties
from onprompt.vision.words import LONGEST
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


class EvidenceJudge:
    """Seed 000, steps 1 to 6, as a program."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def judge(self, sample: Sample) -> Verdict:
        """The straight line from prompt and image to verdict."""
        scene = weighed(parse(sample.prompt, self.settings), sample.major, self.settings)
        seen = look(sample.picture, names(scene), self.settings, asked_closely(scene))
        lines = read_text(sample.picture) if asks_for_text(scene) else ()
        matches = match(scene, seen, lines, self.settings)
        graded = grade(matches, self.settings)
        pairs = [explain.pair(each) for each in matches]
        whole = self.measured(sample.picture, scene)
        belied = explain.belied(scene, whole)
        guesses = self.guesses(sample, scene, matches, whole)
        fits = guesses[0].score if guesses else None
        return Verdict(
            rubric=RUBRIC.name,
            score=graded.score,
            value=blended(graded, fits, self.settings),
            presence=graded.presence,
            attribute_accuracy=graded.attribute_accuracy,
            coverage=graded.coverage,
            flags=(
                *flags(scene, sample.picture, matches, graded, self.settings),
                *(["whole_picture_differs"] if belied else []),
                *(["matcher_disagrees"] if disagrees(graded, fits, self.settings) else []),
            ),
            checks=tuple(check for each in matches for check in each.checks),
            guesses=guesses,
            pairs=tuple(pairs),
            differences=(*(p for p, each in zip(pairs, matches, strict=True) if explain.differs(each)), *belied),
            summary=explain.summary(matches, graded, scene, whole),
            scene=scene,
            picture=sample.picture,
            sightings=(*seen.sightings, *lines),
            extras=explain.extras(scene, seen, self.settings),
            provenance=provenance(sample.picture, bool(asked_closely(scene)), self.settings),
        )

    def measured(self, picture: Picture, scene: Scene) -> tuple[Trait, ...]:
        """What is measured of the picture as a whole, if the prompt says anything of that."""
        if not scene.properties:
            return ()
        asked = self.settings.matcher_weight and any(explain.about_the_medium(each) for each in scene.properties)
        return (*properties(picture), *([medium(picture, self.settings)] if asked else []))

    def guesses(
        self, sample: Sample, scene: Scene, matches: Sequence[Match], whole: Sequence[Trait]
    ) -> tuple[Check, ...]:
        """How the image fits as a whole, then a guess for each claim that nothing else can check.

        The matcher knows English only.
        """
        if not self.settings.matcher_weight or "not English" in scene.flags:
            return ()
        model = matcher(self.settings)

        def chances(phrases: Sequence[str]) -> list[float]:
            return model.phrase_chances(sample.picture, [mended(phrase) for phrase in phrases])

        (fits,) = model.chances(sample.picture, [mended(sample.prompt[:LONGEST])])
        return whole_check(sample.prompt, fits), *estimates(scene, matches, whole, chances)


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
    scene: Scene, picture: Picture, matches: tuple[Match, ...], graded: Grade, settings: Settings
) -> tuple[str, ...]:
    """What a person should know before trusting the score."""
    weak = any(check.outcome is Outcome.LOW_CONFIDENCE for each in matches for check in each.checks)
    found = {
        **dict.fromkeys(scene.flags, True),
        "not_verifiable": not graded.verifiable,
        "low_confidence": weak,
        "needs_review": graded.coverage < settings.review_below,
        "one_frame_of_an_animation": any(note.startswith("frame") for note in picture.notes),
    }
    return tuple(flag for flag, holds in found.items() if holds)


@cache
def versions(detector_name: str) -> dict[str, str]:
    """What ran."""
    more = ("torch", "transformers") if detector_name.startswith("hf:") else ()
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in (*OURS, *more)}}


def provenance(picture: Picture, closely: bool, settings: Settings) -> dict[str, Any]:
    """All that is needed to get the same verdict again. Paths and addresses of the user's stay out."""
    kind, _, model = settings.detector.partition(":")
    named = f"{kind}:{Path(model).name}" if Path(model).is_absolute() else settings.detector
    return {
        "rubric": f"{RUBRIC.name}/{RUBRIC.version}",
        "judge": "evidence",
        "versions": versions(settings.detector),
        "settings": settings.model_dump(mode="json", exclude={"home", "mirror"}) | {"detector": named},
        "weights": hashes(
            [
                *detector(settings).files,
                *((*MASK_FILES, *POSE_FILES, *FACE_FILES) if closely else ()),
                *((*MATCHER_FILES, str(TRAINED)) if settings.matcher_weight else ()),
            ]
        ),
        "image_sha256": picture.sha256,
    }

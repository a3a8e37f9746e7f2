"""Parse, detect and match: everything that is known of an image and its prompt before grading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from onprompt import stages
from onprompt.evidence import plan
from onprompt.evidence.estimates import Estimate, Whole, disagrees, no_estimate, overall_estimate, property_estimates
from onprompt.evidence.grade import Grade, grade
from onprompt.evidence.image_properties import CONFIDENT, contradictions, is_medium
from onprompt.evidence.match import is_occluded, match
from onprompt.evidence.matches import WEAK, Match
from onprompt.evidence.people import traits_of
from onprompt.evidence.substitutes import extras
from onprompt.language import correct_spelling, is_common_word, parse
from onprompt.settings import Settings
from onprompt.types import Check, Outcome, Picture, PromptEvidence, Scene, Seen, Sighting, Trait
from onprompt.vision import (
    MAX_LENGTH,
    artwork_probability,
    detect,
    is_blank,
    load_ahead,
    load_matcher,
    measure_ahead,
    medium,
    properties,
    read_text,
)


@dataclass(frozen=True, slots=True)
class Observations:
    """What was asked for, what was detected, and how the two match."""

    scene: Scene
    seen: Seen
    lines: tuple[Sighting, ...]  # of text
    properties: tuple[Trait, ...]  # of the image as a whole
    estimate: Estimate
    overall: float | None  # the matcher's estimate that the image as a whole fits
    artwork: float  # the probability that it is drawn or painted
    matches: tuple[Match, ...]
    blank: bool  # whether the image shows nothing at all
    frame: bool = False  # whether it is one frame of an animation
    truncated: bool = False  # whether the matcher read only the beginning of the prompt

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all objects."""
        return tuple(check for match in self.matches for check in match.checks)

    @property
    def weights(self) -> tuple[bool, bool]:
        """Whether attributes were measured, and whether men were told from women."""
        return bool(plan.names_to_measure(self.scene)), any(map(traits_of, self.scene.things))

    def flags(self, settings: Settings) -> dict[str, bool]:
        """What to know before trusting the score."""
        matches, grade = self.matches, self.grade(settings)
        return {
            **dict.fromkeys(self.scene.flags, True),
            "not_verifiable": not grade.verifiable,
            "low_confidence": any(check.outcome is Outcome.LOW_CONFIDENCE for check in self.checks),
            "occluded": any(is_occluded(sighting) for match in matches for sighting in match.chosen),
            "several_candidates": any(several_candidates(match, settings) for match in matches),
            "needs_review": grade.coverage - grade.estimated < settings.review_below,
            "one_frame_of_an_animation": self.frame,
            "blank_image": self.blank,
            "stylised": self.artwork >= CONFIDENT,  # networks trained on photos detect less in it
            "whole_picture_differs": bool(contradictions(self.scene, self.properties)),
            "matcher_disagrees": grade.verifiable and disagrees(grade.presence, self.overall, settings),
            "matcher_uncalibrated": self.overall is not None and not load_matcher(settings).calibrated,
            "prompt_truncated": self.truncated,
        }

    def measures(self, settings: Settings) -> dict[str, float | None]:
        """The numbers behind the score."""
        grade = self.grade(settings)
        return {
            "presence": grade.presence,
            "attribute_accuracy": grade.attribute_accuracy,
            "coverage": grade.coverage,
            "estimated": grade.estimated,
        }

    def grade(self, settings: Settings) -> Grade:
        """The protocol's measures; a blank image has a prior of 0."""
        if self.blank:
            return grade(self.matches, settings.model_copy(update={"prior": 0.0}), 0.0)
        return grade(self.matches, settings, self.overall)

    def evidence(self, settings: Settings) -> PromptEvidence:
        """The evidence of a verdict."""
        estimates: tuple[Check, ...] = ()
        if self.overall is not None:
            of_properties = property_estimates(self.scene, self.properties, self.estimate)
            estimates = (overall_estimate(self.scene.prompt, self.overall), *of_properties)
        chosen = [sighting for match in self.matches for sighting in match.chosen]
        shown = [s for s in self.seen.sightings if s.confidence >= WEAK or s in chosen]
        return PromptEvidence(
            self.scene,
            (*shown, *self.lines),
            extras(self.scene, self.seen, self.matches, settings),
            self.properties,
            estimates,
            self.blank,
        )


def observe(prompt: str, picture: Picture, major: Sequence[str], settings: Settings) -> Observations:
    """Parse the prompt, detect objects in the image, and match the two."""
    stages.enter("parse")
    load_ahead(settings)
    scene = plan.weight_objects(parse_beside(picture, prompt, settings), major, settings)
    stages.enter("detect")
    blank = is_blank(picture)
    names, closely = plan.names_to_detect(scene), plan.names_to_measure(scene)
    if closely and not blank:
        measure_ahead(settings)
    seen = plan.nothing_seen(scene) if blank else detect(picture, names, settings, closely)
    lines = read_text(picture, settings) if plan.asks_for_text(scene) and not blank else ()
    stages.enter("estimate")
    estimate, overall, truncated = BLANK if blank else make_estimator(prompt, picture, scene, settings)
    artwork = artwork_probability(picture, settings) if settings.matcher and not blank else 0.0
    stages.enter("match")
    matches = match(scene, seen, lines, settings, estimate, Whole(artwork, 0.0 if blank else overall))
    measured = measure_properties(picture, scene, settings)
    frame = is_animated(picture)
    return Observations(scene, seen, lines, measured, estimate, overall, artwork, matches, blank, frame, truncated)


def parse_beside(picture: Picture, prompt: str, settings: Settings) -> Scene:
    """The scene of a prompt, parsed while the image is decoded: decoders let other threads run."""
    if picture.is_decoded:
        return parse(prompt, settings)
    with ThreadPoolExecutor(1, "onprompt-decode") as pool:
        decoding = pool.submit(lambda: picture.decoded)
        scene = parse(prompt, settings)
        decoding.result()
    return scene


def parse_ahead(prompt: str, settings: Settings) -> None:
    """Parse a prompt, which is cached: `observe` will have it at once."""
    parse(prompt, settings)


def is_animated(picture: Picture) -> bool:
    """Whether an image is one frame of an animation."""
    return any(note.startswith("frame") for note in picture.notes)


def several_candidates(match: Match, settings: Settings) -> bool:
    """Whether there are more confident candidates than were asked for."""
    confident = [s for s in match.first.candidates if s.confidence >= settings.low_confidence]
    high = match.thing.count.high
    asked = high is not None and not match.thing.absent and match.outcome is not Outcome.MISSING
    return asked and len(confident) > (high or 0)


def impossible(_: str) -> float:
    """The estimate of anything in a blank image."""
    return 0.0


class Estimator(NamedTuple):
    """The matcher's estimate of any phrase, the overall one, and whether it read only the beginning of the prompt."""

    estimate: Estimate
    overall: float | None = None
    truncated: bool = False


BLANK, NO_ESTIMATOR = Estimator(impossible), Estimator(no_estimate)


def measure_properties(picture: Picture, scene: Scene, settings: Settings) -> tuple[Trait, ...]:
    """The properties of the image as a whole, if the prompt mentions any."""
    if not scene.properties:
        return ()
    asked = settings.matcher and any(is_medium(attribute) for attribute in scene.properties)
    return (*properties(picture), *([medium(picture, settings)] if asked else []))


def make_estimator(prompt: str, picture: Picture, scene: Scene, settings: Settings) -> Estimator:
    """The matcher's estimates of this image; none for a prompt that is not English."""
    if not settings.matcher or plan.NOT_ENGLISH in scene.flags:
        return NO_ESTIMATOR
    model = load_matcher(settings)
    text = plan.text_to_match(prompt, scene)
    read = correct_spelling(text[:MAX_LENGTH])
    overall = model.probabilities(picture, [read])[0] if read else None
    phrases = list(dict.fromkeys(correct_spelling(thing.phrase) for thing in scene.things))
    known = dict(zip(phrases, model.phrase_probabilities(picture, phrases), strict=True))  # all in one pass

    @cache
    def estimate(phrase: str) -> float | None:
        text = correct_spelling(phrase)
        if not any(is_common_word(word) for word in re.findall(r"[^\W\d_]{2,}", text)):
            return None
        return known[text] if text in known else model.phrase_probabilities(picture, [text])[0]

    return Estimator(estimate, overall, len(text) > MAX_LENGTH or (bool(read) and model.truncates(read)))

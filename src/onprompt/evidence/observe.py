"""Prompt and image → what the evidence judge knows: the scene, what is seen of it, and a check for every claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from onprompt import stages
from onprompt.errors import PromptError
from onprompt.evidence.beliefs import MATCHER, SHOWN, Image, believe, is_occluded
from onprompt.evidence.grading import Expectation, Rule, expect
from onprompt.evidence.sharing import extras, share_out
from onprompt.language import canonical, correct_spelling, is_common_word, name_of, parse
from onprompt.types import Check, Detections, Name, NameMatch, Outcome, Picture, PromptEvidence, Scene, Trait
from onprompt.vision.detection import detect, load_ahead
from onprompt.vision.geometry import NEED_JOINTS, SIZE_WORDS
from onprompt.vision.global_properties import is_blank, medium, properties
from onprompt.vision.matchers import load_matcher
from onprompt.vision.matchers.small import MAX_LENGTH, artwork_probability, class_labels, class_probabilities
from onprompt.vision.ocr import read_text
from onprompt.vision.people import traits_said
from onprompt.vision.vocabulary import PROPERTIES

if TYPE_CHECKING:
    from onprompt.settings import Settings

MAJOR_WEIGHT = 2.0  # of an object marked major; others weigh 1
MANY = 5  # objects of one name, from which smaller details are searched
MEASURED = ("color", "action", "expression")
NOT_ENGLISH = "not English"  # a flag of the parser
STYLIZED = 0.8  # probability of artwork from which it is flagged: networks trained on photos detect less in it
CONFIDENT = 0.8  # probability from which a property of the image contradicts the prompt


@dataclass(frozen=True, slots=True)
class Observations:
    """What was asked for, what was seen, and a check for every claim."""

    scene: Scene
    image: Image
    checks: tuple[Check, ...]
    frame: bool = False  # whether it is one frame of an animation
    truncated: bool = False  # whether the matcher read only the beginning of the prompt
    uncalibrated: bool = False  # whether the matcher's probabilities were never fitted to data

    @property
    def weights(self) -> tuple[bool, bool]:
        """Whether attributes were measured, and whether men were told from women."""
        people = any(traits_said(name_of(thing.canonical)) for thing in self.scene.things)
        return bool(names_to_measure(self.scene)), people

    @property
    def claims(self) -> list[Check]:
        """The checks of what the prompt says, without the matcher's overall estimate."""
        return [check for check in self.checks if check.claim.kind != "whole"]

    @property
    def coverage(self) -> float:
        """The share of the claims that were measured."""
        measured = [check.outcome is not Outcome.UNVERIFIABLE for check in self.claims]
        return sum(measured) / len(measured) if measured else 0.0

    @property
    def verifiable(self) -> bool:
        """Whether anything that the prompt asks for could be checked: an object, a text, a property of the image."""
        asserted = [c for c in self.claims if c.claim.kind in ("object", "text") and not c.claim.negated]
        own = asserted or [c for c in self.claims if c.claim.kind in ("object", "text", "property")]
        return self.image.blank or any(check.outcome is not Outcome.UNVERIFIABLE for check in own)

    def expectation(self, rule: Rule, scale: range, settings: Settings) -> Expectation:
        """The score to expect; at most the middle of a sole object that nothing can check, or in another language."""
        expected = expect(self.scene, self.checks, rule, scale, settings)
        several = sum(not thing.absent for thing in self.scene.things) > 1 and NOT_ENGLISH not in self.scene.flags
        return expected if self.verifiable or several else expected.limited(scale)

    def flags(self, settings: Settings) -> dict[str, bool]:
        """What to know before trusting the score."""
        first = [check for check in self.checks if check.claim.kind == "object"]
        return {
            **dict.fromkeys(self.scene.flags, True),
            "not_verifiable": not self.verifiable,
            "low_confidence": any(check.outcome is Outcome.LOW_CONFIDENCE for check in self.checks),
            "occluded": any(is_occluded(sighting) for check in first for sighting in check.chosen),
            "several_candidates": any(several_candidates(check, self.scene, settings) for check in first),
            "one_frame_of_an_animation": self.frame,
            "blank_image": self.image.blank,
            "stylized": self.image.artwork >= STYLIZED,
            "whole_picture_differs": any(
                check.claim.kind == "property" and check.probability <= 1 - CONFIDENT for check in self.claims
            ),
            "matcher_uncalibrated": self.uncalibrated,
            "prompt_truncated": self.truncated,
        }

    def measures(self, settings: Settings) -> dict[str, float | None]:  # noqa: ARG002
        """The numbers behind the score."""
        estimated = [check.source == MATCHER for check in self.claims]
        return {"coverage": self.coverage, "estimated": sum(estimated) / len(estimated) if estimated else 0.0}

    def evidence(self, settings: Settings) -> PromptEvidence:
        """The evidence of a verdict."""
        chosen = [sighting for check in self.checks for sighting in check.chosen]
        shown = [s for s in self.image.seen.sightings if s.confidence >= SHOWN or s in chosen]
        shares = share_out(self.scene, self.image.seen, settings)
        return PromptEvidence(
            self.scene,
            (*shown, *(self.image.lines or ())),
            extras(self.scene, self.image.seen, shares, settings),
            self.image.properties,
            blank=self.image.blank,
            looked=self.image.looked,
        )


def observe(prompt: str, picture: Picture, major: Sequence[str], settings: Settings) -> Observations:
    """Parse the prompt, detect objects in the image, and check every claim."""
    stages.enter("parse")
    load_ahead(settings)
    scene = weight_objects(parse(prompt, settings), major)
    stages.enter("detect")
    blank = is_blank(picture)
    closely = names_to_measure(scene)
    if closely and not blank:
        load_ahead(settings, measured=True)
    known = {thing.canonical: NameMatch((thing.canonical,)) for thing in scene.things}  # and nothing seen
    seen = Detections((), known) if blank else detect(picture, names_to_detect(scene), settings, closely)
    lines = read_text(picture, settings) if asks_for_text(scene) and not blank else ()
    stages.enter("estimate")
    matched = settings.matcher and NOT_ENGLISH not in scene.flags
    image = Image(seen, lines, measure_properties(picture, scene, settings), blank=blank)
    truncated = uncalibrated = False
    if blank:
        image = replace(image, estimate=lambda _: 0.0, overall=0.0 if matched else None)
    elif matched:
        image, truncated = estimated(image, prompt, picture, scene, settings)
        uncalibrated = not load_matcher(settings).calibrated
    stages.enter("match")
    frame = is_animated(picture)
    return Observations(scene, image, believe(scene, image, settings), frame, truncated, uncalibrated)


def is_animated(picture: Picture) -> bool:
    """Whether an image is one frame of an animation."""
    return any(note.startswith("frame") for note in picture.notes)


def several_candidates(check: Check, scene: Scene, settings: Settings) -> bool:
    """Whether there are more confident candidates of an object than were asked for."""
    confident = [s for s in check.candidates if s.confidence >= settings.low_confidence]
    high = scene.things[check.thing or 0].count.high
    return high is not None and not check.claim.negated and len(confident) > high


def estimated(image: Image, prompt: str, picture: Picture, scene: Scene, settings: Settings) -> tuple[Image, bool]:
    """An image with the matcher's estimates of it, and whether the matcher read only the beginning of the prompt."""
    model = load_matcher(settings)
    text = text_to_match(prompt, scene)
    read = correct_spelling(text[:MAX_LENGTH])
    overall = model.probabilities(picture, [read])[0] if read else None
    phrases = list(dict.fromkeys(correct_spelling(thing.phrase) for thing in scene.things))
    known = dict(zip(phrases, model.phrase_probabilities(picture, phrases), strict=True))  # all in one pass

    classes = class_probabilities(picture, settings)

    def classify(name: str) -> float | None:
        kinds = classes_of(name, class_labels(settings))
        return min(1.0, float(classes[kinds].sum())) if kinds else None

    @cache
    def estimate(phrase: str) -> float | None:
        text = correct_spelling(phrase)
        if not any(is_common_word(word) for word in re.findall(r"[^\W\d_]{2,}", text)):
            return None
        return known[text] if text in known else model.phrase_probabilities(picture, [text])[0]

    truncated = len(text) > MAX_LENGTH or (bool(read) and model.truncates(read))
    artwork = artwork_probability(picture, settings)
    return replace(image, estimate=estimate, classify=classify, overall=overall, artwork=artwork), truncated


@lru_cache(maxsize=4096)
def classes_of(name: str, labels: Sequence[tuple[str, ...]]) -> list[int]:
    """The classes that are kinds of a thing, by their number: a great grey owl is an owl, a bird, an animal."""
    kinds = ((*names, *name_of(names[0]).same, *name_of(names[0]).broader) for names in labels)
    return [number for number, words in enumerate(kinds) if name in words]


def text_to_match(prompt: str, scene: Scene) -> str:
    """The prompt without what it rules out, since the matcher takes "no cat" and "not next to a cat" for a cat."""
    negated = {r.target for thing in scene.things for r in thing.relations if r.negated}
    wanted = [thing.phrase for i, thing in enumerate(scene.things) if not thing.absent and i not in negated]
    return prompt if len(wanted) == len(scene.things) else ", ".join(wanted)


# -- what to look for ------------------------------------------------------------------------------------------------


def names_to_detect(scene: Scene) -> list[Name]:
    """Each name once; none for a prompt in another language, whose words may look English."""
    if NOT_ENGLISH in scene.flags:
        return []
    sizes = ((t.canonical, each.value) for t in scene.things for each in t.attributes if each.kind == "size")
    small = {name for name, size in sizes if SIZE_WORDS.get(size) == "small"}
    fine = {t.canonical for t in scene.things if t.count.low >= MANY} | small  # easily missed
    colored = {t.canonical for t in scene.things if any(each.kind == "color" for each in t.attributes)}
    labels = dict.fromkeys(thing.canonical for thing in scene.things if thing.canonical != "text")
    return [replace(name_of(label), fine=label in fine, colored=label in colored) for label in labels]


def names_to_measure(scene: Scene) -> set[str]:
    """The names whose color, pose or expression matters: each sighting of them takes further networks."""
    return {
        thing.canonical
        for thing in scene.things
        if any(attribute.kind in MEASURED for attribute in thing.attributes)
        or any(relation.name in NEED_JOINTS for relation in thing.relations)
    }


def asks_for_text(scene: Scene) -> bool:
    """Whether any object should bear text."""
    return any(attribute.kind == "text" for thing in scene.things for attribute in thing.attributes)


def weight_objects(scene: Scene, major: Sequence[str]) -> Scene:
    """The scene with major objects weighted higher, on top of the prompt's own weights."""
    heavy = {canonical(name) for name in major}
    if unknown := heavy - {thing.canonical for thing in scene.things}:
        raise PromptError(f"marked as major but not in the prompt: {', '.join(sorted(unknown))}")
    things = [
        replace(thing, importance=thing.importance * MAJOR_WEIGHT) if thing.canonical in heavy else thing
        for thing in scene.things
    ]
    return replace(scene, things=tuple(things))


def measure_properties(picture: Picture, scene: Scene, settings: Settings) -> tuple[Trait, ...]:
    """The properties of the image as a whole, if the prompt mentions any."""
    if not scene.properties:
        return ()
    kinds = {PROPERTIES.get(attribute.value, ("", ""))[0] for attribute in scene.properties}
    return (*properties(picture), *([medium(picture, settings)] if settings.matcher and "medium" in kinds else []))

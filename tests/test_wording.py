"""What is said of a verdict."""

import pytest

from onprompt.evidence.beliefs import Image, believe
from onprompt.settings import Settings
from onprompt.types import Attribute, Box, Count, Detections, NameMatch, PromptEvidence, Scene, Sighting, Thing, Trait
from onprompt.wording import sentence, summary

MAN = Sighting("man", "man", Box(0.4, 0.2, 0.6, 0.8), 0.99, "test", size="small", position="left")
NIGHT = (Attribute("lighting", "night"), Attribute("mood", "epic"))
LIGHT = (Trait("lighting", "light", 0.99),)


def said(
    thing: Thing, score: int, settings: Settings, confidence: float = 0.99, properties: tuple[Attribute, ...] = ()
) -> str:
    scene = Scene("", (thing,), properties=properties)
    found = Sighting("man", "man", MAN.box, confidence, "test", size="small", position="left")
    checks = believe(scene, Image(Detections((found,), {"man": NameMatch(("man",))}), properties=LIGHT), settings)
    return summary(PromptEvidence(scene), checks, score, 4, verifiable=True)


@pytest.mark.parametrize(
    ("score", "confidence", "start"),
    [
        (4, 0.99, "The image matches the prompt."),
        (4, 0.4, "The image probably matches the prompt. Uncertain: a man (detected 1)."),
        (2, 0.4, "The image may differ from the prompt. Uncertain: a man (detected 1)."),
    ],
)
def test_the_first_sentence_follows_from_score_and_outcomes(
    score: int, confidence: float, start: str, settings: Settings
) -> None:
    assert said(Thing("a man", "man"), score, settings, confidence) == start


def test_a_property_of_the_image_that_contradicts_the_prompt_is_in_the_summary(settings: Settings) -> None:
    text = said(Thing("a man", "man"), 3, settings, properties=NIGHT)
    assert text == "The image differs from the prompt: night (found light). Not checked: epic."


def test_a_wrong_count_is_said_in_numbers(settings: Settings) -> None:
    three = Thing("three men", "man", Count(3, 3, "three", explicit=True))
    assert said(three, 2, settings) == "The image differs from the prompt: three men (count: expected 3, found 1)."


def test_a_sentence_holds_claim_finding_probability_and_source(settings: Settings) -> None:
    scene = Scene("", (Thing("a man", "man"),))
    (check,) = believe(scene, Image(Detections((MAN,), {"man": NameMatch(("man",))})), settings)[:1]
    assert sentence(check) == f"expected a man: detected 1 (probability {check.probability:.2f}, test)"


def test_an_object_of_a_broader_class_may_be_another_of_that_class(settings: Settings) -> None:
    scene = Scene("", (Thing("a nurse", "nurse"),))
    nurse = Sighting("nurse", "person", MAN.box, 0.99, "test")
    checks = believe(
        scene, Image(Detections((nurse,), {"nurse": NameMatch(("person",), settings.subtype_score)})), settings
    )
    text = summary(PromptEvidence(scene), checks, 3, 4, verifiable=True)
    assert text.endswith("Not checked: nurse (may be another person).")
    assert "detected as 'person', the closest class that a detector knows" in sentence(checks[-1])

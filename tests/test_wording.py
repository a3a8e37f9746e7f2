"""What is said of a verdict."""

from onprompt.evidence.estimates import overall_estimate
from onprompt.evidence.grade import grade
from onprompt.evidence.match import match

from onprompt.settings import Settings
from onprompt.types import Attribute, Box, Known, PromptEvidence, Scene, Seen, Sighting, Thing, Trait
from onprompt.wording import summary

MAN = Sighting("man", "man", Box(0.4, 0.2, 0.6, 0.8), 0.9, "test", size="small", position="left")
NIGHT = Scene("", (Thing("a man", "man"),), properties=(Attribute("lighting", "night"), Attribute("mood", "epic")))


def test_a_measurement_of_the_whole_picture_that_contradicts_the_prompt_is_in_the_summary(settings: Settings) -> None:
    matches = match(NIGHT, Seen((MAN,), {"man": Known(("man",))}), (), settings)
    evidence = PromptEvidence(NIGHT, properties=(Trait("lighting", "light", 0.9),))
    text = summary(matches, grade(matches, settings), 4, evidence)
    assert text == "The image differs from the prompt: the image: lighting night (light). Not checked: mood epic."


def test_a_score_that_the_whole_has_lowered_is_explained(settings: Settings) -> None:
    scene = Scene("", (Thing("a man", "man"),))
    matches = match(scene, Seen((MAN,), {"man": Known(("man",))}), (), settings)
    evidence = PromptEvidence(scene, estimates=(overall_estimate("", 0.03),))
    text = summary(matches, grade(matches, settings), 2, evidence, lowered=True)
    assert text == "The image matches the prompt. As a whole it fits less well (estimate 0.03)."

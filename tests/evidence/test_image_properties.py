"""What a prompt says of the picture as a whole: contradicted, confirmed, or left open by measurements."""

from onprompt.evidence.image_properties import contradictions, not_measured
from onprompt.types import Attribute, Scene, Trait

NIGHT, EPIC = Attribute("lighting", "night"), Attribute("mood", "epic")
SCENE = Scene("", properties=(NIGHT, EPIC))


def lighting(value: str, confidence: float) -> tuple[Trait, ...]:
    return (Trait("lighting", value, confidence),)


def test_only_a_confident_measurement_contradicts_the_prompt() -> None:
    assert contradictions(SCENE, lighting("light", 0.9)) == [(NIGHT, "light")]
    assert contradictions(SCENE, lighting("light", 0.6)) == []
    assert contradictions(SCENE, lighting("dark", 0.9)) == []


def test_what_nothing_measures_with_confidence_is_left_open() -> None:
    assert not_measured(SCENE, lighting("light", 0.6)) == [NIGHT, EPIC]
    assert not_measured(SCENE, lighting("dark", 0.9)) == [EPIC]

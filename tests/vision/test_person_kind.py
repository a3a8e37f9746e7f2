"""Apparent sex and age of a pictured person."""

import numpy as np
import pytest
from PIL import Image

from onprompt.language import name_of
from onprompt.settings import Settings
from onprompt.types import Box, Trait
from onprompt.vision import people
from onprompt.vision.detection import detect
from onprompt.vision.image import load_picture
from tests.conftest import Pixels, photo

SURE = 0.75
ASTRONAUT = Box(0.019, 0.025, 0.718, 1.0)
MEN = [Box(0.278, 0.374, 0.427, 0.787), Box(0.828, 0.359, 1.0, 0.809)]  # bus.jpg
PLAYER = Box(0.663, 0.055, 0.964, 0.999)  # football.jpg: a woman, out of focus


def traits(pixels: Pixels, box: Box, settings: Settings) -> dict[str, Trait]:
    return {trait.kind: trait for trait in people.kind_traits(load_picture(pixels, settings), box, settings)}


@pytest.mark.parametrize("man", MEN)
def test_men_are_male_adults(man: Box, settings: Settings) -> None:
    sex, age = traits(photo("bus.jpg"), man, settings).values()
    assert (sex.value, age.value) == ("male", "adult")
    assert min(sex.confidence, age.confidence) >= SURE


def test_a_woman_is_female(settings: Settings) -> None:
    sex = traits(photo("football.jpg"), PLAYER, settings)["sex"]
    assert sex.value == "female"
    assert sex.confidence >= SURE


def test_a_woman_in_a_space_suit_is_an_adult_of_undecided_sex(settings: Settings) -> None:
    shown = traits(photo("astronaut.png"), ASTRONAUT, settings)
    assert shown["age"].value == "adult"
    assert shown["age"].confidence >= SURE
    assert "sex" not in shown


@pytest.mark.parametrize("man", MEN)
def test_resolution_hardly_matters(man: Box, settings: Settings) -> None:
    """Training photos have 256 pixels; bus.jpg is four times as large."""
    half = np.asarray(Image.fromarray(photo("bus.jpg")).resize((405, 540)))
    large = traits(photo("bus.jpg"), man, settings)
    for kind, trait in traits(half, man, settings).items():
        assert trait.value == large[kind].value
        assert trait.confidence == pytest.approx(large[kind].confidence, abs=0.15)


def test_a_tiny_box_has_no_traits(settings: Settings) -> None:
    side = people.MIN_PERSON / photo("astronaut.png").shape[1]
    assert traits(photo("astronaut.png"), Box(0.3, 0.1, 0.3 + 0.9 * side, 0.9), settings) == {}
    small = MEN[0].left, MEN[0].top, MEN[0].left + 1.2 * people.MIN_PERSON / photo("bus.jpg").shape[1]
    assert traits(photo("bus.jpg"), Box(*small, MEN[0].bottom), settings)


@pytest.mark.parametrize(("label", "told"), [("man", True), ("woman", True), ("person", False), ("bus", False)])
def test_only_of_men_and_women_is_it_told(label: str, told: bool, settings: Settings) -> None:
    seen = detect(load_picture(photo("bus.jpg"), settings), [name_of(label)], settings, [])
    kinds = {trait.kind for sighting in seen.sightings if sighting.label == label for trait in sighting.traits}
    assert bool(kinds & set(people.KINDS)) is told

"""The five sentences of seed 001 over the two shares, and the reason in 20 words."""

import pytest

from onprompt.evidence.match import match
from onprompt.rubrics.rate import elements_shown, in_few_words, rating, reasoning, relations_shown
from onprompt.settings import Settings
from onprompt.types import Attribute, Box, Count, Known, Relation, Scene, Seen, Sighting, Thing

DOG = Thing("a dog", "dog", Count(1, 1, "a"), relations=(Relation("left of", 1),))
BALL = Thing("a ball", "ball", Count(1, 1, "a"))


def at(label: str, left: float) -> Sighting:
    return Sighting(label, label, Box(left, 0.4, left + 0.1, 0.6), 0.9, "test", size="small", position="left")


def seen(*sightings: Sighting) -> Seen:
    return Seen(sightings, {name: Known((name,)) for name in ("dog", "ball", "cat")})


@pytest.mark.parametrize(
    ("shown", "related", "score"),
    [
        *((1.0, 1.0, 5), (0.9, 0.9, 5)),  # all of the elements and all of the actions/relations
        *((1.0, 0.89, 4), (0.9, 0.51, 4)),  # all of the elements and most of the actions/relations
        *((1.0, 0.5, 3), (0.89, 1.0, 3), (0.51, 0.2, 3), (1.0, 0.2, 3)),  # most elements, at least one relation
        *((1.0, 0.19, 2), (0.5, 1.0, 2), (0.2, 0.0, 2), (0.0, 0.2, 2)),  # some elements, but relations ignored
        *((0.19, 0.19, 1), (0.0, 0.0, 1)),  # none
        *((1.0, None, 5), (0.89, None, 3), (0.51, None, 3), (0.5, None, 2), (0.2, None, 2), (0.0, None, 1)),
    ],
)
def test_the_five_sentences(shown: float, related: float | None, score: int, settings: Settings) -> None:
    assert rating(shown, related, settings) == score


def test_the_rating_never_falls_when_a_share_rises(settings: Settings) -> None:
    steps = [step / 20 for step in range(21)]
    for fixed in steps:
        by_elements = [rating(step, fixed, settings) for step in steps]
        by_relations = [rating(fixed, step, settings) for step in steps]
        assert by_elements == sorted(by_elements)
        assert by_relations == sorted(by_relations)


def test_shares_of_elements_and_relations(settings: Settings) -> None:
    right = match(Scene("", (DOG, BALL)), seen(at("dog", 0.1), at("ball", 0.6)), (), settings)
    assert (elements_shown(right, settings), relations_shown(right)) == (1, 1)
    wrong = match(Scene("", (DOG, BALL)), seen(at("dog", 0.6), at("ball", 0.1)), (), settings)
    assert (elements_shown(wrong, settings), relations_shown(wrong)) == (1, 0), "a relation is no element"
    alone = match(Scene("", (DOG, BALL)), seen(at("dog", 0.1)), (), settings)
    assert (elements_shown(alone, settings), relations_shown(alone)) == (0.5, 0)
    assert relations_shown(match(Scene("", (BALL,)), seen(at("ball", 0.1)), (), settings)) is None


def test_the_reason_names_what_is_missing_and_wrong_first(settings: Settings) -> None:
    red = Thing("two red dogs", "dog", Count(2, 2, "two", True), (Attribute("position", "right"),))
    found = match(Scene("", (red, BALL, Thing("a cat", "cat"))), seen(at("dog", 0.1), at("ball", 0.6)), (), settings)
    assert reasoning(found) == "Missing: cat. Wrong: 2 × dog, right dog. Shown: dog, ball."


@pytest.mark.parametrize("parts", [["word " * 50], ["two words"] * 30, ["a b c", "d " * 18, "e"]])
def test_the_reason_has_at_most_20_words(parts: list[str]) -> None:
    assert 1 <= len(in_few_words(parts).split()) <= 20


def test_text_that_must_not_be_there_is_named_once(settings: Settings) -> None:
    text = Thing("the text", "text", attributes=(Attribute("text", "SALE"),), absent=True)
    line = Sighting("text", "text", Box(0, 0, 1, 1), 0.9, "test", text="SALE")
    assert reasoning(match(Scene("", (text,)), seen(), (line,), settings)) == "Wrong: no the text."


def test_what_an_object_must_not_do_is_no_relation(settings: Settings) -> None:
    dog = Thing("a dog", "dog", attributes=(Attribute("not action", "run"),))
    assert relations_shown(match(Scene("", (dog,)), seen(), (), settings)) is None

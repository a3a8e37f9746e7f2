"""Guesses beside the evidence: marked as such, without weight in the grade."""

import pytest

from onprompt.evidence.estimates import NOBODY, blended, disagrees, estimates, whole_check
from onprompt.evidence.grade import Grade
from onprompt.evidence.match import match
from onprompt.settings import Settings
from onprompt.types import Attribute, Box, Known, Outcome, Relation, Scene, Seen, Sighting, Thing, Trait


def graded(value: float, coverage: float = 1.0) -> Grade:
    return Grade(4, value, value, 1.0, coverage, coverage > 0)


def test_the_whole_says_how_well_the_image_fits() -> None:
    check = whole_check("a dog", 0.714)
    assert (check.found, check.outcome) == ("the image as a whole fits the prompt: 0.71", Outcome.LOW_CONFIDENCE)
    assert (check.kind, check.source, check.thing) == ("whole", "matcher", NOBODY)
    assert whole_check("a dog", 0.2).confidence == pytest.approx(0.8)


def test_what_nothing_else_can_check_is_guessed_at(settings: Settings) -> None:
    things = (
        Thing("a wooden quay", "quay", attributes=(Attribute("material", "wooden"),), relations=(Relation("near", 1),)),
        Thing("dunes", "dune"),
        Thing("gulls", "gull", absent=True),
        Thing("a fluffy dog", "dog", attributes=(Attribute("pattern", "fluffy"),)),
    )
    asked = ("style", "baroque"), ("quality", "8k"), ("lighting", "night")
    scene = Scene("", things, properties=tuple(Attribute(*each) for each in asked))
    night = Trait("lighting", "dark", 0.9)
    dog = Sighting("dog", "dog", Box(0.1, 0.1, 0.5, 0.5), 0.9, "test", size="medium", position="left")
    matches = match(scene, Seen((dog,), {"dog": Known(("dog",))}), (), settings)
    found = estimates(scene, matches, [night], lambda phrases: [0.6] * len(phrases))
    assert [(check.thing, check.asked) for check in found] == [
        (0, "a wooden quay"),
        (0, "quay near dunes"),
        (1, "dunes"),
        (3, "fluffy dog"),
        (NOBODY, "baroque"),
    ]
    assert {(check.kind, check.outcome, check.source) for check in found} == {
        ("estimate", Outcome.LOW_CONFIDENCE, "matcher")
    }


def test_where_all_was_checked_there_is_nothing_to_guess(settings: Settings) -> None:
    scene = Scene("", (Thing("a dog", "dog"),))
    matches = match(scene, Seen((), {"dog": Known(("dog",))}), (), settings)
    assert estimates(scene, matches, [], lambda phrases: [0.5] * len(phrases)) == ()


@pytest.mark.parametrize(
    ("value", "coverage", "whole", "blend"),
    [
        (0.8, 1.0, None, 0.8),
        (0.8, 1.0, 0.4, 0.6),
        (0.8, 0.5, 0.4, 0.25 * 0.8 + 0.75 * 0.4),  # what could not be checked leaves its weight to the guess
        (0.5, 0.0, 0.9, 0.9),
        (0.0, 1.0, 0.0, 0.0),
    ],
)
def test_value_weighs_evidence_and_guess(value: float, coverage: float, whole: float | None, blend: float) -> None:
    settings = Settings(matcher_weight=0.5)
    assert blended(graded(value, coverage), whole, settings) == pytest.approx(blend)


@pytest.mark.parametrize("coverage", [0.1, 0.5, 1.0])
def test_more_evidence_or_a_better_guess_never_lowers_the_value(coverage: float, settings: Settings) -> None:
    steps = [0.0, 0.3, 0.7, 1.0]
    by_evidence = [blended(graded(value, coverage), 0.5, settings) for value in steps]
    by_guess = [blended(graded(0.5, coverage), whole, settings) for whole in steps]
    assert by_evidence == sorted(by_evidence)
    assert by_guess == sorted(by_guess)


def test_strong_disagreement_is_flagged(settings: Settings) -> None:
    assert disagrees(graded(1.0), 0.1, settings)
    assert disagrees(graded(0.0), 0.9, settings)
    assert not disagrees(graded(1.0), 0.6, settings)
    assert not disagrees(graded(0.5, coverage=0.0), 0.0, settings)  # a placeholder agrees with nothing
    assert not disagrees(graded(1.0), None, settings)

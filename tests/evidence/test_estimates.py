"""Estimates stand in where nothing else can check, help weak sightings, and are marked as estimates."""

import itertools
from dataclasses import replace

import pytest

from onprompt.evidence.estimates import disagrees, fused_probability, overall_estimate, property_estimates
from onprompt.evidence.grade import grade
from onprompt.evidence.match import match
from onprompt.evidence.matches import Match
from onprompt.settings import Settings
from onprompt.types import Attribute, Box, Count, Known, Outcome, Relation, Scene, Seen, Sighting, Swatch, Thing, Trait
from onprompt.wording import finding_words, sentence

DOG = Sighting("dog", "dog", Box(0.1, 0.1, 0.5, 0.5), 0.9, "test", size="medium", position="left")


def found(
    chance: float, *things: Thing, sightings: tuple[Sighting, ...] = (), known: tuple[str, ...] = ()
) -> list[Match]:
    names = {*known, *(each.label for each in sightings)}
    seen = Seen(sightings, {name: Known((name,)) for name in names})
    return list(match(Scene("", things), seen, (), Settings(), lambda phrase: chance))


def test_the_whole_says_how_well_the_image_fits() -> None:
    check = overall_estimate("a dog", 0.714)
    assert (sentence(check), check.outcome) == ("asked for a dog: likely (estimate 0.71)", Outcome.LOW_CONFIDENCE)
    assert (check.claim.kind, check.source, check.thing) == ("whole", "matcher", None)
    assert overall_estimate("a dog", 0.2).confidence == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("chance", "outcome"),
    [(0.95, Outcome.MATCHED), (0.5, Outcome.LOW_CONFIDENCE), (0.05, Outcome.MISSING)],
)
def test_a_name_that_no_detector_knows_is_estimated(chance: float, outcome: Outcome) -> None:
    (quay,) = found(chance, Thing("a quay", "quay"))
    assert (quay.outcome, quay.checks[0].source) == (outcome, "matcher")
    assert "estimate" in finding_words(quay.first)


def test_what_is_seen_surely_is_not_made_less_sure_by_an_estimate() -> None:
    (dog,) = found(0.01, Thing("a dog", "dog"), sightings=(DOG,))
    assert (dog.outcome, dog.confidence, dog.checks[0].source) == (Outcome.MATCHED, 0.9, "test")


def test_what_no_detector_sees_may_be_there_by_an_estimate() -> None:
    (dog,) = found(0.99, Thing("a dog", "dog"), known=("dog",))
    assert dog.outcome in (Outcome.MATCHED, Outcome.LOW_CONFIDENCE)
    assert dog.checks[0].source == "matcher"
    (dog,) = found(0.3, Thing("a dog", "dog"), known=("dog",))
    assert (dog.outcome, dog.checks[0].source) == (Outcome.MISSING, "detector")


def test_what_was_not_located_can_not_be_counted() -> None:
    (dogs,) = found(0.99, Thing("two dogs", "dog", Count(2, 2, "two", explicit=True)))
    assert [(check.claim.kind, check.outcome) for check in dogs.checks] == [
        ("object", Outcome.MATCHED),
        ("count", Outcome.UNVERIFIABLE),
    ]
    assert dogs.score(Settings()) == 1


def test_an_estimate_may_speak_for_a_detail_and_never_against_it() -> None:
    wet = Thing("a wet dog", "dog", attributes=(Attribute("state", "wet"),))
    for chance, outcome, source in ((0.9, Outcome.MATCHED, "matcher"), (0.02, Outcome.UNVERIFIABLE, "none")):
        (dog,) = found(chance, wet, sightings=(DOG,))
        assert (dog.checks[-1].outcome, dog.checks[-1].source) == (outcome, source)
    values = [grade(found(chance, wet, sightings=(DOG,)), Settings()).value for chance in (0.02, 0.3, 0.6, 0.98)]
    assert values == sorted(values)


def test_measures_that_disagree_are_of_low_confidence() -> None:
    on, ball = Thing("a dog on a ball", "dog", relations=(Relation("on", 1),)), Thing("a ball", "ball")
    far = replace(DOG, label="ball", word="ball", box=Box(0.8, 0.1, 0.9, 0.2))
    for chance, outcome in ((0.98, Outcome.LOW_CONFIDENCE), (0.6, Outcome.MISMATCH)):
        dog, _ = found(chance, on, ball, sightings=(DOG, far))
        assert dog.checks[-1].outcome is outcome
        assert finding_words(dog.checks[-1]).startswith("no (")


def test_an_estimate_at_a_colour_does_not_contest_the_pixels() -> None:
    red = Thing("a red dog", "dog", attributes=(Attribute("color", "red"),))
    blue = replace(DOG, colours=(Swatch("blue", (0, 0, 255), (32.3, 79.2, -107.9), 0.9),))
    (dog,) = found(0.98, red, sightings=(blue,))
    assert dog.checks[-1].outcome is Outcome.MISMATCH


@pytest.mark.parametrize(
    "thing",
    [
        Thing("dogs", "dog", absent=True),
        Thing("a dog", "dog", attributes=(Attribute("text", "HI"),)),
        Thing("a dog", "dog", relations=(Relation("left of", 0),)),
        Thing("a dog", "dog", attributes=(Attribute("not color", "blue"),)),
        Thing("at most two dogs", "dog", Count(0, 2, "at most two", explicit=True)),
    ],
)
def test_what_the_matcher_has_no_eye_for_is_left_alone(thing: Thing) -> None:
    (dog,) = found(0.9, thing)
    assert dog.checks[-1].source != "matcher"


def test_without_an_estimate_what_nobody_knows_is_unverifiable(settings: Settings) -> None:
    (quay,) = match(Scene("", (Thing("a quay", "quay"),)), Seen((), {}), (), settings)
    assert quay.outcome is Outcome.UNVERIFIABLE


def test_what_is_said_of_the_picture_is_estimated_unless_it_is_measured() -> None:
    asked = ("style", "baroque"), ("quality", "8k"), ("lighting", "night")
    scene = Scene("", properties=tuple(Attribute(*each) for each in asked))
    estimates = property_estimates(scene, [Trait("lighting", "dark", 0.9)], lambda phrase: 0.6)
    assert [(check.claim.value, check.claim.kind, check.outcome) for check in estimates] == [
        ("baroque", "property", Outcome.LOW_CONFIDENCE)
    ]


def test_detector_and_matcher_are_added_as_log_odds() -> None:
    settings = Settings(fuse_detector=1, fuse_matcher=1, fuse_shift=0, guess_shift=0)
    assert fused_probability(0.2, 0.8, settings) == pytest.approx(0.5)
    assert fused_probability(0.2, 0.5, settings) == pytest.approx(0.2)
    assert fused_probability(None, 0.7, settings) == pytest.approx(0.7)
    assert fused_probability(0.3, None, settings) == 0.3
    assert fused_probability(None, None, settings) is None


def test_more_of_either_is_never_less_likely(settings: Settings) -> None:
    steps = [step / 20 for step in range(21)]
    for one, other in itertools.pairwise(steps):
        for fixed in steps:
            assert (fused_probability(one, fixed, settings) or 0) <= (fused_probability(other, fixed, settings) or 0)
            assert (fused_probability(fixed, one, settings) or 0) <= (fused_probability(fixed, other, settings) or 0)


def test_value_is_the_mean_of_what_is_there_and_of_the_whole(settings: Settings) -> None:
    matches = match(Scene("", (Thing("a dog", "dog"),)), Seen((DOG,), {"dog": Known(("dog",))}), (), settings)
    assert grade(matches, settings).value == pytest.approx(0.9)
    half = settings.model_copy(update={"value_whole": 0.5})
    assert grade(matches, half, 0.4).value == pytest.approx(0.65)
    assert grade(matches, settings.model_copy(update={"value_whole": 0.0}), 0.4).value == pytest.approx(0.9)
    assert grade((), half, 0.4).value == pytest.approx((settings.prior + 0.4) / 2)


def test_how_much_was_only_estimated_is_told() -> None:
    matches = found(0.9, Thing("a dog", "dog"), Thing("a quay", "quay"), sightings=(DOG,))
    result = grade(matches, Settings())
    assert (result.coverage, result.estimated) == (1, 0.5)


@pytest.mark.parametrize(("evidence", "whole", "flag"), [(1.0, 0.2, True), (0.5, 0.2, False), (0.0, None, False)])
def test_an_estimate_far_from_the_evidence_is_flagged(evidence: float, whole: float | None, flag: bool) -> None:
    assert disagrees(evidence, whole, Settings()) is flag


@pytest.mark.parametrize("attribute", [Attribute("orientation", "facing left"), Attribute("not action", "run")])
def test_where_something_faces_and_what_it_does_not_do_is_not_estimated(attribute: Attribute) -> None:
    (dog,) = found(0.99, Thing("a dog", "dog", attributes=(attribute,)), sightings=(DOG,))
    assert dog.checks[1].outcome is Outcome.UNVERIFIABLE

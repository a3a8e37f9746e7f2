"""Estimates stand in where nothing else can check, help weak sightings, and are marked as estimates."""

import itertools
from dataclasses import replace

import pytest

from onprompt.evidence.estimates import Whole, disagrees, fused_probability, overall_estimate, property_estimates
from onprompt.evidence.grade import grade
from onprompt.evidence.match import match
from onprompt.evidence.matches import Match
from onprompt.rubrics.verify import score_of
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
    ("chance", "overall", "outcome", "score"),
    [
        (0.99, 0.99, Outcome.LOW_CONFIDENCE, 3),
        (0.5, 0.3, Outcome.UNVERIFIABLE, 2),
        (0.01, 0.02, Outcome.LOW_CONFIDENCE, 0),
    ],
)
def test_an_estimate_alone_earns_no_full_marks(chance: float, overall: float, outcome: Outcome, score: int) -> None:
    scene, whole = Scene("", (Thing("a quay", "quay"),)), Whole(overall=overall)
    matches = match(scene, Seen((), {}), (), Settings(), lambda phrase: chance, whole)
    assert (matches[0].outcome, matches[0].checks[0].source) == (outcome, "matcher")
    assert "estimate" in finding_words(matches[0].first)
    result = grade(matches, Settings(), overall)
    assert score_of(result.presence, result.attribute_accuracy, Settings()) == score


def test_an_estimate_does_not_overrule_a_clear_sighting() -> None:
    (dog,) = found(0.01, Thing("a dog", "dog"), sightings=(DOG,))
    assert dog.outcome is Outcome.MATCHED
    assert dog.confidence > 0.9


def test_an_estimate_does_not_overrule_a_detector_that_knows_the_object_and_sees_none() -> None:
    (dog,) = found(0.99, Thing("a dog", "dog"), known=("dog",))
    assert (dog.outcome, dog.checks[0].source) == (Outcome.MISSING, "detector")


def test_that_nothing_was_detected_says_less_in_artwork() -> None:
    scene, known = Scene("", (Thing("a dog", "dog"),)), Seen((), {"dog": Known(("dog",))})
    photo, drawing = (
        match(scene, known, (), Settings(), lambda phrase: 0.9, Whole(artwork=artwork))[0].first
        for artwork in (0.0, 1.0)
    )
    assert (photo.outcome, drawing.outcome) == (Outcome.MISSING, Outcome.UNVERIFIABLE)


def test_what_was_not_located_can_not_be_counted() -> None:
    (dogs,) = found(0.99, Thing("two dogs", "dog", Count(2, 2, "two", explicit=True)))
    assert [(check.claim.kind, check.outcome) for check in dogs.checks] == [
        ("object", Outcome.LOW_CONFIDENCE),
        ("count", Outcome.UNVERIFIABLE),
    ]


@pytest.mark.parametrize("chance", [0.02, 0.98])
def test_an_estimate_of_a_detail_is_shown_and_counts_for_nothing(chance: float) -> None:
    wet = Thing("a wet dog", "dog", attributes=(Attribute("state", "wet"),))
    matches = found(chance, wet, sightings=(DOG,))
    detail = matches[0].checks[-1]
    assert (detail.outcome, detail.source, detail.finding.probability) == (Outcome.UNVERIFIABLE, "matcher", chance)
    result = grade(matches, Settings())
    assert (result.presence, result.attribute_accuracy) == (1, 1)


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
        Thing("a dog", "dog", attributes=(Attribute("color", "blue", negated=True),)),
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
    settings = Settings(matcher_weight=1, asked_shift=0, estimate_weight=1, estimate_shift=0, estimate_whole=1)
    assert fused_probability(0.2, 0.8, settings) == pytest.approx(0.5)
    assert fused_probability(0.2, 0.5, settings) == pytest.approx(0.2)
    assert fused_probability(None, 0.7, settings) == pytest.approx(0.7)
    assert fused_probability(None, 0.5, settings, Whole(overall=0.5)) == pytest.approx(1 / 3, abs=1e-4)
    assert fused_probability(0.3, None, settings) == pytest.approx(0.3)
    assert fused_probability(0.2, 0.5, settings, Whole(artwork=1.0)) == pytest.approx(1 / 3, abs=1e-4)
    assert fused_probability(0.8, 0.5, settings, Whole(artwork=1.0)) == pytest.approx(0.8)
    assert fused_probability(None, None, settings) is None


def test_silence_about_a_word_that_is_no_class_says_little(settings: Settings) -> None:
    unaided = fused_probability(None, 0.5, settings) or 0.0
    silent, doubtful, sure = (fused_probability(p, 0.5, settings, calibrated=False) or 0.0 for p in (0.0, 0.2, 0.9))
    assert settings.missing_below < silent < doubtful < unaided < sure
    assert (fused_probability(0.0, 0.5, settings) or 0.0) < settings.missing_below
    octopus = Scene("", (Thing("an octopus", "octopus"),))
    for calibrated, outcome in ((True, Outcome.MISSING), (False, Outcome.LOW_CONFIDENCE)):
        known = {"octopus": Known(("octopus",), calibrated=calibrated)}
        (checked,) = match(octopus, Seen((), known), (), settings, lambda _: 0.6)
        assert checked.outcome is outcome


def test_more_of_either_is_never_less_likely(settings: Settings) -> None:
    steps = [step / 20 for step in range(21)]
    for one, other in itertools.pairwise(steps):
        for fixed in steps:
            assert (fused_probability(one, fixed, settings) or 0) <= (fused_probability(other, fixed, settings) or 0)
            assert (fused_probability(fixed, one, settings) or 0) <= (fused_probability(fixed, other, settings) or 0)


def test_value_falls_with_the_overall_estimate_and_with_what_is_wrong(settings: Settings) -> None:
    matches = match(Scene("", (Thing("a dog", "dog"),)), Seen((DOG,), {"dog": Known(("dog",))}), (), settings)
    assert grade(matches, settings).value == pytest.approx(matches[0].confidence, abs=0.002)
    assert grade(matches, settings.model_copy(update={"value_whole": 0.0}), 0.4).value == pytest.approx(
        matches[0].confidence, abs=0.002
    )
    once = settings.model_copy(update={"value_whole": 1.0})
    assert grade((), once, 0.4).value == pytest.approx(0.4 / 1.4), "odds of 1 times 0.4"
    values = [grade(matches, settings, overall).value for overall in (0.1, 0.4, 0.8, 1.0)]
    assert values == sorted(values)


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


def test_a_detector_of_one_kind_says_nothing_about_the_others() -> None:
    sign = Scene("", (Thing("a sign", "sign"),))
    (none,) = match(sign, Seen((), {"sign": Known(("stop sign",))}), (), Settings(), lambda phrase: 0.5)
    assert (none.outcome, none.first.source) == (Outcome.LOW_CONFIDENCE, "matcher")
    stop = replace(DOG, label="sign", word="stop sign")
    (one,) = match(sign, Seen((stop,), {"sign": Known(("stop sign",))}), (), Settings(), lambda phrase: 0.5)
    assert one.outcome is Outcome.MATCHED
    animal = Seen((), {"animal": Known(("cat", "dog", "horse"))})
    (none,) = match(Scene("", (Thing("an animal", "animal"),)), animal, (), Settings(), lambda phrase: 0.5)
    assert none.outcome is Outcome.MISSING

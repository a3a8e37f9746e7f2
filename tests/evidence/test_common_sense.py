"""Answers that any person would give, from sightings and on photos."""

import itertools
from dataclasses import replace

import pytest

from onprompt import Outcome, parse, rate, verify
from onprompt.evidence.beliefs import Image, believe
from onprompt.evidence.grading import Expectation, expect, rubric_score
from onprompt.settings import Settings
from onprompt.types import Box, Check, Detections, NameMatch, Sighting, Swatch, Trait
from tests.conftest import photo

YELLOW = Swatch("yellow", (245, 215, 40), (86.0, -2.0, 80.0), 0.9)
BLUE = Swatch("blue", (0, 0, 255), (32.3, 79.2, -107.9), 0.9)
PINK = Swatch("pink", (245, 140, 185), (70.0, 45.0, -8.0), 0.9)
RED = Swatch("red", (200, 0, 0), (42.0, 66.0, 56.0), 0.9)


def at(
    label: str, left: float = 0.1, confidence: float = 0.98, colors: tuple[Swatch, ...] = (RED,), size: float = 0.1
) -> Sighting:
    traits = (Trait("size", "medium", 1.0), Trait("position", "left", 1.0))
    box = Box(left, 0.4, left + size, 0.4 + size)
    return Sighting(label, label, box, confidence, "test", colors, "medium", "left", traits=traits)


def judged(
    prompt: str, *sightings: Sighting, known: tuple[str, ...] = (), **image: object
) -> tuple[Expectation, list[Check]]:
    settings, scene = Settings(), parse(prompt)
    labels = {*known, *(sighting.label for sighting in sightings)}
    seen = Detections(sightings, {label: NameMatch((label,)) for label in labels})
    checks = believe(scene, Image(seen, **image), settings)  # type: ignore[arg-type]
    return expect(scene, checks, rubric_score, range(5), settings), list(checks)


def test_a_weak_detection_is_a_weak_detection() -> None:
    expected, checks = judged("a skateboard", at("skateboard", confidence=0.35))
    assert checks[0].outcome is Outcome.LOW_CONFIDENCE
    assert expected.score <= 2
    assert 0.2 < expected.value < 0.6


def test_no_confidence_is_a_cliff() -> None:
    values = [judged("a cat", at("cat", confidence=0.05 + step / 100))[0].value for step in range(90)]
    assert values == sorted(values)
    assert max(b - a for a, b in itertools.pairwise(values)) < 0.06


def test_one_box_is_one_thing() -> None:
    skier = at("person")
    dog = replace(skier, label="dog", word="dog", confidence=0.3)
    expected, _ = judged("a person and a dog", skier, dog)
    assert expected.score <= 2, "what may be a dog is the person"
    expected, _ = judged("one pink frisbee and one white frisbee", at("frisbee", colors=(PINK,)))
    assert expected.score <= 2


def test_what_was_not_located_has_no_color() -> None:
    _, checks = judged("a red car", known=("car",))
    assert [check.outcome for check in checks if check.claim.kind == "color"] == [Outcome.UNVERIFIABLE]


def test_more_is_more_wrong() -> None:
    cars = [at("car", 0.08 * place) for place in range(8)]
    four, five, eight = (judged("four cars", *cars[:number])[0].value for number in (4, 5, 8))
    assert four > five > eight
    assert eight < 0.7


def test_occlusion_lowers_confidence_and_is_noted() -> None:
    hidden = replace(at("cat", confidence=0.8), traits=(Trait("visibility", "occluded", 0.9),))
    open_, covered = judged("a cat", at("cat", confidence=0.8)), judged("a cat", hidden)
    assert covered[0].value < open_[0].value
    assert covered[1][0].finding.notes == ("occluded",)


@pytest.mark.parametrize(("color", "right"), [(BLUE, True), (YELLOW, False)])
def test_not_yellow_is_measured(color: Swatch, right: bool) -> None:
    expected, checks = judged("a train that is not yellow", at("train", colors=(color,)))
    (claim,) = (check for check in checks if check.claim.kind == "color")
    assert claim.claim.negated
    assert claim.outcome is (Outcome.MATCHED if right else Outcome.MISMATCH)
    assert (expected.score == 4) is right


def test_a_relation_may_be_ruled_out() -> None:
    apart, beside = at("cat", 0.85), at("cat", 0.22)
    assert judged("a dog not next to a cat", at("dog"), apart)[0].score == 4
    assert judged("a dog not next to a cat", at("dog"), beside)[0].score <= 3
    assert judged("a dog not next to a cat", at("dog"), known=("cat",))[0].score >= 3, "no cat, so none beside it"
    both = "a cat and a dog, the dog is not next to the cat"
    assert judged(both, at("dog"), known=("cat",))[0].score <= 2, "what is asserted stays asserted"


def test_a_sign_is_recognized_by_its_text_whatever_a_detector_made_of_it() -> None:
    lines = (Sighting("text", "text", Box(0.2, 0.2, 0.6, 0.4), 0.99, "ocr", text="OPEN"),)
    sign = replace(at("sign", confidence=0.07), word="stop sign")
    expected, checks = judged('a sign that says "OPEN"', sign, lines=lines)
    assert checks[0].outcome is Outcome.MATCHED
    assert expected.score == 4


def test_sizes_of_two_of_a_kind_compare_them_and_not_the_image() -> None:
    small, large = at("book", 0.2, colors=(BLUE,), size=0.1), at("book", 0.15, colors=(RED,), size=0.3)
    small = replace(small, box=Box(0.22, 0.3, 0.3, 0.4))
    _, checks = judged("a small blue book on a large red book", small, large)
    assert {check.claim.kind for check in checks} >= {"object", "color", "relation"}
    assert not [check for check in checks if check.claim.kind == "size"]


def test_a_wrong_color_is_no_five() -> None:
    verdict = rate(photo("coffee.png"), "a black cup on a table")
    assert "Wrong: black cup" in verdict.summary
    assert (verdict.score or 0) < 5


@pytest.mark.parametrize(
    "prompt",
    ["an oil painting of a bus", "a bus at night", "an empty street with a bus", "a bus flying over the clouds"],
)
def test_what_is_said_of_the_image_or_cannot_be_checked_is_not_free(prompt: str) -> None:
    plain, more = verify(photo("bus.jpg"), "a bus"), verify(photo("bus.jpg"), prompt)
    assert plain.score == 4
    assert (more.score or 0) < 4
    assert more.value < plain.value


def test_an_absence_does_not_make_a_sole_object_one_of_several() -> None:
    blue = at("car", colors=(BLUE,))
    assert judged("a red car", blue)[0].score == judged("a red car and no dogs", blue, known=("dog",))[0].score == 2


@pytest.mark.parametrize("prompt", ['red text that says "OPEN"', 'the words "OPEN" in red'])
def test_text_is_there_if_it_can_be_read_whatever_else_is_said_of_it(prompt: str) -> None:
    lines = (Sighting("text", "text", Box(0.2, 0.2, 0.6, 0.4), 0.99, "ocr", text="CLOSED"),)
    assert judged(prompt, lines=lines)[0].score == 0


def test_between_is_one_claim() -> None:
    _, checks = judged("a dog between a cat and a car", at("dog", 0.1), at("cat", 0.4), at("car", 0.7))
    assert [check.claim.value for check in checks if check.claim.kind == "relation"] == ["between"]


def test_one_box_is_not_two_parts_of_a_group() -> None:
    both = at("frisbee", 0.1, colors=(PINK, Swatch("white", (240, 240, 240), (95.0, 0.0, 0.0), 0.5)))
    blue = at("frisbee", 0.5, colors=(BLUE,))
    assert judged("two frisbees, one pink and one white", both, blue)[0].score < 4


def test_what_no_detector_knows_may_be_recognized_and_else_is_no_full_match() -> None:
    assert (verify(photo("bus.jpg"), "a castle by day").score or 0) <= 2
    shown, other = (verify(photo(name), "an espresso") for name in ("coffee.png", "chelsea.png"))
    assert shown.checks[0].source == "classifier"
    assert shown.score == 4
    assert other.score == 0
    assert verify(photo("chelsea.png"), "a cat and a lighthouse").value < 0.6


def test_no_dog_on_the_sofa_allows_one_elsewhere() -> None:
    sofa = replace(at("sofa"), box=Box(0.1, 0.5, 0.5, 0.9))
    on_it, beside_it = (replace(at("dog"), box=Box(left, 0.4, left + 0.1, 0.7)) for left in (0.2, 0.8))
    assert judged("no dog on the sofa", sofa, on_it)[0].value < 0.6
    assert judged("no dog on the sofa", sofa, beside_it)[0].score == 4
    assert judged("no dog", sofa, beside_it)[0].value < 0.6

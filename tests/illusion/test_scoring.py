"""What each scoring makes of an answer; the original by its quirks, which a usual scoring has not."""

import pytest

from onprompt.illusion.protocol import SPLITS, Split
from onprompt.illusion.scoring import Outcome, Scoring, original, recall, strict

SIN, LOGO, ICON, OLD = (SPLITS[name] for name in ("sin", "logo", "icon", "old_sin"))
SHAPE, SCENE, REST, BOTH = (True, False), (False, True), (False, False), (True, True)

CASES: dict[
    Scoring, list[tuple[Split, str, str, str, tuple[bool, bool]]]
] = {  # a scoring, and what it makes of answers about a shape and a scene
    original: [
        (SIN, "CAT", "Cat", "Ocean", SHAPE),
        (SIN, "sand dune", "Cat", "Sand_dune", REST),
        (SIN, "Sand_dune", "Cat", "Sand_dune", SCENE),
        (SIN, "sand dune", "Cat", "sand_dune", SCENE),  # a scene spelled small is found with a space
        (SIN, "paper clip", "Paper_clip", "Ocean", REST),
        (ICON, "face emoji", "Face_Emoji", "Ocean", REST),
        (LOGO, "mercedes-benz", "Mercedes Benz", "Ocean", REST),
        (SIN, "a scarf in the city", "Car", "City", SHAPE),
        (SIN, "ocean, with a cat", "Cat", "Ocean", SHAPE),
        (ICON, "Stationery", "Stationary", "City", REST),
        (ICON, "Easy", "Music", "Easy", SCENE),
        (OLD, "elephant", "cat", "elephant1", REST),
        (SIN, "", "Cat", "Ocean", REST),
    ],
    recall: [
        (SIN, "cat, ocean", "Cat", "Ocean", BOTH),
        (SIN, "a paper clip in a sand dune", "Paper_clip", "Sand_dune", BOTH),
        (SIN, "  a SCARF ", "Car", "Ocean", SHAPE),
        (SIN, "a kick scooter", "kick-scooter", "Ocean", SHAPE),
        (SIN, "kick-scooter", "kick scooter", "Ocean", REST),
        (SIN, "cat", "", "Ocean", REST),
    ],
    strict: [
        (ICON, "Stationery", "Stationary", "City", SHAPE),
        (OLD, "elephant", "cat", "elephant", SCENE),
    ],
}


@pytest.mark.parametrize("scoring", CASES)
def test_quirks_of_each_scoring(scoring: Scoring) -> None:
    outcomes = [scoring(answer, shape, scene, split) for split, answer, shape, scene, _ in CASES[scoring]]
    assert [outcome[:2] for outcome in outcomes] == [expected for *_, expected in CASES[scoring]]
    assert all(outcome.rest == (outcome[:2] == REST) for outcome in outcomes)


CHOSEN = {
    SIN: {
        "A scarf in the city": "City",
        "he cares": "",
        "It's the cat's shape: cat.": "Cat",
        "paper-clips": "Paper_clip",
    }
    | {"**CATS!**": "Cat", "a clip of paper": "", "Times Square": "Time_square", "cities": "City", "paper. Clip": ""}
    | {"": "", "I can't tell.": "", "sand dunes": "Sand_dune"},
    LOGO: {"Mercedes-Benz": "Mercedes Benz", "mercedes": "Mercedes Benz", "McDonald’s": "Mcdonalds", "NASA": "Nasa"},
    ICON: {"stationary": "Stationery", "sports": "Sport"},
    OLD: {"knives": "knife", "a sailboat": ""},
}


def test_strict_chooses_the_one_option_that_is_named_by_its_meaning() -> None:
    for split, answers in CHOSEN.items():
        outcomes = {answer: strict(answer, split.shapes[0], "Ocean", split) for answer in answers}
        assert {answer: outcome.chosen for answer, outcome in outcomes.items()} == answers
        assert not any(outcome.ambiguous for outcome in outcomes.values())


@pytest.mark.parametrize(
    "answer",
    ["cat, ocean", "a cat or a dog", "not a cat", "There is no cat.", "I cannot see it, a cat?", "It isn’t a cat"],
)
def test_strict_does_not_guess(answer: str) -> None:
    assert strict(answer, "Cat", "Ocean", SIN) == Outcome(False, False, "", True)

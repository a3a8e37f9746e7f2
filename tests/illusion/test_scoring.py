import random

import pytest

from onprompt.illusion.protocol import SCENES, SPLITS, Split
from onprompt.illusion.scoring import Outcome, original, recall, strict

SIN, LOGO, ICON, OLD = (SPLITS[name] for name in ("sin", "logo", "icon", "old_sin"))
SHAPE, SCENE, REST, BOTH = (True, False), (False, True), (False, False), (True, True)
TRAPS = (
    *("scarf", "concatenate", "velocity", "oceanic", "dogma", "sand dune", "paper clip", "times square", "stationary"),
    *("mercedes-benz", "not", ".", "\n", "-", "_", "", "elephant1", "easy", "Ｃat", "İstanbul", "ſ"),
)


def restated(answer: str, shape: str, scene: str) -> str:
    """The original's rule in other words: the first that is found, of three places to look."""
    low = answer.lower()
    looked_for = [("shape", shape.lower()), ("scene", scene.lower()), ("scene", " ".join(scene.split("_")))]
    return next((kind for kind, words in looked_for if low.find(words) != -1), "rest")


def test_original_agrees_with_a_restatement_on_100_000_random_answers() -> None:
    dice, seen = random.Random(5), {"shape": 0, "scene": 0, "rest": 0}
    for _ in range(100_000):
        split = dice.choice(list(SPLITS.values()))
        shape, scene = dice.choice(split.shapes), dice.choice([*SCENES, "sand_dune", "Easy", "elephant1"])
        words = []
        for _ in range(dice.randint(0, 5)):
            word = dice.choice([shape, scene, dice.choice(split.options), dice.choice(TRAPS)])
            word = dice.choice([word, word.lower(), word.upper(), word.replace("_", " "), word[: dice.randint(0, 9)]])
            words += [word, dice.choice([" ", "", ", ", ".", "\n", "_"])]
        answer = "".join(words)
        outcome = original(answer, shape, scene, split)
        kind = "shape" if outcome.shape else "scene" if outcome.scene else "rest"
        assert kind == restated(answer, shape, scene), (answer, shape, scene)
        assert outcome[:2] != BOTH
        seen[kind] += 1
    assert min(seen.values()) > 10_000, seen


@pytest.mark.parametrize(
    ("split", "answer", "shape", "scene", "expected"),
    [
        (SIN, "Cat", "Cat", "Ocean", SHAPE),
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
)
def test_quirks_of_the_original(split: Split, answer: str, shape: str, scene: str, expected: tuple[bool, bool]) -> None:
    outcome = original(answer, shape, scene, split)
    assert outcome[:2] == expected
    assert outcome.rest == (expected == REST)


@pytest.mark.parametrize(
    ("answer", "shape", "scene", "expected"),
    [
        ("cat, ocean", "Cat", "Ocean", BOTH),
        ("a paper clip in a sand dune", "Paper_clip", "Sand_dune", BOTH),
        ("  a SCARF ", "Car", "Ocean", SHAPE),
        ("a kick scooter", "kick-scooter", "Ocean", SHAPE),
        ("kick-scooter", "kick scooter", "Ocean", REST),
        ("cat", "", "Ocean", REST),
    ],
)
def test_recall_takes_each_for_itself(answer: str, shape: str, scene: str, expected: tuple[bool, bool]) -> None:
    assert recall(answer, shape, scene, SIN)[:2] == expected


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
    assert strict("Stationery", "Stationary", "City", ICON)[:2] == SHAPE
    assert strict("elephant", "cat", "elephant", OLD)[:2] == SCENE


@pytest.mark.parametrize(
    "answer",
    ["cat, ocean", "a cat or a dog", "not a cat", "There is no cat.", "I cannot see it, a cat?", "It isn’t a cat"],
)
def test_strict_does_not_guess(answer: str) -> None:
    assert strict(answer, "Cat", "Ocean", SIN) == Outcome(False, False, "", True)

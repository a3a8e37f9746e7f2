import random

import pytest

from onprompt.illusion.protocol import SCENES, SPLITS, Split
from onprompt.illusion.scoring import Outcome, original, recall, strict

SIN, LOGO, ICON, OLD = (SPLITS[name] for name in ("sin", "logo", "icon", "old_sin"))
SHAPE, SCENE, REST, BOTH = (True, False), (False, True), (False, False), (True, True)
TRAPS = (
    *("scarf", "concatenate", "velocity", "oceanic", "carpet", "dogma", "cares", "sand dune", "paper clip", "clip"),
    *("Sand dune", "times square", "Time square", "mercedes-benz", "McDonald’s", "not", "no", "a", "the", "in"),
    *("I can't", ".", "\n", ",", "-", "_", "'", "!", "", "stationary", "elephant1", "easy", "Ｃat", "İstanbul", "ſ"),
)


def random_cases(number: int, seed: int) -> list[tuple[str, str, str, Split]]:
    """Answers out of pieces of options and traps, with gold labels as folders and names may spell them."""
    dice = random.Random(seed)
    cases = []
    for _ in range(number):
        split = dice.choice(list(SPLITS.values()))
        shape, scene = dice.choice(split.shapes), dice.choice([*SCENES, "sand_dune", "Easy", "elephant1"])
        words = []
        for _ in range(dice.randint(0, 5)):
            word = dice.choice([shape, scene, dice.choice(split.options), dice.choice(TRAPS)])
            word = dice.choice([word, word.lower(), word.upper(), word.replace("_", " "), word[: dice.randint(0, 9)]])
            words += [word, dice.choice([" ", "", ", ", ".", "\n", "_"])]
        cases.append(("".join(words), shape, scene, split))
    return cases


def restated(answer: str, shape: str, scene: str) -> str:
    """The original's rule in other words: the first that is found, of three places to look."""
    low = answer.lower()
    looked_for = [("shape", shape.lower()), ("scene", scene.lower()), ("scene", " ".join(scene.split("_")))]
    return next((kind for kind, words in looked_for if low.find(words) != -1), "rest")


def test_original_agrees_with_a_restatement_on_100_000_random_answers() -> None:
    seen = {"shape": 0, "scene": 0, "rest": 0}
    for answer, shape, scene, split in random_cases(100_000, 5):
        outcome = original(answer, shape, scene, split)
        kind = "shape" if outcome.shape else "scene" if outcome.scene else "rest"
        assert kind == restated(answer, shape, scene), (answer, shape, scene)
        assert outcome[:2] != BOTH
        seen[kind] += 1
    assert min(seen.values()) > 10_000, seen


@pytest.mark.parametrize(
    ("split", "answer", "shape", "scene", "expected"),
    [
        pytest.param(SIN, "Cat", "Cat", "Ocean", SHAPE, id="bare"),
        pytest.param(SIN, "Ocean", "Cat", "Ocean", SCENE, id="scene"),
        pytest.param(SIN, "Dog", "Cat", "Ocean", REST, id="another"),
        pytest.param(SIN, "sand dune", "Cat", "Sand_dune", REST, id="a-scene-with-a-space-is-rest"),
        pytest.param(SIN, "Sand_dune", "Cat", "Sand_dune", SCENE, id="with-its-underscore-it-counts"),
        pytest.param(SIN, "sand dune", "Cat", "sand_dune", SCENE, id="a-scene-spelt-small-is-found-with-a-space"),
        pytest.param(SIN, "paper clip", "Paper_clip", "Ocean", REST, id="paper-clip-misses"),
        pytest.param(ICON, "face emoji", "Face_Emoji", "Ocean", REST, id="face-emoji-misses"),
        pytest.param(LOGO, "mercedes-benz", "Mercedes Benz", "Ocean", REST, id="mercedes-benz-misses"),
        pytest.param(SIN, "a scarf in the city", "Car", "City", SHAPE, id="a-scarf-is-a-car"),
        pytest.param(SIN, "cat, ocean", "Cat", "Ocean", SHAPE, id="both-is-shape-only"),
        pytest.param(SIN, "CAT", "Cat", "Ocean", SHAPE, id="case-is-ignored"),
        pytest.param(ICON, "Stationery", "Stationary", "City", REST, id="the-folder-is-spelt-otherwise"),
        pytest.param(ICON, "Easy", "Music", "Easy", SCENE, id="an-icon-whose-scene-is-Easy"),
        pytest.param(OLD, "elephant", "cat", "elephant1", REST, id="a-texture-with-a-digit-left"),
        pytest.param(SIN, "", "Cat", "Ocean", REST, id="nothing"),
    ],
)
def test_quirks_of_the_original(split: Split, answer: str, shape: str, scene: str, expected: tuple[bool, bool]) -> None:
    outcome = original(answer, shape, scene, split)
    assert outcome[:2] == expected
    assert outcome.rest == (expected == REST)


def test_a_named_shape_wins_on_the_scene_question_too() -> None:
    # There is one rule for both questions, so an answer scores the same on either.
    assert original("ocean, with a cat", "Cat", "Ocean", SIN)[:2] == SHAPE


@pytest.mark.parametrize(
    ("answer", "shape", "scene", "expected"),
    [
        ("cat, ocean", "Cat", "Ocean", BOTH),
        ("a paper clip in a sand dune", "Paper_clip", "Sand_dune", BOTH),
        ("  CAT ", "Cat", "Ocean", SHAPE),
        ("a scarf", "Car", "Ocean", SHAPE),
        ("a kick scooter", "kick-scooter", "Ocean", SHAPE),
        ("kick-scooter", "kick scooter", "Ocean", REST),
        ("cat", "", "Ocean", REST),
    ],
)
def test_recall_takes_each_for_itself(answer: str, shape: str, scene: str, expected: tuple[bool, bool]) -> None:
    assert recall(answer, shape, scene, SIN)[:2] == expected


@pytest.mark.parametrize(
    ("split", "answer", "chosen"),
    [
        (SIN, "a scarf", ""),
        (SIN, "A scarf in the city", "City"),
        (SIN, "he cares", ""),
        (SIN, "CATS!", "Cat"),
        (SIN, "**Cat**", "Cat"),
        (SIN, "It's the cat's shape: cat.", "Cat"),
        (SIN, "paper-clips", "Paper_clip"),
        (SIN, "paperclip", "Paper_clip"),
        (SIN, "a clip of paper", ""),
        (SIN, "sand dunes", "Sand_dune"),
        (SIN, "Times Square", "Time_square"),
        (SIN, "cities", "City"),
        (SIN, "paper. Clip", ""),
        (LOGO, "Mercedes-Benz", "Mercedes Benz"),
        (LOGO, "mercedes", "Mercedes Benz"),
        (LOGO, "McDonald’s", "Mcdonalds"),
        (LOGO, "NASA", "Nasa"),
        (ICON, "stationary", "Stationery"),
        (ICON, "sports", "Sport"),
        (OLD, "knives", "knife"),
        (OLD, "a sailboat", ""),
        (SIN, "", ""),
        (SIN, "I can't tell.", ""),
    ],
)
def test_strict_chooses_the_one_option_that_is_named(split: Split, answer: str, chosen: str) -> None:
    outcome = strict(answer, split.shapes[0], "Ocean", split)
    assert (outcome.chosen, outcome.ambiguous) == (chosen, False)


@pytest.mark.parametrize(
    "answer",
    ["cat, ocean", "a cat or a dog", "not a cat", "There is no cat.", "I cannot see it, a cat?", "It isn’t a cat"],
)
def test_strict_does_not_guess(answer: str) -> None:
    assert strict(answer, "Cat", "Ocean", SIN) == Outcome(False, False, "", True)


def test_strict_goes_by_what_a_label_means() -> None:
    assert strict("Stationery", "Stationary", "City", ICON)[:2] == SHAPE
    assert strict("stationary", "Stationery", "City", ICON)[:2] == SHAPE
    assert strict("elephant", "cat", "elephant", OLD)[:2] == SCENE

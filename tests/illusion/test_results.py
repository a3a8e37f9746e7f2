import json
import random
import time

import pytest

from onprompt.illusion.gold import Gold
from onprompt.illusion.protocol import SCENES, SPLITS
from onprompt.illusion.results import Rate, Record, Results, Tally, measure
from onprompt.illusion.tables import document, lines, markdown

SIN, ICON = SPLITS["sin"], SPLITS["icon"]
CAT, CAR = Gold("Cat", "Ocean", "Easy", "1.25"), Gold("Car", "Sand_dune", "Hard", "0.85")
CITY = Gold("Cat", "City", "Hard", "1.05")
ANSWERS = [  # image, gold, answer to the shape question, to the scene question
    ("1", CAT, "Cat", "Ocean"),
    ("2", CAT, "cat, ocean", "cat, ocean"),
    ("3", CAR, "a scarf", "sand dune"),
    ("4", CITY, None, "City"),
    ("5", CITY, "Dog", "I can't tell."),
]


@pytest.fixture(scope="module")
def results() -> Results:
    records = [
        Record(image, question, gold, answer)
        for image, gold, *answers in ANSWERS
        for question, answer in zip(("shape", "scene"), answers, strict=True)
    ]
    return measure(records, SIN)


def test_the_six_counts_of_the_original(results: Results) -> None:
    assert results.tally("original", "shape") == Tally(of=4, shape=3, scene=0, rest=1)
    assert results.tally("original", "scene") == Tally(of=5, shape=1, scene=2, rest=2)
    assert results.recall("original", "shape") == Rate(3, 4)
    assert results.recall("original", "scene") == Rate(2, 5)


def test_the_other_scorings_beside_it(results: Results) -> None:
    assert results.tally("recall", "scene") == Tally(of=5, shape=1, scene=4, rest=1)
    assert results.tally("in_context", "shape") == Tally(of=4, shape=3, scene=1, rest=1)
    assert results.tally("strict", "shape") == Tally(of=4, shape=1, scene=0, rest=3, ambiguous=1)
    assert results.tally("strict", "scene") == Tally(of=5, shape=0, scene=3, rest=2, ambiguous=1)


def test_by_class_scene_kind_and_difficulty(results: Results) -> None:
    assert results.groups("class") == ["Car", "Cat"]
    assert results.recall("original", "shape", "class", "Cat") == Rate(2, 3)
    assert results.groups("scene") == ["Ocean", "Sand_dune", "City"]
    assert results.recall("original", "scene", "scene", "Ocean") == Rate(1, 2)
    assert results.recall("original", "scene", "kind", "simple") == Rate(1, 3)
    assert results.recall("original", "scene", "kind", "complex") == Rate(1, 2)
    assert results.recall("original", "shape", "difficulty", "Easy") == Rate(2, 2)
    assert results.recall("original", "shape", "difficulty", "Hard") == Rate(1, 2)


def test_what_has_no_answer_is_counted_and_left_out(results: Results) -> None:
    assert results.images == 5
    assert results.unanswered == {"shape": 1, "scene": 0}
    assert results.multi_word == {"shape": Rate(2, 4), "scene": Rate(3, 5)}


def test_strict_has_a_confusion_matrix(results: Results) -> None:
    assert results.confusion["shape"] == {
        ("Cat", "Cat"): 1,
        ("Cat", "ambiguous"): 1,
        ("Car", "none"): 1,
        ("Cat", "Dog"): 1,
    }
    assert results.confusion["scene"]["City", "none"] == 1


def test_answers_that_count_differently_are_listed(results: Results) -> None:
    rows = [(record.id, record.question, counted["original"]) for record, counted in results.differences]
    assert rows == [("2", "shape", "shape"), ("2", "scene", "shape"), ("3", "shape", "shape"), ("3", "scene", "rest")]
    assert results.differences[0][1] == {
        "original": "shape",
        "recall": "both",
        "in_context": "both",
        "strict": "ambiguous",
    }


def test_strict_goes_by_what_is_meant_where_the_originals_rule_misreads_the_path() -> None:
    record = Record("1", "scene", Gold("Stationary", "Easy"), "Ocean", Gold("Stationery", "Ocean", "Easy"))
    results = measure([record], ICON)
    assert results.recall("original", "scene") == Rate(0, 1)
    assert results.recall("strict", "scene") == Rate(1, 1)
    assert results.groups("scene") == ["Ocean"]
    assert results.differences[0][1]["original"] == "rest"


def test_strict_leaves_out_what_is_no_option() -> None:
    results = measure([Record("1", "shape", Gold("Horse", "Ocean"), "Horse")], SIN)
    assert results.tally("original", "shape") == Tally(1, 1, 0, 0)
    assert (results.tally("strict", "shape"), results.unnamed) == (Tally(), 1)
    assert "1 answer about a shape or scene that is not an option: left out of strict" in list(lines(results))


def test_a_rate_of_nothing() -> None:
    assert (Rate(0, 0).value, Rate(0, 0).interval) == (None, None)


def test_the_terminal_shows_recalls_beside_the_published_ones(results: Results) -> None:
    shown = list(lines(results))
    assert shown[0] == "IllusionBench sin (the paper's IN): 5 images"
    assert "original                 75.0 % (30.1–95.4)  40.0 % (11.8–76.9)" in shown
    assert "GPT-4o, published        35.1 %              41.9 %" in shown
    assert "Cat    1 of 3  Dog 1, ambiguous 1" in shown
    assert "1 question without a readable answer: left out" in shown


def test_markdown_holds_any_answer_in_its_table() -> None:
    results = measure([Record("1", "shape", CAT, "a cat | in\nthe *ocean*")], SIN)
    row = next(line for line in markdown(results).splitlines() if "a cat" in line)
    assert row.startswith("| 1 | a cat &#124; in⏎the &#42;ocean&#42; | shape | shape | both | shape | ambiguous |")


def test_the_document_is_json_with_all_of_it(results: Results) -> None:
    entry = json.loads(json.dumps(document(results)))
    assert entry["format"] == "onprompt.illusion/2"
    assert entry["scorings"]["original"]["shape"]["recall"] == {
        "count": 3,
        "of": 4,
        "value": 0.75,
        "interval": [0.3006, 0.9544],
    }
    assert entry["scorings"]["strict"]["by_class"]["Cat"]["shape"]["counts"]["ambiguous"]["count"] == 1
    assert entry["confusion"]["shape"]["Cat"] == {"Cat": 1, "Dog": 1, "ambiguous": 1}
    assert entry["published"]["Qwen-VL"] == {"shape": 16.9, "scene": 54.1}
    assert len(entry["differences"]) == 4


def test_nothing_asked_is_no_error() -> None:
    results = measure([], SIN)
    assert results.recall("original", "shape").value is None
    assert "original                 –       –" in list(lines(results))
    assert json.dumps(document(results))


def test_30_000_answers_are_measured_in_at_most_5_seconds() -> None:
    dice = random.Random(1)
    records = []
    for number in range(30_000):
        gold = Gold(dice.choice(SIN.shapes), dice.choice(SCENES), dice.choice(["Easy", "Hard"]))
        answer = dice.choice([gold.shape, gold.scene, "a scarf", f"{gold.shape} {number} in the {gold.scene}"])
        records.append(Record(str(number // 2), ("shape", "scene")[number % 2], gold, answer))
    start = time.process_time()
    results = measure(records, SIN)
    took = time.process_time() - start
    assert results.images == 15_000
    assert took <= 5, f"{took:.2f} s"

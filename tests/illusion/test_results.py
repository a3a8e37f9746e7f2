"""Stored answers by scoring and group, as text and as JSON."""

import json

import pytest

from onprompt.illusion.protocol import SPLITS, Gold
from onprompt.illusion.results import KINDS, Rate, Record, Results, document, lines, measure

SIN, ICON = SPLITS["sin"], SPLITS["icon"]
CAT, CAR = Gold("Cat", "Ocean", "Easy"), Gold("Car", "Sand_dune", "Hard")
CITY = Gold("Cat", "City", "Hard")
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
        Record(image, question, gold, gold, answer)
        for image, gold, *answers in ANSWERS
        for question, answer in zip(("shape", "scene"), answers, strict=True)
    ]
    return measure(records, SIN)


def test_what_answers_count_for(results: Results) -> None:
    counted = {  # the six counts of the original, and those of the other scorings; what has no answer is left out
        ("original", "shape"): (3, 0, 1, 0),
        ("original", "scene"): (1, 2, 2, 0),
        ("recall", "scene"): (1, 4, 1, 0),
        ("strict", "shape"): (1, 0, 3, 1),
        ("strict", "scene"): (0, 3, 2, 1),
    }
    for (scoring, question), counts in counted.items():
        rates = [Rate(count, 4 if question == "shape" else 5) for count in counts]
        assert [results.rate(scoring, question, kind) for kind in KINDS] == rates
        assert results.rate(scoring, question) == rates[KINDS.index(question)]


def test_groups_are_in_the_order_of_the_options(results: Results) -> None:
    expected = {
        ("shape", "class"): {"Car": (1, 1), "Cat": (2, 3)},
        ("scene", "scene"): {"Ocean": (1, 2), "Sand_dune": (0, 1), "City": (1, 2)},
        ("scene", "kind"): {"simple": (1, 3), "complex": (1, 2)},
        ("shape", "difficulty"): {"Easy": (2, 2), "Hard": (1, 2)},
    }
    for (question, grouping), groups in expected.items():
        assert results.groups(grouping) == list(groups)
        assert {each: results.rate("original", question, "", grouping, each) for each in groups} == groups


def test_strict_goes_by_what_is_meant_and_leaves_out_what_is_no_option() -> None:
    rule, meant, horse = Gold("Stationary", "Easy"), Gold("Stationery", "Ocean", "Easy"), Gold("Horse", "Ocean")
    found = measure([Record("1", "scene", rule, meant, "Ocean"), Record("2", "shape", horse, horse, "Horse")], ICON)
    assert (found.rate("original", "scene"), found.rate("strict", "scene")) == (Rate(0, 1), Rate(1, 1))
    assert found.groups("scene") == ["Ocean"]
    assert (found.rate("original", "shape"), found.rate("strict", "shape")) == (Rate(1, 1), Rate(0, 0))
    assert "1 answer about a shape or scene that is not an option: left out of strict" in list(lines(found))


def test_the_terminal_shows_recalls_beside_the_published_ones(results: Results) -> None:
    shown = list(lines(results))
    assert shown[0] == "IllusionBench sin (the paper's IN): 5 images"
    assert "original  75.0 % (30.1–95.4)  40.0 % (11.8–76.9)" in shown
    assert "GPT-4o         35.1   41.9" in shown
    assert "1 question without a readable answer: left out" in shown
    nothing = measure([], SIN)
    assert "original  –      –" in list(lines(nothing))
    assert json.dumps(document(nothing))


def test_the_document_is_json_with_all_of_it(results: Results) -> None:
    entry = json.loads(json.dumps(document(results, "strict")))
    assert (entry["format"], entry["scoring"]) == ("onprompt.illusion/4", "strict")
    assert entry["recall"][0]["shape"] == {"count": 3, "of": 4, "value": 0.75, "interval": [0.3006, 0.9544]}
    assert entry["by_class"][1]["shape"]["count"] == 1
    assert (entry["counts"][0]["ambiguous"]["count"], entry["counts"][0]["no answer"]) == (1, 1)
    assert [row["more than one word"]["count"] for row in entry["counts"]] == [2, 3]
    assert entry["confusion_shape"] == [
        {"shape": "Car", "Car": 0, "Cat": 0, "Dog": 0, "ambiguous": 0, "none": 1},
        {"shape": "Cat", "Car": 0, "Cat": 1, "Dog": 1, "ambiguous": 1, "none": 0},
    ]
    assert entry["published"][4] == {"model": "Qwen-VL", "shape": 16.9, "scene": 54.1}

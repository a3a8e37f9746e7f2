"""Stated scores: each is read rightly, with clutter around it or without, or refused; and refusals are refusals."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.rubrics import stated
from tests.rubrics.stated import RUBRICS, block, is_held, outcome, sections

BOTH = pytest.mark.parametrize("rubric", ["verify", "rate"])
SECTIONS = sections()
CLUTTERED = 2000  # of 45,000


@BOTH
def test_plain_answers_are_read(rubric: str) -> None:
    answers = list(stated.plain(rubric))
    assert len(answers) > 600
    assert [(text, score) for text, score in answers if outcome(rubric, text) != score] == []


@BOTH
def test_clutter_changes_no_score(rubric: str) -> None:
    answers = list(stated.cluttered(rubric))
    assert len(answers) > 18_000
    sample = random.Random(rubric).sample(answers, CLUTTERED)
    read = [(text, score, outcome(rubric, text)) for text, score in sample]
    assert [each for each in read if each[2].isdecimal() and each[2] != each[1]] == []
    assert sum(said == score for _, score, said in read) > 0.98 * CLUTTERED


@BOTH
def test_what_is_no_score_is_refused_and_a_refusal_only_if_it_is_one(rubric: str) -> None:
    assert [text for text in SECTIONS["refused"] if outcome(rubric, text).isdecimal()] == []
    assert [text for text in SECTIONS["refusal"] if outcome(rubric, text) != "refusal"] == []
    assert [text for text in SECTIONS["answered"] if outcome(rubric, text) != "2"] == []


@pytest.mark.parametrize("rubric", RUBRICS)
def test_answers_by_hand(rubric: str) -> None:
    answers = [(text, wanted, outcome(rubric, text)) for text, wanted in stated.by_hand(rubric)]
    assert len(answers) > 150
    assert [each for each in answers if not is_held(*each[1:])] == []


def test_the_json_of_an_edit_is_read_whatever_stands_around_it() -> None:
    scores = ["".join(map(str, each)) for each in itertools.product((1, 4, 7), repeat=3)]
    answers = [(form, each) for form in SECTIONS["around"] for each in scores]
    assert len(answers) > 500
    read = [(form, each, outcome("edit", form.replace("{block}", block(each)))) for form, each in answers]
    assert [each for each in read if each[1] != each[2]] == []
    assert outcome("edit", block("657", spaces=2)) == "657"


def test_a_justification_may_be_a_refusal() -> None:
    for why in SECTIONS["justified refusal"]:
        assert outcome("edit", block("111", why)) == "refusal"
        assert outcome("edit", f"{why}\n{block('111')}") == "refusal"
    for why in SECTIONS["justified answer"]:
        assert outcome("edit", block("216", why)) == "216"

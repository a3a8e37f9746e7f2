"""Stated scores: each is read rightly, with clutter around it or without, or refused; and refusals are refusals."""

from __future__ import annotations

import random

import pytest

from tests.rubrics import stated
from tests.rubrics.stated import RUBRICS, outcome, sections

BOTH = pytest.mark.parametrize("rubric", RUBRICS)
SECTIONS = sections()
CLUTTERED = 2000  # of 45,000 that `python -m tests.rubrics.stated` reads


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
def test_what_is_no_score_is_refused(rubric: str) -> None:
    assert [text for text in SECTIONS["refused"] if outcome(rubric, text).isdecimal()] == []


@BOTH
def test_refusals_are_refusals_with_a_score_or_without(rubric: str) -> None:
    assert [text for text in SECTIONS["refusal"] if outcome(rubric, text) != "refusal"] == []


@BOTH
def test_what_sounds_like_a_refusal_is_read(rubric: str) -> None:
    assert [text for text in SECTIONS["answered"] if outcome(rubric, text) != "2"] == []


@BOTH
def test_answers_by_hand(rubric: str) -> None:
    pairs = [line.split("\t", 1) for line in SECTIONS[rubric]]
    read = [(text, score, outcome(rubric, text)) for score, text in pairs]
    assert [each for each in read if (each[2] if each[2].isdecimal() else "-") != each[1]] == []


def test_what_stays_refused_is_listed() -> None:
    pairs = [line.split("\t", 1) for line in SECTIONS["refused though plain"]]
    assert {outcome("rate" if "/5" in text else "verify", text).isdecimal() for _, text in pairs} == {False}

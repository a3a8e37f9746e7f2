"""Stated scores: each is read rightly, with clutter around it or without, or refused; and refusals are refusals."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.rubrics import stated
from tests.rubrics.stated import RUBRICS, block, is_held, outcome, sections

BOTH = pytest.mark.parametrize("rubric", ["verify", "rate"])
SECTIONS = sections()
CLUTTERED = 2000  # of 45,000 that `python -m tests.rubrics.stated` reads
AROUND_JSON = (
    "{block}",
    "\ufeff{block}",
    "```json\n{block}\n```",
    "```\n{block}\n```",
    "Here is my evaluation:\n\n{block}",
    "Sure! Here is the evaluation of the edited image:\n```json\n{block}\n```",
    "```json\n{block}\n```\nLet me know if you need anything else.",
    "{block}\n\nThank you!",
    "{block}<|im_end|>",
    "{block}</s>",
    "<|im_start|>assistant\n{block}<|im_end|>",
    "ASSISTANT: {block}",
    "{block}<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>",
    '<think>Alignment 2? {"score": 3}</think>\n{block}',
    "Alignment is 2, or 3.\n</think>\n{block}",
    "[THINK]Completeness 1.[/THINK]{block}",
    "<|channel|>analysis<|message|>Alignment 3?<|end|><|start|>assistant<|channel|>final<|message|>{block}",
    "Die Bewertung:\n{block}",
    "以下是评估结果：\n{block}",
    "評価結果は次のとおりです。\n```json\n{block}\n```",
    "평가 결과:\n{block}",
    "Voici mon évaluation :\n{block}",
    "Esta es mi evaluación:\n{block}\n¡Gracias!",
    "Вот моя оценка:\n{block}",
    "هذا هو التقييم:\n{block}",
    "यह मूल्यांकन है:\n{block}",
    "# Evaluation\n\n{block}\n",
    "**Evaluation**\n{block}",
)
# Justifications that are refusals, and others that only sound so.
REFUSALS = (
    "I cannot evaluate this image.",
    "I cannot evaluate this image, so that no judgement about the requested change of the hat is possible here.",
    "No edited image was provided, so that it is not possible to say whether the hat has become red.",
    "I can't see the edited image, therefore I assume that the hat is red as the instruction asked for.",
    "I'm unable to view the images and therefore give the lowest score to the edit that was asked for.",
    "The edited image was not provided, and so nothing can be said about the hat or about its color here.",
    "As an AI language model, I can't view images, and therefore no statement about the hat is possible at all.",
)
ANSWERED = (
    "The requested hat is not visible in the edited image, where the woman stands without anything on her head.",
    "I cannot see any red hat in the edited image, since the woman still wears the old gray one there.",
    "No image of a hat was added to the wall, although the instruction asked for a picture of a red hat.",
    "The instruction could not be verified for the second hat, which is hidden behind the tree on the left.",
)


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


@pytest.mark.parametrize("rubric", RUBRICS)
def test_answers_by_hand(rubric: str) -> None:
    answers = [(text, wanted, outcome(rubric, text)) for text, wanted in stated.by_hand(rubric)]
    assert len(answers) > 150
    assert [each for each in answers if not is_held(*each[1:])] == []


def test_the_json_of_an_edit_is_read_whatever_stands_around_it() -> None:
    scores = ["".join(map(str, each)) for each in itertools.product((1, 4, 7), repeat=3)]
    answers = [(form, each) for form in AROUND_JSON for each in scores]
    assert len(answers) > 500
    read = [(form, each, outcome("edit", form.replace("{block}", block(each)))) for form, each in answers]
    assert [each for each in read if each[1] != each[2]] == []
    assert outcome("edit", block("657", spaces=2)) == "657"


@pytest.mark.parametrize("why", REFUSALS)
def test_a_refusal_in_a_justification_is_a_refusal(why: str) -> None:
    assert outcome("edit", block("111", why)) == "refusal"
    assert outcome("edit", f"{why}\n{block('111')}") == "refusal"


@pytest.mark.parametrize("why", ANSWERED)
def test_what_sounds_like_a_refusal_in_a_justification_is_an_answer(why: str) -> None:
    assert outcome("edit", block("216", why)) == "216"

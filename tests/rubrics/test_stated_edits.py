"""Answers about edits by a grammar: the block of JSON is read whatever stands around it, or the answer is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import read_answer
from onprompt.rubrics import edit
from onprompt.types import Answer, Decoded, Picture, Sample

WHY = "The instruction asked for a red hat, and the edited image shows the same woman with a red hat."


def unseen() -> Decoded:
    """No pixels."""
    raise AssertionError


PICTURE = Picture("a.png", "a" * 64, unseen)
SAMPLE = Sample("case-17", "make the hat red", PICTURE, pictures={"before": PICTURE})
SCORES = [*itertools.product((1, 4, 7), repeat=3)]
AROUND = (
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
CORRECTED = (
    "{block}\nOn reflection, alignment should be 2.",
    "{block}\nCorrection: the completeness is 1.",
    "{block}\nActually, that was too high.",
    "Alignment: 2. Completeness: 2. Plausibility: 2.\n{block}",
    "{block}\n{block}",
    "```json\n{block}\n```\n```json\n{block}\n```",
    "For example:\n{block}",
    "{block}\nScores revised: 2, 2, 2",
    "[{block}]",
    "Not my answer:\n{block}",
)
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


def block(scores: tuple[int, ...], why: str = WHY, spaces: int | None = None) -> str:
    """The JSON that is asked for."""
    factors = {name: {"score": score, "justification": why} for name, score in zip(edit.FACTORS, scores, strict=True)}
    return json.dumps({"image_id": "case-17", "online_factor_results": factors}, indent=spaces, ensure_ascii=False)


def outcome(text: str) -> str:
    """The scores, or why there are none."""
    try:
        return " ".join(map(str, read_answer(edit.RUBRIC, Answer(text), SAMPLE).scores.values()))
    except UnreadableAnswer as error:
        return error.kind


def answers() -> Iterator[tuple[str, str]]:
    """Every form with every triple of scores."""
    for form, scores in itertools.product(AROUND, SCORES):
        spaces = 2 if sum(scores) % 2 else None
        yield form.replace("{block}", block(scores, spaces=spaces)), " ".join(map(str, scores))


def test_the_block_is_read_whatever_stands_around_it() -> None:
    given = list(answers())
    assert len(given) > 500
    assert [(text, scores) for text, scores in given if outcome(text) != scores] == []


@pytest.mark.parametrize("form", CORRECTED)
def test_a_block_that_is_taken_back_is_refused(form: str) -> None:
    assert not outcome(form.replace("{block}", block((6, 7, 5))))[0].isdecimal()


@pytest.mark.parametrize("why", REFUSALS)
def test_a_refusal_in_a_justification_is_a_refusal(why: str) -> None:
    assert outcome(block((1, 1, 1), why)) == "refusal"
    assert outcome(f"{why}\n{block((1, 1, 1))}") == "refusal"


@pytest.mark.parametrize("why", ANSWERED)
def test_what_sounds_like_a_refusal_is_an_answer(why: str) -> None:
    assert outcome(block((2, 1, 6), why)) == "2 1 6"

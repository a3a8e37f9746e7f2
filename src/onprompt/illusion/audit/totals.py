"""Section 3.1, its end: how the scores of all answers become a recall."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from onprompt.illusion.audit.description import Totals
from onprompt.illusion.audit.points import Point, Verdict, not_described, not_tried
from onprompt.illusion.audit.process import IsolatedFunction, Reply
from onprompt.illusion.audit.scorer import SCENE, brief, original_score
from onprompt.illusion.audit.test_answers import Case
from onprompt.illusion.results import QUESTIONS

TITLE = "what a recall is divided by"
RULE = "all answers to the question, whatever they name, without a mean over classes"
ALL = "all answers"
ROUNDED = 0.0006  # a share with three digits, or a percentage with one
RIGHT, WRONG = ("cat", "Ocean"), ("dog", "City")  # shape and scene


class Batch(NamedTuple):
    """Answers that tell ways of summing up apart."""

    title: str
    answers: Sequence[tuple[tuple[str, str], str]]  # the gold labels, and the answer


BATCHES = (
    Batch("every answer names an option", [(RIGHT, "Cat")] * 5 + [(RIGHT, "Ocean")] * 3 + [(WRONG, "Dog")] * 2),
    Batch("answers that name no option", [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "a painting")] * 6]),
    Batch("answers that name another option", [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "Panda")] * 6]),
    Batch("empty answers", [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "")] * 6]),
    Batch("refusals", [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "I'm sorry, I can't help with that.")] * 6]),
    Batch("answers of several words", [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "It is a cat.")] * 6]),
    Batch("classes of unequal size", [(RIGHT, "Cat")] * 7 + [(RIGHT, "Ocean")] * 5 + [(WRONG, "none")] * 2),
    Batch("the same answer again", [(RIGHT, "Cat")] * 6 + [(WRONG, "City")] * 4),
)


def compare(totals: Totals | None, function: IsolatedFunction | None) -> Iterator[Point]:
    """By what the function returns for some batches of answers, or by what the description states."""
    if totals and function:
        yield from by_function(totals, function)
    elif totals and totals.over:
        same = totals.over == ALL
        example = {} if same else {"original": RULE, "theirs": totals.over}
        verdict = Verdict.ALIGNED if same else Verdict.CHANGES
        yield Point("scoring", TITLE, "", RULE, totals.over, verdict, "", example)
    else:
        yield not_described("scoring", TITLE, "", RULE)


def by_function(totals: Totals, function: IsolatedFunction) -> Iterator[Point]:
    """A point for each batch, both questions together."""
    replies = function.call_all([arguments(totals, batch, question) for batch in BATCHES for question in QUESTIONS])
    if untried := [reply for reply in replies if not reply.tried]:
        yield not_tried("scoring", len(untried), f"{len(replies)} sums of answers", untried[0].error)
    for batch, pair in zip(BATCHES, zip(replies[::2], replies[1::2], strict=True), strict=True):
        if all(reply.tried for reply in pair):
            yield batch_point(totals, batch, dict(zip(QUESTIONS, pair, strict=True)))


def batch_point(totals: Totals, batch: Batch, replies: Mapping[str, Reply]) -> Point:
    """Whether both recalls of a batch are the original's."""
    title, where = f"recall: {batch.title}", ""
    for question, reply in replies.items():
        wanted, found = recall(batch, question), read_recall(totals, question, reply)
        if isinstance(found, str) or abs(found - wanted) > ROUNDED:
            theirs = found if isinstance(found, str) else f"{found:.3f}"
            example = {"original": f"{wanted:.3f}", "theirs": f"{theirs} (the {question} question)"}
            return Point("scoring", title, where, RULE, theirs, Verdict.CHANGES, "", example)
    return Point("scoring", title, where, RULE, "the same recall", Verdict.ALIGNED)


def arguments(totals: Totals, batch: Batch, question: str) -> list[Any]:
    """What the function is called with."""
    known = {
        "outcomes": [outcome(case) for case in cases(batch, question)],
        "predictions": [answer for _, answer in batch.answers],
        "shapes": [shape for (shape, _), _ in batch.answers],
        "scenes": [scene for (_, scene), _ in batch.answers],
        "question": question,
    }
    return [known[name] for name in totals.takes]


def cases(batch: Batch, question: str) -> list[Case]:
    """The answers of a batch as answers to a question."""
    return [Case("sin", shape, scene, answer, question) for (shape, scene), answer in batch.answers]


def outcome(case: Case) -> str:
    """What the original counts an answer for."""
    score = original_score(case)
    return "shape" if score.shape else "scene" if score.scene else "rest"


def recall(batch: Batch, question: str) -> float:
    """The original's recall: the share of all answers that count for what was asked."""
    return sum(outcome(case) == question for case in cases(batch, question)) / len(batch.answers)


def read_recall(totals: Totals, question: str, reply: Reply) -> float | str:
    """The recall that a function returns, as a share, or an error."""
    value = reply.value
    if isinstance(value, dict):
        names = SCENE if question == "scene" else (question,)
        value = next((value[name] for name in names if name in value), None)
    if reply.error or isinstance(value, bool) or not isinstance(value, int | float):
        return reply.error or f"returns {brief(reply.value)}, not the declared recall"
    return value / 100 if totals.scale == "percent" else float(value)

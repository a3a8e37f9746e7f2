"""The effect of the differences on given answers: how many are scored differently, and how the recalls change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from onprompt.illusion.audit.answer_classes import classify
from onprompt.illusion.audit.points import Point, Verdict, not_tried
from onprompt.illusion.audit.scorer import ScoredCase, Scorer
from onprompt.illusion.audit.test_answers import CLASSES, Case
from onprompt.illusion.results import QUESTIONS

GIVEN = "given answers"


class Recall(NamedTuple):
    """How many answers to a question count for the shape or for the scene, by the original and by theirs."""

    question: str
    of: str
    answers: int
    original: int
    theirs: int | None  # None where the description leaves it open

    def __str__(self) -> str:
        theirs = "not described" if self.theirs is None else self.percent(self.theirs)
        change = f"{self.percent(self.original)} → {theirs}"
        return f"{self.of} recall on the {self.question} question: {change} on {self.answers:,} answers"

    def percent(self, count: int) -> str:
        """A share of the answers."""
        return f"{100 * count / self.answers:.1f} %"


class Effect(NamedTuple):
    """The given answers under both rules."""

    answers: int  # that were tried
    left_out: int  # rows without an answer
    untried: int
    why: str  # they were not tried
    changed: int
    recalls: tuple[Recall, ...]
    by_title: Mapping[str, int]  # changed answers by the point that they belong to
    examples: tuple[ScoredCase, ...]  # the shortest changed answers


def measure(cases: Sequence[Case], left_out: int, scorer: Scorer, titles: Container[str]) -> Effect:
    """Score all answers by both rules; `titles` are the points that a changed answer may belong to."""
    every = scorer.score(cases)
    tried = [scored for scored in every if scored.theirs.tried]
    changed = [scored for scored in tried if scored.differs]
    by_question = {question: [scored for scored in tried if scored.case.question == question] for question in QUESTIONS}
    recalls = tuple(
        recall(scored, question, of) for question, scored in by_question.items() if scored for of in QUESTIONS
    )
    by_title = Counter(classify(scored.case, titles) for scored in changed)
    examples = sorted(dict.fromkeys(changed), key=lambda scored: len(scored.case.answer))[:5]
    why = next((scored.theirs.error for scored in every if not scored.theirs.tried), "")
    return Effect(len(tried), left_out, len(every) - len(tried), why, len(changed), recalls, by_title, tuple(examples))


def recall(cases: Sequence[ScoredCase], question: str, of: str) -> Recall:
    """One of the original's counts and theirs; a call that failed counts for nothing."""
    original = sum(bool(getattr(scored.original, of)) for scored in cases)
    theirs = [False if scored.theirs.error else getattr(scored.theirs, of) for scored in cases]
    return Recall(question, of, len(cases), original, None if None in theirs else sum(theirs))


def points(effect: Effect) -> Iterator[Point]:
    """What the given answers show, which may be more than the test answers show."""
    rule = "the original's score for each"
    if effect.changed:
        theirs = f"different on {effect.changed:,} of {effect.answers:,} answers"
        yield Point("scoring", GIVEN, "", rule, theirs, Verdict.CHANGES, "", effect.examples[0].example())
    elif effect.answers:
        yield Point("scoring", GIVEN, "", rule, f"same on {effect.answers:,} answers", Verdict.ALIGNED)
    if effect.untried:
        yield not_tried("scoring", effect.untried, f"{effect.answers + effect.untried:,} given answers", effect.why)


def on_points(points: Iterable[Point], effect: Effect) -> Iterator[Point]:
    """Points on classes of answers with the number of given answers that belong to them."""
    titles = {answer_class.title for answer_class in CLASSES.values()}
    for point in points:
        described = point.title in titles and point.verdict is not Verdict.NOT_DESCRIBED
        count = f"{effect.by_title.get(point.title, 0):,} of {effect.answers:,} answers"
        yield replace(point, effect=count) if described and effect.answers else point

"""What the differences do to answers that somebody has: how many count otherwise, and what becomes of the recalls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from onprompt.illusion.audit.answer_classes import kind
from onprompt.illusion.audit.points import Point, Verdict, untried
from onprompt.illusion.audit.scorings import Scorer, Told
from onprompt.illusion.audit.test_answers import Case
from onprompt.illusion.results import QUESTIONS

GIVEN = "the answers that were given"


class Recall(NamedTuple):
    """How many of the answers to a question count for the shape or for the scene, by the original and by them."""

    question: str
    of: str
    answers: int
    original: int
    theirs: int | None  # None where the description leaves it open

    def __str__(self) -> str:
        now = "not described" if self.theirs is None else share(self.theirs, self.answers)
        name = f"{self.of} recall on the {self.question} question"
        return f"{name}: {share(self.original, self.answers)} → {now} on {self.answers:,} answers"


class Effect(NamedTuple):
    """What the described scoring makes of all answers."""

    answers: int  # that were tried
    left_out: int  # rows without an answer
    untried: int
    why: str  # they were not tried
    changed: int
    recalls: tuple[Recall, ...]
    by_title: Mapping[str, int]  # points of section 3, and how many of the changed answers are of their sort
    examples: tuple[Told, ...]  # the shortest answers that count otherwise


def share(part: int, whole: int) -> str:
    """A percentage."""
    return f"{100 * part / whole:.1f} %"


def effect(asked: Sequence[Case], left_out: int, scorer: Scorer, titles: Container[str]) -> Effect:
    """All answers under both rules; `titles` are the points to which a changed answer may belong."""
    every = scorer.tell(asked)
    told = [each for each in every if each.theirs.tried]
    changed = [each for each in told if each.differs]
    recalls = tuple(
        recall([each for each in told if each.case.question == question], question, of)
        for question in QUESTIONS
        for of in QUESTIONS
        if any(each.case.question == question for each in told)
    )
    kinds = Counter(kind(each.case, titles) for each in changed)
    examples = sorted(dict.fromkeys(changed), key=lambda each: len(each.case.answer))[:5]
    why = next((each.theirs.trouble for each in every if not each.theirs.tried), "")
    return Effect(len(told), left_out, len(every) - len(told), why, len(changed), recalls, kinds, tuple(examples))


def recall(told: Sequence[Told], question: str, of: str) -> Recall:
    """One of the original's counts beside theirs; a call that gave nothing counts for nothing."""
    mine = sum(bool(getattr(each.mine, of)) for each in told)
    theirs = [False if each.theirs.trouble else getattr(each.theirs, of) for each in told]
    return Recall(question, of, len(told), mine, None if None in theirs else sum(theirs))


def points(found: Effect) -> Iterator[Point]:
    """What the given answers show by themselves, in case that they show more than ours do."""
    original = "its own outcome for each"
    if found.changed:
        told = f"another outcome on {found.changed:,} of {found.answers:,} answers"
        yield Point("scoring", GIVEN, "", original, told, Verdict.CHANGES, "", found.examples[0].example())
    elif found.answers:
        yield Point("scoring", GIVEN, "", original, f"the same on {found.answers:,} answers", Verdict.ALIGNED)
    if found.untried:
        given = f"{found.answers + found.untried:,} given answers"
        yield untried("scoring", found.untried, given, found.why)

"""The audit of a described re-implementation: all points, and the effect on given answers."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from onprompt.illusion.audit import (
    description,
    effect,
    gold_labels,
    load_answers,
    options,
    prompts,
    resizing,
    scoring,
    totals,
)
from onprompt.illusion.audit.effect import Effect
from onprompt.illusion.audit.points import NOT_TRIED, Point, Verdict
from onprompt.illusion.audit.process import LIMIT, IsolatedFunction
from onprompt.illusion.audit.prompts import Question
from onprompt.illusion.audit.scorer import Scorer
from onprompt.illusion.protocol import split as split_named


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit."""

    name: str
    function: str  # that scores; "" where none is described
    questions: tuple[Question, ...]
    points: tuple[Point, ...]
    effect: Effect | None = None

    def with_verdict(self, verdict: Verdict) -> list[Point]:
        """The points with a verdict."""
        return [point for point in self.points if point.verdict is verdict]

    @property
    def untried(self) -> list[Point]:
        """The points on calls that were not made."""
        return [point for point in self.points if point.title == NOT_TRIED]

    @property
    def aligned(self) -> bool:
        """Whether something is described, all of that was tried, and none of it changes the score."""
        described = len(self.with_verdict(Verdict.NOT_DESCRIBED)) < len(self.points)
        return described and not self.untried and not self.with_verdict(Verdict.CHANGES)


def audit(path: Path, answers: Path | None = None, split: str = "", limit: float = LIMIT) -> Audit:
    """Audit what a TOML file describes. The functions that it names run, each in a process of its own."""
    target, folder = description.load(path)
    given, left_out = load_answers.load(answers, split_named(split).name if split else "") if answers else ([], 0)
    with ExitStack() as stack:

        def isolated(section: object, kind: str = "call") -> IsolatedFunction | None:
            function = getattr(section, "function", None)
            return stack.enter_context(IsolatedFunction(function, folder, kind, limit)) if function else None

        score, labels = isolated(target.scoring), isolated(target.gold)
        scorer = Scorer(target.scoring, score) if target.scoring and score else None
        points = [
            *prompts.compare(target),
            *options.compare(target),
            *scoring.compare(target.scoring, scorer),
            *totals.compare(target.totals, isolated(target.totals)),
            *gold_labels.compare(target.gold, labels),
            *resizing.compare(target.resize, isolated(target.resize, "picture")),
        ]
        measured = None
        if given and scorer:
            differing = {point.title for point in points if point.verdict in (Verdict.CHANGES, Verdict.HARMLESS)}
            measured = effect.measure([answer.case for answer in given], left_out, scorer, differing)
            points = [*effect.on_points(points, measured), *effect.points(measured)]
        paths = [(answer.case.split, answer.path) for answer in given if answer.path]
        points = list(gold_labels.with_effect(points, target.gold, labels, paths))
    function = target.scoring.function if target.scoring else ""
    return Audit(target.name, function, tuple(prompts.questions(target)), tuple(points), measured)

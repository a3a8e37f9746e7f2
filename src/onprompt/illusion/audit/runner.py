"""The whole audit of a described re-implementation: every point, and what the differences do to given answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from onprompt.illusion.audit import description, effect, golds, options, prompts, resizing, trials
from onprompt.illusion.audit import load_answers as given
from onprompt.illusion.audit.description import Target
from onprompt.illusion.audit.effect import Effect
from onprompt.illusion.audit.load_answers import Answered
from onprompt.illusion.audit.points import UNTRIED, Point, Verdict
from onprompt.illusion.audit.process import LIMIT, Calls
from onprompt.illusion.audit.scorings import Scorer
from onprompt.illusion.audit.test_answers import FAMILIES
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.protocol import split as split_named
from onprompt.illusion.results import QUESTIONS

TITLES = {family.title for family in FAMILIES}


class Asked(NamedTuple):
    """One of the eight questions: the original's text, and theirs where it is described."""

    where: str
    original: str
    theirs: str | None


@dataclass(frozen=True, slots=True)
class Audit:
    """All that was found out about a re-implementation."""

    name: str
    function: str  # that scores; "" where none is described
    asked: tuple[Asked, ...]
    points: tuple[Point, ...]
    effect: Effect | None = None

    def having(self, verdict: Verdict) -> list[Point]:
        """The points with a verdict."""
        return [point for point in self.points if point.verdict is verdict]

    @property
    def untried(self) -> list[Point]:
        """The points on what could not be tried."""
        return [point for point in self.points if point.title == UNTRIED]

    @property
    def aligned(self) -> bool:
        """Whether something is described, all of it was tried, and nothing of it changes the score."""
        told = len(self.having(Verdict.SILENT)) < len(self.points)
        return told and not self.untried and not self.having(Verdict.CHANGES)


def audit(path: Path, answers: Path | None = None, split: str = "", limit: float = LIMIT) -> Audit:
    """The audit of what a TOML file describes. The functions that it names run, each in a process of its own."""
    target, folder = description.read(path)
    answered, left_out = given.read(answers, split_named(split).name if split else "") if answers else ([], 0)
    with ExitStack() as stack:

        def calls(function: str | None, kind: str = "call") -> Calls | None:
            return stack.enter_context(Calls(function, folder, kind, limit)) if function else None

        scoring, gold, resize = target.scoring, target.gold, target.resize
        called = calls(scoring.function if scoring else None)
        scorer = Scorer(scoring, called) if scoring and called else None
        labelling = calls(gold.function if gold else None)
        points = [
            *prompts.compare(target),
            *options.compare(target),
            *trials.compare(scoring, scorer),
            *golds.compare(gold, labelling),
            *resizing.compare(resize, calls(resize.function if resize else None, "picture")),
        ]
        found = None
        if answered and scorer:
            changed = {point.title for point in points if point.verdict in (Verdict.CHANGES, Verdict.HARMLESS)}
            found = effect.effect([each.case for each in answered], left_out, scorer, changed)
            points = [*(with_effect(point, found) for point in points), *effect.points(found)]
        if answered:
            points = list(with_gold_effect(points, target, labelling, answered))
    return Audit(target.name, scoring.function if scoring else "", tuple(questions(target)), tuple(points), found)


def questions(target: Target) -> Iterator[Asked]:
    """The eight questions on both sides."""
    for split in SPLITS.values():
        for kind in QUESTIONS:
            found = prompts.filled(target, split, kind)
            yield Asked(f"{split.name}, {kind} question", prompts.question(split, kind), found.text if found else None)


def with_effect(point: Point, found: Effect) -> Point:
    """A family's point with the number of given answers that show it."""
    if point.title not in TITLES or point.verdict is Verdict.SILENT or not found.answers:
        return point
    return replace(point, effect=f"{found.by_title.get(point.title, 0):,} of {found.answers:,} answers")


def with_gold_effect(
    points: Sequence[Point], target: Target, calls: Calls | None, answered: Sequence[Answered]
) -> Iterator[Point]:
    """Points on labels with the number of given paths that get another one."""
    known: dict[str, dict[str, None]] = {}
    for each in answered:
        if each.path and golds.readable(each.path, SPLITS[each.case.split]):
            known.setdefault(each.case.split, {})[each.path] = None
    for point in points:
        if point.title not in (golds.SHAPE, golds.SCENE) or point.verdict is Verdict.SILENT or point.where not in known:
            yield point
            continue
        paths, split = list(known[point.where]), SPLITS[point.where]
        place = (golds.SHAPE, golds.SCENE).index(point.title)
        theirs = zip(paths, golds.labels(target.gold, calls, split, paths), strict=True)
        tried = [(path, each) for path, each in theirs if each and each.tried]
        wrong = sum(each.pair[place] != golds.by_original(path, split).pair[place] for path, each in tried)
        yield replace(point, effect=f"another label for {wrong:,} of {len(tried):,} files" if tried else "")

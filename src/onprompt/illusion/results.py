"""Count stored answers under every scoring: shape, scene and rest, in total and by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from onprompt.illusion.gold import Gold
from onprompt.illusion.protocol import COMPLEX, QUESTIONS, SIMPLE, Split, option
from onprompt.illusion.scoring import SCORINGS, Outcome, multi_word, reasons, strict
from onprompt.report.statistics import wilson

GROUPINGS = ("class", "scene", "kind", "difficulty", "strength")
AMBIGUOUS, NONE = "ambiguous", "none"  # what strict may choose instead of an option


class Record(NamedTuple):
    """The answer to a question about an image, with the gold labels."""

    id: str
    question: str  # shape or scene
    gold: Gold  # by the original's rule
    answer: str | None  # None if there is none, or none that is readable
    meant: Gold | None = None  # the options that are meant, if the original's rule misreads the path


class Rate(NamedTuple):
    """A share with its Wilson 95 % interval; None if there are no answers."""

    part: int
    of: int

    @property
    def value(self) -> float | None:
        return self.part / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.part, self.of) if self.of else None


class Tally(NamedTuple):
    """How many answers count for the shape, the scene and neither, and how many are ambiguous under `strict`."""

    of: int = 0
    shape: int = 0
    scene: int = 0
    rest: int = 0
    ambiguous: int = 0

    def plus(self, outcome: Outcome, times: int) -> Tally:
        """The tally with more answers of one outcome."""
        marks = (True, outcome.shape, outcome.scene, outcome.rest, outcome.ambiguous)
        return Tally(*(count + times * mark for count, mark in zip(self, marks, strict=True)))


class Cell(NamedTuple):
    """Where a tally belongs: `Cell("original", "shape", "class", "Cat")`; grouping and group are "" for the total."""

    scoring: str
    question: str
    grouping: str = ""
    group: str = ""


class Difference(NamedTuple):
    """An answer that the scorings count differently, how each counts it, and why."""

    record: Record
    counted: Mapping[str, str]
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """All counts of a run."""

    split: Split
    images: int
    tallies: Mapping[Cell, Tally]
    multi_word: Mapping[str, Rate]  # by question
    confusion: Mapping[str, Counter[tuple[str, str]]]  # by question: gold label and what strict chose
    differences: Sequence[Difference]
    unanswered: Mapping[str, int]  # by question; left out of all counts
    unnamed: int  # answers whose gold label is not an option, left out of `strict`
    about: Mapping[str, Any] = field(default_factory=dict)  # model, size, configuration, not_asked_yet
    troubles: Sequence[str] = ()  # problems with the paths that distort scores
    records: Sequence[Record] = ()

    def tally(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Tally:
        """The counts of a group, or of all answers."""
        return self.tallies.get(Cell(scoring, question, grouping, group), Tally())

    def recall(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Rate:
        """What the paper most likely reports: shapes on the shape question, scenes on the scene question."""
        tally = self.tally(scoring, question, grouping, group)
        return Rate(tally.shape if question == "shape" else tally.scene, tally.of)

    def groups(self, grouping: str) -> list[str]:
        """The groups of a grouping, in the order of the options."""
        order = [*self.split.options, "simple", "complex", "Easy", "Hard"]
        groups = {cell.group for cell in self.tallies if cell.grouping == grouping}
        return sorted(groups, key=lambda group: (order.index(group) if group in order else len(order), group))


def measure(records: Iterable[Record], split: Split) -> Results:
    """Count the answers under all four scorings."""
    records = list(records)
    answered = [record for record in records if record.answer is not None]
    unanswered = Counter(record.question for record in records if record.answer is None)
    # Outcomes are few, so they are counted before they are grouped.
    counts: Counter[tuple[Gold, str, str, Outcome]] = Counter()
    confusion: dict[str, Counter[tuple[str, str]]] = {question: Counter() for question in QUESTIONS}
    differences, unnamed = [], 0
    for record in answered:
        meant = record.meant or record.gold
        outcomes = scored(record, split)
        unnamed += "strict" not in outcomes
        counts.update((meant, record.question, scoring, outcome) for scoring, outcome in outcomes.items())
        if "strict" in outcomes:
            label = option(meant.shape if record.question == "shape" else meant.scene, split)
            confusion[record.question][label, chosen(outcomes["strict"])] += 1
        if len({outcome[:2] for outcome in outcomes.values()}) > 1:
            differences.append(difference(record, outcomes, split))
    return Results(
        split=split,
        images=len({record.id for record in records}),
        tallies=tallied(counts, split),
        multi_word={question: multi_word_rate(answered, question) for question in QUESTIONS},
        confusion=confusion,
        differences=differences,
        unanswered={question: unanswered[question] for question in QUESTIONS},
        unnamed=unnamed,
        records=records,
    )


def scored(record: Record, split: Split) -> dict[str, Outcome]:
    """The outcome of each scoring; `strict` uses the meant labels, and is left out if they are not options."""
    answer, gold, meant = record.answer or "", record.gold, record.meant or record.gold
    by_rule = {name: score for name, score in SCORINGS.items() if score is not strict}
    outcomes = {name: score(answer, gold.shape, gold.scene, split) for name, score in by_rule.items()}
    if option(meant.shape, split) and option(meant.scene, split):
        outcomes["strict"] = strict(answer, meant.shape, meant.scene, split)
    return outcomes


def tallied(counts: Counter[tuple[Gold, str, str, Outcome]], split: Split) -> dict[Cell, Tally]:
    """The counts in total and by group."""
    tallies: dict[Cell, Tally] = {}
    for (meant, question, scoring, outcome), times in counts.items():
        for grouping, group in {"": "", **membership(meant, split)}.items():
            cell = Cell(scoring, question, grouping, group)
            tallies[cell] = tallies.get(cell, Tally()).plus(outcome, times)
    return tallies


def membership(gold: Gold, split: Split) -> dict[str, str]:
    """The groups that an image belongs to, as far as its labels say."""
    shape, scene = option(gold.shape, split) or gold.shape, option(gold.scene, split) or gold.scene
    kind = "simple" if scene in SIMPLE else "complex" if scene in COMPLEX else ""
    groups = zip(GROUPINGS, (shape, scene, kind, gold.difficulty.capitalize(), gold.strength), strict=True)
    return {grouping: group for grouping, group in groups if group}


def multi_word_rate(records: Sequence[Record], question: str) -> Rate:
    """The share of answers of more than one word."""
    answers = [record.answer or "" for record in records if record.question == question]
    return Rate(sum(map(multi_word, answers)), len(answers))


def chosen(outcome: Outcome) -> str:
    """What strict chose: an option, `ambiguous` or `none`."""
    return outcome.chosen or (AMBIGUOUS if outcome.ambiguous else NONE)


def difference(record: Record, outcomes: Mapping[str, Outcome], split: Split) -> Difference:
    """An answer that the scorings count differently."""
    gold, meant = record.gold, record.meant or record.gold
    why = list(dict.fromkeys(reasons(record.answer or "", gold.shape, gold.scene, split)))
    if gold.scene != meant.scene:
        why.append(f"the original reads the scene as {gold.scene!r}, but it is {meant.scene!r}")
    return Difference(record, {name: outcome_text(outcome) for name, outcome in outcomes.items()}, "; ".join(why))


def outcome_text(outcome: Outcome) -> str:
    """An outcome in one word."""
    if outcome.shape and outcome.scene:
        return "both"
    return "shape" if outcome.shape else "scene" if outcome.scene else AMBIGUOUS if outcome.ambiguous else "rest"

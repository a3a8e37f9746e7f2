"""From stored answers to counts: recall of shape, scene and rest under every scoring, whole and by groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from onprompt.illusion.gold import Gold
from onprompt.illusion.protocol import COMPLEX, SIMPLE, Split, option
from onprompt.illusion.scoring import SCORINGS, Outcome, multi_word, reasons, strict
from onprompt.report.statistics import wilson

QUESTIONS = ("shape", "scene")
GROUPINGS = ("class", "scene", "kind", "difficulty", "strength")
AMBIGUOUS, NONE = "ambiguous", "none"  # what strict may read instead of an option


class Record(NamedTuple):
    """One question about one image: what the original's rule takes it for, what is meant, and what was answered."""

    id: str
    question: str  # shape or scene
    gold: Gold
    answer: str | None  # None where there is none, or none that can be read
    meant: Gold | None = None  # where the original's rule misreads the path


class Rate(NamedTuple):
    """A share with Wilson's 95 % interval; None where there is nothing to share."""

    part: int
    of: int

    @property
    def value(self) -> float | None:
        return self.part / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.part, self.of) if self.of else None


class Tally(NamedTuple):
    """How many answers count for the shape, for the scene, for neither; under `strict` how many were ambiguous."""

    of: int = 0
    shape: int = 0
    scene: int = 0
    rest: int = 0
    ambiguous: int = 0

    def plus(self, outcome: Outcome, times: int) -> Tally:
        """With more answers of one outcome."""
        marks = (True, outcome.shape, outcome.scene, outcome.rest, outcome.ambiguous)
        return Tally(*(count + times * mark for count, mark in zip(self, marks, strict=True)))


class Cell(NamedTuple):
    """A place in the results: `Cell("original", "shape", "class", "Cat")`; grouping and group are empty for all."""

    scoring: str
    question: str
    grouping: str = ""
    group: str = ""


class Difference(NamedTuple):
    """An answer that the scorings count differently, what each makes of it, and why."""

    record: Record
    counted: Mapping[str, str]
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """All that was counted."""

    split: Split
    images: int
    tallies: Mapping[Cell, Tally]
    multi_word: Mapping[str, Rate]  # by question
    confusion: Mapping[str, Counter[tuple[str, str]]]  # by question: what it is, and what strict read
    differences: Sequence[Difference]
    unanswered: Mapping[str, int]  # by question: no answer that can be read, so left out of everything
    unnamed: int  # answers about what is no option, so left out of `strict`
    about: Mapping[str, Any] = field(default_factory=dict)  # model, size, generation, and how many are not asked yet
    troubles: Sequence[str] = ()  # what stands between the paths and a fair score

    def tally(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Tally:
        """The counts of a cell."""
        return self.tallies.get(Cell(scoring, question, grouping, group), Tally())

    def recall(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Rate:
        """What the paper most likely reports: shapes counted on the shape question, scenes on the scene question."""
        tally = self.tally(scoring, question, grouping, group)
        return Rate(tally.shape if question == "shape" else tally.scene, tally.of)

    def groups(self, grouping: str) -> list[str]:
        """The groups of a grouping, as the options are ordered."""
        order = [*self.split.options, "simple", "complex", "Easy", "Hard"]
        found = {cell.group for cell in self.tallies if cell.grouping == grouping}
        return sorted(found, key=lambda group: (order.index(group) if group in order else len(order), group))


def measure(records: Iterable[Record], split: Split) -> Results:
    """Count the answers under all four scorings."""
    records = list(records)
    told = [each for each in records if each.answer is not None]
    silent = Counter(each.question for each in records if each.answer is None)
    # Few different outcomes, so they are counted before they are sorted into groups.
    counts: Counter[tuple[Gold, str, str, Outcome]] = Counter()
    confusion: dict[str, Counter[tuple[str, str]]] = {question: Counter() for question in QUESTIONS}
    differences, unnamed = [], 0
    for record in told:
        meant = record.meant or record.gold
        outcomes = scored(record, split)
        unnamed += "strict" not in outcomes
        counts.update((meant, record.question, scoring, outcome) for scoring, outcome in outcomes.items())
        if "strict" in outcomes:
            label = option(meant.shape if record.question == "shape" else meant.scene, split)
            confusion[record.question][label, reading(outcomes["strict"])] += 1
        if len({outcome[:2] for outcome in outcomes.values()}) > 1:
            differences.append(difference(record, outcomes, split))
    return Results(
        split=split,
        images=len({each.id for each in records}),
        tallies=tallied(counts, split),
        multi_word={question: wordy(told, question) for question in QUESTIONS},
        confusion=confusion,
        differences=differences,
        unanswered={question: silent[question] for question in QUESTIONS},
        unnamed=unnamed,
    )


def scored(record: Record, split: Split) -> dict[str, Outcome]:
    """What each scoring makes of an answer; `strict` goes by what is meant, and is left out where that is no option."""
    answer, gold, meant = record.answer or "", record.gold, record.meant or record.gold
    by_rule = {name: score for name, score in SCORINGS.items() if score is not strict}
    outcomes = {name: score(answer, gold.shape, gold.scene, split) for name, score in by_rule.items()}
    if option(meant.shape, split) and option(meant.scene, split):
        outcomes["strict"] = strict(answer, meant.shape, meant.scene, split)
    return outcomes


def tallied(counts: Counter[tuple[Gold, str, str, Outcome]], split: Split) -> dict[Cell, Tally]:
    """The counts as a whole and in every group that they belong to."""
    tallies: dict[Cell, Tally] = {}
    for (meant, question, scoring, outcome), times in counts.items():
        for grouping, group in {"": "", **membership(meant, split)}.items():
            cell = Cell(scoring, question, grouping, group)
            tallies[cell] = tallies.get(cell, Tally()).plus(outcome, times)
    return tallies


def membership(gold: Gold, split: Split) -> dict[str, str]:
    """The groups that an image belongs to; none where its path doesn't say."""
    shape, scene = option(gold.shape, split) or gold.shape, option(gold.scene, split) or gold.scene
    kind = "simple" if scene in SIMPLE else "complex" if scene in COMPLEX else ""
    groups = zip(GROUPINGS, (shape, scene, kind, gold.difficulty.capitalize(), gold.strength), strict=True)
    return {grouping: group for grouping, group in groups if group}


def wordy(records: Sequence[Record], question: str) -> Rate:
    """The share of answers of more than one word."""
    answers = [each.answer or "" for each in records if each.question == question]
    return Rate(sum(map(multi_word, answers)), len(answers))


def reading(outcome: Outcome) -> str:
    """What strict read: an option, or why none."""
    return outcome.chosen or (AMBIGUOUS if outcome.ambiguous else NONE)


def difference(record: Record, outcomes: Mapping[str, Outcome], split: Split) -> Difference:
    """An answer that the scorings count differently."""
    gold, meant = record.gold, record.meant or record.gold
    why = list(dict.fromkeys(reasons(record.answer or "", gold.shape, gold.scene, split)))
    if gold.scene != meant.scene:
        why.append(f"the original takes {gold.scene!r} for the scene, which is {meant.scene!r}")
    return Difference(record, {name: word(outcome) for name, outcome in outcomes.items()}, "; ".join(why))


def word(outcome: Outcome) -> str:
    """An outcome in a word."""
    if outcome.shape and outcome.scene:
        return "both"
    return "shape" if outcome.shape else "scene" if outcome.scene else AMBIGUOUS if outcome.ambiguous else "rest"

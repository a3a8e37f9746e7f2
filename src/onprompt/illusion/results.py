"""Count stored answers under every scoring: shape, scene and rest, in total and by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from onprompt.illusion.gold import Gold
from onprompt.illusion.protocol import COMPLEX, QUESTIONS, SIMPLE, Split, option
from onprompt.illusion.scoring import SCORINGS, Outcome, strict
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

    def __str__(self) -> str:
        """`35.1 % (33.0–37.2)`."""
        if self.value is None or self.interval is None:
            return "–"
        low, high = self.interval
        return f"{100 * self.value:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


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


@dataclass(frozen=True, slots=True)
class Results:
    """All counts of a run."""

    split: Split
    images: int
    tallies: Mapping[tuple[str, str, str, str], Tally]  # by scoring, question, grouping, group; both "" for all
    multi_word: Mapping[str, Rate]  # by question
    confusion: Mapping[str, Counter[tuple[str, str]]]  # by question: gold label and what strict chose
    differences: Sequence[tuple[Record, Mapping[str, str]]]  # what the scorings count differently, and how each does
    unanswered: Mapping[str, int]  # by question; left out of all counts
    unnamed: int  # answers whose gold label is not an option, left out of `strict`
    about: Mapping[str, Any] = field(default_factory=dict)  # model, size, configuration, not_asked_yet
    troubles: Sequence[str] = ()  # problems with the paths that distort scores
    records: Sequence[Record] = ()

    def tally(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Tally:
        """The counts of a group, or of all answers."""
        return self.tallies.get((scoring, question, grouping, group), Tally())

    def recall(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Rate:
        """What the paper most likely reports: shapes on the shape question, scenes on the scene question."""
        tally = self.tally(scoring, question, grouping, group)
        return Rate(tally.shape if question == "shape" else tally.scene, tally.of)

    def groups(self, grouping: str) -> list[str]:
        """The groups of a grouping, in the order of the options."""
        order = [*self.split.options, "simple", "complex", "Easy", "Hard"]
        groups = {group for _, _, kind, group in self.tallies if kind == grouping}
        return sorted(groups, key=lambda group: (order.index(group) if group in order else len(order), group))


def measure(records: Iterable[Record], split: Split) -> Results:
    """Count the answers under all four scorings."""
    records = list(records)
    answered = [record for record in records if record.answer is not None]
    # Outcomes are few, so they are counted before they are grouped.
    counts: Counter[tuple[Gold, str, str, Outcome]] = Counter()
    confusion: dict[str, Counter[tuple[str, str]]] = {question: Counter() for question in QUESTIONS}
    differences: list[tuple[Record, Mapping[str, str]]] = []
    for record in answered:
        meant = record.meant or record.gold
        outcomes = scored(record, split)
        counts.update((meant, record.question, scoring, outcome) for scoring, outcome in outcomes.items())
        if found := outcomes.get("strict"):
            label = option(getattr(meant, record.question), split)
            confusion[record.question][label, found.chosen or (AMBIGUOUS if found.ambiguous else NONE)] += 1
        if len({outcome[:2] for outcome in outcomes.values()}) > 1:
            differences.append((record, {name: in_a_word(outcome) for name, outcome in outcomes.items()}))
    tallies: dict[tuple[str, str, str, str], Tally] = {}
    for (meant, question, scoring, outcome), times in counts.items():
        for grouping, group in {"": "", **membership(meant, split)}.items():
            cell = (scoring, question, grouping, group)
            tallies[cell] = tallies.get(cell, Tally()).plus(outcome, times)
    by_question = {name: [record.answer or "" for record in answered if record.question == name] for name in QUESTIONS}
    return Results(
        split=split,
        images=len({record.id for record in records}),
        tallies=tallies,
        multi_word={
            name: Rate(sum(len(answer.split()) > 1 for answer in answers), len(answers))
            for name, answers in by_question.items()
        },
        confusion=confusion,
        differences=differences,
        unanswered={
            name: sum(record.question == name for record in records) - len(by_question[name]) for name in QUESTIONS
        },
        unnamed=len(answered) - sum(counter.total() for counter in confusion.values()),
        records=records,
    )


def scored(record: Record, split: Split) -> dict[str, Outcome]:
    """The outcome of each scoring; `strict` uses the meant labels, and is left out if they are not options."""
    outcomes = {}
    for name, score in SCORINGS.items():
        labels = (record.meant or record.gold) if score is strict else record.gold
        if score is not strict or (option(labels.shape, split) and option(labels.scene, split)):
            outcomes[name] = score(record.answer or "", labels.shape, labels.scene, split)
    return outcomes


def membership(gold: Gold, split: Split) -> dict[str, str]:
    """The groups that an image belongs to, as far as its labels say."""
    shape, scene = option(gold.shape, split) or gold.shape, option(gold.scene, split) or gold.scene
    kind = "simple" if scene in SIMPLE else "complex" if scene in COMPLEX else ""
    groups = zip(GROUPINGS, (shape, scene, kind, gold.difficulty.capitalize(), gold.strength), strict=True)
    return {grouping: group for grouping, group in groups if group}


def in_a_word(outcome: Outcome) -> str:
    """What an outcome counts for."""
    if outcome.shape and outcome.scene:
        return "both"
    return "shape" if outcome.shape else "scene" if outcome.scene else AMBIGUOUS if outcome.ambiguous else "rest"

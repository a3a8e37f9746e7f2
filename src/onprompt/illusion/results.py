"""Stored answers under every scoring: shape, scene and rest, in total and by group; as tables for all who show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from onprompt.illusion.protocol import COMPLEX, PUBLISHED, QUESTIONS, SIMPLE, Gold, Split, option
from onprompt.illusion.scoring import SCORINGS, Outcome, strict
from onprompt.report.statistics import wilson
from onprompt.report.tables import table_lines
from onprompt.wording import plural

GROUPINGS = {
    "class": "By class",
    "scene": "By scene",
    "kind": "Simple and complex scenes",
    "difficulty": "Easy and hard images",
}
KINDS = ("shape", "scene", "rest", "ambiguous")  # what an answer counts for; only `strict` has ambiguous ones


class Record(NamedTuple):
    """The answer to a question about an image, with the gold labels."""

    id: str
    question: str  # shape or scene
    gold: Gold  # by the original's rule
    answer: str | None  # None if there is none, or none that is readable
    meant: Gold | None = None  # the options that are meant, if the original's rule misreads the path

    def labels(self, scoring: str) -> Gold:
        """The labels that a scoring goes by."""
        return (self.meant or self.gold) if scoring == strict.__name__ else self.gold


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

    @property
    def entry(self) -> dict[str, Any]:
        """The share as JSON has it."""
        shares = None if self.interval is None else [round(bound, 4) for bound in self.interval]
        return {"count": self.part, "of": self.of, "value": self.value and round(self.value, 4), "interval": shares}

    def __str__(self) -> str:
        """`35.1 % (33.0–37.2)`."""
        if self.value is None or self.interval is None:
            return "–"
        low, high = self.interval
        return f"{100 * self.value:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


class Table(NamedTuple):
    """A table: text, numbers and rates."""

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def entry(self, row: Sequence[Any]) -> dict[str, Any]:
        """A row as JSON has it."""
        return {name: cell.entry if isinstance(cell, Rate) else cell for name, cell in zip(self.head, row, strict=True)}


class Scored(NamedTuple):
    """A record with what its answer counts for by each scoring, and the groups that the image belongs to."""

    record: Record
    outcomes: Mapping[str, Outcome]  # none without an answer
    groups: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Results:
    """The answers of a run, scored."""

    split: Split
    rows: Sequence[Scored]
    about: Mapping[str, Any] = field(default_factory=dict)  # model, size, configuration, not_asked_yet
    troubles: Sequence[str] = ()  # problems with the paths that distort scores

    def rate(self, scoring: str, question: str, kind: str, grouping: str = "", group: str = "") -> Rate:
        """The share of a question's answers that count for the shape, the scene, or neither."""
        outcomes = [
            row.outcomes[scoring]
            for row in self.rows
            if row.record.question == question and scoring in row.outcomes and row.groups.get(grouping, "") == group
        ]
        return Rate(sum(getattr(outcome, kind) for outcome in outcomes), len(outcomes))

    def recall(self, scoring: str, question: str, grouping: str = "", group: str = "") -> Rate:
        """What the paper most likely reports: shapes on the shape question, scenes on the scene question."""
        return self.rate(scoring, question, question, grouping, group)

    def groups(self, grouping: str) -> list[str]:
        """The groups of a grouping, in the order of the options."""
        order = [*self.split.options, "simple", "complex", "Easy", "Hard"]
        groups = {row.groups.get(grouping, "") for row in self.rows if row.outcomes} - {""}
        return sorted(groups, key=lambda group: (order.index(group) if group in order else len(order), group))

    def confusion(self, question: str) -> Table:
        """What strict scoring chose: a row for each label, a column for each option that was chosen."""
        counts = Counter[tuple[str, str]]()
        for row in self.rows:
            if row.record.question == question and (outcome := row.outcomes.get("strict")):
                label = option(getattr(row.record.labels("strict"), question), self.split)
                counts[label, outcome.chosen or ("ambiguous" if outcome.ambiguous else "none")] += 1
        order = [*self.split.options, "ambiguous", "none"]
        labels, columns = {label for label, _ in counts}, {name for pair in counts for name in pair}
        chosen = sorted(columns, key=order.index)
        rows = [[label, *(counts[label, name] for name in chosen)] for label in sorted(labels, key=order.index)]
        return Table(f"confusion_{question}", f"Confusion, {question} question (strict)", (question, *chosen), rows)

    @property
    def images(self) -> int:
        return len({row.record.id for row in self.rows})

    def unanswered(self, question: str) -> int:
        """Questions without a readable answer, which are left out of all counts."""
        return sum(row.record.question == question and row.record.answer is None for row in self.rows)

    @property
    def unnamed(self) -> int:
        """Answers about a label that is no option, left out of `strict`."""
        return sum("original" in row.outcomes and "strict" not in row.outcomes for row in self.rows)

    def multi_word(self, question: str) -> Rate:
        """Answers of more than one word."""
        said = [row.record.answer for row in self.rows if row.record.question == question]
        several = [len(answer.split()) > 1 for answer in said if answer is not None]
        return Rate(sum(several), len(several))


def measure(
    records: Iterable[Record], split: Split, about: Mapping[str, Any] | None = None, troubles: Sequence[str] = ()
) -> Results:
    """Score the answers in all ways."""
    rows = []
    for record in records:
        found = {name: scored(record, name, split) for name in SCORINGS} if record.answer is not None else {}
        outcomes = {name: outcome for name, outcome in found.items() if outcome}
        rows.append(Scored(record, outcomes, groups_of(record.meant or record.gold, split)))
    return Results(split, rows, about or {}, troubles)


def scored(record: Record, scoring: str, split: Split) -> Outcome | None:
    """What an answer counts for; strict leaves out labels that are not options."""
    labels = record.labels(scoring)
    if scoring == strict.__name__ and not (option(labels.shape, split) and option(labels.scene, split)):
        return None
    return SCORINGS[scoring](record.answer or "", labels.shape, labels.scene, split)


def groups_of(gold: Gold, split: Split) -> dict[str, str]:
    """The groups that an image belongs to, as far as its labels say."""
    shape, scene = option(gold.shape, split) or gold.shape, option(gold.scene, split) or gold.scene
    kind = "simple" if scene in SIMPLE else "complex" if scene in COMPLEX else ""
    return dict(zip(GROUPINGS, (shape, scene, kind, gold.difficulty.capitalize()), strict=True))


# ---- how results are shown -------------------------------------------------------------------------------------------


def tables(results: Results, scoring: str) -> Iterator[Table]:
    """All tables; counts and groups are shown for one scoring."""
    rates = [[name, *(results.recall(name, q) for q in QUESTIONS)] for name in SCORINGS]
    yield Table("recall", "Recall by scoring", ("scoring", *QUESTIONS), rates)
    if paper := results.split.paper:
        published = [[model, *by_split[paper]] for model, by_split in PUBLISHED.items()]
        title = f"Recall in the paper, {paper}, in % (read off its figure)"
        yield Table("published", title, ("model", *QUESTIONS), published)
    rows = []
    for name in QUESTIONS:
        counts = (results.rate(scoring, name, kind) for kind in KINDS)
        rows.append([name, *counts, results.unanswered(name), results.multi_word(name)])
    yield Table("counts", f"Counts ({scoring})", ("question", *KINDS, "no answer", "more than one word"), rows)
    for grouping, title in GROUPINGS.items():
        if groups := results.groups(grouping):
            rows = [[group, *(results.recall(scoring, q, grouping, group) for q in QUESTIONS)] for group in groups]
            yield Table(f"by_{grouping}", f"{title} ({scoring})", (grouping, *QUESTIONS), rows)
    yield from filter(lambda table: table.rows, map(results.confusion, QUESTIONS))


def heading(results: Results) -> str:
    """The split, the model and the number of images."""
    paper = f" (the paper's {results.split.paper})" if results.split.paper else ""
    model = f" by {results.about['model']}" if results.about else ""
    return f"IllusionBench {results.split.name}{paper}{model}: {plural(results.images, 'image')}"


def notes(results: Results) -> Iterator[str]:
    """How images were sent, what is left out, and problems with the files."""
    if about := results.about:
        size = about["size"]
        yield f"images resized to {size[0]} × {size[1]}" if size else "images sent as they are"
        if waiting := about["not_asked_yet"]:
            yield f"{plural(waiting, 'image')} not asked about yet: run again to resume"
    yield from results.troubles
    if missing := sum(map(results.unanswered, QUESTIONS)):
        yield f"{plural(missing, 'question')} without a readable answer: left out"
    if results.unnamed:
        yield f"{plural(results.unnamed, 'answer')} about a shape or scene that is not an option: left out of strict"


def lines(results: Results, scoring: str = "original") -> Iterator[str]:
    """The results for the terminal, which is too narrow for the confusion tables."""
    yield heading(results)
    yield from notes(results)
    for table in tables(results, scoring):
        if not table.name.startswith("confusion"):
            yield from ("", table.title, *table_lines(table.head, [list(map(str, row)) for row in table.rows]))


def document(results: Results, scoring: str = "original") -> dict[str, Any]:
    """The results as JSON."""
    return {
        "format": "onprompt.illusion/4",
        "split": results.split.name,
        **results.about,
        "scoring": scoring,
        "images": results.images,
        "no_option": results.unnamed,
        "troubles": list(results.troubles),
        **{table.name: [table.entry(row) for row in table.rows] for table in tables(results, scoring)},
    }

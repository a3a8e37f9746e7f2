"""Stored answers under every scoring: shape, scene and rest, in total and by group; as text and as JSON."""

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
    meant: Gold  # the options that are meant, which are others if the rule misreads the path
    answer: str | None  # None if there is none, or none that is readable


class Rate(NamedTuple):
    """A share with its Wilson 95 % interval."""

    part: int
    of: int

    @property
    def entry(self) -> dict[str, Any]:
        """The share as JSON has it; None if there are no answers."""
        if not self.of:
            return {"count": 0, "of": 0, "value": None, "interval": None}
        interval = [round(bound, 4) for bound in wilson(self.part, self.of)]
        return {"count": self.part, "of": self.of, "value": round(self.part / self.of, 4), "interval": interval}

    def __str__(self) -> str:
        """`35.1 % (33.0–37.2)`."""
        if not self.of:
            return "–"
        low, high = wilson(self.part, self.of)
        return f"{100 * self.part / self.of:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


class Table(NamedTuple):
    """A table: text, numbers and rates."""

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The rows as JSON has them."""
        cells = ([cell.entry if isinstance(cell, Rate) else cell for cell in row] for row in self.rows)
        return [dict(zip(self.head, row, strict=True)) for row in cells]


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

    def rate(self, scoring: str, question: str, kind: str = "", grouping: str = "", group: str = "") -> Rate:
        """The share of a question's answers that count for the shape, the scene, or neither; by default recall.

        Recall is what the paper most likely reports: shapes on the shape question, scenes on the scene question.
        """
        outcomes = [
            row.outcomes[scoring]
            for row in self.rows
            if row.record.question == question and scoring in row.outcomes and row.groups.get(grouping, "") == group
        ]
        return Rate(sum(getattr(outcome, kind or question) for outcome in outcomes), len(outcomes))

    def groups(self, grouping: str) -> list[str]:
        """The groups of a grouping, in the order of the options."""
        order = [*self.split.options, "simple", "complex", "Easy", "Hard"]
        groups = {row.groups[grouping] for row in self.rows if row.outcomes} - {""}
        return sorted(groups, key=lambda group: (order.index(group) if group in order else len(order), group))

    def confusion(self, question: str) -> Table:
        """What strict scoring chose: a row for each label, a column for each option that was chosen."""
        counts = Counter[tuple[str, str]]()
        for row in self.rows:
            if row.record.question == question and (outcome := row.outcomes.get("strict")):
                label = option(getattr(row.record.meant, question), self.split)
                counts[label, outcome.chosen or ("ambiguous" if outcome.ambiguous else "none")] += 1
        order = [*self.split.options, "ambiguous", "none"]
        labels = sorted({label for label, _ in counts}, key=order.index)
        columns = sorted({name for pair in counts for name in pair}, key=order.index)
        rows = [[label, *(counts[label, name] for name in columns)] for label in labels]
        return Table(f"confusion_{question}", f"Confusion, {question} question (strict)", (question, *columns), rows)

    @property
    def images(self) -> int:
        return len({row.record.id for row in self.rows})

    def answers(self, question: str) -> list[str | None]:
        """What was answered to a question; None without a readable answer, which is left out of all counts."""
        return [row.record.answer for row in self.rows if row.record.question == question]

    @property
    def unnamed(self) -> int:
        """Answers about a label that is no option, left out of `strict`."""
        return sum("original" in row.outcomes and "strict" not in row.outcomes for row in self.rows)


def measure(
    records: Iterable[Record], split: Split, about: Mapping[str, Any] | None = None, troubles: Sequence[str] = ()
) -> Results:
    """Score the answers in all ways; strict goes by what is meant, and leaves out labels that are not options."""
    rows = []
    for record in records:
        outcomes, meant = {}, record.meant
        for name, scoring in SCORINGS.items() if record.answer is not None else ():
            gold = meant if scoring is strict else record.gold
            if scoring is not strict or (option(gold.shape, split) and option(gold.scene, split)):
                outcomes[name] = scoring(record.answer or "", gold.shape, gold.scene, split)
        shape, scene = option(meant.shape, split) or meant.shape, option(meant.scene, split) or meant.scene
        kind = "simple" if scene in SIMPLE else "complex" if scene in COMPLEX else ""
        groups = dict(zip(GROUPINGS, (shape, scene, kind, meant.difficulty.capitalize()), strict=True))
        rows.append(Scored(record, outcomes, groups))
    return Results(split, rows, about or {}, troubles)


def tables(results: Results, scoring: str) -> Iterator[Table]:
    """All tables; counts and groups are shown for one scoring."""
    rates = [[name, *(results.rate(name, q) for q in QUESTIONS)] for name in SCORINGS]
    yield Table("recall", "Recall by scoring", ("scoring", *QUESTIONS), rates)
    if paper := results.split.paper:
        published = [[model, *by_split[paper]] for model, by_split in PUBLISHED.items()]
        title = f"Recall in the paper, {paper}, in % (read off its figure)"
        yield Table("published", title, ("model", *QUESTIONS), published)
    rows = []
    for name in QUESTIONS:
        counts, answers = [results.rate(scoring, name, kind) for kind in KINDS], results.answers(name)
        said = [answer for answer in answers if answer is not None]
        several = Rate(sum(len(answer.split()) > 1 for answer in said), len(said))
        rows.append([name, *counts, len(answers) - len(said), several])
    yield Table("counts", f"Counts ({scoring})", ("question", *KINDS, "no answer", "more than one word"), rows)
    for grouping, title in GROUPINGS.items():
        if groups := results.groups(grouping):
            rows = [[each, *(results.rate(scoring, q, "", grouping, each) for q in QUESTIONS)] for each in groups]
            yield Table(f"by_{grouping}", f"{title} ({scoring})", (grouping, *QUESTIONS), rows)


def heading(results: Results) -> Iterator[str]:
    """What was asked, how images were sent, what is left out, and problems with the files."""
    paper = f" (the paper's {results.split.paper})" if results.split.paper else ""
    model = f" by {results.about['model']}" if results.about else ""
    yield f"IllusionBench {results.split.name}{paper}{model}: {plural(results.images, 'image')}"
    if about := results.about:
        size = about["size"]
        yield f"images resized to {size[0]} × {size[1]}" if size else "images sent as they are"
        if waiting := about["not_asked_yet"]:
            yield f"{plural(waiting, 'image')} not asked about yet: run again to resume"
    yield from results.troubles
    if missing := sum(row.record.answer is None for row in results.rows):
        yield f"{plural(missing, 'question')} without a readable answer: left out"
    if results.unnamed:
        yield f"{plural(results.unnamed, 'answer')} about a shape or scene that is not an option: left out of strict"


def lines(results: Results, scoring: str = "original") -> Iterator[str]:
    """The results for the terminal, which is too narrow for the confusion tables."""
    yield from heading(results)
    for table in tables(results, scoring):
        yield from ("", table.title, *table_lines(table.head, [list(map(str, row)) for row in table.rows]))


def document(results: Results, scoring: str = "original") -> dict[str, Any]:
    """The results as JSON."""
    shown = [*tables(results, scoring), *map(results.confusion, QUESTIONS)]
    return {
        "format": "onprompt.illusion/4",
        "split": results.split.name,
        **results.about,
        "scoring": scoring,
        "images": results.images,
        "no_option": results.unnamed,
        "troubles": list(results.troubles),
        **{table.name: table.entries for table in shown if table.rows},
    }

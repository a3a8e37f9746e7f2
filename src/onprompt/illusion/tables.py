"""The results of a run as tables for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from onprompt.illusion.protocol import PUBLISHED, QUESTIONS
from onprompt.illusion.results import GROUPINGS, Rate, Results
from onprompt.illusion.scoring import SCORINGS
from onprompt.report.tables import markdown_table, markdown_text, shortened, table_lines

TITLES = {
    "class": "By class",
    "scene": "By scene",
    "kind": "Simple and complex scenes",
    "difficulty": "Easy and hard images",
    "strength": "By strength of the shape",
}
FEW, MANY = 10, 100  # differing answers shown in the terminal and in Markdown; JSON has all
OTHERS = 6  # wrong choices shown for a label; JSON has all
WIDTH = 60  # characters shown of an answer
GROUPED = ("shape recall", "scene recall", "rest, shape question", "rest, scene question")


class Table(NamedTuple):
    """A title, a head and rows."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(results: Results, scoring: str, shown: int) -> Iterator[Table]:
    """All tables; groups are shown for one scoring."""
    rows = [[name, *(str(results.recall(name, question)) for question in QUESTIONS)] for name in SCORINGS]
    for model, recall in published(results).items():
        rows.append([f"{model}, published", *(f"{percent:.1f} %" for percent in recall.values())])
    yield Table("Recall", ("scoring", "shape", "scene"), rows)
    yield counts(results, scoring)
    for grouping in GROUPINGS:
        if groups := results.groups(grouping):
            rows = [group_row(results, scoring, grouping, group) for group in groups]
            yield Table(f"{TITLES[grouping]} ({scoring})", (grouping, "images", *GROUPED), rows)
    for question in QUESTIONS:
        if rows := list(confusion_rows(results, question)):
            yield Table(f"Chosen options, {question} question (strict)", (question, "right", "instead"), rows)
    differing: Counter[tuple[str, ...]] = Counter()
    for record, counted in results.differences:
        answer = re.sub(r"[^\S ]+|[\x00-\x1f\x7f-\x9f]", "⏎", record.answer or "")
        differing[shortened(answer, WIDTH), record.question, *(counted.get(name, "–") for name in SCORINGS)] += 1
    if differing:
        title = f"Answers that the scorings count differently: {len(results.differences)}"
        title += f", the {shown} most frequent" if len(differing) > shown else ""
        rows = [[str(times), *cells] for cells, times in differing.most_common(shown)]
        yield Table(title, ("times", "answer", "question", *SCORINGS), rows)


def published(results: Results) -> dict[str, dict[str, float]]:
    """The published recalls on the split, by model and question."""
    paper = results.split.paper
    return {model: dict(zip(QUESTIONS, by[paper], strict=True)) for model, by in PUBLISHED.items() if paper in by}


def counts(results: Results, scoring: str) -> Table:
    """The original's six counts, under any scoring."""
    kinds = ("shape", "scene", "rest", *(["ambiguous"] if scoring == "strict" else []))
    rows = []
    for question in QUESTIONS:
        tally = results.tally(scoring, question)
        shares = [f"{getattr(tally, kind)}, {Rate(getattr(tally, kind), tally.of)}" for kind in kinds]
        rows.append([question, str(tally.of), *shares, str(results.unanswered[question])])
        rows[-1].append(str(results.multi_word[question]))
    names = [kind.replace("ambiguous", "rest that is ambiguous") for kind in kinds]
    return Table(f"Counts ({scoring})", ("question", "answers", *names, "no answer", "more than one word"), rows)


def group_row(results: Results, scoring: str, grouping: str, group: str) -> list[str]:
    """The number of images in a group, its two recalls, and the answers that count for neither."""
    rates = [results.recall(scoring, question, grouping, group) for question in QUESTIONS]
    tallies = [results.tally(scoring, question, grouping, group) for question in QUESTIONS]
    rates += [Rate(tally.rest, tally.of) for tally in tallies]
    return [group, str(max(rate.of for rate in rates)), *map(str, rates)]


def confusion_rows(results: Results, question: str) -> Iterator[list[str]]:
    """How often each gold label was chosen, and what was chosen instead."""
    for label, chosen in confusion_entry(results, question).items():
        others = sorted((-count, name) for name, count in chosen.items() if name != label)
        instead = [f"{name} {-count}" for count, name in others]
        more = [f"{len(instead) - OTHERS} more"] if len(instead) > OTHERS else []
        right = f"{chosen.get(label, 0)} of {sum(chosen.values())}"
        yield [label, right, ", ".join([*instead[:OTHERS], *more])]


def heading(results: Results) -> str:
    """The split, the model and the number of images."""
    paper = f" (the paper's {results.split.paper})" if results.split.paper else ""
    model = f" by {results.about['model']}" if results.about else ""
    return f"IllusionBench {results.split.name}{paper}{model}: {number(results.images, 'image')}"


def notes(results: Results) -> Iterator[str]:
    """How images were sent, what is left out, and problems with the files."""
    if about := results.about:
        size = about["size"]
        yield f"images resized to {size[0]} × {size[1]}" if size else "images sent as they are"
        if waiting := about["not_asked_yet"]:
            yield f"{number(waiting, 'image')} not asked about yet: run again to resume"
    yield from results.troubles
    if missing := sum(results.unanswered.values()):
        yield f"{number(missing, 'question')} without a readable answer: left out"
    if results.unnamed:
        yield f"{number(results.unnamed, 'answer')} about a shape or scene that is not an option: left out of strict"


def number(count: int, noun: str) -> str:
    """`1 image`, `1,200 images`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def lines(results: Results, scoring: str = "original") -> Iterator[str]:
    """The results for the terminal."""
    yield heading(results)
    yield from notes(results)
    for table in tables(results, scoring, FEW):
        yield from ("", table.title, *table_lines(table.head, table.rows))


def markdown(results: Results, scoring: str = "original") -> str:
    """The results as Markdown."""
    paragraphs = [f"# {heading(results)}", *map(markdown_text, notes(results))]
    for table in tables(results, scoring, MANY):
        paragraphs += [f"## {table.title}", "\n".join(markdown_table(table.head, table.rows)).strip()]
    return "\n\n".join(paragraphs) + "\n"


# ---- JSON ------------------------------------------------------------------------------------------------------------


def document(results: Results) -> dict[str, Any]:
    """The results as JSON, with every differing answer."""
    return {
        "format": "onprompt.illusion/2",
        "split": results.split.name,
        "paper": results.split.paper,
        **results.about,
        "images": results.images,
        "unanswered": dict(results.unanswered),
        "no_option": results.unnamed,
        "troubles": list(results.troubles),
        "multi_word": {question: rate_entry(rate) for question, rate in results.multi_word.items()},
        "scorings": {
            scoring: {question: scored(results, scoring, question) for question in QUESTIONS}
            | {f"by_{grouping}": grouped(results, scoring, grouping) for grouping in GROUPINGS}
            for scoring in SCORINGS
        },
        "confusion": {question: confusion_entry(results, question) for question in QUESTIONS},
        "published": published(results),
        "differences": [
            {"id": record.id, "question": record.question, "answer": record.answer, "shape": record.gold.shape}
            | {"scene": record.gold.scene, "counted": dict(counted)}
            for record, counted in results.differences
        ],
    }


def grouped(results: Results, scoring: str, grouping: str) -> dict[str, Any]:
    """The recalls and counts of each group."""
    return {
        name: {question: scored(results, scoring, question, grouping, name) for question in QUESTIONS}
        for name in results.groups(grouping)
    }


def scored(results: Results, scoring: str, question: str, *group: str) -> dict[str, Any]:
    """The recall and the counts of a question, of all images or of a group."""
    tally = results.tally(scoring, question, *group)
    kinds = {kind: rate_entry(Rate(getattr(tally, kind), tally.of)) for kind in tally._fields if kind != "of"}
    recall = rate_entry(results.recall(scoring, question, *group))
    return {"recall": recall, "counts": {"answers": tally.of, **kinds}}


def rate_entry(rate: Rate) -> dict[str, Any]:
    """A share with its interval; None if there are no answers."""
    value = None if rate.value is None else round(rate.value, 4)
    interval = None if rate.interval is None else [round(bound, 4) for bound in rate.interval]
    return {"count": rate.part, "of": rate.of, "value": value, "interval": interval}


def confusion_entry(results: Results, question: str) -> dict[str, dict[str, int]]:
    """The chosen options by gold label, in the order of the options."""
    order = results.split.options.index
    entry: dict[str, dict[str, int]] = {}
    for (gold, chosen), count in sorted(results.confusion[question].items(), key=lambda item: order(item[0][0])):
        entry.setdefault(gold, {})[chosen] = count
    return entry

"""The results as tables: for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from onprompt.illusion.protocol import PUBLISHED
from onprompt.illusion.results import GROUPINGS, QUESTIONS, Difference, Rate, Results, Tally
from onprompt.illusion.scoring import SCORINGS

FORMAT = "onprompt.illusion/1"
TITLES = {
    "class": "By class",
    "scene": "By scene",
    "kind": "Simple and complex scenes",
    "difficulty": "Easy and hard images",
    "strength": "By the strength of the shape",
}
FEW, MANY = 10, 100  # differing answers shown in the terminal and in Markdown; JSON has all
OTHERS = 6  # wrong choices shown of a label; JSON has all
WIDE = 60  # characters of an answer that are shown
GROUPED = ("shape recall", "scene recall", "rest, shape question", "rest, scene question")


class Table(NamedTuple):
    """A title, a head and rows; the first column is words, the others are numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(results: Results, scoring: str, shown: int) -> Iterator[Table]:
    """All tables; those by groups are for one scoring."""
    yield recalls(results)
    yield counts(results, scoring)
    for grouping in GROUPINGS:
        if groups := results.groups(grouping):
            rows = [[group, *group_cells(results, scoring, grouping, group)] for group in groups]
            yield Table(f"{TITLES[grouping]} ({scoring})", (grouping, "images", *GROUPED), rows)
    for question in QUESTIONS:
        if rows := list(confusion_rows(results, question)):
            yield Table(f"What was chosen, {question} question (strict)", (question, "right", "instead"), rows)
    if differing := Counter(difference_cells(each) for each in results.differences):
        title = f"Answers that the scorings count differently: {len(results.differences)}"
        title += f", the {shown} most frequent kinds" if len(differing) > shown else ""
        rows = [[str(times), *cells] for cells, times in differing.most_common(shown)]
        yield Table(title, ("times", "answer", "question", *SCORINGS, "why"), rows)


def recalls(results: Results) -> Table:
    """Shape and scene recall under every scoring, and what the paper shows of other models."""
    rows = [[name, *(rate_words(results.recall(name, question)) for question in QUESTIONS)] for name in SCORINGS]
    for model, figures in PUBLISHED.items():
        if results.split.paper in figures:
            rows.append([f"{model}, published", *(f"{figure:.1f} %" for figure in figures[results.split.paper])])
    return Table("Recall", ("scoring", "shape", "scene"), rows)


def counts(results: Results, scoring: str) -> Table:
    """The original's six counts, under any scoring."""
    rows = []
    for question in QUESTIONS:
        tally = results.tally(scoring, question)
        shares = [tally.shape, tally.scene, tally.rest, *([tally.ambiguous] if scoring == "strict" else [])]
        words = [f"{count}, {rate_words(Rate(count, tally.of))}" for count in shares]
        several = rate_words(results.multi_word[question])
        rows.append([question, str(tally.of), *words, str(results.unanswered[question]), several])
    ambiguous = ["of it ambiguous"] if scoring == "strict" else []
    head = ("question", "answers", "shape", "scene", "rest", *ambiguous, "no answer", "more than one word")
    return Table(f"Counts ({scoring})", head, rows)


def group_cells(results: Results, scoring: str, grouping: str, group: str) -> list[str]:
    """How many images a group has, its two recalls, and what counts for neither."""
    rates = [results.recall(scoring, question, grouping, group) for question in QUESTIONS]
    tallies = [results.tally(scoring, question, grouping, group) for question in QUESTIONS]
    rates += [Rate(tally.rest, tally.of) for tally in tallies]
    return [str(max(rate.of for rate in rates)), *map(rate_words, rates)]


def confusion_rows(results: Results, question: str) -> Iterator[list[str]]:
    """For each gold label how often it was chosen, and what else was."""
    found = results.confusion[question]
    for label in sorted({gold for gold, _ in found}, key=results.split.options.index):
        others = sorted((-count, chosen) for (gold, chosen), count in found.items() if gold == label != chosen)
        total = sum(count for (gold, _), count in found.items() if gold == label)
        instead = [f"{chosen} {-count}" for count, chosen in others]
        more = [f"{len(instead) - OTHERS} more"] if len(instead) > OTHERS else []
        yield [label, f"{found[label, label]} of {total}", ", ".join([*instead[:OTHERS], *more])]


def difference_cells(each: Difference) -> tuple[str, ...]:
    """A differing answer as a row."""
    counted = (each.counted.get(scoring, "–") for scoring in SCORINGS)
    return short(each.record.answer or ""), each.record.question, *counted, each.why


def rate_words(rate: Rate) -> str:
    """`35.1 % (33.0–37.2)`."""
    value, interval = rate.value, rate.interval
    if value is None or interval is None:
        return "–"
    return f"{100 * value:.1f} % ({100 * interval[0]:.1f}–{100 * interval[1]:.1f})"


def short(answer: str) -> str:
    """An answer on one line."""
    line = re.sub(r"[^\S ]+|[\x00-\x1f\x7f-\x9f]", "⏎", answer)
    return line if len(line) <= WIDE else f"{line[: WIDE - 1]}…"


def heading(results: Results) -> str:
    """What was run."""
    paper = f" (the paper's {results.split.paper})" if results.split.paper else ""
    by = f" by {results.about['model']}" if results.about else ""
    return f"IllusionBench {results.split.name}{paper}{by}: {number(results.images, 'image')}"


def notes(results: Results) -> Iterator[str]:
    """How images were sent, what was left out, and what is wrong with the files."""
    about = results.about
    if about:
        size = about["size"]
        yield f"images resized to {size[0]} × {size[1]}" if size else "images sent as they are"
        if waiting := about["not_asked_yet"]:
            yield f"{number(waiting, 'image')} not asked about yet: run again to go on"
    yield from results.troubles
    if missing := sum(results.unanswered.values()):
        yield f"{number(missing, 'question')} without an answer that can be read: left out"
    if results.unnamed:
        yield f"{number(results.unnamed, 'answer')} about a shape or scene that is no option: strict leaves them out"


def number(count: int, noun: str) -> str:
    """`1 image`, `1,200 images`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def lines(results: Results, scoring: str = "original") -> Iterator[str]:
    """The results for the terminal."""
    yield heading(results)
    yield from notes(results)
    for table in tables(results, scoring, FEW):
        yield ""
        yield table.title
        cells = [table.head, *table.rows]
        widths = [max(len(row[column]) for row in cells) for column in range(len(table.head))]
        for row in cells:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown(results: Results, scoring: str = "original") -> str:
    """The results as Markdown."""
    told = [f"# {heading(results)}", *map(escaped, notes(results))]
    for table in tables(results, scoring, MANY):
        rows = [table.head, ["---"] * len(table.head), *table.rows]
        told.append(f"## {table.title}")
        told.append("\n".join(f"| {' | '.join(map(escaped, row))} |" for row in rows))
    return "\n\n".join(told) + "\n"


def escaped(cell: str) -> str:
    """A cell that Markdown shows as it is."""
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", cell)


def document(results: Results) -> dict[str, Any]:
    """The results as JSON, with every differing answer."""
    return {
        "format": FORMAT,
        "split": results.split.name,
        "paper": results.split.paper,
        **results.about,
        "images": results.images,
        "unanswered": dict(results.unanswered),
        "no_option": results.unnamed,
        "troubles": list(results.troubles),
        "multi_word": {question: rate_entry(rate) for question, rate in results.multi_word.items()},
        "scorings": {scoring: scoring_entry(results, scoring) for scoring in SCORINGS},
        "confusion": {question: confusion_entry(results, question) for question in QUESTIONS},
        "published": {
            model: dict(zip(QUESTIONS, figures[results.split.paper], strict=True))
            for model, figures in PUBLISHED.items()
            if results.split.paper in figures
        },
        "differences": [difference_entry(each) for each in results.differences],
    }


def scoring_entry(results: Results, scoring: str) -> dict[str, Any]:
    """A scoring's recalls and counts, whole and by groups."""
    entry: dict[str, Any] = {
        "recall": {question: rate_entry(results.recall(scoring, question)) for question in QUESTIONS},
        "counts": {question: counts_entry(results.tally(scoring, question)) for question in QUESTIONS},
    }
    for grouping in GROUPINGS:
        entry[f"by_{grouping}"] = {
            group: {
                question: {
                    "recall": rate_entry(results.recall(scoring, question, grouping, group)),
                    "counts": counts_entry(results.tally(scoring, question, grouping, group)),
                }
                for question in QUESTIONS
            }
            for group in results.groups(grouping)
        }
    return entry


def counts_entry(tally: Tally) -> dict[str, Any]:
    """Each count with its share."""
    kinds = ("shape", "scene", "rest", "ambiguous")
    return {"answers": tally.of, **{kind: rate_entry(Rate(getattr(tally, kind), tally.of)) for kind in kinds}}


def rate_entry(rate: Rate) -> dict[str, Any]:
    """A share with its interval; None where there is nothing to share."""
    value, interval = rate.value, rate.interval
    return {
        "count": rate.part,
        "of": rate.of,
        "value": None if value is None else round(value, 4),
        "interval": None if interval is None else [round(each, 4) for each in interval],
    }


def confusion_entry(results: Results, question: str) -> dict[str, dict[str, int]]:
    """What was chosen for each gold label."""
    entry: dict[str, dict[str, int]] = {}
    for (gold, chosen), count in sorted(results.confusion[question].items()):
        entry.setdefault(gold, {})[chosen] = count
    return entry


def difference_entry(each: Difference) -> dict[str, Any]:
    """A differing answer."""
    record = each.record
    return {
        "id": record.id,
        "question": record.question,
        "answer": record.answer,
        "shape": record.gold.shape,
        "scene": record.gold.scene,
        "counted": dict(each.counted),
        "why": each.why,
    }

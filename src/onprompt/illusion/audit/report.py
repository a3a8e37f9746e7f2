"""The report of an audit: as Markdown, in five sections, and as JSON."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from onprompt.illusion.audit.effect import Effect
from onprompt.illusion.audit.points import Point, Verdict, worst
from onprompt.illusion.audit.prompts import Question
from onprompt.illusion.audit.runner import Audit
from onprompt.illusion.audit.scoring import RULE

MARKS = {Verdict.ALIGNED: "✅", Verdict.HARMLESS: "⚠️", Verdict.CHANGES: "❌", Verdict.NOT_DESCRIBED: "❔"}
HEADINGS = {
    Verdict.CHANGES: "What changes the score:",
    Verdict.HARMLESS: "Harmless differences:",
    Verdict.NOT_DESCRIBED: "Not described or not tried, so not decided:",
}
SHORT = 70  # characters of a cell in the checklist


def markdown(audit: Audit) -> Iterator[str]:
    """The report, line by line."""
    yield f"# Alignment check: {audit.name} and the original IllusionBench"
    yield from ("", "## 1. Prompts", "", *prompt_lines(audit))
    yield from ("", "## 2. Option lists", "", *option_lines(audit))
    yield from ("", "## 3. Scoring", "", *scoring_lines(audit))
    yield from ("", "## 4. Checklist", "", *checklist(audit.points))
    yield from ("", "## 5. Conclusion", "", *conclusion(audit))


def section(audit: Audit, name: str, where: str = "") -> list[Point]:
    """The points of a section, or those of one question in it."""
    return [point for point in audit.points if point.section == name and where in ("", point.where)]


def status(verdict: Verdict) -> str:
    """A verdict with its mark."""
    return f"{MARKS[verdict]} {verdict}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;').replace(chr(10), ' ') for cell in row)} |"


def sha256(text: str | None) -> str | None:
    """The hash of a question."""
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# ---- sections 1 to 3 -------------------------------------------------------------------------------------------------


def prompt_lines(audit: Audit) -> Iterator[str]:
    """The eight questions by their hashes, then both texts of each that differs."""
    rows = []
    for question in audit.questions:
        hashes = [
            f"`{digest[:16]}…`" if (digest := sha256(text)) else "–" for text in (question.original, question.theirs)
        ]
        verdict = worst(point.verdict for point in section(audit, "prompt", question.where))
        rows.append((question.where, *hashes, status(verdict)))
    yield from table(("Question", "Original, sha256", "Theirs, sha256", "Status"), rows)
    for question in audit.questions:
        points = section(audit, "prompt", question.where)
        if question.theirs is not None and any(point.note for point in points):
            yield from ("", f"### {question.where}", "")
            yield from ("Original:", *block(question.original), "", "Theirs:", *block(question.theirs), "")
            yield from (f"- {part_line(point)}" for point in points)


def part_line(point: Point) -> str:
    """The verdict on a part of a question, and what changed."""
    changes = [point.theirs] if point.verdict is not Verdict.ALIGNED else []
    return f"{point.title}: {'. '.join(filter(None, [status(point.verdict), *changes, point.note]))}."


def block(text: str) -> Iterator[str]:
    """A fenced block; its fence is longer than any backticks in the text."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    yield from (fence, *text.split("\n"), fence)


def option_lines(audit: Audit) -> Iterator[str]:
    """The lists; both where they differ."""
    for point in section(audit, "options"):
        yield f"- {point.title}, {point.where}: {status(point.verdict)}" + (f". {point.note}." if point.note else "")
        if point.verdict is Verdict.CHANGES:
            yield from (f"  - original: {point.original}", f"  - theirs: {point.theirs}")


def scoring_lines(audit: Audit) -> Iterator[str]:
    """Answers, gold labels and images, with the shortest example of each difference."""
    yield from ("### 3.1 Answers", "", f"Original: {RULE}.", f"Theirs: {audit.function or 'not described'}.", "")
    yield from point_table("Answers", section(audit, "scoring"))
    for title, name in (("3.2 Gold labels", "gold"), ("3.3 Images", "resize")):
        points = section(audit, name)
        yield from ("", f"### {title}", "", *point_table("Item", points))
        yield from (f"\n{point.title}, {point.where}: {point.note}." for point in points if point.note and point.where)
    if audit.effect:
        yield from ("", "### 3.4 Effect on the given answers", "", *effect_lines(audit.effect))


def point_table(first: str, points: Sequence[Point]) -> Iterator[str]:
    """Points as a table; the last column only if there are given answers."""
    effects = any(point.effect for point in points)
    rows = []
    for point in points:
        title = f"{point.title}, {point.where}" if point.where else point.title
        cells = (point.original, point.theirs or point.note, status(point.verdict), example_line(point.example))
        rows.append((title, *(cell or "–" for cell in (*cells, *([point.effect] if effects else [])))))
    effect = ["On the given answers"] if effects else []
    yield from table((first, "Original", "Theirs", "Status", "Shortest example", *effect), rows)


def example_line(example: Mapping[str, str]) -> str:
    """The example of a difference on one line."""
    if not example:
        return ""
    scores = f"original {example['original']}, theirs {example['theirs']}"
    if "answer" in example:
        image = f"{example['shape'] or 'no shape'} in {example['scene'] or 'no scene'}"
        return f"{example['answer']} for {image}: {scores}"
    return f"{example['path']}: {scores}" if "path" in example else scores


def effect_lines(effect: Effect) -> Iterator[str]:
    """How many answers are scored differently, by class, and the recalls."""
    left_out = f"; {effect.left_out:,} rows without an answer are left out" if effect.left_out else ""
    untried = f"; {effect.untried:,} were not tried" if effect.untried else ""
    yield f"{effect.changed:,} of {effect.answers:,} answers are scored differently{left_out}{untried}."
    if effect.changed:
        counts = [*sorted(effect.by_title.items(), key=lambda item: -item[1]), ("**all**", effect.changed)]
        yield ""
        yield from table(("Answers", "Scored differently"), ((title, f"{count:,}") for title, count in counts))
    yield ""
    yield from (f"- {recall}" for recall in effect.recalls)
    yield from (f"- {example_line(scored.example())}" for scored in effect.examples)


# ---- sections 4 and 5 ------------------------------------------------------------------------------------------------


def grouped(points: Iterable[Point]) -> list[list[Point]]:
    """Points with the same section, title and verdict together."""
    groups: dict[tuple[str, str, Verdict], list[Point]] = {}
    for point in points:
        groups.setdefault((point.section, point.title, point.verdict), []).append(point)
    return list(groups.values())


def checklist(points: Sequence[Point]) -> Iterator[str]:
    """A row for each title and verdict."""
    sections = list(dict.fromkeys(point.section for point in points))
    rows = []
    for group in grouped(sorted(points, key=lambda point: sections.index(point.section))):
        sides = (cell([getattr(point, side) for point in group]) for side in ("original", "theirs"))
        rows.append((f"**{group[0].title}**{places(group)}", *sides, status(group[0].verdict)))
    yield from table(("Item", "Original", "Theirs", "Status"), rows)


def places(group: Sequence[Point]) -> str:
    """The splits and questions of a group; the split alone if both of its questions are there."""
    splits = [point.where.partition(", ")[0] for point in group]
    names = [
        split if splits.count(split) > 1 else point.where.removesuffix(" question").replace(", ", " ")
        for point, split in zip(group, splits, strict=True)
        if point.where
    ]
    return f" ({', '.join(dict.fromkeys(names))})" if names else ""


def cell(texts: Sequence[str]) -> str:
    """The text of a group, or the first of several."""
    first, *others = dict.fromkeys(texts)
    short = first if len(first) <= SHORT else f"{first[:SHORT].rstrip()}…"
    return (short or "–") + (" (and others)" if others else "")


def conclusion(audit: Audit) -> Iterator[str]:
    """Aligned or not, and why."""
    yield f"**{summary(audit)}**"
    for verdict, heading in HEADINGS.items():
        if points := audit.with_verdict(verdict):
            yield from ("", heading, "", *map(conclusion_line, grouped(points)))
    if audit.effect:
        yield from ("", *(f"{recall}." for recall in audit.effect.recalls if recall.of == recall.question))


def conclusion_line(group: Sequence[Point]) -> str:
    """An item of the conclusion, with the shortest of its examples."""
    examples = [example_line(point.example) for point in group if point.example]
    notes = "; ".join(point.note for point in group if point.note and not point.where)
    shown = min(examples, key=len, default=notes)
    effect = next((f" ({point.effect})" for point in group if point.effect), "")
    return f"- {group[0].title}{places(group)}{f': {shown}' if shown else ''}{effect}"


def summary(audit: Audit) -> str:
    """The audit in one sentence."""
    changes, every = len(audit.with_verdict(Verdict.CHANGES)), len(audit.points)
    undescribed = len(audit.with_verdict(Verdict.NOT_DESCRIBED))
    if changes:
        return f"Not aligned: {changes} of {every} points change the score."
    if audit.untried:
        notes = "; ".join(point.note for point in audit.untried)
        return f"Undecided: nothing that was tried changes the score, but {notes}."
    if undescribed == every:
        return "Undecided: nothing is described."
    aligned = f"Aligned in what was described and tried: none of {every - undescribed} points changes the score"
    return f"{aligned}, but {undescribed} more are not described." if undescribed else f"{aligned}."


# ---- JSON ------------------------------------------------------------------------------------------------------------


def document(audit: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    return {
        "format": "onprompt.illusion.audit/1",
        "target": audit.name,
        "aligned": audit.aligned,
        "conclusion": summary(audit),
        "verdicts": {verdict.value: len(audit.with_verdict(verdict)) for verdict in Verdict},
        "prompts": [question_entry(question) for question in audit.questions],
        "points": [asdict(point) | {"verdict": point.verdict.value} for point in audit.points],
        "effect": effect_entry(audit.effect) if audit.effect else None,
    }


def question_entry(question: Question) -> dict[str, Any]:
    """A question as JSON."""
    hashes = {"original_sha256": sha256(question.original), "theirs_sha256": sha256(question.theirs)}
    return {"where": question.where, **hashes, "theirs": question.theirs}


def effect_entry(effect: Effect) -> dict[str, Any]:
    """The effect as JSON."""
    return {
        **{name: getattr(effect, name) for name in ("answers", "left_out", "untried", "changed")},
        "recalls": [recall._asdict() for recall in effect.recalls],
        "by_point": dict(effect.by_title),
        "examples": [
            {**scored.case._asdict(), "original": str(scored.original), "theirs": str(scored.theirs)}
            for scored in effect.examples
        ],
    }

"""An audit on one page, as text, Markdown or JSON: aligned or not, then a row for each point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from onprompt.illusion.audit.comparing import TABLES, Audit, Point, Verdict
from onprompt.report.tables import markdown_table, shortened, table_lines

HEADER = ("point", "verdict", "example", "original", "theirs", "effect")
LONGEST = 76  # characters of a cell
ASSUMED = "made-up answers, right as often as the paper's five models on average, in assumed forms"


def summary(audit: Audit) -> str:
    """The audit in one sentence."""
    if audit.error:
        return f"Not tried: {audit.name} {audit.error}."
    if changes := audit.with_verdict(Verdict.CHANGES):
        counts = Counter(point.table for point in changes)
        where = " and ".join(f"{count} point{'s' * (count > 1)} of {table}" for table, count in counts.items())
        return f"Not aligned: {audit.name} differs from the original in {where}."
    if not audit.aligned:
        return f"Undecided: no question and no score of {audit.name} could be tried."
    rest = len(audit.with_verdict(Verdict.NOT_DESCRIBED))
    more = f"; {rest} points are not described" if rest else ""
    return f"Aligned: nothing that was tried of {audit.name} changes scores{more}."


def notes(audit: Audit) -> Iterator[str]:
    """What was driven, what it means for the answers of a model, and what is missing."""
    if effect := audit.effect:
        what = "given answers" if effect.given else ASSUMED
        yield f"{len(effect.changed):,} of {len(effect.answers):,} answers are scored differently ({what})."
        moves = [f"{split} {name} {before:.1f} → {after:.1f} %" for split, name, before, after in effect.recalls()]
        yield f"Recall: {', '.join(moves)}."
    for name in audit.missing:
        yield f"{name} is not installed and was replaced by a stub: pip install {name} to run code that uses it."
    if driven := list(dict.fromkeys(map(str, audit.target.uses.values()))):
        yield f"Tried: {', '.join(driven)}."
    if audit.target.others:
        yield f"Not tried: {', '.join(audit.target.others)}."


def rows(audit: Audit) -> list[tuple[str, ...]]:
    """A row for each point; those of one table that are the same, or not described for the same reason, share one."""
    tables, verdicts = [table for table, _ in TABLES.values()], list(Verdict)
    grouped: dict[tuple[str, Verdict, str], list[Point]] = {}
    for point in sorted(audit.points, key=lambda each: (tables.index(each.table), verdicts.index(each.verdict))):
        own = point.name if point.verdict is Verdict.CHANGES else point.note
        grouped.setdefault((point.table, point.verdict, own), []).append(point)
    found = []
    for (_, verdict, note), points in grouped.items():
        first, tried = min(points, key=lambda each: len(each.example)), sum(each.tried for each in points)
        effect = first.effect if verdict is Verdict.CHANGES else note or (f"{tried:,} cases" if tried else "")
        cells = (" ".join(cell.split()) for cell in (first.example, first.original, first.theirs))
        found.append((names(points), verdict.value, *(shortened(cell, LONGEST) for cell in cells), effect))
    return found


def names(points: list[Point]) -> str:
    """The names of points in one table: `question: sin, logo shape`, where nothing follows if it is both."""
    kind, colon, _ = points[0].name.partition(": ")
    if not colon:
        return f"{points[0].table}: {points[0].name if len(points) == 1 else f'{len(points)} other kinds of answers'}"
    by_name: dict[str, list[str]] = {}
    for point in points:
        name, _, question = point.name.removeprefix(f"{kind}: ").partition(", ")
        by_name.setdefault(name, []).append(question)
    shown = [name if len(some) > 1 else f"{name} {some[0]}".strip() for name, some in by_name.items()]
    return f"{kind}: {', '.join(shown)}"


def text(audit: Audit) -> Iterator[str]:
    """The page for the terminal: a table of points, and below it an example of each difference."""
    yield summary(audit)
    yield ""
    yield from table_lines(("point", "verdict", "effect"), [(each[0], each[1], each[5]) for each in rows(audit)])
    if examples := [each for each in rows(audit) if each[3]]:
        yield ""
        yield from (f"{each[0]}: {each[2]}: original {each[3]}, theirs {each[4]}" for each in examples)
    yield ""
    yield from notes(audit)


def markdown(audit: Audit) -> Iterator[str]:
    """The page in Markdown."""
    yield f"**{summary(audit)}**"
    yield ""
    yield from markdown_table(HEADER, rows(audit))
    for note in notes(audit):
        yield f"- {note}"


def document(audit: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    effect, named = audit.effect, ("split", "question", "original", "theirs")
    return {
        "format": "onprompt.illusion.audit/2",
        "target": audit.name,
        "aligned": audit.aligned,
        "conclusion": summary(audit),
        "error": audit.error or None,
        "missing": list(audit.missing),
        "verdicts": {verdict.value: len(audit.with_verdict(verdict)) for verdict in Verdict},
        "points": [asdict(point) | {"verdict": point.verdict.value} for point in audit.points],
        "not_tried": list(audit.target.others),
        "effect": effect
        and {
            "given": effect.given,
            "answers": len(effect.answers),
            "changed": len(effect.changed),
            "recalls": [dict(zip(named, each, strict=True)) for each in effect.recalls()],
        },
    }

"""An audit on one page, as text, Markdown or JSON: aligned or not, then a row for each point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from onprompt.illusion.audit.comparing import Audit, Effect, Point, Verdict
from onprompt.report.tables import markdown_table, shortened, table_lines

HEADER = ("point", "verdict", "example", "original", "theirs", "effect")
LONGEST = 76  # characters of a cell
ASSUMED = "made-up answers, right as often as the paper's five models on average, in assumed forms"


def summary(audit: Audit) -> str:
    """The audit in one sentence."""
    if audit.error:
        return f"Not tried: {audit.name} {audit.error}."
    if changes := audit.with_verdict(Verdict.CHANGES):
        where = counted(point.table for point in changes)
        return f"Not aligned: {audit.name} differs from the original in {where}."
    if not audit.aligned:
        return f"Undecided: no question and no score of {audit.name} could be tried."
    rest = len(audit.with_verdict(Verdict.NOT_DESCRIBED))
    return f"Aligned: nothing that was tried of {audit.name} changes scores" + (
        f"; {rest} points are not described." if rest else "."
    )


def counted(tables: Iterable[str]) -> str:
    """`2 points of scoring and 1 of labels`."""
    names = list(tables)
    counts = [f"{names.count(name)} point{'s' * (names.count(name) > 1)} of {name}" for name in dict.fromkeys(names)]
    return " and ".join(counts)


def notes(audit: Audit) -> Iterator[str]:
    """What was driven, what it means for the answers of a model, and what is missing."""
    if audit.effect:
        yield from effect_lines(audit.effect)
    for name in audit.missing:
        yield f"{name} is not installed and was replaced by a stub: pip install {name} to run code that uses it."
    target = audit.target
    calls = [*target.questions.values(), *target.score.values(), *target.labels.values(), target.totals, target.resize]
    if driven := list(dict.fromkeys(str(use) for use in calls if use)):
        yield f"Tried: {', '.join(driven)}."
    if target.others:
        yield f"Not tried: {', '.join(target.others)}."


def effect_lines(effect: Effect) -> Iterator[str]:
    """How many answers are scored differently, and how recall moves."""
    what = "given answers" if effect.given else ASSUMED
    yield f"{len(effect.changed):,} of {len(effect.answers):,} answers are scored differently ({what})."
    moves = [f"{split} {question} {before:.1f} → {after:.1f} %" for split, question, before, after in effect.recalls()]
    yield f"Recall: {', '.join(moves)}."


def rows(audit: Audit) -> list[tuple[str, ...]]:
    """A row for each point; those of one table that are the same, or not described for the same reason, share one."""
    found: list[tuple[str, ...]] = []
    for table in dict.fromkeys(point.table for point in audit.points):
        own = sorted(
            (p for p in audit.points if p.table == table), key=lambda point: list(Verdict).index(point.verdict)
        )
        for note in dict.fromkeys((point.verdict, point.note) for point in own):
            alike = [point for point in own if (point.verdict, point.note) == note]
            if note[0] is Verdict.CHANGES:
                found += [row(point, point.name) for point in alike]
            elif note[0] is Verdict.HARMLESS:
                found.append(row(min(alike, key=lambda point: len(point.example)), names(alike)))
            else:
                tried = sum(point.tried for point in alike)
                found.append(
                    (names(alike), note[0].value, "", "", "", note[1] or (f"{tried:,} cases" if tried else ""))
                )
    return found


def names(points: list[Point]) -> str:
    """The names of points in one table: `question: sin (shape, scene), logo (shape)`."""
    kind, colon, _ = points[0].name.partition(": ")
    if not colon:
        return (
            f"{points[0].table}: {points[0].name}"
            if len(points) == 1
            else f"{points[0].table}: {len(points)} other kinds of answers"
        )
    by_name: dict[str, list[str]] = {}
    for point in points:
        name, _, more = point.name.removeprefix(f"{kind}: ").partition(", ")
        by_name.setdefault(name, []).extend([more] if more else [])
    return f"{kind}: {', '.join(name if len(more) != 1 else f'{name} {more[0]}' for name, more in by_name.items())}"


def row(point: Point, name: str) -> tuple[str, ...]:
    """A point that differs."""
    name = name if ": " in name else f"{point.table}: {name}"
    cells = (name, point.verdict.value, point.example, point.original, point.theirs, point.effect or point.note)
    return tuple(shortened(" ".join(cell.split()), LONGEST) for cell in cells)


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
    effect = audit.effect
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
            "recalls": [
                dict(zip(("split", "question", "original", "theirs"), each, strict=True)) for each in effect.recalls()
            ],
        },
    }

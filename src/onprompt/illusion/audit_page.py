"""An audit on a page: as text, Markdown and JSON."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from onprompt.illusion.audit import Audit, Point, Verdict
from onprompt.report.tables import markdown_table, shortened, table_lines
from onprompt.wording import plural

LONGEST, LEAD = 76, 20  # characters of a cell, and before two long texts differ
ASSUMED = "made-up answers, as often right as those of the paper's models"


def summary(result: Audit) -> str:
    """The audit in one sentence."""
    changes, rest = result.with_verdict(Verdict.CHANGES), len(result.with_verdict(Verdict.NOT_DESCRIBED))
    if result.error:
        return f"Not tried: {result.name} {result.error}."
    if changes:
        counts = Counter(point.table for point in changes)
        where = " and ".join(f"{plural(count, 'point')} of {table}" for table, count in counts.items())
        return f"Not aligned: {result.name} differs from the original in {where}."
    if not result.aligned:
        return f"Undecided: no question and no score of {result.name} could be tried."
    more = f"; not described: {plural(rest, 'point')}" if rest else ""
    return f"Aligned: nothing that was tried of {result.name} changes scores{more}."


def notes(result: Audit) -> Iterator[str]:
    """The effect of the scoring, what was called, and what is missing."""
    if result.effect:
        yield f"Scored differently: {result.effect} ({ASSUMED})."
    yield from (f"{sentence}." for sentence in result.missing)
    if result.calls:
        yield f"Tried: {', '.join(dict.fromkeys(result.calls.values()))}."


def rows(result: Audit) -> Iterator[tuple[str, ...]]:
    """A row for each point; those of one table that are the same, or alike for the same reason, share one."""
    grouped: dict[tuple[str, Verdict, str], list[Point]] = {}
    order = list(dict.fromkeys(point.table for point in result.points))
    for point in sorted(result.points, key=lambda each: (order.index(each.table), list(Verdict).index(each.verdict))):
        own = point.name if point.verdict is Verdict.CHANGES else point.effect
        grouped.setdefault((point.table, point.verdict, own), []).append(point)
    for (table, verdict, _), points in grouped.items():
        first, tried = min(points, key=lambda each: len(each.example)), sum(each.tried for each in points)
        names = ", ".join(point.name for point in points)
        names = f"{len(points)} other kinds of answers" if table == "scoring" and len(points) > 1 else names
        shown = (shortened(" ".join(cell.split()), LONGEST) for cell in (first.example, *differing_part(first)))
        yield f"{table}: {names}", verdict.value, *shown, first.effect or plural(tried, "case")


def differing_part(point: Point) -> tuple[str, str]:
    """What both make of a case; of long texts from shortly before they differ."""
    both = point.original, point.theirs
    same = next((place for place, (one, other) in enumerate(zip(*both, strict=False)) if one != other), 0)
    long = max(map(len, both)) > LONGEST and same > LEAD
    return (f"…{both[0][same - LEAD :]}", f"…{both[1][same - LEAD :]}") if long else both


def text(result: Audit) -> Iterator[str]:
    """The page for the terminal: a table of points, and below it an example of each difference."""
    table = list(rows(result))
    yield summary(result)
    if table:
        yield from ("", *table_lines(("point", "verdict", "effect"), [(each[0], each[1], each[5]) for each in table]))
    examples = [f"{each[0]}: {each[2]}: original {each[3]}, theirs {each[4]}" for each in table if each[3]]
    for part in filter(None, (examples, list(notes(result)))):
        yield from ("", *part)


def markdown(result: Audit) -> Iterator[str]:
    """The page in Markdown."""
    yield from (f"**{summary(result)}**", "")
    yield from markdown_table(("point", "verdict", "example", "original", "theirs", "effect"), rows(result))
    yield from (f"- {note}" for note in notes(result))


def document(result: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    verdicts = {verdict.value: len(result.with_verdict(verdict)) for verdict in Verdict}
    conclusion = {"aligned": result.aligned, "conclusion": summary(result), "verdicts": verdicts}
    return {"format": "onprompt.illusion.audit/4", **conclusion, **asdict(result)}

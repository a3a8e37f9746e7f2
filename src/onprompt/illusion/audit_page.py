"""An audit as text and as JSON."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from onprompt.illusion.audit import Audit, Point, Verdict
from onprompt.report.tables import shortened, table_lines
from onprompt.wording import plural

LONGEST, LEAD = 76, 20  # characters of a cell, and before two long texts differ


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


def text(result: Audit) -> Iterator[str]:
    """A table of points, below it an example of each difference, and what was tried."""
    yield summary(result)
    if result.points:
        yield from ("", *table_lines(("point", "verdict", "cases"), rows(result)))
    examples = [example(point) for point in result.points if point.example]
    notes = [f"{sentence}." for sentence in result.missing]
    notes += [f"Tried: {', '.join(result.calls)}."] if result.calls else []
    for part in filter(None, (examples, notes)):
        yield from ("", *part)


def rows(result: Audit) -> Iterator[tuple[str, str, str]]:
    """A row for each difference; of the rest, those of one table with the same verdict and reason share one."""
    grouped: dict[tuple[str, Verdict, str], list[Point]] = {}
    order = list(dict.fromkeys(point.table for point in result.points))
    for point in sorted(result.points, key=lambda each: (order.index(each.table), list(Verdict).index(each.verdict))):
        own = point.name if point.verdict is Verdict.CHANGES else point.reason
        grouped.setdefault((point.table, point.verdict, own), []).append(point)
    for (table, verdict, _), points in grouped.items():
        names = ", ".join(point.name for point in points)
        names = f"{len(points)} other kinds of answers" if table == "scoring" and len(points) > 1 else names
        tried, differing = (sum(getattr(point, each) for point in points) for each in ("tried", "differing"))
        counts = f"{differing:,} of {plural(tried, 'case')}" if verdict is Verdict.CHANGES else plural(tried, "case")
        yield f"{table}: {names}", verdict.value, points[0].reason or counts


def example(point: Point) -> str:
    """A case and what both make of it; of long texts from shortly before they differ."""
    both = point.original, point.theirs
    same = next((place for place, (one, other) in enumerate(zip(*both, strict=False)) if one != other), 0)
    if max(map(len, both)) > LONGEST and same > LEAD:
        both = f"…{both[0][same - LEAD :]}", f"…{both[1][same - LEAD :]}"
    shown, original, theirs = (shortened(" ".join(cell.split()), LONGEST) for cell in (point.example, *both))
    return f"{point.table}: {point.name}: {shown}: original {original}, theirs {theirs}"


def document(result: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    conclusion = {"aligned": result.aligned, "conclusion": summary(result)}
    return {"format": "onprompt.illusion.audit/5", **conclusion, **asdict(result)}

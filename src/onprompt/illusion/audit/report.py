"""An audit for people, in the five sections of seed 004, and for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onprompt.illusion.audit.effect import Effect
from onprompt.illusion.audit.points import Point, Verdict, worst
from onprompt.illusion.audit.runner import Asked, Audit
from onprompt.illusion.audit.showing import digest
from onprompt.illusion.audit.trials import RULE

MARKS = {Verdict.ALIGNED: "✅", Verdict.HARMLESS: "⚠️", Verdict.CHANGES: "❌", Verdict.SILENT: "❔"}
CHECKLIST = ("prompt", "options", "scoring", "gold", "resize")
SHORT = 70  # characters of a cell in the checklist


def markdown(audit: Audit) -> Iterator[str]:
    """The report, a line at a time."""
    yield f"# Alignment check: {audit.name} and IllusionBench's original"
    yield from ("", "## 1. Prompts", "", *prompt_lines(audit))
    yield from ("", "## 2. Option lists", "", *option_lines(audit))
    yield from ("", "## 3. Scoring", "", *scoring_lines(audit))
    yield from ("", "## 4. Checklist", "", *checklist(audit.points))
    yield from ("", "## 5. Conclusion", "", *conclusion(audit))


def of(audit: Audit, *sections: str) -> list[Point]:
    """The points of some sections."""
    return [point for point in audit.points if point.section in sections]


def status(verdict: Verdict) -> str:
    """A verdict with its mark."""
    return f"{MARKS[verdict]} {verdict}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table; what a cell holds can't break it."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;').replace(chr(10), ' ') for cell in row)} |"


# ---- sections 1 to 3 -------------------------------------------------------------------------------------------------


def prompt_lines(audit: Audit) -> Iterator[str]:
    """The eight questions by their hashes, then each that departs in full."""
    yield from table(
        ("Question", "Original, sha256", "Theirs, sha256", "Status"), (hashes(audit, each) for each in audit.asked)
    )
    for asked in audit.asked:
        points = [point for point in of(audit, "prompt") if point.where == asked.where]
        told = [point for point in points if point.theirs and point.verdict is not Verdict.ALIGNED]
        if asked.theirs is None or not (told or any(point.note for point in points)):
            continue
        yield from (
            "",
            f"### {asked.where}",
            "",
            "Original:",
            *block(asked.original),
            "",
            "Theirs:",
            *block(asked.theirs),
            "",
        )
        for point in points:
            what = f"{point.theirs}. " if point in told else ""
            yield f"- {point.title}: {status(point.verdict)}. {what}{point.note}".rstrip(" .") + "."


def hashes(audit: Audit, asked: Asked) -> Sequence[str]:
    """A question's row."""
    verdicts = [point.verdict for point in of(audit, "prompt") if point.where == asked.where]
    theirs = "–" if asked.theirs is None else f"`{digest(asked.theirs)[:16]}…`"
    return asked.where, f"`{digest(asked.original)[:16]}…`", theirs, status(worst(verdicts))


def block(text: str) -> Iterator[str]:
    """A text as it is, fenced by more backticks than it has in a row."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    yield from (fence, *text.split("\n"), fence)


def option_lines(audit: Audit) -> Iterator[str]:
    """The lists; both sides where they differ."""
    for point in of(audit, "options"):
        yield f"- {point.title}, {point.where}: {status(point.verdict)}" + (f". {point.note}." if point.note else "")
        if point.verdict is Verdict.CHANGES:
            yield from (f"  - original: {point.original}", f"  - theirs: {point.theirs}")


def scoring_lines(audit: Audit) -> Iterator[str]:
    """Answers, gold labels and images, each with the shortest example of a difference."""
    yield from ("### 3.1 Answers", "", f"Original: {RULE}.")
    yield from (f"Theirs: {audit.function or 'not described'}.", "")
    effects = ("On the given answers",) if audit.effect else ()
    head = ("Answers", "Original", "Theirs", "Status", "Shortest example", *effects)
    yield from table(head, (row(point, bool(effects)) for point in of(audit, "scoring")))
    for title, section in (("3.2 Gold labels", "gold"), ("3.3 Images", "resize")):
        yield from ("", f"### {title}", "")
        points = of(audit, section)
        told = any(point.effect for point in points)
        head = ("Item", "Original", "Theirs", "Status", "Shortest example", *(effects if told else ()))
        yield from table(head, (row(point, told) for point in points))
        yield from (f"\n{point.title}, {point.where}: {point.note}." for point in points if point.note and point.where)
    if audit.effect:
        yield from ("", "### 3.4 Effect on the given answers", "", *effect_lines(audit.effect))


def row(point: Point, effects: bool) -> Sequence[str]:
    """A point in a table."""
    title = f"{point.title}, {point.where}" if point.where else point.title
    theirs = point.theirs or point.note or "–"
    told = (point.effect or "–",) if effects else ()
    return title, point.original or "–", theirs, status(point.verdict), example(point.example) or "–", *told


def example(told: Mapping[str, str]) -> str:
    """What shows a difference, in a line."""
    if "answer" in told:
        given = f"{told['answer']} for {told['shape'] or 'no shape'} in {told['scene'] or 'no scene'}"
        return f"{given}: original {told['original']}, theirs {told['theirs']}"
    if "path" in told:
        return f"{told['path']}: original {told['original']}, theirs {told['theirs']}"
    return f"original {told['original']}, theirs {told['theirs']}" if told else ""


def effect_lines(effect: Effect) -> Iterator[str]:
    """How many answers count otherwise, of which sort they are, and the recalls."""
    left = f"; {effect.left_out:,} rows without an answer were left out" if effect.left_out else ""
    left += f"; {effect.untried:,} were not tried" if effect.untried else ""
    yield f"{effect.changed:,} of {effect.answers:,} answers count otherwise{left}."
    if effect.changed:
        sorts = sorted(effect.by_title.items(), key=lambda each: -each[1])
        counts = [*sorts, ("**all**", effect.changed)]
        yield ""
        yield from table(("Answers", "Count otherwise"), ((title, f"{count:,}") for title, count in counts))
    yield ""
    yield from (f"- {recall}" for recall in effect.recalls)
    yield from (f"- {example(told.example())}" for told in effect.examples)


# ---- sections 4 and 5 ------------------------------------------------------------------------------------------------


def checklist(points: Sequence[Point]) -> Iterator[str]:
    """A row for each title and verdict: what holds of several splits alike is said once."""
    groups: dict[tuple[str, str, Verdict], list[Point]] = {}
    for section in CHECKLIST:
        for point in points:
            if point.section == section:
                groups.setdefault((section, point.title, point.verdict), []).append(point)
    rows = []
    for (_, title, verdict), group in groups.items():
        where = places(group)
        rows.append(
            (
                f"**{title}**{f' ({where})' if where else ''}",
                cell(group, "original"),
                cell(group, "theirs"),
                status(verdict),
            )
        )
    yield from table(("Item", "Original", "Theirs", "Status"), rows)


def places(group: Sequence[Point]) -> str:
    """Where a group's points are; of both questions of a split it is enough to name the split."""
    where = [point.where for point in group]
    splits = [each.partition(", ")[0] for each in where]
    told = [each if splits.count(split) < 2 else split for each, split in zip(where, splits, strict=True) if each]
    return ", ".join(dict.fromkeys(each.removesuffix(" question").replace(", ", "’s ") for each in told))


def cell(group: Sequence[Point], side: str) -> str:
    """What one side does, where all of a group do the same; else the first of them."""
    said = list(dict.fromkeys(getattr(point, side) for point in group))
    words = said[0] if len(said[0]) <= SHORT else f"{said[0][:SHORT].rstrip()}…"
    return (words or "–") + (" (and others)" if len(said) > 1 else "")


def conclusion(audit: Audit) -> Iterator[str]:
    """Aligned or not, and what stands in the way."""
    yield f"**{summary(audit)}**"
    titles = {
        Verdict.CHANGES: "What changes the score:",
        Verdict.HARMLESS: "Differences that are harmless:",
        Verdict.SILENT: "Not described or not tried, so nothing is said of it:",
    }
    for verdict, title in titles.items():
        groups: dict[str, list[Point]] = {}
        for point in audit.having(verdict):
            groups.setdefault(point.title, []).append(point)
        if groups:
            yield from ("", title, "")
            yield from (line(name, group) for name, group in groups.items())
    if audit.effect:
        yield from ("", *(f"{recall}." for recall in audit.effect.recalls if recall.of == recall.question))


def line(title: str, group: Sequence[Point]) -> str:
    """One item of the conclusion, with the shortest of its examples."""
    where = places(group)
    told = min((example(point.example) for point in group if point.example), key=len, default="")
    told = told or "; ".join(point.note for point in group if point.note and not point.where)
    effect = next((f" ({point.effect})" for point in group if point.effect), "")
    return f"- {title}{f' ({where})' if where else ''}{f': {told}' if told else ''}{effect}"


def summary(audit: Audit) -> str:
    """The audit in a sentence."""
    changes, silent = len(audit.having(Verdict.CHANGES)), len(audit.having(Verdict.SILENT))
    if changes:
        return f"Not aligned: {changes} of {len(audit.points)} points change the score."
    if audit.untried:
        left = "; ".join(point.note for point in audit.untried)
        return f"Not decided: nothing that was tried changes the score, but {left}."
    if silent == len(audit.points):
        return "Nothing is described, so nothing can be said."
    if silent:
        open_ = f"{silent} of {len(audit.points)} points are not described"
        return f"Aligned as far as it is described: nothing changes the score, but {open_}."
    return f"Aligned: none of the {len(audit.points)} points changes the score."


# ---- for programs ----------------------------------------------------------------------------------------------------


def document(audit: Audit) -> dict[str, Any]:
    """The whole audit as JSON."""
    return {
        "format": "onprompt.illusion.audit/1",
        "target": audit.name,
        "aligned": audit.aligned,
        "conclusion": summary(audit),
        "verdicts": {verdict.value: len(audit.having(verdict)) for verdict in Verdict},
        "prompts": [
            {
                "where": each.where,
                "original_sha256": digest(each.original),
                "theirs_sha256": None if each.theirs is None else digest(each.theirs),
                "theirs": each.theirs,
            }
            for each in audit.asked
        ],
        "points": [entry(point) for point in audit.points],
        "effect": effect_entry(audit.effect) if audit.effect else None,
    }


def entry(point: Point) -> dict[str, Any]:
    """A point as JSON."""
    names = ("section", "title", "where", "original", "theirs", "verdict", "note", "effect")
    told = {name: getattr(point, name) for name in names}
    return told | {"verdict": point.verdict.value, "example": dict(point.example)}


def effect_entry(effect: Effect) -> dict[str, Any]:
    """The effect as JSON."""
    examples = [
        {**case._asdict(), "original": str(mine), "theirs": str(theirs)} for case, mine, theirs in effect.examples
    ]
    return {
        "answers": effect.answers,
        "left_out": effect.left_out,
        "untried": effect.untried,
        "changed": effect.changed,
        "recalls": [each._asdict() for each in effect.recalls],
        "by_point": dict(effect.by_title),
        "examples": examples,
    }

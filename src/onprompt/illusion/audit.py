"""Is a re-implementation of IllusionBench aligned with the original? By what its code does, case by case."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

from onprompt.illusion.cases import Case, cases, label_case, paths, sample
from onprompt.illusion.finding import Use, agree, find, values
from onprompt.illusion.protocol import QUESTIONS, SPLITS
from onprompt.illusion.scoring import original as score
from onprompt.illusion.sources import code_of
from onprompt.illusion.theirs import Found, bound, described, expression, load
from onprompt.report.tables import markdown_table, shortened, table_lines
from onprompt.wording import plural

LIMIT = 60.0  # seconds in total
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
CUE_CONFLICT = re.compile("old_?sin|conflict", re.IGNORECASE)  # how a file names the split that the paper leaves out
NOTHING = "nothing found"
ASSUMED = "made-up answers, as often right as those of the paper's models"
LONGEST, LEAD = 76, 20  # characters that are shown of a text, and before two long texts differ
Theirs = Callable[[Sequence[Case]], list[Found]]  # what a re-implementation makes of cases


class Verdict(StrEnum):
    """What a point comes to, the worst first."""

    CHANGES = "differs, changes scores"
    HARMLESS = "differs, harmless"
    NOT_DESCRIBED = "not described"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was compared, with the shortest case that differs."""

    table: str
    name: str
    verdict: Verdict
    tried: int = 0  # cases
    differing: int = 0
    example: str = ""
    original: str = ""
    theirs: str = ""
    effect: str = ""  # on the answers of a model, or the reason for the verdict


@dataclass(frozen=True)
class Audit:
    """The result of an audit."""

    name: str
    points: Sequence[Point] = ()
    calls: Sequence[str] = ()  # what was tried
    error: str = ""  # why nothing could be tried
    effect: str = ""  # of all differences of the scoring on the answers of a model

    def with_verdict(self, verdict: Verdict) -> list[Point]:
        """The points with a verdict."""
        return [point for point in self.points if point.verdict is verdict]

    @property
    def aligned(self) -> bool:
        """Whether questions or scores are described, and nothing that is described changes scores."""
        tried = {point.table for point in self.points if point.tried}
        return bool(tried & {"questions", "scoring"}) and not self.with_verdict(Verdict.CHANGES)


def audit(path: Path, limit: float = LIMIT) -> Audit:
    """Audit a Python file, a document that quotes code, or a TOML file that names calls. The code runs."""
    with tempfile.TemporaryDirectory(prefix="onprompt-audit-") as folder:
        (file, calls), own = code_of(path, Path(folder)), Path(folder) / "own"
        own.mkdir()
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-B", "-m", "onprompt.illusion.audit", str(file), json.dumps(calls)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=own,
                env=environment | {"PYTHONUTF8": "1", "TMPDIR": str(own)},
                start_new_session=True,
                timeout=limit,
                check=False,
            )
            result = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return Audit(path.name, error=f"was stopped after {limit:g} s")
        except ValueError:
            return Audit(path.name, error="ends its process")
    points = [Point(**{**point, "verdict": Verdict(point["verdict"])}) for point in result["points"]]
    return Audit(**{**result, "name": path.name, "points": points})


def main() -> None:
    """Audit a file in this process, which serves for nothing else; the result goes to standard output as JSON."""
    output, nothing = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # a print() or an input() of theirs does not reach our channel
        os.dup2(nothing, standard)
    bound()
    json.dump(asdict(audited(Path(sys.argv[1]), json.loads(sys.argv[2]))), output)
    output.flush()
    os._exit(0)  # whatever threads of theirs do


def audited(file: Path, calls: Mapping[str, str]) -> Audit:
    """The audit of a file by this process."""
    try:
        functions = load(file)
    except BaseException as raised:  # their module may do anything at import
        return Audit(file.name, error=f"can't be imported: {described(raised)}")
    mentioned = CUE_CONFLICT.search(f"{calls}{file.read_text('utf-8')}")
    splits = [split for split in SPLITS.values() if split.paper or mentioned]
    slots = by_slot(every := cases(splits))
    uses, failed = find(functions, slots)
    for (name, text), slot in product(calls.items(), slots):
        if f"{slot}.".startswith(f"{name}."):  # `scoring` stands for all slots that begin so
            functions[text], words = expression(file, text, {*slots[slot][0].known, "doc"})
            uses[slot] = Use(text, words)

    def theirs(every: Sequence[Case]) -> list[Found]:
        found = {slot: iter(values(functions, uses[slot], own)) for slot, own in by_slot(every).items() if slot in uses}
        silent = {case.table: Found(None, failed.get(case.table, NOTHING), tried=False) for case in every}
        return [next(found[case.slot]) if case.slot in found else silent[case.table] for case in every]

    points, effect = with_effects(compare(every, theirs(every)), theirs)
    hidden = [name for name, split in SPLITS.items() if split not in splits]
    for table, name in product(("questions", "options", "labels"), hidden):
        points.append(Point(table, name, Verdict.NOT_DESCRIBED, effect=NOTHING))
    return Audit(file.name, points, list(dict.fromkeys(map(str, uses.values()))), effect=effect)


def by_slot(every: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by what they compare."""
    slots: dict[str, list[Case]] = {}
    for case in every:
        slots.setdefault(case.slot, []).append(case)
    return slots


def compare(every: Sequence[Case], theirs: Sequence[Found]) -> list[Point]:
    """A point for each kind of case: what the original and the re-implementation make of the same cases."""
    kinds: dict[tuple[str, str], list[tuple[Case, Found]]] = {}
    for case, found in zip(every, theirs, strict=True):
        kinds.setdefault((case.table, case.point), []).append((case, found))
    points = [point_of(*kind, rows) for kind, rows in kinds.items()]
    fine = (Verdict.SAME, Verdict.HARMLESS)
    right = {each.name for each in points if each.table == "questions" and each.verdict in fine}
    right |= {"scenes"} if right else set()
    return [  # what a question offers is right, whatever a list says
        replace(each, verdict=Verdict.HARMLESS, effect="not in the questions")
        if each.table == "options" and each.verdict is Verdict.CHANGES and each.name in right
        else each
        for each in points
    ]


def point_of(table: str, name: str, rows: Sequence[tuple[Case, Found]]) -> Point:
    """One kind of case."""
    known = [(case, found) for case, found in rows if found.tried]
    if not known:
        return Point(table, name, Verdict.NOT_DESCRIBED, effect=rows[0][1].error)
    differing = [
        (harmless(case, found.value), case, found)
        for case, found in known
        if found.error or not agree(case.wanted, found.value)
    ]
    if not differing:
        untried = dict.fromkeys(case.question for case, found in rows if not found.tried)
        partly = f"{', '.join(untried)} not tried" if untried else ""
        return Point(table, name, Verdict.SAME, len(known), effect=partly)
    reason, case, found = min(differing, key=lambda row: (bool(row[0]), len(row[1].shown)))
    verdict = Verdict.HARMLESS if reason else Verdict.CHANGES
    both = words(case.wanted, case), found.error or words(found.value, case)
    return Point(table, name, verdict, len(known), len(differing), case.shown, *both, reason)


def harmless(case: Case, found: Any) -> str:
    """Why a difference changes no score."""
    if case.table == "questions" and found and case.wanted.strip() == found.strip():
        return "chat templates strip it"
    if case.table == "labels" and found and case.wanted.lower() == found.lower():
        # The original never lower-cases the spaced form of a scene, so there the case of a label matters.
        return "" if case.question == "scene" and "_" in case.wanted else "only in letter case, which scoring ignores"
    return ""


def words(value: Any, case: Case) -> str:
    """What is made of a case, in words."""
    if isinstance(value, bool):
        return case.question if value else f"not {case.question}"
    return f"{value:.3f}" if isinstance(value, float) else str(value) or "nothing"


def with_effects(points: Sequence[Point], theirs: Theirs) -> tuple[list[Point], str]:
    """The points with what each does to the answers of a model, and what the scoring does in all."""
    asked = list(sample())
    about = [(SPLITS[case.known["split"]], case.known["shape"], case.known["scene"]) for case in asked]
    found = theirs(asked)
    files = [label_case(split, paths(split, *names)[0], each) for split, *names in about for each in QUESTIONS]
    labels = [
        case.wanted if each.value is None else each.value for case, each in zip(files, theirs(files), strict=True)
    ]
    hits = {
        "scoring": [bool(each.value) if each.tried else case.wanted for case, each in zip(asked, found, strict=True)],
        "labels": [
            getattr(score(case.known["prediction"], shape, scene, split), case.question)
            for case, (split, *_), shape, scene in zip(asked, about, labels[::2], labels[1::2], strict=True)
        ],
    }
    names = {"scoring": [case.point for case in asked], "labels": [split.name for split, *_ in about]}

    def effect(point: Point) -> str:
        if point.verdict is not Verdict.CHANGES:
            return point.effect
        if point.table in hits:
            return moves(asked, hits[point.table], [name == point.name for name in names[point.table]])
        if point.table in ("questions", "options"):
            return "the model reads another text"
        return f"{point.differing:,} of {plural(point.tried, 'case')}"

    everything = moves(asked, hits["scoring"], [True] * len(asked)) if any(each.tried for each in found) else ""
    return [replace(point, effect=effect(point)) for point in points], everything


def moves(asked: Sequence[Case], hits: Sequence[bool], own: Sequence[bool]) -> str:
    """How many answers are scored differently, and by how much each recall moves."""
    scored = [(case, hit if mine else case.wanted) for case, hit, mine in zip(asked, hits, own, strict=True)]
    parts = [f"{sum(case.wanted != hit for case, hit in scored):,} of {len(asked):,} answers"]
    for question in QUESTIONS:
        both = [(case.wanted, hit) for case, hit in scored if case.question == question]
        before, after = (100 * sum(column) / len(both) for column in zip(*both, strict=True))
        parts += [f"{question} recall {before:.1f} → {after:.1f} %"] if round(after - before, 1) else []
    return "; ".join(parts)


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
    """The effect of the scoring, and what was called."""
    if result.effect:
        yield f"Scored differently: {result.effect} ({ASSUMED})."
    if result.calls:
        yield f"Tried: {', '.join(result.calls)}."


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
    if max(map(len, both)) > LONGEST and same > LEAD:
        both = f"…{both[0][same - LEAD :]}", f"…{both[1][same - LEAD :]}"
    return both


def text(result: Audit) -> Iterator[str]:
    """A table of points, and below it an example of each difference."""
    table = list(rows(result))
    yield summary(result)
    if table:
        yield from ("", *table_lines(("point", "verdict", "effect"), [(each[0], each[1], each[5]) for each in table]))
    examples = [f"{each[0]}: {each[2]}: original {each[3]}, theirs {each[4]}" for each in table if each[2]]
    for part in filter(None, (examples, list(notes(result)))):
        yield from ("", *part)


def markdown(result: Audit) -> Iterator[str]:
    """The same in Markdown."""
    yield from (f"**{summary(result)}**", "")
    yield from markdown_table(("point", "verdict", "example", "original", "theirs", "effect"), rows(result))
    yield from (f"- {note}" for note in notes(result))


def document(result: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    verdicts = {verdict.value: len(result.with_verdict(verdict)) for verdict in Verdict}
    conclusion = {"aligned": result.aligned, "conclusion": summary(result), "verdicts": verdicts}
    return {"format": "onprompt.illusion.audit/5", **conclusion, **asdict(result)}


if __name__ == "__main__":
    main()

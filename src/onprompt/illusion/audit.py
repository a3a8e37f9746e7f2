"""Is a re-implementation of IllusionBench aligned with the original? By what its code does, case by case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onprompt.illusion.cases import Case, cases
from onprompt.illusion.finding import find, values
from onprompt.illusion.sources import code_of
from onprompt.illusion.theirs import Found, bound, described, load
from onprompt.report.tables import shortened, table_lines
from onprompt.wording import plural

LIMIT = 60.0  # seconds in total
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
LONGEST, LEAD = 76, 20  # characters that are shown of a text, and before two long texts differ


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was compared, with the shortest case that differs."""

    table: str
    name: str
    tried: int = 0  # cases
    differing: int = 0
    reason: str = ""  # why it is not described, in part or at all
    example: str = ""
    original: str = ""
    theirs: str = ""

    @property
    def verdict(self) -> str:
        """What it comes to."""
        return "differs" if self.differing else "same" if self.tried else "not described"


@dataclass(frozen=True)
class Audit:
    """The result of an audit."""

    name: str
    points: Sequence[Point] = ()
    calls: Sequence[str] = ()  # what was tried
    error: str = ""  # why nothing could be tried

    @property
    def differing(self) -> list[Point]:
        """The points that differ."""
        return [point for point in self.points if point.differing]

    @property
    def aligned(self) -> bool:
        """Whether questions or scores are described, and nothing that is described differs."""
        return not self.differing and any(each.tried and each.table in ("questions", "scoring") for each in self.points)


def audit(path: Path, limit: float = LIMIT) -> Audit:
    """Audit a Python file, or a document that quotes code, in a process of its own. The code runs."""
    with tempfile.TemporaryDirectory(prefix="onprompt-audit-") as folder:
        file, own = code_of(path, Path(folder)), Path(folder) / "own"
        own.mkdir()
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-B", "-m", "onprompt.illusion.audit", str(file)],
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
    return Audit(**{**result, "name": path.name, "points": [Point(**point) for point in result["points"]]})


def main() -> None:
    """Audit a file in this process, which serves for nothing else; the result goes to standard output as JSON."""
    output, nothing = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # a print() or an input() of theirs does not reach our channel
        os.dup2(nothing, standard)
    bound()
    json.dump(asdict(audited(Path(sys.argv[1]))), output)
    output.flush()
    os._exit(0)  # whatever threads of theirs do


def audited(file: Path) -> Audit:
    """The audit of a file by this process."""
    slots: dict[str, list[Case]] = {}
    for case in cases():
        slots.setdefault(case.slot, []).append(case)
    try:
        functions = load(file)
    except BaseException as raised:  # their module may do anything at import
        return Audit(file.name, error=f"can't be imported: {described(raised)}")
    uses, failed = find(functions, slots)
    asked = {slot.split(".")[1] for slot in uses if slot.startswith("questions")}
    for name in (*asked, *(["scenes"] if asked else [])):
        del slots[f"options.{name}"]  # a list only matters where there is no question that holds it
    kinds: dict[tuple[str, str], list[tuple[Case, Found]]] = {}
    for slot, own in slots.items():
        silent = Found(None, failed.get(own[0].table, "nothing found"), tried=False)
        found = values(functions, uses[slot], own) if slot in uses else [silent] * len(own)
        for case, each in zip(own, found, strict=True):
            kinds.setdefault((case.table, case.point), []).append((case, each))
    points = [point_of(*kind, rows) for kind, rows in kinds.items()]
    return Audit(file.name, points, list(dict.fromkeys(str(use) for slot, use in uses.items() if slot in slots)))


def point_of(table: str, name: str, rows: Sequence[tuple[Case, Found]]) -> Point:
    """One kind of case: what the original and the re-implementation make of the same cases."""
    known = [(case, found) for case, found in rows if found.tried]
    if not known:
        return Point(table, name, reason=rows[0][1].error)
    differing = [(case, found) for case, found in known if found.error or not agree(case, found.value)]
    if not differing:
        left_out = dict.fromkeys(case.question for case, found in rows if not found.tried)
        partly = f"{', '.join(left_out)} not tried" if left_out else ""
        return Point(table, name, len(known), reason=partly)
    case, found = min(differing, key=lambda row: len(row[0].shown))
    both = words(case.wanted, case), found.error or words(found.value, case)
    return Point(table, name, len(known), len(differing), "", case.shown, *both)


def agree(case: Case, found: Any) -> bool:
    """Whether both make the same of a case, as far as that can change a score."""
    if case.table == "questions":
        return bool(case.wanted.strip() == found.strip())  # as chat templates do
    if case.table == "labels" and not (case.question == "scene" and "_" in case.wanted):
        return bool(case.wanted.lower() == found.lower())  # only the spaced form of a scene is not lower-cased
    return bool(case.wanted == found)


def words(value: Any, case: Case) -> str:
    """What is made of a case, in words."""
    if isinstance(value, bool):
        return case.question if value else f"not {case.question}"
    return str(value) or "nothing"


def summary(result: Audit) -> str:
    """The audit in one sentence."""
    rest = sum(not point.tried for point in result.points)
    if result.error:
        return f"Not tried: {result.name} {result.error}."
    if result.differing:
        return f"Not aligned: {result.name} differs from the original in {plural(len(result.differing), 'point')}."
    if not result.aligned:
        return f"Undecided: no question and no score of {result.name} could be tried."
    more = f"; not described: {plural(rest, 'point')}" if rest else ""
    return f"Aligned: nothing that was tried of {result.name} changes scores{more}."


def text(result: Audit) -> Iterator[str]:
    """A table of points, below it an example of each difference, and what was tried."""
    yield summary(result)
    if result.points:
        yield from ("", *table_lines(("point", "verdict", "cases"), rows(result)))
    if result.differing:
        yield from ("", *map(example, result.differing))
    if result.calls:
        yield from ("", f"Tried: {', '.join(result.calls)}.")


def rows(result: Audit) -> Iterator[tuple[str, str, str]]:
    """A row for each point, with how many cases were tried, and how many of them differ."""
    for point in result.points:
        tried = plural(point.tried, "case")
        counts = f"{point.differing:,} of {tried}" if point.differing else tried
        yield f"{point.table}: {point.name}", point.verdict, point.reason or counts


def example(point: Point) -> str:
    """A case and what both make of it; of long texts from shortly before they differ."""
    both = point.original, point.theirs
    same = next((place for place, (one, other) in enumerate(zip(*both, strict=False)) if one != other), 0)
    if max(map(len, both)) > LONGEST and same > LEAD:
        both = f"…{both[0][same - LEAD :]}", f"…{both[1][same - LEAD :]}"
    shown, original, theirs = (shortened(" ".join(cell.split()), LONGEST) for cell in (point.example, *both))
    return f"{point.table}: {point.name}: {shown}: original {original}, theirs {theirs}"


if __name__ == "__main__":
    main()

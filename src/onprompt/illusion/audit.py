"""Is a re-implementation of IllusionBench aligned with the original? By what its code does, case by case."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from onprompt.illusion.cases import Case, cases
from onprompt.illusion.finding import find, values
from onprompt.illusion.sources import code_of
from onprompt.illusion.theirs import Found, Function, bound, described, install, load, stubs

LIMIT = 60.0  # seconds in total
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
CUE_CONFLICT = re.compile("old_?sin|conflict", re.IGNORECASE)  # how a file names the split that the paper leaves out


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
    tried: int = 0
    differing: int = 0
    reason: str = ""  # of the verdict
    example: str = ""
    original: str = ""
    theirs: str = ""


@dataclass(frozen=True)
class Audit:
    """The result of an audit."""

    name: str
    points: Sequence[Point] = ()
    calls: Sequence[str] = ()  # what was tried
    missing: Sequence[str] = ()  # packages that are not installed, and how to install them
    error: str = ""  # why nothing could be tried

    def with_verdict(self, verdict: Verdict) -> list[Point]:
        """The points with a verdict."""
        return [point for point in self.points if point.verdict is verdict]

    @property
    def aligned(self) -> bool:
        """Whether questions or scores are described, and nothing that is described changes scores."""
        described = any(point.table in ("questions", "scoring") for point in self.with_verdict(Verdict.SAME))
        return described and not self.error and not self.with_verdict(Verdict.CHANGES)


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
    points = [Point(**{**point, "verdict": Verdict(point["verdict"])}) for point in result["points"]]
    return Audit(**{**result, "name": path.name, "points": points})


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
    functions, error = dict[str, Function](), ""
    slots: dict[str, list[Case]] = {}
    for case in cases(cue_conflicts=CUE_CONFLICT.search(file.read_text("utf-8")) is not None):
        slots.setdefault(case.slot, []).append(case)
    try:
        functions = load(file)
    except BaseException as raised:  # their module may do anything at import
        error = f"can't be imported: {described(raised)}"
    uses, failed = find(functions, slots)
    kinds: dict[tuple[str, str], list[tuple[Case, Found]]] = {}
    for slot, own in slots.items():
        silent = Found(None, error or failed.get(own[0].table, "nothing found"), tried=False)
        found = values(functions, uses[slot], own) if slot in uses else [silent] * len(own)
        for case, each in zip(own, found, strict=True):
            kinds.setdefault((case.table, case.point), []).append((case, each))
    points = [point_of(*kind, rows) for kind, rows in kinds.items()]
    missing = [f"{name} can't be imported here: a stub stands in; {install(name)}" for name in stubs()]
    return Audit(file.name, offered(points), list(dict.fromkeys(map(str, uses.values()))), missing, error)


def point_of(table: str, name: str, rows: Sequence[tuple[Case, Found]]) -> Point:
    """One kind of case: what the original and the re-implementation make of the same cases."""
    known = [(case, found) for case, found in rows if found.tried]
    if not known:
        return Point(table, name, Verdict.NOT_DESCRIBED, reason=rows[0][1].error)
    differing = [
        (harmless(case, found.value), case, found) for case, found in known if found.error or found.value != case.wanted
    ]
    if not differing:
        left_out = dict.fromkeys(case.question for case, found in rows if not found.tried)
        partly = f"{', '.join(left_out)} not tried" if left_out else ""
        return Point(table, name, Verdict.SAME, len(known), reason=partly)
    reason, case, found = min(differing, key=lambda row: (bool(row[0]), len(row[1].shown)))
    verdict, wanted = Verdict.HARMLESS if reason else Verdict.CHANGES, words(case.wanted, case)
    theirs = found.error or words(found.value, case)
    return Point(table, name, verdict, len(known), len(differing), reason, case.shown, wanted, theirs)


def offered(points: Sequence[Point]) -> list[Point]:
    """The points; lists don't matter where all questions that were tried offer the right options."""
    asked = {point.verdict for point in points if point.table == "questions"} - {Verdict.NOT_DESCRIBED}
    unused = bool(asked) and Verdict.CHANGES not in asked
    return [
        replace(point, verdict=Verdict.HARMLESS, reason="not in the questions")
        if unused and point.table == "options" and point.verdict is Verdict.CHANGES
        else point
        for point in points
    ]


def harmless(case: Case, found: Any) -> str:
    """Why a difference changes no score."""
    wanted = case.wanted
    if case.table == "questions" and found and wanted.strip() == found.strip():
        return "chat templates strip it"
    if case.table == "labels" and found and wanted.lower() == found.lower():
        # The original never lower-cases the spaced form of a scene, so there the case of a label matters.
        return "" if case.question == "scene" and "_" in wanted else "only in letter case, which the scoring ignores"
    return ""


def words(value: Any, case: Case) -> str:
    """What is made of a case, in words."""
    if isinstance(value, bool):
        return case.question if value else f"not {case.question}"
    return str(value) or "nothing"


if __name__ == "__main__":
    main()

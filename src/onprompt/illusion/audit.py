"""Is a re-implementation of IllusionBench aligned with the original? By what its code does, case by case."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from onprompt.illusion import cases as tables
from onprompt.illusion.cases import Case
from onprompt.illusion.finding import Use, agree, find, values
from onprompt.illusion.protocol import QUESTIONS, SPLITS
from onprompt.illusion.scoring import original as score
from onprompt.illusion.sources import code_of
from onprompt.illusion.theirs import Found, Function, bound, described, install, load, named, stubs

LIMIT = 60.0  # seconds in total
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
REPEATED = 40  # one of this number of calls is made again: a function may be random or keep state
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
    example: str = ""
    original: str = ""
    theirs: str = ""
    tried: int = 0
    differing: int = 0
    effect: str = ""  # on the answers of a model, or the reason for the verdict


@dataclass(frozen=True)
class Audit:
    """The result of an audit."""

    name: str
    points: Sequence[Point] = ()
    calls: Mapping[str, str] = field(default_factory=dict)  # by what they serve
    missing: Sequence[str] = ()  # packages that are not installed, and how to install them
    error: str = ""  # why nothing could be tried
    effect: str = ""  # of all differences on the answers of a model

    def with_verdict(self, verdict: Verdict) -> list[Point]:
        """The points with a verdict."""
        return [point for point in self.points if point.verdict is verdict]

    @property
    def aligned(self) -> bool:
        """Whether questions or scores are described, and nothing that is described changes scores."""
        described = any(point.table in ("questions", "scoring") for point in self.with_verdict(Verdict.SAME))
        return described and not self.error and not self.with_verdict(Verdict.CHANGES)


def audit(path: Path, limit: float = LIMIT) -> Audit:
    """Audit a Python file, a document that quotes code, or a TOML file that names calls. The code runs."""
    with tempfile.TemporaryDirectory(prefix="onprompt-audit-") as folder:
        file, calls = code_of(path, Path(folder))
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = Path(folder) / "own"
        own.mkdir()
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
    file, calls = Path(sys.argv[1]), json.loads(sys.argv[2])
    cases = tables.cases()
    bound()
    json.dump(asdict(audited(file, calls, cases)), output)
    output.flush()
    os._exit(0)  # whatever threads of theirs do


def audited(file: Path, calls: Mapping[str, str], cases: Sequence[Case]) -> Audit:
    """The audit of a file by this process."""
    functions, error = dict[str, Function](), ""
    try:
        functions = load(file)
    except BaseException as raised:  # their module may do anything at import
        error = f"can't be imported: {described(raised)}"
    skipped = "" if CUE_CONFLICT.search(f"{calls}{file.read_text('utf-8')}") else "old_sin"
    slots: dict[str, list[Case]] = {}
    for case in cases:
        if case.point != skipped:
            slots.setdefault(case.slot, []).append(case)
    nothing = error or "nothing found"
    uses, failed = find(functions, slots)
    why = defaultdict(lambda: nothing, failed)
    for name, slot in product(calls, slots if functions else ()):
        if f"{slot}.".startswith(f"{name}."):  # `scoring` stands for all slots that begin so
            functions[calls[name]], words = named(file, calls[name], {*slots[slot][0].known, "doc"})
            uses[slot] = Use(calls[name], words)
    theirs = partial(found_by, functions, uses, why, skipped)
    points, effect = with_effects(compare(cases, theirs(cases)), theirs)
    missing = [f"{name} can't be imported here: a stub stands in; {install(name)}" for name in stubs()]
    used = {slot: use.function if use.function in calls.values() else str(use) for slot, use in uses.items()}
    return Audit(file.name, points, used, missing, error, effect)


def found_by(
    functions: Mapping[str, Function],
    uses: Mapping[str, Use],
    why: Mapping[str, str],
    skipped: str,
    cases: Sequence[Case],
) -> list[Found]:
    """What the re-implementation makes of each case, or why it says nothing."""
    found = [Found(None, why[case.table], tried=False) for case in cases]
    for slot, use in uses.items():
        places = [place for place, case in enumerate(cases) if case.slot == slot and case.point != skipped]
        own = [cases[place] for place in places]
        for place, each in zip(places, values(functions, use, own), strict=True):
            found[place] = each
        for place, again in zip(places[::REPEATED], values(functions, use, own[::REPEATED]), strict=True):
            if found[place].tried and again.value != found[place].value:
                found[place] = Found(None, "something else the second time")
    return found


def compare(cases: Sequence[Case], theirs: Sequence[Found]) -> list[Point]:
    """A point for each kind of case: what the original and the re-implementation make of the same cases."""
    kinds: dict[tuple[str, str], list[tuple[Case, Found]]] = {}
    for case, found in zip(cases, theirs, strict=True):
        kinds.setdefault((case.table, case.point), []).append((case, found))
    points = [point_of(*kind, rows) for kind, rows in kinds.items()]
    asked = {point.verdict for point in points if point.table == "questions"} - {Verdict.NOT_DESCRIBED}
    if not asked or Verdict.CHANGES in asked:
        return points
    return [  # the questions, which were tried, offer the right options
        replace(point, verdict=Verdict.HARMLESS, effect="not in the questions")
        if point.table == "options" and point.verdict is Verdict.CHANGES
        else point
        for point in points
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
        left_out = dict.fromkeys(case.question for case, found in rows if not found.tried)
        partly = f"{', '.join(left_out)} not tried" if left_out else ""
        return Point(table, name, Verdict.SAME, tried=len(known), effect=partly)
    reason, case, found = min(differing, key=lambda row: (bool(row[0]), len(row[1].shown)))
    verdict = Verdict.HARMLESS if reason else Verdict.CHANGES
    theirs = found.error or words(found.value, case)
    return Point(table, name, verdict, case.shown, words(case.wanted, case), theirs, len(known), len(differing), reason)


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
    if isinstance(value, dict):
        return f"{value['size']} {value['mode']}, pixels {value['sha256'][:8]}"
    return f"{value:.3f}" if isinstance(value, float) else str(value) or "nothing"


# ---- the effect on the answers of a model ----------------------------------------------------------------------------


def with_effects(points: Sequence[Point], theirs: Callable[[Sequence[Case]], list[Found]]) -> tuple[list[Point], str]:
    """The points with what each does to the answers of a model, and what their scoring does."""
    sample = tables.sample()
    found = theirs(sample)
    hits = [bool(each.value) if each.tried else case.wanted for case, each in zip(sample, found, strict=True)]
    files = [
        tables.label_case(SPLITS[each.known["split"]], each.known["path"], q) for each in sample for q in QUESTIONS
    ]
    names = [each.value or case.wanted for case, each in zip(files, theirs(files), strict=True)]
    rescored = [
        getattr(score(case.known["prediction"], shape, scene, SPLITS[case.known["split"]]), case.question)
        for case, shape, scene in zip(sample, names[::2], names[1::2], strict=True)
    ]

    def effect(point: Point) -> str:
        if point.verdict is not Verdict.CHANGES:
            return point.effect
        if point.table == "labels":
            return moves(sample, rescored, [point.name == case.known["split"] for case in sample])
        if point.table == "scoring":
            return moves(sample, hits, [case.point == point.name for case in sample])
        return "the model reads another text" if point.table in ("questions", "options") else ""

    everything = moves(sample, hits, [True] * len(sample)) if any(each.tried for each in found) else ""
    return [replace(point, effect=effect(point)) for point in points], everything


def moves(sample: Sequence[Case], hits: Sequence[bool], own: Sequence[bool]) -> str:
    """How many answers are scored differently, and by how much each recall moves."""
    scored = [(case, hit if mine else case.wanted) for case, hit, mine in zip(sample, hits, own, strict=True)]
    parts = [f"{sum(case.wanted != hit for case, hit in scored):,} of {len(sample):,} answers"]
    for question in QUESTIONS:
        asked = [(case.wanted, hit) for case, hit in scored if case.question == question]
        before, after = (100 * sum(column) / len(asked) for column in zip(*asked, strict=True))
        parts += [f"{question} recall {before:.1f} → {after:.1f} %"] if round(after - before, 1) else []
    return "; ".join(parts)


if __name__ == "__main__":
    main()

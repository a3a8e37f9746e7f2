"""Compares a re-implementation with the original, table by table: the same cases, what each makes of them."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.illusion.audit import cases, description, finding
from onprompt.illusion.audit.cases import Trial, visible
from onprompt.illusion.audit.finding import Target
from onprompt.illusion.audit.process import LIMIT, AuditedCode
from onprompt.illusion.protocol import COMPLEX, QUESTIONS, SCENES, SIMPLE, SPLITS, Case

AGAIN = 400  # answers that are scored again at the end: a function may be random or keep state
TABLES = {  # by the role of a function: the table's name, and what is missing if there is none
    "question": ("questions", "function or text of this question"),
    "options": ("options", "list of options"),
    "score": ("scoring", "function that scores an answer to this question"),
    "labels": ("labels", "function for the labels of a path"),
    "totals": ("totals", "function that sums up"),
    "resize": ("images", "function that resizes"),
}


class Verdict(StrEnum):
    """What a point comes to, the worst first."""

    CHANGES = "differs, changes scores"
    HARMLESS = "differs, harmless"
    NOT_DESCRIBED = "not described"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was compared."""

    table: str
    name: str
    verdict: Verdict
    example: str = ""  # the shortest case that differs
    original: str = ""  # what the original makes of it
    theirs: str = ""
    tried: int = 0
    differing: int = 0
    note: str = ""
    effect: str = ""  # on the answers of a model


class Found(NamedTuple):
    """What the re-implementation makes of a case; `described` is False where nothing is known of it."""

    value: Any
    error: str = ""
    described: bool = True


@dataclass(frozen=True)
class Audit:
    """The result of an audit."""

    name: str
    points: Sequence[Point]
    target: Target
    missing: Sequence[str] = ()  # packages that are not installed
    error: str = ""  # why the code can't be imported
    effect: Effect | None = None

    def with_verdict(self, verdict: Verdict) -> list[Point]:
        """The points with a verdict."""
        return [point for point in self.points if point.verdict is verdict]

    @property
    def aligned(self) -> bool:
        """Whether questions or scores are described, and nothing that is described changes scores."""
        described = any(point.table in ("questions", "scoring") for point in self.with_verdict(Verdict.SAME))
        return described and not self.error and not self.with_verdict(Verdict.CHANGES)


def audit(path: Path, answers: Sequence[Case] | None = None, limit: float = LIMIT) -> Audit:
    """Audit a file. Its code runs, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="onprompt-audit-") as folder:
        file, said = description.code_of(path, Path(folder))
        with AuditedCode(file, limit) as code:
            target = description.merged(Target() if code.error else finding.find(code), said)
            trials = cases.tables(Path(folder))
            description.check_words(target, trials)
            points = []
            for role, own in trials.items():
                points += compare(role, own, theirs(code, target, role, own))
                points += scored_again(code, target, own) if role == "score" else []
                points += options(target, code.error) if role == "question" else []
            effect = effect_of(code, target, cases.sample() if answers is None else answers, answers is not None)
            points = [replace(point, effect=effect.of(point)) for point in points] if effect else points
            return Audit(said.name or path.name, points, target, code.missing, code.error, effect)


def compare(role: str, trials: Sequence[Trial], found: Sequence[Found]) -> list[Point]:
    """A point for each kind of case, with the shortest case that differs."""
    by_point: dict[str, list[tuple[Trial, Found]]] = {}
    for trial, each in zip(trials, found, strict=True):
        by_point.setdefault(trial.point, []).append((trial, each))
    return [point_of(role, name, rows) for name, rows in by_point.items()]


def point_of(role: str, name: str, rows: Sequence[tuple[Trial, Found]]) -> Point:
    """One kind of case."""
    table = TABLES[role][0]
    known = [(trial, found) for trial, found in rows if found.described]
    if not known:
        return Point(table, name, Verdict.NOT_DESCRIBED, note=rows[0][1].error)
    differing = [
        (harmless(role, trial, found.value), trial, found)
        for trial, found in known
        if found.error or not finding.agree(role, trial.wanted, found.value)
    ]
    if not differing:
        partly = f"{len(rows) - len(known):,} of {len(rows):,} not tried" if len(known) < len(rows) else ""
        return Point(table, name, Verdict.SAME, tried=len(known), note=partly)
    reason, trial, found = min(differing, key=lambda row: (bool(row[0]), len(row[1].shown)))
    wanted, their = WORDS[role](trial.wanted, trial.wanted if found.error else found.value)
    verdict = Verdict.HARMLESS if reason else Verdict.CHANGES
    shown = (trial.shown, wanted, found.error or their)
    return Point(table, name, verdict, *shown, len(known), len(differing), reason)


def theirs(code: AuditedCode, target: Target, role: str, trials: Sequence[Trial], again: bool = False) -> list[Found]:
    """What the re-implementation makes of each trial."""
    found = [Found(None, code.error or f"no {TABLES[role][1]} found", described=False)] * len(trials)
    uses: dict[finding.Use, list[int]] = {}
    for place, trial in enumerate(trials):
        if use := target.uses.get((role, trial.split, trial.question)):
            uses.setdefault(use, []).append(place)
    for use, places in uses.items():
        replies = finding.ask(code, use, [trials[place] for place in places], again)
        for place, reply in zip(places, replies, strict=True):
            value = finding.read(role, reply, trials[place])
            error = reply.error or f"returns {repr(reply.value)[:60]}, which is not understood"
            found[place] = Found(value) if value is not None else Found(None, error, reply.tried)
    if role == "labels" and not code.mentions(r"old_sin|cue.?conflict"):
        unknown = Found(None, "cue-conflict images are not mentioned", described=False)
        known = [trial.split != "old_sin" or not each.described for trial, each in zip(trials, found, strict=True)]
        found = [each if told else unknown for each, told in zip(found, known, strict=True)]
    if all(each.error for each in found):  # it never works: how it is called is not described
        return [each._replace(described=False) for each in found]
    return found


def scored_again(code: AuditedCode, target: Target, trials: Sequence[Trial]) -> list[Point]:
    """Some answers once more: what was found at first is wanted now."""
    some = trials[:: max(1, len(trials) // AGAIN)]
    first = theirs(code, target, "score", some)
    again = theirs(code, target, "score", some, again=True)
    known = [
        (trial._replace(point="the same answer again", wanted=before.value or {}), after)
        for trial, before, after in zip(some, first, again, strict=True)
        if before.described
    ]
    return compare("score", [trial for trial, _ in known], [after for _, after in known])


def options(target: Target, error: str) -> list[Point]:
    """The lists of options; where there are none, the questions show them."""
    wanted: dict[str, Sequence[str]] = {name: split.shapes for name, split in SPLITS.items()}
    parted = "scenes" not in target.options and {"simple", "complex"} & target.options.keys()
    wanted |= {"simple": SIMPLE, "complex": COMPLEX} if parted else {"scenes": SCENES}
    asked = {split for role, split, _ in target.uses if role == "question"}
    names = [name for name in wanted if name in target.options or not (asked if name not in SPLITS else {name} & asked)]
    nothing = Found(None, error or f"no {TABLES['options'][1]} found", described=False)
    found = [Found(list(target.options[name])) if name in target.options else nothing for name in names]
    trials = [Trial(f"options: {name}", f"options of {name}", name, "", list(wanted[name]), {}) for name in names]
    return compare("options", trials, found)


def harmless(role: str, trial: Trial, found: Any) -> str:
    """Why a difference changes no score."""
    if role == "question" and found is not None and trial.wanted.strip() == found.strip():
        return "chat templates strip it"
    if role == "score" and trial.point == cases.FOREIGN:
        return "no model gives such an answer"
    if role == "labels":
        forms = [  # the original compares a scene with spaces for "_", but not lower-cased
            {label.lower(), *([label.replace("_", " ")] if trial.question == "scene" and label.islower() else [])}
            for label in (trial.wanted, found or "")
        ]
        if forms[0] == forms[1]:
            return "only in letter case, which the scoring ignores"
        return "no published file has such a name" if trial.point == cases.UNPUBLISHED else ""
    return ""


# ---- the effect on the answers of a model ----------------------------------------------------------------------------


class Counted(NamedTuple):
    """An answer with both scores."""

    case: Case
    original: Mapping[str, bool]
    theirs: Mapping[str, bool] | None  # None where the function fails
    labelled: Case  # with their labels

    @property
    def differs(self) -> bool:
        return self.theirs is None or not finding.agree("score", self.original, self.theirs)

    @property
    def gain(self) -> int:
        """By how much the recall of what is asked moves, in answers."""
        return int((self.theirs or {}).get(self.case.question, False)) - int(self.original[self.case.question])


@dataclass(frozen=True)
class Effect:
    """Answers of a model under both rules; `given` if they are real ones."""

    given: bool
    answers: Sequence[Counted]

    @property
    def changed(self) -> list[Counted]:
        """The answers that are scored differently."""
        return [each for each in self.answers if each.differs]

    def recalls(self) -> list[tuple[str, str, float, float]]:
        """Split, question, and the recall of what it asks for in %, by the original and by theirs."""
        rows = []
        for split, question in product(SPLITS, QUESTIONS):
            own = [each for each in self.answers if (each.case.split, each.case.question) == (split, question)]
            hits = sum(each.original[question] for each in own)
            moved = hits + sum(each.gain for each in own)
            rows += [(split, question, 100 * hits / len(own), 100 * moved / len(own))] if own else []
        return rows

    def of(self, point: Point) -> str:
        """The effect of a point."""
        if point.verdict is not Verdict.CHANGES or point.table in ("totals", "images"):
            return ""
        if point.table in ("questions", "options"):
            return "the model reads another text"
        if point.table == "labels":
            own = [each for each in self.answers if point.name.endswith(each.case.split)]
            changed = sum(cases.score(each.labelled) != each.original for each in own)
            return f"{changed:,} of {len(self.answers):,} answers"
        if self.given:
            return ""
        own = [each for each in self.changed if each.case.point == point.name]
        moves = [f"{len(own):,} of {len(self.answers):,} answers"]
        for question in QUESTIONS:
            asked = sum(each.case.question == question for each in self.answers)
            moved = 100 * sum(each.gain for each in own if each.case.question == question) / max(1, asked)
            moves += [f"{question} recall {moved:+.1f} points"] if moved else []
        return "; ".join(moves)


def effect_of(code: AuditedCode, target: Target, answers: Sequence[Case], given: bool) -> Effect | None:
    """What the differences do to answers."""
    trials = [cases.score_trial(case) for case in answers]
    labels: dict[tuple[str, str, str], str] = {}  # theirs, by split, path and what is asked for
    if not given:
        files = [cases.label_trial(each.split, each.known["path"], "", name) for each in trials for name in QUESTIONS]
        for file, found in zip(files, theirs(code, target, "labels", files), strict=True):
            if found.value is not None:
                labels[file.split, file.known["path"], file.question] = found.value
    counted = []
    for case, trial, found in zip(answers, trials, theirs(code, target, "score", trials), strict=True):
        shape, scene = (
            labels.get((case.split, trial.known["path"], name), trial.known[name]) for name in ("shape", "scene")
        )
        if found.described:
            counted.append(Counted(case, trial.wanted, found.value, case._replace(shape=shape, scene=scene)))
    return Effect(given, counted) if counted else None


# ---- how both are shown ----------------------------------------------------------------------------------------------


def outcome(score: Mapping[str, bool]) -> str:
    """A score in words."""
    named = [name for name, counts in score.items() if counts]
    return " and ".join(named) or ("rest" if "rest" not in score or len(score) > 1 else "nothing")


def picture_words(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str]:
    """Two pictures by what differs."""
    names = [name for name in ("size", "mode") if wanted[name] != found.get(name)] or ["sha256"]
    words = [", ".join(str(each.get(name)) for name in names) for each in (wanted, found)]
    return ("RGB, Lanczos", "other pixels") if names == ["sha256"] else (words[0], words[1])


def text_change(wanted: str, found: str) -> tuple[str, str]:
    """The first change between two texts, with a little around it."""
    matcher = difflib.SequenceMatcher(None, wanted, found, autojunk=False)
    _, i, j, k, n = next((code for code in matcher.get_opcodes() if code[0] != "equal"), ("", 0, 0, 0, 0))
    around = max(0, i - 15), max(0, k - 15)
    return (visible(wanted[around[0] : min(j, i + 60) + 10]), visible(found[around[1] : min(n, k + 60) + 10]))


def list_change(wanted: Sequence[str], found: Sequence[str]) -> tuple[str, str]:
    """The options that differ; all, where only the order does."""
    missing, added = (
        [option for option in one if option not in other] for one, other in ((wanted, found), (found, wanted))
    )
    if missing or added:
        return ", ".join(missing) or "nothing", ", ".join(added) or "nothing"
    at = next(
        (at for at, pair in enumerate(zip(wanted, found, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(found)) - 1,
    )
    return ", ".join(wanted[at : at + 3]) + " …", ", ".join(found[at : at + 3]) + " …"


WORDS: Mapping[str, Callable[[Any, Any], tuple[str, str]]] = {  # what differs
    "question": text_change,
    "options": list_change,
    "score": lambda *both: (outcome(both[0]), outcome(both[1])),
    "labels": lambda *both: (both[0], both[1] or "nothing"),
    "totals": lambda *both: (f"{both[0]:.3f}", f"{both[1]:.3f}"),
    "resize": picture_words,
}

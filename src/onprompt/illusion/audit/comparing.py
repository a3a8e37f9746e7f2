"""Compares a re-implementation with the original, table by table: the same cases, what each makes of them."""

from __future__ import annotations

import difflib
import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from PIL import Image

from onprompt.illusion.audit import cases, description, finding
from onprompt.illusion.audit.cases import Named
from onprompt.illusion.audit.finding import Target
from onprompt.illusion.audit.process import LIMIT, AuditedCode, Call, Reply
from onprompt.illusion.gold import gold
from onprompt.illusion.protocol import COMPLEX, QUESTIONS, SCENES, SIMPLE, SPLITS, Case
from onprompt.illusion.scoring import original as original_score

AGAIN = 400  # answers that are scored again at the end
CLOSE = 0.0006  # of two recalls, one with three digits or a percentage with one
C = TypeVar("C")
T = TypeVar("T")


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
class Table(Generic[C, T]):
    """How the cases of one kind are compared and shown."""

    name: str
    point: Callable[[C], str]  # what a case shows
    show: Callable[[C], str]
    words: Callable[[T, Any], tuple[str, str]] = lambda wanted, found: (str(wanted), str(found))
    agrees: Callable[[T, Any], bool] = lambda wanted, found: bool(wanted == found)
    harmless: Callable[[C, T, Any], str] = lambda _case, _wanted, _found: ""  # why a difference is


def compare(
    table: Table[C, T], cases: Sequence[C], original: Callable[[C], T], theirs: Callable[[Sequence[C]], Sequence[Found]]
) -> list[Point]:
    """A point for each kind of case, with the shortest case that differs."""
    by_point: dict[str, list[tuple[C, T, Found]]] = {}
    for case, found in zip(cases, theirs(cases), strict=True):
        by_point.setdefault(table.point(case), []).append((case, original(case), found))
    points = []
    for name, rows in by_point.items():
        known = [row for row in rows if row[2].described]
        differing = [row for row in known if row[2].error or not table.agrees(row[1], row[2].value)]
        reasons = [table.harmless(row[0], row[1], row[2].value) for row in differing]
        serious = [row for row, reason in zip(differing, reasons, strict=True) if not reason]
        if not known:
            points.append(Point(table.name, name, Verdict.NOT_DESCRIBED, note=rows[0][2].error))
        elif not differing:
            partly = f"{len(rows) - len(known):,} of {len(rows):,} not tried" if len(known) < len(rows) else ""
            points.append(Point(table.name, name, Verdict.SAME, tried=len(known), note=partly))
        else:
            case, wanted, found = min(serious or differing, key=lambda row: len(table.show(row[0])))
            words = (
                table.words(wanted, found.value) if not found.error else (table.words(wanted, wanted)[0], found.error)
            )
            verdict = Verdict.CHANGES if serious else Verdict.HARMLESS
            note = "" if serious else reasons[0]
            points.append(Point(table.name, name, verdict, table.show(case), *words, len(known), len(differing), note))
    return points


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
        described = any(
            point.table in ("questions", "scoring") for point in self.points if point.verdict is Verdict.SAME
        )
        return described and not self.error and not self.with_verdict(Verdict.CHANGES)


def audit(path: Path, answers: Sequence[Case] | None = None, limit: float = LIMIT) -> Audit:
    """Audit a file. Its code runs, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="onprompt-audit-") as folder:
        file, said = description.code_of(path, Path(folder))
        with AuditedCode(file, limit) as code:
            target = description.merged(Target() if code.error else finding.find(code), said)
            description.check_words(target)
            tables = Tables(code, target)
            points = [*tables.questions(), *tables.options(), *tables.scoring(), *tables.labels(), *tables.totals()]
            points += tables.images(Path(folder))
            effect = tables.effect(cases.sample() if answers is None else answers, answers is not None)
            points = [replace(point, effect=effect.of(point)) for point in points] if effect else points
            return Audit(said.name or path.name, points, target, code.missing, code.error, effect)


class Tables:
    """The cases of each table, what the original makes of them, and what the audited code does."""

    def __init__(self, code: AuditedCode, target: Target) -> None:
        self.code, self.target = code, target

    def nothing(self, what: str) -> Found:
        """What is known of something that was not found."""
        return Found(None, self.code.error or f"no {what} found", described=False)

    def questions(self) -> list[Point]:
        """The eight texts, byte for byte."""
        table = Table[tuple[str, str], str](
            "questions",
            lambda case: f"question: {case[0]}, {case[1]}",
            lambda case: f"the {case[1]} question of {case[0]}",
            text_change,
            harmless=lambda _, wanted, found: "chat templates strip it" if wanted.strip() == found.strip() else "",
        )

        def theirs(keys: Sequence[tuple[str, str]]) -> list[Found]:
            return [self.question(*key) for key in keys]

        keys = [(split, question) for split in SPLITS for question in QUESTIONS]
        return compare(table, keys, lambda key: SPLITS[key[0]].questions[key[1]], theirs)

    def question(self, split: str, question: str) -> Found:
        """One text."""
        use = self.target.questions.get((split, question))
        text = finding.question_text(self.code, use, split, question) if use else None
        return Found(text) if text is not None else self.nothing("function or text of this question")

    def options(self) -> list[Point]:
        """The lists of options; where there are none, the questions show them."""
        found = self.target.options
        wanted = {**{name: split.shapes for name, split in SPLITS.items()}, "scenes": SCENES}
        if "scenes" not in found and {"simple", "complex"} & found.keys():
            wanted |= {"simple": SIMPLE, "complex": COMPLEX}
            wanted.pop("scenes")
        names = [name for name in wanted if name in found or not (set(QUESTIONS) & self.asked(name))]
        table = Table[str, Sequence[str]](
            "options", lambda name: f"options: {name}", lambda name: f"options of {name}", list_change,
            lambda wanted, found: list(wanted) == list(found),
        )  # fmt: skip
        return compare(
            table, names, wanted.__getitem__,
            lambda names: [Found(found[name]) if name in found else self.nothing("list of options") for name in names],
        )  # fmt: skip

    def asked(self, name: str) -> set[str]:
        """The questions that are known of a split, or of any where all offer a list."""
        return {question for split, question in self.target.questions if name in (split, "scenes", "simple", "complex")}

    def scoring(self) -> list[Point]:
        """Some 20,000 answers, then some of them once more: a function may be random or keep state."""
        table = Table[Case, dict[str, bool]](
            "scoring", lambda case: case.point, shown_case, lambda *both: (outcome(both[0]), outcome(both[1])), agree,
            lambda case, *_: "no model gives such an answer" if case.point == cases.FOREIGN else "",
        )  # fmt: skip
        if not self.target.score:
            nothing = self.nothing("function that scores an answer")
            return [Point("scoring", "scores of answers", Verdict.NOT_DESCRIBED, note=nothing.error)]
        tried = cases.answers()
        points = compare(table, tried, wanted_score, self.scores)
        again = tried[:: max(1, len(tried) // AGAIN)]
        first = dict(zip(again, self.scores(again), strict=True))
        repeated = replace(table, point=lambda _: "the same answer again", agrees=lambda *both: both[0] == both[1])
        return [
            *points,
            *compare(repeated, again, lambda case: first[case].value, lambda own: self.scores(own, again=True)),
        ]

    def scores(self, tried: Sequence[Case], again: bool = False) -> list[Found]:
        """What answers count for."""
        calls: list[Call] = []
        places = []
        for place, case in enumerate(tried):
            if use := self.target.score.get(case.question):
                places.append(place)
                calls.append((use.function, finding.given(use.words, case.split, **finding.known_of(case)), {}))
        found = [self.nothing("function for this question")] * len(tried)
        for place, reply in zip(places, self.code.call_all(calls, again), strict=True):
            found[place] = described(reply, finding.read_score(reply, tried[place].question), "not a score")
        if all(each.error for each in found):  # it never works: how it is called is not described
            return [each._replace(described=False) for each in found]
        return found

    def labels(self) -> list[Point]:
        """The labels of files, by their paths."""
        table = Table[Named, dict[str, str]](
            "labels", lambda case: case.point, lambda case: case.path,
            lambda *both: (label_words(both[0]), label_words(both[1])),
            lambda wanted, found: all(wanted[name] == label for name, label in found.items()), harmless_label,
        )  # fmt: skip
        return compare(table, list(cases.paths()), original_labels, self.their_labels)

    def their_labels(self, files: Sequence[Named]) -> list[Found]:
        """Shape and scene of files, as far as they are described."""
        if not self.target.labels:
            return [self.nothing("function for the labels of a path")] * len(files)
        found: list[dict[str, str]] = [{} for _ in files]
        errors = [""] * len(files)
        for wanted, use in self.target.labels.items():
            replies = self.code.call_all([finding.labels_call(use, each.split, each.path) for each in files])
            for place, reply in enumerate(replies):
                label = finding.read_labels(reply, wanted)
                errors[place] = errors[place] or reply.error or ("" if label is not None else "returns no label")
                found[place][wanted] = label or ""
        read = {each.split for each, error in zip(files, errors, strict=True) if not error}
        if read or all(map(finding.NO_FIELD.match, errors)):
            read |= SPLITS.keys() - {"old_sin"}
        read -= set() if self.code.mentions(r"old_sin|cue.?conflict") else {"old_sin"}
        return [
            Found(labels, error or "cue-conflict images are not mentioned", each.split in read)
            if error or each.split not in read
            else Found(labels)
            for each, labels, error in zip(files, found, errors, strict=True)
        ]

    def totals(self) -> list[Point]:
        """How the scores of all answers become a recall."""
        use = self.target.totals

        def theirs(keys: Sequence[tuple[str, str]]) -> list[Found]:
            if not use:
                return [self.nothing("function that sums up")] * len(keys)
            replies = self.code.call_all([finding.sums_call(use, *key) for key in keys])
            found = [
                described(reply, number(reply.value, key[1]), "not a recall")
                for key, reply in zip(keys, replies, strict=True)
            ]
            percent = any((each.value or 0) > 1 for each in found)
            return [each._replace(value=each.value / (100 if percent else 1)) if each.value else each for each in found]

        table = Table[tuple[str, str], float](
            "totals", lambda _: "recall: how answers are summed up", lambda key: key[0],
            lambda *both: (f"{both[0]:.3f}", f"{both[1]:.3f}"), lambda *both: abs(both[0] - both[1]) < CLOSE,
        )  # fmt: skip
        return compare(
            table, [(name, question) for name in cases.SUMS for question in QUESTIONS], wanted_recall, theirs
        )

    def images(self, folder: Path) -> list[Point]:
        """Pictures, by the pixels that the model gets."""
        use = self.target.resize
        made = {name: (path, image) for name, path, image in cases.pictures(folder)}

        def theirs(names: Sequence[str]) -> list[Found]:
            if not use:
                return [self.nothing("function that resizes")] * len(names)
            size: dict[str, Any] = {"width": cases.WIDTH, "height": cases.HEIGHT, "size": [cases.WIDTH, cases.HEIGHT]}
            calls: list[Call] = [
                (use.function, finding.given(use.words, "sin", image={"picture": str(made[name][0])}, **size), {})
                for name in names
            ]
            return [
                described(reply, reply.value if isinstance(reply.value, dict) else None, "not a picture")
                for reply in self.code.call_all(calls)
            ]

        def wanted(name: str) -> dict[str, Any]:
            image = made[name][1].convert("RGB").resize((cases.WIDTH, cases.HEIGHT), Image.Resampling.LANCZOS)
            return {"size": list(image.size), "mode": image.mode, "sha256": hashlib.sha256(image.tobytes()).hexdigest()}

        table = Table[str, dict[str, Any]]("images", lambda _: "images: resized pixels", str, picture_words)
        return compare(table, list(made), wanted, theirs)

    def effect(self, answers: Sequence[Case], given: bool) -> Effect | None:
        """What the differences do to the answers of a model."""
        if not self.target.score:
            return None
        found = self.scores(answers)
        counted = [
            Counted(case, wanted_score(case), each.value)
            for case, each in zip(answers, found, strict=True)
            if each.described
        ]
        paths = (
            {key: cases.published_path(*key) for key in {case[:1] + case[2:4] for case in answers}} if not given else {}
        )
        files = [Named(key[0], path, "") for key, path in paths.items()]
        labels: dict[tuple[str, ...], Mapping[str, str]] = {}
        for key, named, each in zip(paths, files, self.their_labels(files), strict=True):
            if each.described and not each.error:
                labels[key] = original_labels(named) | each.value
        return Effect(given, counted, labels) if counted else None


class Counted(NamedTuple):
    """An answer with both scores."""

    case: Case
    original: Mapping[str, bool]
    theirs: Mapping[str, bool] | None  # None where the function fails

    @property
    def differs(self) -> bool:
        return self.theirs is None or not agree(self.original, self.theirs)

    def gain(self) -> int:
        """By how much the recall of what is asked moves, in answers."""
        return int((self.theirs or {}).get(self.case.question, False)) - int(self.original[self.case.question])


@dataclass(frozen=True)
class Effect:
    """Answers of a model under both rules; `given` if they are real ones."""

    given: bool
    answers: Sequence[Counted]
    labels: Mapping[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)

    @property
    def changed(self) -> list[Counted]:
        """The answers that are scored differently."""
        return [each for each in self.answers if each.differs]

    def recalls(self) -> list[tuple[str, str, float, float]]:
        """Split, question, and the recall of what it asks for in %, by the original and by theirs."""
        rows = []
        for split in SPLITS:
            for question in QUESTIONS:
                own = [each for each in self.answers if (each.case.split, each.case.question) == (split, question)]
                if own:
                    hits = sum(each.original[question] for each in own)
                    moved = hits + sum(each.gain() for each in own)
                    rows.append((split, question, 100 * hits / len(own), 100 * moved / len(own)))
        return rows

    def of(self, point: Point) -> str:
        """The effect of a point."""
        if point.verdict is not Verdict.CHANGES:
            return ""
        if point.table == "labels":
            return self.of_labels(point)
        if point.table != "scoring":
            return "the model reads another text" if point.table in ("questions", "options") else ""
        changed = [each for each in self.changed if each.case.point == point.name]
        moves = []
        for question in QUESTIONS:
            own = [each for each in changed if each.case.question == question]
            moved = (
                100
                * sum(each.gain() for each in own)
                / max(1, sum(each.case.question == question for each in self.answers))
            )
            moves += [f"{question} recall {moved:+.1f} points"] if moved else []
        count = f"{len(changed):,} of {len(self.answers):,} answers"
        return "; ".join([count, *moves]) if not self.given else ""

    def of_labels(self, point: Point) -> str:
        """How many answers the original's rule would count differently with their labels."""
        changed = 0
        for each in self.answers:
            labels = self.labels.get(each.case[:1] + each.case[2:4])
            if labels and point.name.endswith(each.case.split):
                changed += wanted_score(each.case._replace(**labels)) != each.original
        return f"{changed:,} of {len(self.answers):,} answers"


# ---- what the original does, and how both are shown ------------------------------------------------------------------


def described(reply: Reply, value: Any, otherwise: str) -> Found:
    """A reply as it was read."""
    if reply.error or value is None:
        return Found(None, reply.error or f"returns {repr(reply.value)[:60]}, {otherwise}", reply.tried)
    return Found(value)


def wanted_score(case: Case) -> dict[str, bool]:
    """What the original counts an answer for."""
    found = original_score(case.answer, case.shape, case.scene, SPLITS[case.split])
    return {"shape": found.shape, "scene": found.scene, "rest": found.rest}


def wanted_recall(key: tuple[str, str]) -> float:
    """The share of all answers that count for what was asked."""
    rows = [Case("sin", key[1], *labels, answer) for labels, answer in cases.SUMS[key[0]]]
    return sum(wanted_score(case)[key[1]] for case in rows) / len(rows)


def original_labels(named: Named) -> dict[str, str]:
    """The original's labels of a file."""
    labels = gold(named.path, SPLITS[named.split])
    return {"shape": labels.shape, "scene": labels.scene}


def agree(wanted: Mapping[str, bool], found: Mapping[str, bool]) -> bool:
    """Whether two scores agree, as far as both say."""
    return all(wanted[name] == value for name, value in found.items())


def outcome(score: Mapping[str, bool]) -> str:
    """A score in words."""
    named = [name for name, counts in score.items() if counts]
    return " and ".join(named) or ("rest" if "rest" not in score or len(score) > 1 else "nothing")


def harmless_label(named: Named, wanted: Mapping[str, str], found: Mapping[str, str] | None) -> str:
    """Why another label changes no score: only its case differs, or no file has the name."""
    found = found or {"shape": "", "scene": ""}
    forms = [
        [label.lower(), *([label.replace("_", " ")] if "_" in label and label.islower() else [])]
        for label in (wanted["scene"], found.get("scene", wanted["scene"]))
    ]
    if wanted["shape"].lower() == found.get("shape", wanted["shape"]).lower() and forms[0] == forms[1]:
        return "only in letter case, which the scoring ignores"
    return "no published file has such a name" if "no published" in named.point else ""


def number(value: Any, question: str) -> float | None:
    """A recall in what a function returns."""
    if isinstance(value, dict):
        value = next((item for name, item in value.items() if question in finding.named_questions(str(name))), None)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value == value else None


def shown_case(case: Case) -> str:
    """An answer with its labels."""
    text = case.answer if len(case.answer) <= 60 else f"{case.answer[:40]}…{case.answer[-15:]}"
    return f"{visible(text)!r} for {case.shape} in {case.scene}, {case.question} question"


def visible(text: str) -> str:
    r"""A text with its invisible characters escaped."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode() for char in text
    )


def label_words(labels: Mapping[str, str]) -> str:
    """Labels in words."""
    return " in ".join(label or "nothing" for label in labels.values())


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

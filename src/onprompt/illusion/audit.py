"""Is a re-implementation of IllusionBench aligned with the original? By what its code does, case by case."""

from __future__ import annotations

import ast
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.illusion import cases as tables
from onprompt.illusion.cases import Case
from onprompt.illusion.finding import LIMIT, Found, TheirCode, Use, agree, find, told, values
from onprompt.illusion.protocol import QUESTIONS, SPLITS
from onprompt.illusion.scoring import original as score
from onprompt.report.tables import markdown_table, shortened, table_lines

REPEATED = 40  # one of this number of calls is made again: a function may be random or keep state
UNKNOWN = dict.fromkeys(("split", "subset", "paper"), "no such split")
ORIGINAL = re.compile(r"original|原始|evaluator", re.IGNORECASE)  # what a document quotes of the original is left out
LABEL = re.compile(r"^#+\s+(.*)|^\**\s*\**([^`*：:]{1,60})\s*[：:]?\s*\**[：:]", re.MULTILINE)
QUOTED = re.compile(r"^(?P<fence>```+)\w*\n(?P<block>.*?)^(?P=fence)\s*$|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)
LONGEST = 76  # characters of a cell
ASSUMED = "made-up answers, right as often as those of the paper's models, in assumed forms"


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
    points: Sequence[Point]
    uses: Mapping[str, Use]
    stubs: Sequence[str]  # packages that are not installed
    error: str  # why nothing could be tried
    effect: str  # of all differences on the answers of a model

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
        cases = tables.cases(Path(folder))
        slots: dict[str, list[Case]] = {}
        for case in cases:
            slots.setdefault(case.slot, []).append(case)
        named = {slot: use for name, text in calls.items() for slot, use in called(name, text, slots).items()}
        with TheirCode(file, limit) as code:
            uses = find(code, slots) | named
            points = compare(cases, [case.wanted for case in cases], theirs(code, uses, cases))
            points, effect = with_effects(code, uses, points)
            return Audit(path.name, points, uses, code.stubs, code.error, effect)


def compare(cases: Sequence[Case], original: Sequence[Any], theirs: Sequence[Found]) -> list[Point]:
    """A point for each kind of case: what the original and the re-implementation make of the same cases."""
    kinds: dict[tuple[str, str], list[tuple[Case, Any, Found]]] = {}
    for row in zip(cases, original, theirs, strict=True):
        kinds.setdefault((row[0].slot.partition(".")[0], row[0].point), []).append(row)
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


def point_of(table: str, name: str, rows: Sequence[tuple[Case, Any, Found]]) -> Point:
    """One kind of case."""
    known = [row for row in rows if row[2].tried]
    if not known:
        return Point(table, name, Verdict.NOT_DESCRIBED, effect=rows[0][2].error)
    partly = f"{len(rows) - len(known):,} of {len(rows):,} cases not tried" if len(known) < len(rows) else ""
    differing = [
        (harmless(case, wanted, found.value), case, wanted, found)
        for case, wanted, found in known
        if found.error or not agree(wanted, found.value)
    ]
    if not differing:
        return Point(table, name, Verdict.SAME, tried=len(known), effect=partly)
    reason, case, wanted, found = min(differing, key=lambda row: (bool(row[0]), len(row[1].shown)))
    ours, their = shown(wanted, wanted if found.error else found.value, case)
    verdict = Verdict.HARMLESS if reason else Verdict.CHANGES
    return Point(table, name, verdict, case.shown, ours, found.error or their, len(known), len(differing), reason)


def harmless(case: Case, wanted: Any, found: Any) -> str:
    """Why a difference changes no score."""
    table, _, question = case.slot.partition(".")
    if table == "questions" and found and wanted.strip() == found.strip():
        return "chat templates strip it"
    if table == "labels" and found and tables.same_label(wanted, found, question):
        return "only in letter case, which the scoring ignores"
    return ""


def theirs(code: TheirCode, uses: Mapping[str, Use], cases: Sequence[Case]) -> list[Found]:
    """What the re-implementation makes of each case."""
    why = {slot: code.why_not(slot.partition(".")[0], uses.values()) for slot in {case.slot for case in cases}}
    found = [Found(None, why[case.slot], tried=False) for case in cases]
    for slot, use in uses.items():
        places = [place for place, case in enumerate(cases) if case.slot == slot]
        own = [cases[place] for place in places]
        for place, each in zip(places, values(code, use, own), strict=True):
            found[place] = each
        for place, again in zip(places[::REPEATED], values(code, use, own[::REPEATED]), strict=True):
            if found[place].tried and again.value != found[place].value:
                found[place] = Found(None, "something else the second time")
        old = [place for place in places if cases[place].known.get("split") == "old_sin"]
        other = [cases[place]._replace(known={**cases[place].known, **UNKNOWN}) for place in old]
        alike = [each.value for each in values(code, use, other)] == [found[place].value for place in old]
        for place in old if alike and "old_sin" not in told(f"{use.function}{use.path}") else ():
            found[place] = Found(None, "cue-conflict images are not told apart", tried=False)
    return found


# ---- the effect on the answers of a model ----------------------------------------------------------------------------


def with_effects(code: TheirCode, uses: Mapping[str, Use], points: Sequence[Point]) -> tuple[list[Point], str]:
    """The points with what each does to the answers of a model, and what their scoring does."""
    sample = tables.sample()
    found = theirs(code, uses, sample)
    hits = [bool(each.value) if each.tried else case.wanted for case, each in zip(sample, found, strict=True)]
    files = [
        tables.label_case(SPLITS[each.known["split"]], each.known["path"], q) for each in sample for q in QUESTIONS
    ]
    names = [each.value or case.wanted for case, each in zip(files, theirs(code, uses, files), strict=True)]
    rescored = [
        getattr(score(case.known["prediction"], *pair, SPLITS[case.known["split"]]), case.known["question"])
        for case, pair in zip(sample, zip(names[::2], names[1::2], strict=True), strict=True)
    ]

    def effect(point: Point) -> str:
        if point.verdict is not Verdict.CHANGES:
            return point.effect
        if point.table == "labels":
            return moves(sample, rescored, [point.name.endswith(case.known["split"]) for case in sample])
        if point.table == "scoring":
            return moves(sample, hits, [case.point == point.name for case in sample])
        return "the model reads another text" if point.table in ("questions", "options") else ""

    everything = moves(sample, hits, [True] * len(sample)) if any(each.tried for each in found) else ""
    return [replace(point, effect=effect(point)) for point in points], everything


def moves(sample: Sequence[Case], hits: Sequence[bool], own: Sequence[bool]) -> str:
    """How many answers are scored differently, and by how much each recall moves."""
    scored = [(case, hit if mine else case.wanted) for case, hit, mine in zip(sample, hits, own, strict=True)]
    words = [f"{sum(case.wanted != hit for case, hit in scored):,} of {len(sample):,} answers"]
    for question in QUESTIONS:
        asked = [(case.wanted, hit) for case, hit in scored if case.known["question"] == question]
        before, after = (100 * sum(column) / len(asked) for column in zip(*asked, strict=True))
        words += [f"{question} recall {before:.1f} → {after:.1f} %"] if round(after - before, 1) else []
    return "; ".join(words)


# ---- the page --------------------------------------------------------------------------------------------------------


def shown(wanted: Any, found: Any, case: Case) -> tuple[str, str]:
    """What both make of a case, cut to where they differ."""
    question = case.slot.rpartition(".")[2]

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return question if value else f"not {question}"
        if isinstance(value, dict):
            return f"{value['size']} {value['mode']}, pixels {value['sha256'][:8]}"
        return f"{value:.3f}" if isinstance(value, float) else str(value) or "nothing"

    both = words(wanted), words(found)
    same = next((at for at, pair in enumerate(zip(*both, strict=False)) if pair[0] != pair[1]), min(map(len, both)))
    start = max(0, same - 20) if max(map(len, both)) > LONGEST else 0
    return f"{'…' * bool(start)}{both[0][start:]}", f"{'…' * bool(start)}{both[1][start:]}"


def summary(result: Audit) -> str:
    """The audit in one sentence."""
    if result.error:
        return f"Not tried: {result.name} {result.error}."
    if changes := result.with_verdict(Verdict.CHANGES):
        counts = Counter(point.table for point in changes)
        where = " and ".join(f"{count} point{'s' * (count > 1)} of {table}" for table, count in counts.items())
        return f"Not aligned: {result.name} differs from the original in {where}."
    if not result.aligned:
        return f"Undecided: no question and no score of {result.name} could be tried."
    rest = len(result.with_verdict(Verdict.NOT_DESCRIBED))
    more = f"; {rest} points are not described" if rest else ""
    return f"Aligned: nothing that was tried of {result.name} changes scores{more}."


def notes(result: Audit) -> Iterator[str]:
    """The effect of the scoring, what was called, and what is missing."""
    if result.effect:
        yield f"Scored differently: {result.effect} ({ASSUMED})."
    for name in result.stubs:
        yield f"{name} is not installed: a stub stands in; pip install {tables.DATA['install'].get(name, name)}."
    if result.uses:
        yield f"Tried: {', '.join(dict.fromkeys(map(str, result.uses.values())))}."


def rows(result: Audit) -> list[tuple[str, ...]]:
    """A row for each point; those of one table that are the same, or alike for the same reason, share one."""
    grouped: dict[tuple[str, Verdict, str], list[Point]] = {}
    order = list(dict.fromkeys(point.table for point in result.points))
    for point in sorted(result.points, key=lambda each: (order.index(each.table), list(Verdict).index(each.verdict))):
        own = point.name if point.verdict is Verdict.CHANGES else point.effect
        grouped.setdefault((point.table, point.verdict, own), []).append(point)
    found = []
    for (_, verdict, _), points in grouped.items():
        first, tried = min(points, key=lambda each: len(each.example)), sum(each.tried for each in points)
        effect = first.effect or f"{tried:,} case{'s' * (tried != 1)}"
        cells = (" ".join(cell.split()) for cell in (first.example, first.original, first.theirs))
        found.append((names(points), verdict.value, *(shortened(cell, LONGEST) for cell in cells), effect))
    return found


def names(points: list[Point]) -> str:
    """The names of points in one table: `question: sin, logo shape`, where nothing follows if it is both."""
    kind, colon, _ = points[0].name.partition(": ")
    if not colon:
        return f"{points[0].table}: {points[0].name if len(points) == 1 else f'{len(points)} other kinds of answers'}"
    by_name: dict[str, list[str]] = {}
    for point in points:
        name, _, question = point.name.removeprefix(f"{kind}: ").partition(", ")
        by_name.setdefault(name, []).append(question)
    return (
        f"{kind}: {', '.join(name if len(some) > 1 else f'{name} {some[0]}'.strip() for name, some in by_name.items())}"
    )


def text(result: Audit) -> Iterator[str]:
    """The page for the terminal: a table of points, and below it an example of each difference."""
    yield from (summary(result), "")
    yield from table_lines(("point", "verdict", "effect"), [(each[0], each[1], each[5]) for each in rows(result)])
    yield ""
    yield from (f"{each[0]}: {each[2]}: original {each[3]}, theirs {each[4]}" for each in rows(result) if each[3])
    yield ""
    yield from notes(result)


def markdown(result: Audit) -> Iterator[str]:
    """The page in Markdown."""
    yield from (f"**{summary(result)}**", "")
    yield from markdown_table(("point", "verdict", "example", "original", "theirs", "effect"), rows(result))
    yield from (f"- {note}" for note in notes(result))


def document(result: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    return {
        "format": "onprompt.illusion.audit/3",
        "target": result.name,
        "aligned": result.aligned,
        "conclusion": summary(result),
        "error": result.error or None,
        "missing": list(result.stubs),
        "verdicts": {verdict.value: len(result.with_verdict(verdict)) for verdict in Verdict},
        "points": [asdict(point) | {"verdict": point.verdict.value} for point in result.points],
        "calls": {slot: str(use) for slot, use in result.uses.items()},
        "effect": result.effect,
    }


# ---- what is audited -------------------------------------------------------------------------------------------------


def code_of(path: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """The Python file to import, and the calls that a TOML file names."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"can't read {path}: {getattr(error, 'strerror', '') or error}") from None
    if path.suffix == ".py":
        return path.resolve(), {}
    if path.suffix == ".toml":
        return described(path, text)
    source = "\n\n".join(quoted_code(text))
    if not source:
        raise UserError(f"{path} quotes no code to audit: name a .py or .toml file, or a document with code")
    quoted = folder / "quoted_code.py"
    quoted.write_text(source, encoding="utf-8")
    return quoted, {}


def described(path: Path, text: str) -> tuple[Path, dict[str, str]]:
    """The file and the calls of a TOML file."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    file, calls = said.pop("file", ""), said.pop("calls", {})
    if said or not isinstance(calls, dict) or not all(isinstance(call, str) for call in calls.values()):
        raise UserError(
            f'{path} needs file = "…" and [calls] with lines such as scoring = "score(prediction, shape, scene)"'
        )
    if not (path.parent / str(file)).is_file():
        raise UserError(f"{path}: file = {file!r} is not there")
    return (path.parent / file).resolve(), calls


def called(name: str, text: str, slots: Mapping[str, Sequence[Case]]) -> dict[str, Use]:
    """A call such as `score(prediction, shape, scene)["hit"]` for all slots that a name such as `scoring` begins."""
    meant = [slot for slot in slots if f"{slot}.".startswith(f"{name}.")]
    if not meant:
        raise UserError(f"no table {name!r}; there are {', '.join(slots)}")
    known, path = slots[meant[0]][0].known, list[str | int]()
    try:
        node = ast.parse(text, mode="eval").body
        while isinstance(node, ast.Subscript):
            path.insert(0, ast.literal_eval(node.slice))
            node = node.value
        given = node.args if isinstance(node, ast.Call) else []
        words = tuple(each.id if isinstance(each, ast.Name) else ast.literal_eval(each) for each in given)
    except (SyntaxError, ValueError):
        raise UserError(f"{text!r} is not a call such as score(prediction, shape, scene)") from None
    for each in given:
        if isinstance(each, ast.Name) and each.id not in known:
            raise UserError(f"an argument {each.id!r} is not known here; there are {', '.join(known)}")
    return dict.fromkeys(meant, Use(ast.unparse(node.func if isinstance(node, ast.Call) else node), words, tuple(path)))


def quoted_code(text: str) -> Iterator[str]:
    """What a document quotes of a re-implementation, as Python: functions, lists, and f-strings as functions."""
    labels = [(match.start(), match[0]) for match in LABEL.finditer(text)]
    for number, quoted in enumerate(QUOTED.finditer(text)):
        before = [label for start, label in labels if start <= quoted.start()]
        if before and ORIGINAL.search(before[-1]):
            continue
        heading = next((label for label in reversed(before) if label.startswith("#")), "")
        name = "_".join([str(number), *re.findall("[A-Za-z]+", heading)])
        source = (quoted["block"] or quoted["span"]).strip()
        for each in (f"({source})", source):  # f-strings below each other are one
            try:
                yield from (code for node in ast.parse(each).body if (code := statement(node, name)))
            except (SyntaxError, ValueError):
                continue
            break


def statement(node: ast.stmt, name: str) -> str:
    """What is of use in a quotation."""
    if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.ClassDef):
        return ast.unparse(node)
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.List | ast.Tuple) and all(isinstance(each, ast.Constant) for each in value.elts):
        return f"LIST_{name} = {ast.unparse(value)}"
    if isinstance(value, ast.JoinedStr):
        names = sorted({each.id for each in ast.walk(value) if isinstance(each, ast.Name)})
        prompt = f"prompt_{name}" if told(name) & set(SPLITS) else f"prompt_{name.partition('_')[0]}"
        return f"def {prompt}({', '.join(names)}):\n    return {ast.unparse(value)}"
    return ""

"""What the differences do to answers that somebody has: how many count otherwise, and what becomes of the recalls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from onprompt import plugins
from onprompt.audit.battery import BOTH, CASE, EMPTY, INSIDE, LINES, SCENE_FORMS, SHAPE_FORMS, Case
from onprompt.audit.points import Point, Verdict
from onprompt.audit.prompts import shown
from onprompt.audit.scorings import Counted, Scorer, by_original, differ
from onprompt.errors import UserError
from onprompt.illusion.gold import gold
from onprompt.illusion.protocol import split as split_named

READERS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
QUESTIONS = ("shape", "scene")
OTHER = "other answers"


class Answered(NamedTuple):
    """An answer that a model gave, and the path of the image where it is known."""

    case: Case
    path: str


class Recall(NamedTuple):
    """How many of the answers to a question count for the shape or for the scene, by the original and by them."""

    question: str
    of: str
    answers: int
    original: int
    theirs: int | None  # None where the description leaves it open

    def __str__(self) -> str:
        now = "not described" if self.theirs is None else share(self.theirs, self.answers)
        name = f"{self.of} recall on the {self.question} question"
        return f"{name}: {share(self.original, self.answers)} → {now} on {self.answers:,} answers"


class Effect(NamedTuple):
    """What the described scoring makes of all answers."""

    answers: int
    left_out: int  # rows without an answer
    changed: int
    recalls: tuple[Recall, ...]
    by_title: Mapping[str, int]  # points of section 3, and how many of the changed answers are of their kind
    examples: tuple[tuple[Case, Counted, Counted], ...]  # the shortest answers that count otherwise


def share(part: int, whole: int) -> str:
    """A percentage."""
    return f"{100 * part / whole:.1f} %"


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(path: Path, split: str = "") -> tuple[list[Answered], int]:
    """The rows of a table with an answer in them, and how many have none."""
    if path.suffix.lower() not in READERS:
        raise UserError(f"{path} is no table that is known: give a .csv, .tsv or .jsonl file")
    try:
        table = plugins.load("datasets", READERS[path.suffix.lower()]).load(str(path))
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    if "answer" not in table.columns or not {"path", "shape"} & set(table.columns):
        columns = ", ".join(table.columns)
        raise UserError(f"{path} needs the columns answer, question, and path or shape and scene; it has {columns}")
    found, left_out = [], 0
    for record in table.records(table.columns):
        if isinstance(record.cells, UserError):
            raise UserError(f"{record.line}: {record.cells}")
        answered = row(record.line, record.cells, split)
        found += [answered] if answered else []
        left_out += answered is None
    if not found:
        raise UserError(f"{path} holds no answer")
    return found, left_out


def row(line: str, cells: Mapping[str, Any], split: str) -> Answered | None:
    """A row, or nothing where no answer was kept."""
    if cells.get("answer") is None:
        return None
    told = {name: str(cells.get(name) or "") for name in ("split", "question", "path", "shape", "scene")}
    if told["question"] not in QUESTIONS:
        raise UserError(f"{line}: question is shape or scene, not {told['question']!r}")
    name = told["split"] or split
    if not name:
        raise UserError(f"{line}: of which split is it? Give a column split, or --split")
    shape, scene = told["shape"], told["scene"]
    if not (shape and scene):
        if not told["path"]:
            raise UserError(f"{line}: neither shape and scene nor a path")
        shape, scene, *_ = gold(told["path"], split_named(name))
    case = Case(split_named(name).name, shape, scene, str(cells["answer"]), told["question"])
    return Answered(case, told["path"])


# ---- counting --------------------------------------------------------------------------------------------------------


def point(found: Effect) -> Point:
    """What the given answers show by themselves, in case that they show more than ours do."""
    title, original = "the answers that were given", "its own outcome for each"
    if not found.changed:
        return Point("scoring", title, "", original, f"the same on {found.answers:,} answers", Verdict.ALIGNED)
    case, mine, other = found.examples[0]
    example = {"answer": shown(case.answer), "shape": case.shape, "scene": case.scene}
    told = f"another outcome on {found.changed:,} of {found.answers:,} answers"
    example |= {"original": str(mine), "theirs": str(other)}
    return Point("scoring", title, "", original, told, Verdict.CHANGES, "", example)


def effect(answered: Sequence[Answered], left_out: int, scorer: Scorer) -> Effect:
    """All answers under both rules."""
    asked = [each.case for each in answered]
    told = [(case, by_original(case), other) for case, other in zip(asked, scorer.many(asked), strict=True)]
    changed = [each for each in told if differ(*each[1:])]
    kinds = Counter(kind(*each) for each in changed)
    recalls = tuple(
        recall([each for each in told if each[0].question == question], question, of)
        for question in QUESTIONS
        for of in QUESTIONS
        if any(each[0].question == question for each in told)
    )
    shortest = sorted(set(changed), key=lambda one: len(one[0].answer))
    return Effect(len(told), left_out, len(changed), recalls, kinds, tuple(shortest[:5]))


def recall(told: Sequence[tuple[Case, Counted, Counted]], question: str, of: str) -> Recall:
    """One of the original's counts beside theirs; a call that gave nothing counts for nothing."""
    mine = sum(bool(getattr(one, of)) for _, one, _ in told)
    theirs = [False if other.trouble else getattr(other, of) for _, _, other in told]
    return Recall(question, of, len(told), mine, None if None in theirs else sum(theirs))


def kind(case: Case, mine: Counted, theirs: Counted) -> str:
    """The point of section 3 that a changed answer belongs to."""
    text = case.answer.lower()
    if not text.strip():
        return EMPTY
    shape, scene = loosely(case.shape, text), loosely(case.scene, text)
    if shape and scene:
        return BOTH
    if shape and mine.shape != theirs.shape and case.shape.lower() not in text:
        return SHAPE_FORMS
    if scene and mine.scene != theirs.scene and case.scene.lower() not in text:
        return SCENE_FORMS
    label = next((each for each in (case.shape, case.scene) if each and each.lower() in text), "")
    if label and not re.search(rf"(?<!\w){re.escape(label.lower())}(?!\w)", text):
        return INSIDE
    if label and label not in case.answer:
        return CASE
    return LINES if "\n" in case.answer.strip() else OTHER


def loosely(label: str, text: str) -> bool:
    """Whether a label is in an answer in any form."""
    words = [re.escape(word) for word in re.split(r"[_ -]+", label.lower()) if word]
    return bool(words) and re.search(r"[\W_]*".join(words), text) is not None

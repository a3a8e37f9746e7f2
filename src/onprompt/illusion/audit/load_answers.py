"""Answers that somebody has: rows of a table, or a run's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.illusion import answers
from onprompt.illusion.audit.test_answers import Case
from onprompt.illusion.gold import gold
from onprompt.illusion.protocol import split as split_named
from onprompt.illusion.results import QUESTIONS
from onprompt.runs.ledger import Ledger

READERS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
RUN = ".sqlite"


class Answered(NamedTuple):
    """An answer that a model gave, and the path of the image where it is known."""

    case: Case
    path: str


def read(path: Path, split: str = "") -> tuple[list[Answered], int]:
    """The answers in a file, and how many questions got none."""
    if path.suffix.lower() not in (RUN, *READERS):
        raise UserError(f"{path} is no table that is known: give a .csv, .tsv or .jsonl file, or a run's {RUN}")
    found = of_run(path) if path.suffix.lower() == RUN else of_table(path, split)
    told = [each for each in found if each is not None]
    if not told:
        raise UserError(f"{path} holds no answer")
    return told, len(found) - len(told)


def of_run(path: Path) -> list[Answered | None]:
    """The latest answers of an `illusion run`; None for a question that got none."""
    with Ledger(path) as ledger:
        number, about = answers.about_of(ledger)
        found = answers.records(ledger, number)
    return [
        None
        if each.answer is None
        else Answered(Case(about["split"], each.gold.shape, each.gold.scene, each.answer, each.question), "")
        for each in found
    ]


def of_table(path: Path, split: str) -> list[Answered | None]:
    """The rows of a table; None for one without an answer."""
    try:
        table = plugins.load("runs.datasets", READERS[path.suffix.lower()]).load(str(path))
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    if "answer" not in table.columns or not {"path", "shape"} & set(table.columns):
        columns = ", ".join(table.columns)
        raise UserError(f"{path} needs the columns answer, question, and path or shape and scene; it has {columns}")
    found = []
    for record in table.records(table.columns):
        if isinstance(record.cells, UserError):
            raise UserError(f"{record.line}: {record.cells}")
        found.append(row(record.line, record.cells, split))
    return found


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

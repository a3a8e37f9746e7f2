"""Load answers of a model from a table or from the file of a run."""

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
from onprompt.runs.reading import Run

READERS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
RUN = ".sqlite"


class GivenAnswer(NamedTuple):
    """An answer that a model gave, and the path of the image if it is known."""

    case: Case
    path: str


def load(path: Path, split: str = "") -> tuple[list[GivenAnswer], int]:
    """The answers in a file, and the number of questions without an answer."""
    if path.suffix.lower() not in (RUN, *READERS):
        raise UserError(f"{path} has an unknown format: use a .csv, .tsv or .jsonl file, or the {RUN} file of a run")
    rows = load_run(path) if path.suffix.lower() == RUN else load_table(path, split)
    given = [row for row in rows if row is not None]
    if not given:
        raise UserError(f"{path} holds no answers")
    return given, len(rows) - len(given)


def load_run(path: Path) -> list[GivenAnswer | None]:
    """The latest answers of an `illusion run`; None for a question without an answer."""
    run = Run(path)
    answers.check_rubric(run)
    split = str(run.identity.get("split", ""))
    return [
        None
        if record.answer is None
        else GivenAnswer(Case(split, *record.gold[:2], record.answer, record.question), "")
        for record in answers.records(run)
    ]


def load_table(path: Path, split: str) -> list[GivenAnswer | None]:
    """The rows of a table; None for a row without an answer."""
    try:
        table = plugins.load("runs.datasets", READERS[path.suffix.lower()]).load(str(path))
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    if "answer" not in table.columns or not {"path", "shape"} & set(table.columns):
        columns = ", ".join(table.columns)
        raise UserError(f"{path} needs the columns answer, question, and path or shape and scene; it has {columns}")
    rows = []
    for line, cells in table.records(table.columns):
        if isinstance(cells, UserError):
            raise UserError(f"{line}: {cells}")
        rows.append(given_answer(line, cells, split))
    return rows


def given_answer(line: str, cells: Mapping[str, Any], split: str) -> GivenAnswer | None:
    """The answer in a row of a table."""
    if cells.get("answer") is None:
        return None
    names = ("split", "question", "path", "shape", "scene")
    row_split, question, path, shape, scene = (str(cells.get(name) or "") for name in names)
    if question not in QUESTIONS:
        raise UserError(f"{line}: question must be shape or scene, not {question!r}")
    if not (row_split or split):
        raise UserError(f"{line}: no split: add a column split, or use --split")
    known = split_named(row_split or split)
    if not (shape and scene):
        if not path:
            raise UserError(f"{line}: needs shape and scene, or a path")
        shape, scene, *_ = gold(path, known)
    return GivenAnswer(Case(known.name, shape, scene, str(cells["answer"]), question), path)

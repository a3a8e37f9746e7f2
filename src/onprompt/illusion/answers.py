"""The answers in the file of a run, as records to score."""

from dataclasses import dataclass, replace
from typing import Any

from onprompt.errors import UserError
from onprompt.illusion.gold import SUFFIX, Gold, counts, files, troubles
from onprompt.illusion.judge import RUBRIC
from onprompt.illusion.protocol import Split, split
from onprompt.illusion.results import QUESTIONS, Record, Results, measure
from onprompt.runs.findings import choose_generation, identity
from onprompt.runs.ledger import Ledger, damaged

ROWS = """
SELECT s.id, s.given, c.kind, c.found, c.outcome FROM samples s
LEFT JOIN present_verdicts v ON v.sample = s.number AND v.generation = :generation
LEFT JOIN checks c ON c.sample = v.sample AND c.generation = :generation
LEFT JOIN present_errors e ON e.sample = s.number AND e.generation = :generation
WHERE s.gone = 0 AND (c.kind IS NOT NULL OR e.kind IS NOT NULL) ORDER BY s.number, c.number
"""
DONE = """
SELECT count(*) FROM samples s WHERE s.gone = 0 AND (
    EXISTS (SELECT 1 FROM present_verdicts v WHERE v.sample = s.number AND v.generation = ?)
    OR EXISTS (SELECT 1 FROM present_errors e WHERE e.sample = s.number AND e.generation = ?))
"""


def results_of(ledger: Ledger, generation: int = 0) -> Results:
    """The results of a run."""
    number, about = about_of(ledger, generation)
    run_split = split(about["split"])
    (samples,) = ledger.first("SELECT count(*) FROM samples WHERE gone = 0")
    (done,) = ledger.first(DONE, (number, number))
    of = {"model": about["model"], "size": about["size"], "generation": number, "not_asked_yet": samples - done}
    return replace(measure(records(ledger, number), run_split), about=of, troubles=path_troubles(ledger, run_split))


def about_of(ledger: Ledger, generation: int = 0) -> tuple[int, dict[str, Any]]:
    """The number of a generation (0: the latest), and its identity."""
    number = choose_generation(ledger, generation)
    about = identity(ledger, number)
    if about["rubric"] != RUBRIC.name:
        raise UserError(f"{ledger.path}, generation {number}, is a run of {about['rubric']}, not of IllusionBench")
    return number, {"split": "", "model": "", "size": None, **about}


@dataclass(frozen=True, slots=True)
class Given:
    """What is read of the inputs of a sample; an unreadable row, which the run counts, has none of these."""

    image: str = ""
    labels: str = ""
    gold: Gold | None = None
    meant: Gold | None = None


def records(ledger: Ledger, generation: int) -> list[Record]:
    """Every question that was asked, with its answer or None."""
    answers = []
    for name, inputs, kind, said, outcome in ledger.query(ROWS, {"generation": generation}):
        given: Given = ledger.read(inputs, Given)
        if kind and kind not in QUESTIONS:
            raise damaged(ledger.path, f"an answer to {kind!r}, which is not asked")
        if given.gold and given.meant:
            answer = said if outcome != "unverifiable" else None
            asked = [kind] if kind else QUESTIONS
            answers += [Record(name, question, given.gold, answer, given.meant) for question in asked]
    return answers


def path_troubles(ledger: Ledger, split: Split) -> list[str]:
    """Problems with the paths of the images that distort scores."""
    rows = ledger.query("SELECT id, given FROM samples WHERE gone = 0")
    items: list[tuple[str, Given]] = [(name, ledger.read(inputs, Given)) for name, inputs in rows]
    # An unreadable row only has its id, which is the path below the folder.
    paths = [given.image or name for name, given in items if given.labels != "columns"]
    images = [path for path in paths if counts(path)]
    others = (
        f"{files(len(paths) - len(images))} without the extension {SUFFIX}: the original ignores them, here they count"
    )
    return [*([others] if len(images) < len(paths) else []), *troubles(images, split)]

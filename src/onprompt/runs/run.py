"""Samples in, verdicts stored. A run resumes after any interruption."""

import hashlib
import json
import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from onprompt import plugins
from onprompt.models.answer_store import AnswerStore
from onprompt.runs import findings
from onprompt.runs.checksums import fingerprint
from onprompt.runs.datasets import BadRow, Dataset, Row
from onprompt.runs.job import Done, JudgeJob, Task
from onprompt.runs.ledger import INCOMPLETE, Entry, Fault, Ledger
from onprompt.samples import asks
from onprompt.types import Asks, Rubric

FATAL = ("BudgetSpent", "StoreError", "NotFetched", "WrongHash")  # faults that would hit all further samples too
PACKAGES = ("onprompt", "numpy", "pillow", "openvino", "opencv-python-headless", "torch", "transformers")
MAX_REJECTED = 20  # rejected requests that stop a run without verdicts
CHUNK = 256  # samples entered in one transaction
CHUNK_BYTES = 32 * 2**20  # of images in memory among them
PREVIOUS = "SELECT max(id) FROM generations WHERE id < ?"


@dataclass(slots=True)
class Summary:
    """The state of a run."""

    path: Path
    generation: int = 1
    new: bool = True  # whether this way of judging is new to the file
    changed: str = ""  # how it differs from the previous one
    known: int = 0  # verdicts of this way of judging that the file had before
    before: int = 0  # samples read so far that had a verdict already
    done: int = 0
    incomplete: int = 0  # verdicts of a jury without a model that failed
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)  # the first message of each kind of fault
    tokens: int = 0
    cost: float = 0.0
    stopped: str = ""  # why it stopped early
    interrupted: bool = False  # by Ctrl-C

    def spend(self, tokens_in: int, tokens_out: int, cost: float | None) -> None:
        """Add the cost of an answer."""
        self.tokens += tokens_in + tokens_out
        self.cost += cost or 0.0


Observer = Callable[[Summary], None]


def silent(summary: Summary) -> None:
    """Report nothing."""


def run(data: Dataset, out: Path, job: JudgeJob, engine: str = "threads", on_progress: Observer = silent) -> Summary:
    """Judge every sample of a dataset that has no verdict yet; `on_progress` is called first and after each."""
    job = replace(job, settings=job.settings.model_copy(update={"asked_by": str(out.resolve())}))
    identity, workers = job.identity, plugins.load("runs.engines", engine).load(job.settings)
    with closing(job), Ledger(out, writing=True) as ledger:
        generation, new = ledger.generation(identity, fingerprint(identity))
        (previous,) = ledger.first(PREVIOUS, (generation,))
        changed = differing_names(identity, findings.identity(ledger, previous) if previous else {}) if new else ""
        known, *_ = ledger.first("SELECT count(*) FROM verdicts WHERE generation = ?", (generation,))
        summary = Summary(out, generation, new, changed, known)
        count_calls(ledger, job)  # of a run that was killed
        ledger.begin(generation, data.source, versions())
        try:
            on_progress(summary)
            for done in workers.run(job, open_tasks(data, ledger, summary, job.rubric)):
                store(done, ledger, summary)
                on_progress(summary)
        except KeyboardInterrupt:
            summary.stopped, summary.interrupted = "interrupted", True
        summary.spend(*count_calls(ledger, job))
        return summary


def count_calls(ledger: Ledger, job: JudgeJob) -> tuple[int, int, float | None]:
    """Add calls to the cost of the last run that were answered, but whose samples have no result yet."""
    settings = job.settings
    if asks(settings.judged_by) is Asks.NONE or not ledger.run:
        return 0, 0, None
    with closing(AnswerStore(settings.answers)) as answers:
        total = answers.spent(settings.asked_by, ledger.started)
    return ledger.reconcile(total.tokens_in, total.tokens_out, total.cost)


def items_to_judge(data: Dataset, out: Path, job: JudgeJob) -> Iterator[Mapping[str, Any]]:
    """What a run would judge now; nothing is written."""
    with Ledger(out) if out.is_file() else nullcontext() as ledger:
        current = fingerprint(job.identity)
        for row in data.rows():
            if isinstance(row, Row) and not (ledger and ledger.has(make_entry(row, job.rubric), current)):
                yield row.item


def open_tasks(data: Dataset, ledger: Ledger, summary: Summary, rubric: Rubric) -> Iterator[Task]:
    """The samples that have no verdict yet, entered in the ledger as they are read."""
    complete = True  # unless it stops: then what is in progress is still stored, and nothing else begun
    for chunk in chunks(data.rows(), rubric.image_inputs):
        entered = ledger.enter([make_entry(row, rubric) for row in chunk], summary.generation)
        for row, (number, has_verdict) in zip(chunk, entered, strict=True):
            if has_verdict:
                summary.before += 1
            elif isinstance(row, BadRow):
                complete = complete and not row.rest_lost
                store(Done(number, fault=Fault("bad_row", f"{row.line}: {row.message}")), ledger, summary)
            else:
                yield Task(number, row.item)
            if summary.stopped:
                return
    if complete:
        ledger.end()


def chunks(rows: Iterator[Row | BadRow], images: Sequence[str]) -> Iterator[list[Row | BadRow]]:
    """Rows in chunks, smaller ones if they hold whole images."""
    chunk: list[Row | BadRow] = []
    size = 0
    for row in rows:
        chunk.append(row)
        if isinstance(row, Row):
            size += sum(len(row.item[name]) for name in images if isinstance(row.item.get(name), bytes))
        if len(chunk) == CHUNK or size > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def store(done: Done, ledger: Ledger, summary: Summary) -> None:
    """Store and count the result of a task."""
    if done.verdict:
        ledger.keep(done.number, summary.generation, done.verdict)
        summary.done += 1
        summary.incomplete += INCOMPLETE in done.verdict.row["flags"].split()
        summary.spend(done.verdict.row["tokens_in"], done.verdict.row["tokens_out"], done.verdict.row["cost"])
    elif done.fault:
        kind, message, *_ = done.fault
        ledger.fail(done.number, summary.generation, done.fault)
        summary.faults[kind] += 1
        summary.examples.setdefault(kind, message)
        summary.spend(done.fault.tokens_in, done.fault.tokens_out, done.fault.cost)
        # Nothing but rejected requests: a wrong key or an unknown model, which would hit all others too.
        rejected = summary.faults["Rejected"] >= MAX_REJECTED and not summary.done
        if kind in FATAL or rejected:
            summary.stopped = summary.stopped or message


def make_entry(row: Row | BadRow, rubric: Rubric) -> Entry:
    """A sample as it is stored; images in memory by their hash."""
    if isinstance(row, BadRow):
        return Entry(row.id, "", "", "", "", json.dumps({"line": row.line}), "", "")
    images = rubric.image_inputs
    given = {name: describe(value, name in images) for name, value in row.item.items()}
    moved = {name: os.path.basename(value) if name in images else value for name, value in given.items()}  # noqa: PTH119
    stamps = " ".join(stamp(row.item[name]) for name in images if isinstance(row.item.get(name), str | Path))
    return Entry(
        row.id,
        str(row.item.get(rubric.prompt, "")),
        str(given.get(rubric.picture, "")),
        row.model,
        row.category,
        json.dumps(given, ensure_ascii=False),
        stamps,
        hashlib.sha256(json.dumps([moved, stamps]).encode()).hexdigest(),  # the same if all files were moved together
    )


def describe(value: object, is_image: bool) -> Any:
    """A value for JSON: an absolute path for an image, a hash for bytes."""
    if is_image and isinstance(value, str | Path) and not str(value).startswith(("http://", "https://")):
        return os.path.abspath(value)  # noqa: PTH100 Path.resolve reads the disk, for each of many
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return f"sha256:{hashlib.sha256(value).hexdigest()}"
    return list(value) if isinstance(value, list | tuple) else repr(type(value))


def stamp(path: str | Path) -> str:
    """Size and time of a file, by which a change is noticed."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return "none"
    return f"{status.st_size}-{status.st_mtime_ns}"


def versions() -> dict[str, str]:
    """The versions of what runs."""
    installed = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):  # of an extra
            installed[name] = metadata.version(name)
    return installed


def differing_names(current: Mapping[str, Any], previous: Mapping[str, Any]) -> str:
    """The names of what differs between two ways of judging."""
    flat, other = ({**way, **way.get("settings", {}), "settings": 0} for way in (current, previous))
    return ", ".join(sorted(name for name in flat.keys() | other.keys() if flat.get(name) != other.get(name)))

"""Samples in, verdicts stored. A run resumes after any interruption."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from onprompt import plugins
from onprompt.runs.datasets import BadRow, Dataset, Row
from onprompt.runs.job import Done, JudgeJob, Task
from onprompt.runs.ledger import Entry, Fault, Ledger
from onprompt.types import Rubric

FINAL = ("BudgetSpent", "StoreError", "NotFetched", "WrongHash")  # faults that would hit all further samples too
PACKAGES = ("onprompt", "numpy", "pillow", "openvino", "opencv-python-headless", "spacy", "torch", "transformers")
REFUSALS = 20  # with which a run ends, if nothing else came
AT_ONCE = 256  # samples entered in one transaction
MOST = 32 * 2**20  # bytes of pictures among them


@dataclass(slots=True)
class Summary:
    """How a run went so far."""

    path: Path
    generation: int = 1
    new: bool = True  # whether this way of judging is new to the file
    changed: str = ""  # in what it differs from the one before
    known: int = 0  # verdicts that this way of judging has in the file from before
    before: int = 0  # samples that had a verdict already, of those that were read so far
    done: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)  # the first message of each kind of fault
    tokens: int = 0
    cost: float = 0.0
    stopped: str = ""  # why it ended before its end
    interrupted: bool = False  # by hand

    def spend(self, tokens_in: int, tokens_out: int, cost: float | None) -> None:
        """Count what an answer took."""
        self.tokens += tokens_in + tokens_out
        self.cost += cost or 0.0


Tell = Callable[[Summary], None]


def silent(summary: Summary) -> None:
    """Nobody watches."""


def run(data: Dataset, out: Path, job: JudgeJob, engine: str = "threads", tell: Tell = silent) -> Summary:
    """Judge every sample of a dataset that has no verdict yet; `tell` is called with the summary before and after."""
    identity, hands = job.identity, plugins.load("runs.engines", engine).load(job.settings)
    with Ledger(out, writing=True) as ledger:
        generation, new = ledger.generation(identity, fingerprint(identity))
        changed = differing(identity, ledger.identity_before(generation)) if new else ""
        summary = Summary(out, generation, new, changed, ledger.number(generation))
        ledger.begin(generation, data.source, versions())
        try:
            tell(summary)
            for done in hands.run(job, wanted(data, ledger, summary, job.rubric)):
                note(done, ledger, summary)
                tell(summary)
                if summary.stopped:
                    break
        except KeyboardInterrupt:
            summary.stopped, summary.interrupted = "stopped by hand", True
        return summary


def to_do(data: Dataset, out: Path, job: JudgeJob) -> Iterator[Mapping[str, Any]]:
    """What a run would judge now; nothing is written."""
    with Ledger(out) if out.is_file() else nullcontext() as ledger:
        fingerprint_now = fingerprint(job.identity)
        for row in data.rows():
            if isinstance(row, Row) and not (ledger and ledger.has(entry(row, job.rubric), fingerprint_now)):
                yield row.item


def wanted(data: Dataset, ledger: Ledger, summary: Summary, rubric: Rubric) -> Iterator[Task]:
    """The samples that have no verdict yet, entered as they come."""
    whole = True
    for chunk in chunks(data.rows(), rubric.image_inputs):
        places = ledger.enter([entry(row, rubric) for row in chunk], summary.generation)
        for row, (number, has_verdict) in zip(chunk, places, strict=True):
            if has_verdict:
                summary.before += 1
            elif isinstance(row, BadRow):
                whole = whole and not row.rest_lost
                note(Done(number, fault=Fault("bad_row", f"{row.line}: {row.message}")), ledger, summary)
            else:
                yield Task(number, row.item)
    if whole:
        ledger.end()


def chunks(rows: Iterator[Row | BadRow], images: Sequence[str]) -> Iterator[list[Row | BadRow]]:
    """Rows as they are entered: many, but few where they hold whole pictures."""
    chunk: list[Row | BadRow] = []
    size = 0
    for row in rows:
        chunk.append(row)
        if isinstance(row, Row):
            size += sum(len(row.item[name]) for name in images if isinstance(row.item.get(name), bytes))
        if len(chunk) == AT_ONCE or size > MOST:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def note(done: Done, ledger: Ledger, summary: Summary) -> None:
    """Keep what became of a task, and count it."""
    if done.verdict:
        ledger.keep(done.number, summary.generation, done.verdict)
        summary.done += 1
        summary.spend(done.verdict.row["tokens_in"], done.verdict.row["tokens_out"], done.verdict.row["cost"])
    elif done.fault:
        ledger.fail(done.number, summary.generation, done.fault)
        summary.faults[done.fault.kind] += 1
        summary.examples.setdefault(done.fault.kind, done.fault.message)
        summary.spend(done.fault.tokens_in, done.fault.tokens_out, done.fault.cost)
        if done.fault.kind in FINAL or refused(summary):
            summary.stopped = done.fault.message


def refused(summary: Summary) -> bool:
    """Whether nothing but refusals came so far: a wrong key or an unknown model, which would befall all that follow."""
    return summary.faults["Rejected"] >= REFUSALS and not summary.done


def entry(row: Row | BadRow, rubric: Rubric) -> Entry:
    """A sample as it is stored; pictures in memory by their hash."""
    if isinstance(row, BadRow):
        return Entry(row.id, "", "", "", "", json.dumps({"line": row.line}), "", "")
    images = rubric.image_inputs
    given = {name: described(value, name in images) for name, value in row.item.items()}
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
        hashlib.sha256(json.dumps([moved, stamps]).encode()).hexdigest(),  # the same where all has moved together
    )


def described(value: object, is_image: bool) -> Any:
    """A value as JSON has it: a path as it is from anywhere, bytes by their hash."""
    if is_image and isinstance(value, str | Path) and not str(value).startswith(("http://", "https://")):
        return os.path.abspath(value)  # noqa: PTH100 Path.resolve asks the disk, for each of many
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return f"sha256:{hashlib.sha256(value).hexdigest()}"
    return list(value) if isinstance(value, list | tuple) else repr(type(value))


def stamp(path: str | Path) -> str:
    """What changes when a file does."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return "none"
    return f"{found.st_size}-{found.st_mtime_ns}"


def versions() -> dict[str, str]:
    """What runs."""
    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):  # of an extra
            found[name] = metadata.version(name)
    return found


def differing(now: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """The names of what differs."""
    now, before = ({**each, **each.get("settings", {}), "settings": 0} for each in (now, before))
    return ", ".join(sorted(name for name in now.keys() | before.keys() if now.get(name) != before.get(name)))


def fingerprint(identity: Mapping[str, Any]) -> str:
    """What tells one way of judging from another."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()

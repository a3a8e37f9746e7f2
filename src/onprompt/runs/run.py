"""Samples in, verdicts stored. Killed at any moment, a run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from onprompt import api, plugins, types
from onprompt.errors import ImageError, OnpromptError, ServerTrouble, UnreadableAnswer
from onprompt.models.client import Asker
from onprompt.report.document import document
from onprompt.runs.datasets import BadRow, Dataset, Row
from onprompt.runs.ledger import Entry, Fault, Kept, Ledger
from onprompt.settings import PRIVATE, Settings
from onprompt.types import Judge, Verdict
from onprompt.vision.runtime import use_single_core

FINAL = ("BudgetSpent", "StoreError", "NotFetched", "WrongHash")  # what would befall all that follow
PACKAGES = ("onprompt", "numpy", "pillow", "openvino", "opencv-python-headless", "spacy", "torch", "transformers")
REFUSALS = 20  # with which a run ends, if nothing else came
FILES = ("image", "before", "after", "mask")
AT_ONCE = 256  # samples entered in one transaction
MOST = 32 * 2**20  # bytes of pictures among them
# Settings that change how long a verdict takes or what it costs, and not what it says.
NO_MATTER = PRIVATE | {
    *("reuse_answers", "concurrency", "timeout", "retries", "backoff", "longest_wait", "source_timeout"),
    *("breaker_failures", "breaker_pause", "price_in", "price_out", "budget", "batch", "device"),
}


class Task(NamedTuple):
    """A sample that wants a verdict: its number in the ledger, and what the judge is given."""

    number: int
    item: Mapping[str, Any]


class Done(NamedTuple):
    """What became of a task."""

    number: int
    kept: Kept | None = None
    fault: Fault | None = None


class Job(types.Work[Task, Done], Protocol):
    """What a run does with each task: anything with an identity, which tells its verdicts from others."""

    @property
    def settings(self) -> Settings: ...

    @property
    def identity(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Work:
    """What is done with each task, wherever that is: it can be sent to other processes, which make their own judge."""

    rubric: str
    settings: Settings

    def __reduce__(self) -> tuple[type[Work], tuple[str, Settings]]:
        return Work, (self.rubric, self.settings)  # a judge stays where it was made

    @cached_property
    def judge(self) -> Judge:
        return api.judge_of(self.rubric, self.settings)

    @property
    def slots(self) -> int:
        """How many tasks it likes to have under way."""
        return self.judge.slots

    @property
    def bound_by(self) -> str:
        """A model in the process that answers in batches, a server that is asked, or else the cores."""
        asker = getattr(self.judge, "asker", None)
        if self.settings.detector.startswith("hf:") or (asker and hasattr(asker.backend.backend, "slots")):
            return "model"
        return "server" if self.settings.judged_by == "vlm" else "cores"

    def begin(self) -> None:
        """From now on the thread is one of several that run networks."""
        use_single_core()

    def stop(self) -> None:
        """Let nobody wait for a server any more."""
        if asker := getattr(self.judge, "asker", None):
            asker.stop()

    @property
    def identity(self) -> Mapping[str, Any]:
        return identity_of(self.rubric, self.settings, self.judge.identity, getattr(self.judge, "asker", None))

    def __call__(self, task: Task, /) -> Done:
        """The verdict as it is kept, or the fault."""
        return attempted(task, lambda: self.judge.judge(api.sample_of(self.rubric, self.settings, **task.item)))

    def lost(self, task: Task, why: str) -> Done:
        """A task whose worker died again and again, or that can't be sent to one."""
        return lost(task, why)


def attempted(task: Task, judge: Callable[[], Verdict]) -> Done:
    """The verdict as it is kept, or the fault."""
    try:
        return Done(task.number, kept(judge()))
    except OnpromptError as error:
        return Done(task.number, fault=fault_of(error))
    except Exception as error:  # a mistake of ours or of a library's: it costs this sample and no other
        return Done(task.number, fault=Fault(type(error).__name__, f"unexpected: {error}"))


def lost(task: Task, why: str) -> Done:
    """A task on which every process died that had it."""
    return Done(task.number, fault=Fault("WorkerLost", why))


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


def run(data: Dataset, out: Path, work: Job, engine: str = "threads", tell: Tell = silent) -> Summary:
    """Judge every sample of a dataset that has no verdict yet; `tell` is called with the summary before and after."""
    identity, hands = work.identity, plugins.load("runs.engines", engine).load(work.settings)
    with Ledger(out, writing=True) as ledger:
        generation, new = ledger.generation(identity, fingerprint(identity))
        changed = differing(identity, ledger.identity_before(generation)) if new else ""
        summary = Summary(out, generation, new, changed, ledger.number(generation))
        ledger.begin(generation, data.source, versions())
        try:
            tell(summary)
            for done in hands.run(work, wanted(data, ledger, summary)):
                note(done, ledger, summary)
                tell(summary)
                if summary.stopped:
                    break
        except KeyboardInterrupt:
            summary.stopped, summary.interrupted = "stopped by hand", True
        return summary


def to_do(data: Dataset, out: Path, work: Job) -> Iterator[Mapping[str, Any]]:
    """What a run would judge now; nothing is written."""
    with Ledger(out) if out.is_file() else nullcontext() as ledger:
        print_of_now = fingerprint(work.identity)
        for row in data.rows():
            if isinstance(row, Row) and not (ledger and ledger.has(entry(row), print_of_now)):
                yield row.item


def wanted(data: Dataset, ledger: Ledger, summary: Summary) -> Iterator[Task]:
    """The samples that have no verdict yet, entered as they come."""
    whole = True
    for chunk in chunks(data.rows()):
        places = ledger.enter([entry(each) for each in chunk], summary.generation)
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


def chunks(rows: Iterator[Row | BadRow]) -> Iterator[list[Row | BadRow]]:
    """Rows as they are entered: many, but few where they hold whole pictures."""
    chunk: list[Row | BadRow] = []
    size = 0
    for row in rows:
        chunk.append(row)
        if isinstance(row, Row):
            size += sum(len(row.item[name]) for name in FILES if isinstance(row.item.get(name), bytes))
        if len(chunk) == AT_ONCE or size > MOST:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def note(done: Done, ledger: Ledger, summary: Summary) -> None:
    """Keep what became of a task, and count it."""
    if done.kept:
        ledger.keep(done.number, summary.generation, done.kept)
        summary.done += 1
        summary.spend(done.kept.row["tokens_in"], done.kept.row["tokens_out"], done.kept.row["cost"])
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


def entry(row: Row | BadRow) -> Entry:
    """A sample as it is kept; pictures in memory by their hash."""
    if isinstance(row, BadRow):
        return Entry(row.id, "", "", "", "", json.dumps({"line": row.line}), "", "")
    told = {name: described(name, value) for name, value in row.item.items()}
    moved = {name: os.path.basename(each) if name in FILES else each for name, each in told.items()}  # noqa: PTH119
    picture = str(told.get("image", told.get("after", "")))
    words = str(row.item.get("prompt", row.item.get("instruction", "")))
    stamps = " ".join(stamp(row.item[name]) for name in FILES if isinstance(row.item.get(name), str | Path))
    return Entry(
        row.id,
        words,
        picture,
        row.model,
        row.category,
        json.dumps(told, ensure_ascii=False),
        stamps,
        hashlib.sha256(json.dumps([moved, stamps]).encode()).hexdigest(),  # the same where all has moved together
    )


def described(name: str, value: object) -> Any:
    """A value as JSON has it: a path as it is from anywhere, bytes by their hash."""
    if name in FILES and isinstance(value, str | Path) and not str(value).startswith(("http://", "https://")):
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


def identity_of(rubric: str, settings: Settings, judge: Mapping[str, Any], asker: Asker | None) -> dict[str, Any]:
    """All that a verdict depends on beside the sample."""
    told = settings.model_dump(mode="json", exclude=set(NO_MATTER) | {"judge", "model"})
    asked = {"asked": dict(asker.identity)} if asker else {}
    about = {name: value for name, value in judge.items() if name not in ("versions", "settings")}
    return {**about, **asked, "rubric": rubric, "settings": told}


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


def kept(verdict: Verdict) -> Kept:
    """A verdict as the ledger keeps it; a model's raw answers stay in the store of answers, by their keys."""
    told = document(verdict)
    for answer in told["answers"]:
        del answer["text"]
    usage = verdict.usage
    row = {
        "score": verdict.score,
        "value": verdict.value,
        "flags": " ".join(verdict.flags),
        "summary": verdict.summary,
        "factors": json.dumps({name: each.score for name, each in verdict.factors.items()}),
        "coverage": verdict.coverage,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost": usage.cost,
        "answers": " ".join(answer.key for answer in verdict.answers),
        "image_sha256": verdict.picture.sha256,
    }
    columns = ("kind", "asked", "found", "outcome", "score", "confidence", "source")
    checks = [[getattr(check, name) for name in columns] for check in verdict.checks]
    return Kept(row, checks, json.dumps(told, ensure_ascii=False))


def fault_of(error: OnpromptError) -> Fault:
    """Why a sample has no verdict."""
    if isinstance(error, UnreadableAnswer):
        return Fault(error.kind, str(error), error.text, *error.spent)
    kind = f": {error.kind}" if isinstance(error, ImageError | ServerTrouble) else ""
    return Fault(f"{type(error).__name__}{kind}", str(error))

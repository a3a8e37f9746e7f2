"""Samples in, verdicts stored: what a run does with each sample, here or in another process. It resumes at any time."""

import hashlib
import json
import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from onprompt import plugins, samples, serial
from onprompt.errors import ImageError, OnpromptError, ServerTrouble, UnreadableAnswer
from onprompt.models.answer_store import AnswerStore
from onprompt.runs.datasets import Dataset, Row
from onprompt.runs.file import INCOMPLETE, RunFile, SampleError, StoredVerdict
from onprompt.runs.reading import OWN, stored_identity
from onprompt.settings import PRIVATE, Settings
from onprompt.types import Asks, Judge, Rubric, Sample, Verdict
from onprompt.vision.runtime import limit_threads, use_single_core
from onprompt.wording import claim_words, finding_words

FATAL = ("BudgetSpent", "StoreError", "NotFetched", "WrongHash")  # errors that would hit all further samples too
PACKAGES = ("onprompt", "numpy", "pillow", "openvino", "opencv-python-headless", "torch", "transformers")
MAX_REJECTED = 20  # rejected requests that stop a run without verdicts
MAX_UNANSWERED = 20  # samples in a row that no server answers, which stop a run
CHUNK = 64  # samples added in one transaction: each may hold an image
# Settings that change how long a verdict takes or what it costs, but not what it says.
IRRELEVANT = PRIVATE | {
    *("reuse_answers", "concurrency", "timeout", "retries", "backoff"),
    *("price_in", "price_out", "budget", "max_megabytes"),
}
JURY = {name for name in Settings.model_fields if name.startswith("jury_")}  # what only a jury depends on


@dataclass(frozen=True)
class JudgeJob:
    """Judges samples by a rubric. It can be sent to other processes, which load their own judge."""

    rubric_name: str
    settings: Settings
    workers: int = field(default=0, kw_only=True)  # samples in progress at a time; 0: as many as the judge likes

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rubric_name, self.settings)  # without the judge, which can't be sent

    @cached_property
    def rubric(self) -> Rubric:
        return samples.load_rubric(self.rubric_name)

    @cached_property
    def judge(self) -> Judge:
        return samples.load_judge(self.rubric, self.settings)

    @property
    def slots(self) -> int:
        return self.workers or self.judge.slots

    @property
    def bound_by(self) -> str:
        return self.judge.bound_by

    def begin(self, cores: int = 0) -> None:
        """Mark the thread as one of several that run networks."""
        if cores:
            limit_threads(cores)
        use_single_core()

    def stop(self) -> None:
        self.judge.stop()

    def close(self) -> None:
        """Close the judge; the next sample would load another."""
        if "judge" in vars(self):
            vars(self).pop("judge").close()

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that a verdict depends on besides the sample."""
        others = set() if samples.asks(self.settings.judged_by) is Asks.SEVERAL else JURY
        settings = self.settings.model_dump(
            mode="json", exclude=set(IRRELEVANT) | {"judge", "model", "models"} | others
        )
        about = {name: value for name, value in self.judge.identity.items() if name not in ("versions", "settings")}
        return {**about, "rubric": self.rubric.name, "settings": settings}

    def sample(self, item: Mapping[str, Any]) -> Sample:
        """The sample with the given inputs."""
        return samples.make_sample(self.rubric, self.settings, item)

    def __call__(self, row: Row, /) -> StoredVerdict | SampleError:
        """The verdict as it is stored, or why there is none."""
        try:
            return to_stored(row.number, self.judge.judge(self.sample(row.item)))
        except UnreadableAnswer as error:
            return SampleError(row.number, error.kind, str(error), error.text, *error.spent)
        except OnpromptError as error:
            kind = f": {error.kind}" if isinstance(error, ImageError | ServerTrouble) else ""
            return SampleError(row.number, f"{type(error).__name__}{kind}", str(error))
        except Exception as error:  # a bug here or in a library costs one sample, not the run
            return SampleError(row.number, type(error).__name__, f"unexpected: {error}")

    def lost(self, row: Row, why: str) -> SampleError:
        """The result of a row that can't be sent to a worker, or whose every worker died."""
        return SampleError(row.number, "WorkerLost", why)


def to_stored(number: int, verdict: Verdict) -> StoredVerdict:
    """A verdict as a run file stores it."""
    usage = verdict.usage
    low, high = verdict.interval or (None, None)
    row = {name: getattr(verdict, name) for name in ("score", "value", "summary", "coverage")}
    row |= {"low": low, "high": high, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost": usage.cost}
    row |= {
        "flags": " ".join(map(quote, verdict.flags)),  # a rubric's own may have spaces
        "factors": json.dumps({name: factor.score for name, factor in verdict.factors.items()}),
        "answers": " ".join(answer.key for answer in verdict.answers),
        "image_sha256": verdict.sample.picture.sha256,
    }
    checks = [
        (c.claim.group, claim_words(c.claim), finding_words(c), c.outcome.value, c.probability, c.source)
        for c in verdict.checks
    ]
    return StoredVerdict(number, row, checks, json.dumps(serial.dump(verdict), ensure_ascii=False))


@dataclass(slots=True)
class Summary:
    """The state of a run."""

    path: Path
    configuration: int = 1
    new: bool = True  # whether this way of judging is new to the file
    changed: str = ""  # how it differs from the previous one
    before: int = 0  # samples read so far that had a verdict already
    done: int = 0
    incomplete: int = 0  # verdicts of a jury without a model that failed
    unanswered: int = 0  # samples that no server answered since the last verdict
    repeated: int = 0  # rows whose id an earlier row has
    repeat: str = ""  # such an id, and the one that its row got
    errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)  # the first message of each kind of error
    tokens: int = 0
    cost: float = 0.0
    stopped: str = ""  # why it stopped early
    interrupted: bool = False  # by Ctrl-C

    def spend(self, tokens_in: int, tokens_out: int, cost: float | None) -> None:
        """Add the cost of an answer."""
        self.tokens += tokens_in + tokens_out
        self.cost += cost or 0.0


Observer = Callable[[Summary], None]


def run(
    data: Dataset,
    out: Path,
    job: JudgeJob,
    engine: str = "threads",
    on_progress: Observer = lambda _: None,
    limit: int | None = None,
) -> Summary:
    """Judge every sample of a dataset, or of its first ones, that has no verdict yet.

    `on_progress` is called first and after each.
    """
    job = replace(job, settings=job.settings.model_copy(update={"asked_by": str(out.resolve())}))
    identity, workers = job.identity, plugins.load("runs.engines", engine).load(job.settings)
    with closing(job), RunFile(out, writing=True) as file:
        configuration, new = file.add_configuration(identity)
        (previous,) = file.first("SELECT max(id) FROM configurations WHERE id < ?", (configuration,))
        changed = differing_names(identity, stored_identity(file, previous) if previous else {}) if new else ""
        summary = Summary(out, configuration, new, changed)
        count_calls(file, job)  # of a run that was killed
        file.begin(configuration, data.source, versions(), data.named)
        try:
            on_progress(summary)
            for result in workers.run(job, open_tasks(data, file, summary, job.rubric, limit)):
                store(result, file, summary)
                on_progress(summary)
        except KeyboardInterrupt:
            summary.stopped, summary.interrupted = "interrupted", True
        summary.spend(*count_calls(file, job))
        return summary


def count_calls(file: RunFile, job: JudgeJob) -> tuple[int, int, float | None]:
    """Add calls to the cost of the last run that were answered, but whose samples have no result yet."""
    settings = job.settings
    if samples.asks(settings.judged_by) is Asks.NONE or not file.run:
        return 0, 0, None
    with closing(AnswerStore(settings.answers)) as answers:
        total = answers.spent(settings.asked_by, *file.first("SELECT min(created) FROM runs", kind=tuple[str]))
    return file.reconcile(total.tokens_in, total.tokens_out, total.cost)


def open_tasks(data: Dataset, file: RunFile, summary: Summary, rubric: Rubric, limit: int | None) -> Iterator[Row]:
    """The samples that have no verdict yet, added to the file as they are read."""
    complete = True  # unless it stops: then what is in progress is still stored, and nothing else begun
    rows = data.rows()
    given = islice(rows, limit)
    while chunk := list(islice(given, CHUNK)):
        added = file.add_samples([sample_columns(row, rubric) for row in chunk], summary.configuration)
        for row, (number, has_verdict) in zip(chunk, added, strict=True):
            if row.repeated:
                summary.repeated += 1
                summary.repeat = summary.repeat or f"{row.repeated!r} → {row.id!r}"
            if has_verdict:
                summary.before += 1
            elif row.error:
                complete = complete and not row.rest_lost
                store(SampleError(number, "bad_row", f"{row.line}: {row.error}"), file, summary)
            else:
                yield replace(row, number=number)
            if summary.stopped:
                return
    if complete and next(rows, None) is None:
        file.end()


def store(result: StoredVerdict | SampleError, file: RunFile, summary: Summary) -> None:
    """Store and count the verdict or error of a sample."""
    if isinstance(result, StoredVerdict):
        file.save_verdict(summary.configuration, result)
        summary.done, summary.unanswered = summary.done + 1, 0
        summary.incomplete += INCOMPLETE in result.row["flags"].split()
        summary.spend(result.row["tokens_in"], result.row["tokens_out"], result.row["cost"])
        return
    file.save_error(summary.configuration, result)
    summary.errors[result.kind] += 1
    summary.examples.setdefault(result.kind, result.message)
    summary.spend(result.tokens_in, result.tokens_out, result.cost)
    # Nothing but rejected requests: a wrong key or an unknown model, which would hit all others too.
    rejected = summary.errors["Rejected"] >= MAX_REJECTED and not summary.done
    summary.unanswered += result.kind.startswith("ServerTrouble")
    if result.kind in FATAL or rejected or summary.unanswered >= MAX_UNANSWERED:
        summary.stopped = summary.stopped or result.message


def sample_columns(row: Row, rubric: Rubric) -> dict[str, str]:
    """A sample as it is stored, with images in memory by their hash; `version` changes with any input or file."""
    own = {OWN: dict(row.own)} if row.own else {}
    images = rubric.image_inputs
    given = {name: describe(value, name in images) for name, value in row.item.items()}
    moved = {name: os.path.basename(value) if name in images else value for name, value in given.items()}  # noqa: PTH119
    stamps = " ".join(stamp(row.item[name]) for name in images if isinstance(row.item.get(name), str | Path))
    version = hashlib.sha256(json.dumps([moved, stamps]).encode()).hexdigest()  # the same if all files moved
    return {
        "id": row.id,
        "prompt": str(row.item.get(rubric.prompt, "")),
        "image": str(given.get(rubric.picture, "")),
        "model": row.model,
        "category": row.category,
        "given": json.dumps(({"line": row.line} if row.error else given) | own, ensure_ascii=False),
        "stamp": "" if row.error else stamps,
        "version": "" if row.error else version,
    }


def describe(value: object, is_image: bool) -> Any:
    """A value for JSON: an absolute path for an image, a hash for bytes."""
    if isinstance(value, bytes):
        return f"sha256:{hashlib.sha256(value).hexdigest()}"
    if is_image and isinstance(value, str | Path) and not str(value).startswith(("http://", "https://")):
        return os.path.abspath(value)  # noqa: PTH100 Path.resolve reads the disk, for each of many
    return value


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

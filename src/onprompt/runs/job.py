"""What a run does with each sample, in a thread here or in a process elsewhere."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from onprompt import samples, serial
from onprompt.errors import ImageError, OnpromptError, ServerTrouble, UnreadableAnswer
from onprompt.runs.ledger import Fault, StoredVerdict
from onprompt.settings import PRIVATE, Settings
from onprompt.types import Asks, Check, Judge, Rubric, Sample, Verdict
from onprompt.vision import limit_threads, use_single_core
from onprompt.wording import claim_words, finding_words

# Settings that change how long a verdict takes or what it costs, but not what it says.
IRRELEVANT = PRIVATE | {
    *("reuse_answers", "concurrency", "timeout", "retries", "backoff", "longest_wait", "source_timeout"),
    *("breaker_failures", "breaker_pause", "price_in", "price_out", "budget"),
    *("max_megabytes", "weights_source"),  # the weights themselves are settings
}
JURY = {name for name in Settings.model_fields if name.startswith("jury_")}  # what only a jury depends on


class Task(NamedTuple):
    """A sample that needs a verdict: its number in the ledger, and the inputs of the rubric."""

    number: int
    item: Mapping[str, Any]
    sample: Sample | None = None  # where it is prepared


class Done(NamedTuple):
    """The result of a task."""

    number: int
    verdict: StoredVerdict | None = None
    fault: Fault | None = None


@dataclass(frozen=True)
class JudgeJob:
    """Judges samples by a rubric. It can be sent to other processes, which load their own judge."""

    rubric_name: str
    settings: Settings

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
        return self.judge.slots

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

    def prepare(self, task: Task) -> Task:
        """The task with its sample, files read and decoded; without it where they can't be: its turn says why."""
        with suppress(Exception):
            sample = self.sample(task.item)
            self.judge.prepare(sample)
            return task._replace(sample=sample)
        return task

    def __call__(self, task: Task, /) -> Done:
        """The verdict as it is stored, or the fault."""
        try:
            return Done(task.number, to_stored(self.judge.judge(task.sample or self.sample(task.item))))
        except OnpromptError as error:
            return Done(task.number, fault=to_fault(error))
        except Exception as error:  # a bug here or in a library costs one sample, not the run
            return Done(task.number, fault=Fault(type(error).__name__, f"unexpected: {error}"))

    def lost(self, task: Task, why: str) -> Done:
        """The result of a task that can't be sent to a worker, or whose every worker died."""
        return Done(task.number, fault=Fault("WorkerLost", why))


def to_stored(verdict: Verdict) -> StoredVerdict:
    """A verdict as the ledger stores it; a model's raw answers stay in the answer store, by their keys."""
    document = serial.dump(verdict)
    for answer in document.get("answers", ()):
        answer["text"] = ""
    usage = verdict.usage
    row = {
        "score": verdict.score,
        "value": verdict.value,
        "flags": " ".join(verdict.flags),
        "summary": verdict.summary,
        "factors": json.dumps({name: factor.score for name, factor in verdict.factors.items()}),
        "coverage": verdict.coverage,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost": usage.cost,
        "answers": " ".join(answer.key for answer in verdict.answers),
        "image_sha256": verdict.sample.picture.sha256,
    }
    return StoredVerdict(row, [check_row(check) for check in verdict.checks], json.dumps(document, ensure_ascii=False))


def check_row(check: Check) -> list[Any]:
    """A check as a row of the ledger."""
    words = claim_words(check.claim), finding_words(check)
    return [check.claim.kind, *words, check.outcome.value, check.probability, check.probability, check.source]


def to_fault(error: OnpromptError) -> Fault:
    """Why a sample has no verdict."""
    if isinstance(error, UnreadableAnswer):
        return Fault(error.kind, str(error), error.text, *error.spent)
    kind = f": {error.kind}" if isinstance(error, ImageError | ServerTrouble) else ""
    return Fault(f"{type(error).__name__}{kind}", str(error))

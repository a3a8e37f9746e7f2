"""What a run does with each sample, wherever that is: in a thread here, or in a process elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from onprompt import api, serial
from onprompt.errors import ImageError, OnpromptError, ServerTrouble, UnreadableAnswer
from onprompt.runs.ledger import Fault, StoredVerdict
from onprompt.settings import PRIVATE, Settings
from onprompt.types import Check, Judge, Rubric, Sample, Verdict
from onprompt.vision.runtime import limit_threads, use_single_core
from onprompt.wording import claim_words, finding_words

# Settings that change how long a verdict takes or what it costs, and not what it says.
NO_MATTER = PRIVATE | {
    *("reuse_answers", "concurrency", "timeout", "retries", "backoff", "longest_wait", "source_timeout"),
    *("breaker_failures", "breaker_pause", "price_in", "price_out", "budget", "batch", "device"),
}


class Task(NamedTuple):
    """A sample that needs a verdict: its number in the ledger, and the inputs of the rubric."""

    number: int
    item: Mapping[str, Any]


class Done(NamedTuple):
    """What became of a task."""

    number: int
    verdict: StoredVerdict | None = None
    fault: Fault | None = None


@dataclass(frozen=True)
class JudgeJob:
    """Judges each sample by a rubric. It can be sent to other processes, which make their own judge."""

    rubric_name: str
    settings: Settings

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rubric_name, self.settings)  # a judge stays where it was made

    @cached_property
    def rubric(self) -> Rubric:
        return api.rubric_named(self.rubric_name)

    @cached_property
    def judge(self) -> Judge:
        return api.judge_of(self.rubric_name, self.settings)

    @property
    def slots(self) -> int:
        return self.judge.slots

    @property
    def bound_by(self) -> str:
        return self.judge.bound_by

    def begin(self, cores: int = 0) -> None:
        """From now on the thread is one of several that run networks."""
        if cores:
            limit_threads(cores)
        use_single_core()

    def stop(self) -> None:
        self.judge.stop()

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that a verdict depends on beside the sample."""
        settings = self.settings.model_dump(mode="json", exclude=set(NO_MATTER) | {"judge", "model"})
        about = {name: value for name, value in self.judge.identity.items() if name not in ("versions", "settings")}
        return {**about, "rubric": self.rubric.name, "settings": settings}

    def sample(self, item: Mapping[str, Any]) -> Sample:
        """The sample for some inputs."""
        return api.sample_of(self.rubric, self.settings, item)

    def __call__(self, task: Task, /) -> Done:
        """The verdict as it is stored, or the fault."""
        try:
            return Done(task.number, stored(self.judge.judge(self.sample(task.item))))
        except OnpromptError as error:
            return Done(task.number, fault=fault_of(error))
        except Exception as error:  # a mistake of ours or of a library's: it costs this sample and no other
            return Done(task.number, fault=Fault(type(error).__name__, f"unexpected: {error}"))

    def lost(self, task: Task, why: str) -> Done:
        """A task whose worker died again and again, or that can't be sent to one."""
        return Done(task.number, fault=Fault("WorkerLost", why))


def stored(verdict: Verdict) -> StoredVerdict:
    """A verdict as the ledger stores it; a model's raw answers stay in the store of answers, by their keys."""
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
    checks = [check_row(check) for check in verdict.checks]
    return StoredVerdict(row, checks, json.dumps(document, ensure_ascii=False))


def check_row(check: Check) -> list[Any]:
    """A check as a row of the ledger."""
    words = claim_words(check.claim), finding_words(check)
    return [check.claim.kind, *words, check.outcome.value, check.score, check.confidence, check.source]


def fault_of(error: OnpromptError) -> Fault:
    """Why a sample has no verdict."""
    if isinstance(error, UnreadableAnswer):
        return Fault(error.kind, str(error), error.text, *error.spent)
    kind = f": {error.kind}" if isinstance(error, ImageError | ServerTrouble) else ""
    return Fault(f"{type(error).__name__}{kind}", str(error))

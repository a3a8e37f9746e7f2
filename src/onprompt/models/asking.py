"""What the judges that ask a model share: questions, and a second attempt at an unreadable answer."""

from __future__ import annotations

import platform
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import TypeVar

from onprompt.errors import OnpromptError, PromptError, UnreadableAnswer
from onprompt.models.answer_store import key_of
from onprompt.models.client import ModelClient, estimate
from onprompt.settings import Settings
from onprompt.types import (
    Answer,
    Judge,
    JudgePlan,
    Message,
    Picture,
    Question,
    Rubric,
    Sample,
    SentImage,
    Usage,
)

Parsed = TypeVar("Parsed")

READER = 4  # the version of reading answers: with a new one, runs read their cached answers again
YES_NO = ("yes", "no")
SHORT_ANSWER = 16  # tokens of an answer of which only the first matters
QUOTED = 4000  # characters of an answer that are shown to the model again


class ModelJudge(Judge):
    """A judge that asks a model."""

    asks_again = True  # whether an unreadable answer is asked for once more

    def __init__(self, settings: Settings, client: ModelClient) -> None:
        self.settings, self.client = settings, client
        self.slots, self.bound_by, self.model = client.slots, client.bound_by, client.name

    @abstractmethod
    def questions(self, sample: Sample) -> Iterable[Question]:
        """All that would be asked about a sample if every answer is readable."""

    def plan(self, samples: Iterable[Callable[[], Sample]]) -> JudgePlan:
        known, valid, usage = 0, 0, Usage()
        seen, faults = set[str](), list[OnpromptError]()
        for make in samples:
            try:
                for question in self.questions(make()):
                    key = key_of(question, self.client.identity)
                    if key in seen or self.client.cached(key):
                        known += 1
                    else:
                        usage += estimate(question)
                        seen.add(key)
                valid += 1
            except OnpromptError as error:
                faults.append(error)
        if faults and not valid:
            raise faults[0]
        price = self.client.budget.price
        usage = replace(usage, cost=price.of(usage) if price else None)
        return JudgePlan(self.model, len(seen), known, usage, faults, self.asks_again)

    def spent(self) -> float:
        return self.client.budget.spent

    def stop(self) -> None:
        self.client.stop()

    def close(self) -> None:
        self.client.close()

    def show(self, picture: Picture) -> SentImage:
        """An image as it is sent."""
        quality = self.settings.send_quality
        return SentImage(picture, self.settings.send_side, "jpeg" if quality else "png", quality)


class AnswerJudge(ModelJudge):
    """A judge whose verdicts rest on a model's answers, which it reads by a rubric."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        super().__init__(settings, client)
        self.rubric = rubric

    def read_answer(
        self, question: Question, read: Callable[[Answer], Parsed], answers: list[Answer], attempts: int = 2
    ) -> Parsed:
        """What is read out of an answer, which is asked for again, with the reason, while attempts are left."""
        for left in reversed(range(attempts)):
            answers.append(answer := self.client.ask(question))
            try:
                parsed = read(answer)
            except UnreadableAnswer as why:
                self.client.answers.mark(answer.key, why.kind)
                if not left:
                    raise
                question = replace(question, messages=ask_again(question, why))
            else:
                if not answer.cached:
                    self.client.answers.mark(answer.key, "read")
                return parsed
        raise AssertionError("unreachable")


def check_prompt(prompt: str, settings: Settings) -> None:
    """Refuse a prompt that is empty, too long or can't be sent."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise PromptError("the prompt is empty")
    if not prompt.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in prompt):
        raise PromptError("the prompt contains an unpaired surrogate, which can't be sent")
    if len(prompt) > settings.max_prompt_characters:
        limit = f"the limit is {settings.max_prompt_characters:,} (setting max_prompt_characters)"
        raise PromptError(f"the prompt has {len(prompt):,} characters; {limit}")


def ask_again(question: Question, why: UnreadableAnswer) -> tuple[Message, ...]:
    """The question, the unreadable answer, and the reason."""
    reason = f"That answer can't be used: {why.reason}. Answer again, completely and in the format that was asked for."
    if not why.text.strip():
        *rest, last = question.messages
        return (*rest, Message(last.role, (*last.parts, f"\n{reason}")))
    quoted = why.text[:QUOTED].encode(errors="replace").decode()
    return (*question.messages, Message("assistant", (quoted,)), Message("user", (reason,)))


def with_answers(error: UnreadableAnswer, answers: Sequence[Answer]) -> UnreadableAnswer:
    """The error with its answers."""
    error.answers = tuple(answers)
    if answers and all(answer.cached for answer in answers):
        error.args = (f"{error}; this answer is from the answer cache: --ask-again asks the model anew",)
    return error


@cache
def versions() -> Mapping[str, str]:
    """The versions of what ran."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in ("onprompt", "pillow")}}

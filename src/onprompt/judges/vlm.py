"""The judge that asks a vision-language model with the protocol's own text, and never makes a score up."""

from __future__ import annotations

import hashlib
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Any

from onprompt.errors import PromptError, UnreadableAnswer
from onprompt.models.client import ModelClient, NotCached, model_client
from onprompt.models.reading import choice_probabilities, expected_score, read_answer
from onprompt.rubrics.rate import PLAIN, RUBRIC
from onprompt.settings import Settings
from onprompt.types import (
    Answer,
    Factor,
    Message,
    Picture,
    Question,
    Reading,
    Rubric,
    Sample,
    Scene,
    Shown,
    Usage,
    Verdict,
)

Ask = Callable[[Question], Answer]
YES_NO = ("yes", "no")
READER = 1  # goes up when answers are read differently: runs then read theirs again, and ask nothing
QUOTED = 4000  # characters of an unreadable answer that are shown to the model again
SOME = 16  # tokens of an answer of which the first is wanted
# The settings that a model's answer depends on.
OURS = (
    "send_side",
    "send_format",
    "send_quality",
    "max_side",
    "answer_tokens",
    "temperature",
    "repeats",
    "repeat_temperature",
    "structured",
    "chances",
    "yes_no",
    "rate_examples",
)


def load(settings: Settings, rubric: Rubric) -> VlmJudge:
    """The judge for the model of the settings."""
    return VlmJudge(settings, rubric, model_client(settings))


class VlmJudge:
    """Sample → question → answer → reading → verdict."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        self.settings, self.client, self.slots = settings, client, client.slots
        self.rubric = PLAIN if rubric is RUBRIC and not settings.rate_examples else rubric
        self.told = {
            "rubric": f"{self.rubric.name}/{self.rubric.version}",
            "rubric_sha256": hashlib.sha256(self.rubric.text.encode()).hexdigest(),
            "judge": "vlm",
            "model": client.name,
            "versions": versions(),
            "settings": {name: getattr(settings, name) for name in OURS},
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**self.told, "reader": READER}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict; an UnreadableAnswer where no asking gave one that can be read."""
        return self.judged(sample, self.client.ask)

    def judge_known(self, sample: Sample) -> Verdict | None:
        """The verdict if the store has all the answers that it takes."""
        try:
            return self.judged(sample, self.client.cached_answer)
        except NotCached:
            return None

    def judged(self, sample: Sample, ask: Ask) -> Verdict:
        """The verdict by answers that come from somewhere."""
        checked(sample.prompt, self.settings)
        answers: list[Answer] = []
        readings: list[tuple[Reading, Answer]] = []
        unreadable: list[UnreadableAnswer] = []
        for repeat in range(self.settings.repeats):
            try:
                readings.append(self.once(self.question(sample, repeat), sample, answers, ask))
            except UnreadableAnswer as why:
                unreadable.append(why)
        if not readings:
            raise paid(unreadable[-1], answers)
        asked_again = len(answers) > len(readings) + len(unreadable)
        yes = self.yes(sample, answers, ask) if self.wants_yes else None
        factors = {name: factor(name, readings, self.rubric.scale) for name in readings[0][0].scores}
        first, flags = readings[0][0], [flag for reading, _ in readings for flag in reading.flags]
        flags += ["some_answers_unreadable"] if unreadable else []
        flags += ["asked_again"] if asked_again else []
        flags += ["yes_not_known"] if self.wants_yes and yes is None else []
        flags += ["mask_not_used"] if sample.mask else []
        return Verdict(
            rubric=self.rubric.name,
            score=factors["score"].score if "score" in factors else None,
            value=mean([self.rubric.share(finest(each)) for each in factors.values()]),
            flags=tuple(dict.fromkeys(flags)),
            checks=first.checks,
            pairs=tuple((check.asked, check.found) for check in first.checks),
            differences=first.differences,
            summary=first.summary,
            scene=Scene(sample.prompt),
            picture=sample.picture,
            before=sample.before,
            factors=factors,
            yes=yes,
            answers=tuple(answers),
            provenance=self.provenance(sample, answers),
        )

    def question(self, sample: Sample, repeat: int = 0) -> Question:
        """The rubric's own words, and how the answer shall be."""
        return Question(
            (Message("user", self.rubric.ask(sample, self.show)),),
            schema=self.rubric.schema if self.settings.structured else "",
            longest=self.settings.answer_tokens,
            temperature=self.settings.temperature if self.settings.repeats == 1 else self.settings.repeat_temperature,
            chances=self.settings.chances,
            repeat=repeat,
        )

    def questions(self, sample: Sample) -> list[Question]:
        """All that would be asked about a sample, if every answer can be read."""
        checked(sample.prompt, self.settings)
        asked = [self.question(sample, repeat) for repeat in range(self.settings.repeats)]
        return [*asked, *([self.yes_no(sample)] if self.wants_yes else [])]

    @property
    def wants_yes(self) -> bool:
        """Whether it is also asked if the picture shows the prompt."""
        return self.settings.yes_no and self.rubric.name == "verify"

    def yes_no(self, sample: Sample) -> Question:
        """The question of VQAScore."""
        text = f'Does this figure show "{sample.prompt}"? Please answer yes or no.'
        return Question((Message("user", (self.show(sample.picture), text)),), longest=SOME, choices=YES_NO)

    def show(self, picture: Picture) -> Shown:
        """A picture as it is sent."""
        return Shown(picture, self.settings.send_side, self.settings.send_format, self.settings.send_quality)

    def once(self, question: Question, sample: Sample, answers: list[Answer], ask: Ask) -> tuple[Reading, Answer]:
        """One asking; what can't be read is asked once more, with the reason."""
        try:
            return self.attempt(ask(question), sample, answers)
        except UnreadableAnswer as why:
            return self.attempt(ask(replace(question, messages=again(question, why))), sample, answers)

    def attempt(self, answer: Answer, sample: Sample, answers: list[Answer]) -> tuple[Reading, Answer]:
        """Read, and note in the store what became of it."""
        answers.append(answer)
        try:
            reading = read_answer(self.rubric, answer, sample)
        except UnreadableAnswer as why:
            self.client.answers.mark(answer.key, why.kind)
            raise
        if not answer.cached:
            self.client.answers.mark(answer.key, "read")
        return reading, answer

    def yes(self, sample: Sample, answers: list[Answer], ask: Ask) -> float | None:
        """The chance of a yes, as VQAScore asks; None where the server gives no probabilities, or another answer."""
        answer = ask(self.yes_no(sample))
        answers.append(answer)
        chances = choice_probabilities(answer.spots, YES_NO) if answer.stop in ("end", "length") else None
        self.client.answers.mark(answer.key, "read" if chances else "no_score")
        return chances["yes"] if chances else None

    def provenance(self, sample: Sample, answers: Sequence[Answer]) -> dict[str, Any]:
        """All that is needed to ask the same again."""
        return {
            **self.told,
            "model_answering": answers[0].model,
            "image_sha256": sample.picture.sha256,
            **({"before_sha256": sample.before.sha256} if sample.before else {}),
        }


def checked(prompt: str, settings: Settings) -> None:
    """Complain of a prompt that says nothing, or too much."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise PromptError("the prompt is empty")
    if not prompt.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in prompt):
        raise PromptError("the prompt holds half a character, which can't be sent")
    if len(prompt) > settings.max_prompt_characters:
        limit = f"{settings.max_prompt_characters:,} are read at most (setting max_prompt_characters)"
        raise PromptError(f"the prompt has {len(prompt):,} characters; {limit}")


def again(question: Question, why: UnreadableAnswer) -> tuple[Message, ...]:
    """The question, the answer that can't be read, and the reason."""
    reason = f"That answer can't be used: {why.reason}. Answer again, completely and in the format that was asked for."
    if not why.text.strip():
        *rest, last = question.messages
        return (*rest, Message(last.role, (*last.parts, f"\n{reason}")))
    quoted = why.text[:QUOTED].encode(errors="replace").decode()
    return (*question.messages, Message("assistant", (quoted,)), Message("user", (reason,)))


def factor(name: str, readings: Sequence[tuple[Reading, Answer]], scale: range) -> Factor:
    """One score over all askings."""
    scores = [reading.scores[name] for reading, _ in readings]
    finer = [expected_score(answer.spots, reading.starts.get(name, -1), scale) for reading, answer in readings]
    told = [each for each in finer if each is not None]
    return Factor(
        statistics.median_low(scores),
        readings[0][0].whys.get(name, ""),
        mean(told) if len(told) == len(finer) else None,
        tuple(scores),
        statistics.stdev(scores) if len(scores) > 1 else None,
    )


def paid(error: UnreadableAnswer, answers: Sequence[Answer]) -> UnreadableAnswer:
    """The error with what the answers took: it was spent, whatever they say."""
    usage = sum((answer.usage for answer in answers if not answer.cached), Usage())
    error.spent = usage.tokens_in, usage.tokens_out, usage.cost
    return error


def finest(factor: Factor) -> float:
    """The score in the finest form there is."""
    return mean(factor.all) if factor.expected is None else factor.expected


def mean(numbers: Sequence[float]) -> float:
    """The mean; that of `statistics` takes ten times as long, which counts for answers out of the store."""
    return sum(numbers) / len(numbers)


@cache
def versions() -> Mapping[str, str]:
    """What ran."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in ("onprompt", "pillow")}}

"""The judge that asks a vision-language model with the protocol's own text, and never makes up a score."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from onprompt.errors import Rejected, UnreadableAnswer, UserError
from onprompt.models.asking import (
    READER,
    SHORT_ANSWER,
    AnswerJudge,
    check_prompt,
    versions,
    with_answers,
)
from onprompt.models.client import ModelClient, open_client
from onprompt.models.reading import expected_score, read_answer
from onprompt.settings import Settings
from onprompt.types import (
    Answer,
    Asks,
    FactorScore,
    Flag,
    Message,
    Picture,
    Question,
    Reading,
    Rubric,
    Sample,
    SentImage,
    Verdict,
)

ASKS = Asks.ONE
# The settings that a model's answer depends on.
ASKING = (
    *("send_side", "send_quality", "max_side", "answer_tokens", "temperature", "repeats"),
    *("structured", "logprobs", "rate_examples", "send_mask"),
)


def load(settings: Settings, rubric: Rubric) -> VlmJudge:
    """The judge for the model of the settings."""
    if not rubric.text:
        raise UserError(f"the rubric {rubric.name!r} has no question for a model")
    return VlmJudge(settings, rubric, open_client(settings))


class VlmJudge(AnswerJudge):
    """Sample → question → answer → reading → verdict."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        configured = rubric.configure(rubric, settings) if rubric.configure else rubric
        super().__init__(settings, configured, client)
        self.about = {
            "rubric": f"{self.rubric.name}/{self.rubric.version}",
            "rubric_sha256": hashlib.sha256(self.rubric.text.encode()).hexdigest(),
            "judge": "vlm",
            "model": client.name,
            "versions": versions(),
            "settings": {name: getattr(settings, name) for name in ASKING},
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**self.about, "reader": READER, "asked": dict(self.client.identity)}

    def judge(self, sample: Sample) -> Verdict:
        answers: list[Answer] = []
        readings: list[tuple[Reading, Answer]] = []
        unreadable: list[UnreadableAnswer] = []
        for question in self.questions(sample):
            try:
                readings.append(self.read_answer(question, partial(self.read, sample), answers))
            except UnreadableAnswer as why:
                unreadable.append(why)
        if not readings:
            raise with_answers(unreadable[-1], answers)
        first, shown = readings[0][0], self.shown(sample)
        factors = {name: factor(name, readings, self.rubric.factors[name]) for name in first.scores}
        flags: dict[str, bool] = {
            **dict.fromkeys((flag for reading, _ in readings for flag in reading.flags), True),
            Flag.SOME_ANSWERS_UNREADABLE: bool(unreadable),
            Flag.ASKED_AGAIN: len(answers) > len(readings) + len(unreadable),
            Flag.USAGE_ESTIMATED: any(answer.usage.estimated for answer in answers),
            **{f"{name}_not_used": name not in shown for name in sample.pictures},
        }
        return Verdict(
            rubric=self.rubric.name,
            judge="vlm",
            sample=sample,
            value=self.rubric.value({name: self.rubric.share(name, score.finest) for name, score in factors.items()}),
            factors=factors,
            summary=first.summary,
            flags=tuple(flag for flag, holds in flags.items() if holds),
            checks=first.checks,
            stated=first.stated,
            answers=tuple(answers),
            provenance={
                **self.about,
                "model_answering": answers[0].model,
                "image_sha256": sample.picture.sha256,
                **{f"{name}_sha256": picture.sha256 for name, picture in shown.items()},
            },
        )

    def shown(self, sample: Sample) -> dict[str, Picture]:
        """The pictures beside the judged one that the question shows: a mask, for example, is not."""
        parts = self.rubric.ask(sample, self.show) if sample.pictures else ()
        shown = [part.picture for part in parts if isinstance(part, SentImage)]
        return {name: own for name, own in sample.pictures.items() if any(own is picture for picture in shown)}

    def question(self, sample: Sample, repeat: int = 0) -> Question:
        """The rubric's own text, and the format of the answer."""
        message = Message("user", self.rubric.ask(sample, self.show))
        if self.rubric.choices:
            return Question((message,), max_tokens=SHORT_ANSWER, choices=self.rubric.choices, repeat=repeat)
        chosen = self.settings.structured  # by default as the rubric's text asks
        structured = self.rubric.asks_for_json if chosen is None else chosen
        return Question(
            (message,),
            schema=self.rubric.schema if structured else "",
            max_tokens=self.settings.answer_tokens,
            temperature=self.settings.temperature or float(self.settings.repeats > 1),
            logprobs=self.settings.logprobs,
            repeat=repeat,
        )

    def questions(self, sample: Sample) -> list[Question]:
        if self.rubric.prompt in self.rubric.required:
            check_prompt(sample.prompt, self.settings)
        return [self.question(sample, repeat) for repeat in range(self.settings.repeats)]

    def read(self, sample: Sample, answer: Answer) -> tuple[Reading, Answer]:
        """What an answer says, and the answer."""
        if self.rubric.choices and not answer.token_probs:
            raise Rejected(without_probabilities(self.client, self.rubric.name, answer))
        return read_answer(self.rubric, answer, sample), answer


def factor(name: str, readings: Sequence[tuple[Reading, Answer]], scale: range) -> FactorScore:
    """One score over all repeats."""
    scores = [reading.scores[name] for reading, _ in readings]
    expected = [
        reading.expected.get(name, expected_score(answer.token_probs, reading.starts.get(name, -1), scale))
        for reading, answer in readings
    ]
    known = [score for score in expected if score is not None]
    return FactorScore(
        statistics.median_low(scores),
        readings[0][0].reasons.get(name, ""),
        statistics.fmean(known) if len(known) == len(expected) else None,
        tuple(scores),
        statistics.stdev(scores) if len(scores) > 1 else None,
    )


def without_probabilities(client: ModelClient, rubric: str, answer: Answer) -> str:
    """Why a rubric that needs token probabilities can't be used with a model."""
    server = client.identity.get("server", "")
    how = "refuses to give" if "logprobs" in answer.refused else "ignores the request for"
    who = f"{client.name}{f' at {server}' if server else ''}"
    return f"{who} {how} token probabilities, which {rubric} needs; docs/servers.md lists servers that do"

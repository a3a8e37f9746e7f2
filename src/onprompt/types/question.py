"""What a model is asked, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from onprompt.types.image import Picture


@dataclass(frozen=True, slots=True)
class SentImage:
    """A picture in a question, and how it is sent: its longest side, format and quality."""

    picture: Picture
    side: int
    format: str
    quality: int

    @property
    def key(self) -> str:
        """What tells it from others, without a look at the pixels."""
        of = self.picture
        return f"{of.sha256}#{of.frame} {of.side} {self.side} {self.format} {self.quality}"


Part = str | SentImage


class Message(NamedTuple):
    """Texts and pictures, in order, by the `user` or by the `assistant`."""

    role: str
    parts: tuple[Part, ...]

    @property
    def joined(self) -> list[Part]:
        """The parts as they are sent: texts that follow each other are one."""
        found: list[Part] = []
        for part in self.parts:
            if isinstance(part, str) and found and isinstance(found[-1], str):
                found[-1] += part
            else:
                found.append(part)
        return found


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked, and how it shall answer."""

    messages: tuple[Message, ...]
    schema: str = ""  # of a JSON answer, as JSON, for servers that can hold a model to one
    max_tokens: int = 2048  # tokens of the answer, at most
    temperature: float = 0.0
    logprobs: bool = False  # whether the probabilities of digits are wanted
    choices: tuple[str, ...] = ()  # words of which the answer's first is wanted with their probabilities, no more
    repeat: int = 0  # which of several askings
    words: tuple[str, ...] = ()  # words whose probabilities are wanted wherever they stand, in place of digits


class TokenProbs(NamedTuple):
    """A place in an answer where a number or a choice stands, and the probabilities of what might have stood there."""

    start: int
    end: int
    probabilities: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Usage:
    """What answers took: tokens, seconds, and US dollars where the price is known."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float | None = None
    estimated: bool = False  # whether a server did not say, and these are the most that it may have been

    def __add__(self, other: Usage) -> Usage:
        known = [each.cost for each in (self, other) if each.cost is not None]
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.seconds + other.seconds,
            sum(known) if known else None,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, raw. `stop` says why it ended: `end`, `length`, `filter` or `refusal`."""

    text: str
    stop: str = "end"
    model: str = ""  # as the server calls it
    usage: Usage = Usage()
    token_probs: tuple[TokenProbs, ...] = ()
    structured: bool = False  # whether the server held the model to the schema
    refused: tuple[str, ...] = ()  # options that the server would not take
    cached: bool = False  # whether it came out of the store
    key: str = ""  # its place in the store


class JudgePlan(NamedTuple):
    """What some questions would cost."""

    model: str
    calls: int
    known: int  # questions whose answers are cached
    usage: Usage
    faults: Sequence[Exception] = ()  # of samples about which nothing can be asked
    again: bool = True  # whether an unreadable answer is asked for once more
    parts: Sequence[JudgePlan] = ()  # of several models, each one's

    @property
    def document(self) -> dict[str, Any]:
        """The plan as JSON."""
        about = {"model": self.model, "calls": self.calls, "known": self.known, "faults": len(self.faults)}
        usage = {name: value for name, value in asdict(self.usage).items() if name != "estimated"}  # all of it is
        parts = {"models": [part.document for part in self.parts]} if self.parts else {}
        return about | usage | parts

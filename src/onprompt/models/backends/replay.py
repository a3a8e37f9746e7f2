"""Recorded answers in the place of a model: for tests, for demonstrations, and to read old answers anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from onprompt.errors import Rejected, UserError
from onprompt.models.answer_store import answer_of
from onprompt.models.recording import key_of, recorded
from onprompt.settings import Settings
from onprompt.types import Answer, Question, Shown


def load(model: str, settings: Settings) -> Replay:  # noqa: ARG001 every backend is given them
    """The backend for a file of recorded answers."""
    return Replay(recorded(Path(model)), Path(model).name)


class Replay:
    """Answers from lines as `models.recording` describes them."""

    def __init__(self, lines: list[Mapping[str, Any]], name: str = "replay") -> None:
        self.by_key = {line["question"]: line for line in lines if "question" in line}
        self.by_words = [line for line in lines if "question" not in line]
        self.name, self.version = name, hashlib.sha256(json.dumps(lines).encode()).hexdigest()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": "replay", "model": self.name, "sha256": self.version}

    def close(self) -> None:
        """It holds nothing."""

    def ask(self, question: Question) -> Answer:
        """The answer that fits."""
        for part in (part for each in question.messages for part in each.parts if isinstance(part, Shown)):
            _ = part.picture.decoded  # what can't be read could not have been sent
        if line := self.by_key.get(key_of(question)) or self.by_its_words(question):
            return replace(said(line), cached=False)
        raise Rejected(f"{self.name} has no answer to this question")

    def by_its_words(self, question: Question) -> Mapping[str, Any] | None:
        """The first line written by hand whose words are in the question."""
        if not self.by_words:
            return None
        text = "\n".join(part for each in question.messages for part in each.parts if isinstance(part, str))
        return next((line for line in self.by_words if line.get("contains", "") in text), None)


def said(line: Mapping[str, Any]) -> Answer:
    """The answer on a line."""
    try:
        return (
            answer_of(line["answer"]) if "answer" in line else Answer(line["text"], line.get("stop", "end"), "replay")
        )
    except (KeyError, TypeError) as error:
        raise UserError(f"a recorded answer is not of the form that is expected ({error})") from None

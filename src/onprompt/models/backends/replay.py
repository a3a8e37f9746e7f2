"""Recorded answers instead of a model: for tests, demonstrations, and reading old answers again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from onprompt.errors import Rejected, UserError
from onprompt.models.answer_store import from_json
from onprompt.models.recording import key_of, load_recording
from onprompt.settings import Settings
from onprompt.types import Answer, Question


def load(model: str, settings: Settings) -> Replay:  # noqa: ARG001
    """The backend for a file of recorded answers."""
    return Replay(load_recording(Path(model)), Path(model).name)


class Replay:
    """Answers from lines that `models.recording` describes."""

    def __init__(self, lines: list[Mapping[str, Any]], name: str) -> None:
        self.recorded = {line["question"]: line for line in lines if "question" in line}
        self.by_hand = [line for line in lines if "question" not in line]
        self.name, self.sha256 = name, hashlib.sha256(json.dumps(lines).encode()).hexdigest()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": "replay", "model": self.name, "sha256": self.sha256}

    def close(self) -> None:
        """Nothing is open."""

    def ask(self, question: Question) -> Answer:
        """The first answer that matches."""
        parts = [part for message in question.messages for part in message.parts]
        for part in parts:
            if not isinstance(part, str):
                _ = part.picture.decoded  # an unreadable image could not have been sent
        text = "\n".join(part for part in parts if isinstance(part, str))
        matches = (line for line in self.by_hand if line.get("contains", "") in text)
        if line := self.recorded.get(key_of(question)) or next(matches, None):
            return replace(answer_on(line), cached=False)
        raise Rejected(f"{self.name} has no answer to this question")


def answer_on(line: Mapping[str, Any]) -> Answer:
    """The answer on a line."""
    if "answer" not in line:
        return Answer(line["text"], line.get("stop", "end"), "replay")
    try:
        return from_json(line["answer"])
    except (KeyError, TypeError) as error:
        raise UserError(f"invalid recorded answer: {error}") from None

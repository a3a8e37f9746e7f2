"""Recorded answers instead of a model: for tests, demonstrations, and reading old answers again.

They are in a JSON Lines file that people can read, write and share. A recorded line is
`{"question": KEY, "answer": {...}}`. A line written by hand is `{"text": "…(4)"}`, which answers any question, or
`{"contains": "two dogs", "text": "…(4)"}`, for questions with these words. The last line recorded for a question comes
first, then the first line by hand that matches.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from onprompt.errors import Rejected, UserError
from onprompt.models import answer_store
from onprompt.settings import Settings
from onprompt.types import Answer, Question

TEXT_FIELDS = {"question", "contains", "text", "stop"}
STOPS = ("end", "length", "filter", "refusal")
writing = threading.Lock()


class Replay:
    """Answers from the lines of a file."""

    def __init__(self, model: str, settings: Settings) -> None:  # noqa: ARG002
        path = Path(model)
        lines = load_recording(path)
        self.recorded = {line["question"]: line for line in lines if "question" in line}
        self.by_hand = [line for line in lines if "question" not in line]
        self.name, self.sha256 = path.name, hashlib.sha256(json.dumps(lines).encode()).hexdigest()

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


load = Replay


def answer_on(line: Mapping[str, Any]) -> Answer:
    """The answer on a line."""
    if "answer" not in line:
        return Answer(line["text"], line.get("stop", "end"), "replay")
    try:
        return answer_store.from_json(line["answer"])
    except (KeyError, TypeError) as error:
        raise UserError(f"invalid recorded answer: {error}") from None


def key_of(question: Question) -> str:
    """The key of a question, whichever model is asked."""
    return answer_store.key_of(question, {})


def record(path: Path, question: Question, answer: Answer) -> None:
    """Append an answer to a file."""
    line = json.dumps({"question": key_of(question), "answer": answer_store.to_json(answer)})
    try:
        with writing, path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise UserError(f"can't record answers in {path}: {error.strerror or error}") from error


def load_recording(path: Path) -> list[Mapping[str, Any]]:
    """The lines of a file; the last one may be cut off by a crash."""
    try:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")  # splitlines() would split inside texts
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"can't read answers from {path}: {getattr(error, 'strerror', None) or error}") from error
    entries: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                continue
            raise UserError(f"{path}, line {number}: invalid JSON: {error}") from None
        if problem := problem_of(entry):
            raise UserError(f"{path}, line {number}: {problem}")
        entries.append(entry)
    return entries


def problem_of(entry: Any) -> str:
    """What is wrong with a line; empty if nothing is."""
    if not isinstance(entry, dict) or not ({"answer", "text"} & entry.keys()):
        return "needs `answer` or `text`"
    if wrong := [name for name in TEXT_FIELDS & entry.keys() if not isinstance(entry[name], str)]:
        return f"{wrong[0]} must be a string"
    return "" if entry.get("stop", "end") in STOPS else f"stop must be one of {', '.join(STOPS)}"

"""Recorded answers instead of a model: for tests, demonstrations, and reading old answers again.

They are in a JSON Lines file that people can read, write and share. A recorded line is
`{"question": KEY, "answer": {...}}`. A line written by hand is `{"text": "…(4)"}`, which answers any question, or
`{"contains": "two dogs", "text": "…(4)"}`, for questions with these words. The last line recorded for a question comes
first, then the first line by hand that matches.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.errors import Rejected, UserError
from onprompt.models.answer_store import from_json, key_of, to_json
from onprompt.settings import Settings
from onprompt.types import Answer, Question

STOPS = ("end", "length", "filter", "refusal")
EXPECTED = f"needs a text in `text`, another in `contains` if at all, and `stop` must be one of {', '.join(STOPS)}"
writing = threading.Lock()


class Line(NamedTuple):
    """An answer, and to which questions: to one by its key, or to all with some words."""

    answer: Answer
    question: str = ""
    contains: str = ""


class Replay:
    """Answers from the lines of a file."""

    def __init__(self, model: str, settings: Settings) -> None:  # noqa: ARG002
        path = Path(model)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"can't read answers from {path}: {getattr(error, 'strerror', None) or error}") from error
        lines = list(parse_lines(text, path))
        self.recorded = {line.question: line.answer for line in lines if line.question}
        self.by_hand = [line for line in lines if not line.question]
        self.name, self.sha256 = path.name, hashlib.sha256(text.encode()).hexdigest()

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
        matches = (line.answer for line in self.by_hand if line.contains in text)
        if answer := self.recorded.get(key_of(question, {})) or next(matches, None):
            return replace(answer, cached=False)
        raise Rejected(f"{self.name} has no answer to this question")


load = Replay


def record(path: Path, question: Question, answer: Answer) -> None:
    """Append an answer to a file, under the key of its question whichever model is asked."""
    line = json.dumps({"question": key_of(question, {}), "answer": to_json(answer)})
    try:
        with writing, path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise UserError(f"can't record answers in {path}: {error.strerror or error}") from error


def parse_lines(text: str, path: Path) -> Iterator[Line]:
    """The lines of a file; the last one may be cut off by a crash."""
    lines = text.rstrip("\n").split("\n")  # splitlines() would split inside texts
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield parse_line(json.loads(line))
        except ValueError as error:
            if number < len(lines):
                raise UserError(f"{path}, line {number}: invalid JSON: {error}") from None
        except (AttributeError, KeyError, TypeError):  # the first where it is no object
            raise UserError(f"{path}, line {number}: {EXPECTED}") from None


def parse_line(entry: Mapping[str, Any]) -> Line:
    """A line; KeyError or TypeError if it is none."""
    question, contains = entry.get("question", ""), entry.get("contains", "")
    if "answer" in entry:
        return Line(from_json(entry["answer"]), question, contains)
    text, stop = entry["text"], entry.get("stop", "end")
    if not (isinstance(text, str) and isinstance(contains, str) and stop in STOPS):
        raise TypeError
    return Line(Answer(text, stop, "replay"), contains=contains)

"""Answers in a JSON Lines file that people can read, write and share.

A recorded line is `{"question": KEY, "answer": {...}}`. A line written by hand is `{"text": "…(4)"}`, which answers any
question, or `{"contains": "two dogs", "text": "…(4)"}`, for questions with these words. The last line recorded for a
question comes first, then the first line by hand that matches.
"""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.models import answer_store
from onprompt.types import Answer, Question

TEXT_FIELDS = {"question", "contains", "text", "stop"}
STOPS = ("end", "length", "filter", "refusal")
writing = threading.Lock()


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

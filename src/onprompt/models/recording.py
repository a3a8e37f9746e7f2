"""Answers in a file of JSON lines that people can read, write and share.

A line is `{"question": KEY, "answer": {...}}` as recorded, or written by hand: `{"text": "…(4)"}` answers anything,
`{"contains": "two dogs", "text": "…(4)"}` any question with these words. What was recorded for a question goes first,
of several the last; then the first line by hand that fits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.models import answer_store as store
from onprompt.types import Answer, Question

TEXTS = {"question", "contains", "text", "stop"}
STOPS = ("end", "length", "filter", "refusal")
writing = threading.Lock()


def key_of(question: Question) -> str:
    """What tells a question from others, whoever is asked."""
    return store.key_of(question, {})


def record(path: Path, question: Question, answer: Answer) -> None:
    """Add an answer to a file."""
    line = json.dumps({"question": key_of(question), "answer": store.document(answer)})
    try:
        with writing, path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise UserError(f"can't record answers in {path}: {error.strerror or error}") from error


def recorded(path: Path) -> list[Mapping[str, Any]]:
    """The lines of a file; the last one may be cut off by a crash, no other."""
    try:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")  # other ends of lines may be part of a text
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"can't read answers from {path}: {getattr(error, 'strerror', None) or error}") from error
    found: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line) if line.strip() else None
        except ValueError as error:
            if number == len(lines):
                continue
            raise UserError(f"{path}, line {number} is not JSON: {error}") from None
        if entry is None:
            continue
        if not isinstance(entry, dict) or not ({"answer", "text"} & entry.keys()):
            raise UserError(f"{path}, line {number} has neither `answer` nor `text`")
        if strange := [name for name in TEXTS & entry.keys() if not isinstance(entry[name], str)]:
            raise UserError(f"{path}, line {number}: {strange[0]} is no text")
        if entry.get("stop", "end") not in STOPS:
            raise UserError(f"{path}, line {number}: stop is one of {', '.join(STOPS)}")
        found.append(entry)
    return found

"""One SQLite file that keeps every answer of a model: the same question is never paid for twice.

Table `answers`: key (sha256 of all that makes the question), asked (the backend's identity and the options, as JSON),
answer (as JSON), outcome (`read`, or the kind of UnreadableAnswer; empty while nobody has read it), created (UTC).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.errors import StoreError
from onprompt.types import Answer, Question, Spot, Usage

VERSION = 1
PATIENCE = 30.0  # seconds to wait for another process that writes
TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,
    asked TEXT NOT NULL,
    answer TEXT NOT NULL,
    outcome TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
"""


SUMMARY = """
SELECT json_extract(asked, '$.backend') || '/' || json_extract(asked, '$.model'), outcome, count(*),
    sum(json_extract(answer, '$.usage.tokens_in')), sum(json_extract(answer, '$.usage.tokens_out')),
    sum(json_extract(answer, '$.usage.cost'))
FROM answers GROUP BY 1, 2 ORDER BY 1, 3 DESC
"""


class Kept(NamedTuple):
    """The answers of one model that were of one kind."""

    model: str
    outcome: str
    number: int
    tokens_in: int
    tokens_out: int
    cost: float | None


class AnswerStore:
    """The answers in one file; safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, threading.Lock()
        with told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute(
                "PRAGMA synchronous = NORMAL"
            )  # a power cut may lose the last answers, never the file
            (found,) = self.connection.execute("PRAGMA user_version").fetchone()
            if found > VERSION:
                raise StoreError(f"{path} was written by a newer onprompt (format {found}; this one knows {VERSION})")
            self.connection.executescript(TABLES)
            self.connection.execute(f"PRAGMA user_version = {VERSION}")

    def get(self, key: str) -> Answer | None:
        """The answer to a question, if it was asked before."""
        try:
            with self.lock:
                found = self.connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise trouble(self.path, error) from error
        return answer_of(json.loads(found[0]), key) if found else None

    def put(self, key: str, asked: Mapping[str, Any], answer: Answer) -> None:
        """Keep an answer."""
        row = key, json.dumps(asked), json.dumps(document(answer))  # ASCII: half a character can be kept so too
        with told(self.path), self.lock:
            self.connection.execute("INSERT OR REPLACE INTO answers (key, asked, answer) VALUES (?, ?, ?)", row)

    def mark(self, key: str, outcome: str) -> None:
        """Note what became of an answer when it was read."""
        with told(self.path), self.lock:
            self.connection.execute(
                "UPDATE answers SET outcome = ? WHERE key = ? AND outcome != ?", (outcome, key, outcome)
            )

    def outcomes(self) -> dict[str, int]:
        """How many answers could be read, and how many were of each kind of unreadable."""
        with told(self.path), self.lock:
            return dict(
                self.connection.execute("SELECT outcome, count(*) FROM answers GROUP BY outcome ORDER BY outcome")
            )

    def summary(self) -> list[Kept]:
        """What is kept, by model and by what became of the answers."""
        with told(self.path), self.lock:
            return [Kept(*row) for row in self.connection.execute(SUMMARY)]

    def close(self) -> None:
        """No more answers."""
        self.connection.close()


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What goes wrong with the file, in words."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise trouble(path, error) from error


def trouble(path: Path, error: Exception) -> StoreError:
    """The error for a file that can't be used."""
    reason = getattr(error, "strerror", None) or error
    return StoreError(f"can't keep answers in {path}: {reason} (setting `answers` names another file)")


def key_of(question: Question, identity: Mapping[str, str]) -> str:
    """What tells a question from all others: who is asked, with which options, which words, which pictures."""
    messages = [
        (message.role, [digest(part) if isinstance(part, str) else (part.key,) for part in message.parts])
        for message in question.messages
    ]
    told = sorted(identity.items()), {**options(question), "schema": digest(question.schema)}, messages
    return hashlib.sha256(repr(told).encode()).hexdigest()


@lru_cache(maxsize=4096)
def digest(text: str) -> str:
    """The hash of a text; a rubric's long one is in every question."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def options(question: Question) -> dict[str, Any]:
    """All of a question but its messages."""
    return {
        "schema": question.schema,
        "longest": question.longest,
        "temperature": question.temperature,
        "chances": question.chances,
        "choices": question.choices,
        "repeat": question.repeat,
    }


def document(answer: Answer) -> dict[str, Any]:
    """An answer as JSON; whether it came out of the store is not part of it."""
    found = asdict(answer)
    return {name: found[name] for name in ("text", "stop", "model", "usage", "spots", "structured", "refused")}


def answer_of(found: Mapping[str, Any], key: str = "") -> Answer:
    """An answer out of the store."""
    return Answer(
        found["text"],
        found["stop"],
        found["model"],
        Usage(**found["usage"]),
        tuple(Spot(*each) for each in found["spots"]),
        found["structured"],
        tuple(found["refused"]),
        cached=True,
        key=key,
    )

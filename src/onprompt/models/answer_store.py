"""One SQLite file with every answer of a model, so that no question is paid for twice.

Table `answers`: key (sha256 of all that makes the question), asked (the backend's identity and the options, as JSON),
answer (as JSON), created (UTC), asked_by (the run file that it was asked for, if any).
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from onprompt.errors import StoreError
from onprompt.types import Answer, Question, TokenProbs, Usage

VERSION = 1
FIELDS = ("text", "stop", "model", "structured", "refused")  # of an answer, that are stored as they are
LOCK_TIMEOUT = 30.0  # seconds to wait for another process that writes
TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;  -- a power cut may lose the last answers, never the file
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,
    asked TEXT NOT NULL,
    answer TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    asked_by TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_run ON answers (asked_by, created) WHERE asked_by != '';
"""
INSERT = "INSERT OR REPLACE INTO answers (key, asked, answer, asked_by) VALUES (?, ?, ?, ?)"
SPENT = """
SELECT sum(json_extract(answer, '$.usage.tokens_in')), sum(json_extract(answer, '$.usage.tokens_out')),
    sum(json_extract(answer, '$.usage.cost'))
FROM answers WHERE asked_by = ? AND asked_by != '' AND created >= ?
"""


class AnswerStore:
    """The answers in one file, for several threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT, check_same_thread=False, isolation_level=None)
            ((version,),) = self.connection.execute("PRAGMA user_version")
            if version <= VERSION:
                self.connection.executescript(f"{TABLES} PRAGMA user_version = {VERSION};")
        except (OSError, sqlite3.Error) as error:
            raise store_error(path, error) from error
        if version > VERSION:
            raise StoreError(
                f"{path} has format {version}, this onprompt reads up to {VERSION}: update onprompt, "
                "or name another file in the setting `answers`"
            )

    def execute(self, statement: str, values: tuple[str, ...]) -> list[Any]:
        """The rows of a statement."""
        try:
            with self.lock:
                return self.connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from error

    def get(self, key: str) -> Answer | None:
        """The answer to a question, if it is cached."""
        rows = self.execute("SELECT answer FROM answers WHERE key = ?", (key,))
        return from_json(json.loads(rows[0][0]), key) if rows else None

    def put(self, key: str, asked: Mapping[str, Any], answer: Answer, asked_by: str = "") -> None:
        """Store an answer."""
        # JSON in ASCII, which can hold lone surrogates too
        self.execute(INSERT, (key, json.dumps(asked), json.dumps(to_json(answer)), asked_by))

    def spent(self, asked_by: str, since: str) -> Usage:
        """What was spent for a run file since a time, by any process, however it ended."""
        ((tokens_in, tokens_out, cost),) = self.execute(SPENT, (asked_by, since))
        return Usage(tokens_in or 0, tokens_out or 0, cost=cost)

    def close(self) -> None:
        """Close the file, once no thread is using it: SQLite crashes otherwise."""
        with self.lock:
            self.connection.close()


def store_error(path: Path, error: Exception) -> StoreError:
    """The error for a file that can't be used."""
    reason = getattr(error, "strerror", None) or error
    return StoreError(f"can't use the answer cache {path}: {reason} (the setting `answers` can name another file)")


def key_of(question: Question, identity: Mapping[str, str]) -> str:
    """The hash of all that makes a question: who is asked, with which options, texts and images."""
    messages = [
        (message.role, [digest(part) if isinstance(part, str) else (part.key,) for part in message.parts])
        for message in question.messages
    ]
    parts = sorted(identity.items()), {**options(question), "schema": digest(question.schema)}, messages
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@lru_cache(maxsize=4096)
def digest(text: str) -> str:
    """The hash of a text; cached, since a rubric's long text is in every question."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def options(question: Question) -> dict[str, Any]:
    """All of a question but its messages, under the names that the store's keys are made of: none may change."""
    return {
        "schema": question.schema,
        "longest": question.max_tokens,
        "temperature": question.temperature,
        "chances": question.logprobs,
        "choices": question.choices,
        "repeat": question.repeat,
        **({"words": question.words} if question.words else {}),  # only then, so that older keys stay as they are
    }


def to_json(answer: Answer) -> dict[str, Any]:
    """An answer as the store keeps it."""
    # asdict of the whole answer would copy every probability
    own = {name: getattr(answer, name) for name in FIELDS}
    return {**own, "spots": answer.token_probs, "usage": asdict(answer.usage)}


def from_json(fields: Mapping[str, Any], key: str = "") -> Answer:
    """An answer from the store."""
    own = {name: fields[name] for name in FIELDS} | {"refused": tuple(fields["refused"])}
    token_probs = tuple(TokenProbs(*spot) for spot in fields["spots"])
    return Answer(**own, usage=Usage(**fields["usage"]), token_probs=token_probs, cached=True, key=key)

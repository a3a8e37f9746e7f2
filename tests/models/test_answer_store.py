"""The answer store: round trips, concurrent use and unusable files."""

from __future__ import annotations

import multiprocessing
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from onprompt.errors import StoreError
from onprompt.models.answer_store import AnswerStore, key_of
from onprompt.types import Answer, Message, Question, TokenProbs, Usage

WHOLE = Answer(
    "Größe: (4) 🦉\0",
    "length",
    "m-1",
    Usage(10, 20, 1.5, 0.01),
    (TokenProbs(8, 9, {"4": 0.5, "3": 0.25}),),
    True,
    ("a",),
)


def stored(path: Path) -> int:
    """How many answers a file has."""
    with closing(sqlite3.connect(path)) as base:
        return int(base.execute("SELECT count(*) FROM answers").fetchone()[0])


def question(*texts: str, **options: object) -> Question:
    return Question((Message("user", texts),), **options)  # type: ignore[arg-type]


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    answers = AnswerStore(tmp_path / "new" / "answers.sqlite")
    answers.put("k", {"model": "m"}, WHOLE)
    answers.close()
    again = AnswerStore(tmp_path / "new" / "answers.sqlite")
    found = again.get("k")
    assert found is not None
    assert (found.text, found.stop, found.model, found.usage) == (WHOLE.text, WHOLE.stop, WHOLE.model, WHOLE.usage)
    assert (found.token_probs, found.structured, found.refused) == (WHOLE.token_probs, WHOLE.structured, WHOLE.refused)
    assert (found.cached, found.key) == (True, "k")
    assert again.get("other") is None
    again.close()


def test_everything_that_makes_a_question_is_in_its_key() -> None:
    base = question("a", "b")
    others = [
        question("ab"),
        question("a", "c"),
        question("a", "b", temperature=1.0),
        question("a", "b", repeat=1),
        question("a", "b", schema="{}"),
        question("a", "b", logprobs=True),
        question("a", "b", choices=("yes",)),
        question("a", "b", words=("yes",)),
        question("a", "b", max_tokens=7),
        Question((Message("assistant", ("a", "b")),)),
        Question((Message("user", ("a",)), Message("user", ("b",)))),
    ]
    keys = [key_of(question, {"model": "m"}) for question in (base, *others)]
    assert len({*keys, key_of(base, {"model": "n"})}) == len(others) + 2
    assert key_of(question("a", "b"), {"model": "m"}) == keys[0]
    # As in a cache that was written before a question had words.
    stored = "a049be36ef5dba3c1d7ed0842d388a9e9c1ed034048595b742d0fd111f6e835b"
    assert key_of(base, {"model": "m"}) == stored
    assert key_of(question("\ud800"), {})  # a lone surrogate does not fail


def write(path: Path, first: int) -> None:
    answers = AnswerStore(path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: answers.put(str(number), {}, WHOLE), range(first, first + 100)))
    answers.close()


def test_threads_of_two_processes_write(tmp_path: Path) -> None:
    path, start = tmp_path / "answers.sqlite", multiprocessing.get_context("spawn")
    writers = [start.Process(target=write, args=(path, first)) for first in (0, 100)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    answers = AnswerStore(path)
    assert stored(path) == 200
    assert answers.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    answers.close()


def test_a_file_that_can_not_be_used_says_why(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, whatever its name says " * 100)
    base = sqlite3.connect(tmp_path / "newer")
    base.execute("PRAGMA user_version = 99")
    base.close()
    for name, words in (
        ("text", "setting `answers`"),
        ("", "can't use the answer cache"),
        ("newer", "update onprompt"),
    ):
        with pytest.raises(StoreError, match=words):
            AnswerStore(tmp_path / name)

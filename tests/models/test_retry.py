"""Pauses, waits that servers ask for, and servers that are down; with a backend of a few lines and short times."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from onprompt.errors import Rejected, ServerTrouble
from onprompt.models.retry import RetryingBackend
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Question

QUESTION = Question((Message("user", ("How good?",)),))


class Told:
    """A backend that does what it is told, in order, and the last again and again."""

    def __init__(self, *steps: Answer | Exception) -> None:
        self.steps, self.times, self.lock = steps, list[float](), threading.Lock()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": "told", "model": "test"}

    def close(self) -> None:
        pass

    def ask(self, question: Question) -> Answer:
        with self.lock:
            step = self.steps[min(len(self.times), len(self.steps) - 1)]
            self.times.append(time.monotonic())
        if isinstance(step, Exception):
            raise step
        return step


def settings(**changed: Any) -> Settings:
    return Settings(**{"backoff": 0.0, "retries": 3, "breaker_pause": 0.2, **changed})


def test_trouble_is_tried_again_and_again() -> None:
    backend = Told(ServerTrouble("server", "oops"), ServerTrouble("timeout", "slow"), Answer("4"))
    assert RetryingBackend(backend, settings()).ask(QUESTION).text == "4"
    assert len(backend.times) == 3


def test_trouble_that_stays_is_an_error_that_says_how_often() -> None:
    backend = Told(ServerTrouble("server", "oops"))
    with pytest.raises(ServerTrouble, match=r"oops \(after 4 attempts\)"):
        RetryingBackend(backend, settings()).ask(QUESTION)


def test_what_is_rejected_is_not_tried_again() -> None:
    backend = Told(Rejected("no such model"))
    with pytest.raises(Rejected):
        RetryingBackend(backend, settings()).ask(QUESTION)
    assert len(backend.times) == 1


def test_pauses_grow() -> None:
    backend = Told(ServerTrouble("server", "oops"))
    with pytest.raises(ServerTrouble):
        RetryingBackend(backend, settings(backoff=0.02, retries=5, breaker_failures=99)).ask(QUESTION)
    took = backend.times[-1] - backend.times[0]
    assert 0.02 < took < 0.02 * (1 + 2 + 4 + 8 + 16) + 0.5


def test_a_server_is_left_alone_as_long_as_it_asks() -> None:
    backend = Told(ServerTrouble("busy", "later", 0.15), Answer("4"))
    RetryingBackend(backend, settings()).ask(QUESTION)
    assert backend.times[1] - backend.times[0] >= 0.15


def test_all_threads_hold_back_together() -> None:
    backend = Told(ServerTrouble("busy", "later", 0.2), Answer("4"))
    client = RetryingBackend(backend, settings())
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(client.ask, QUESTION)
        while not backend.times:
            time.sleep(0.001)
        time.sleep(0.02)
        others = [pool.submit(client.ask, QUESTION) for _ in range(3)]
    assert all(each.result().text == "4" for each in (first, *others))
    assert min(backend.times[1:]) - backend.times[0] >= 0.19


def test_a_rest_that_an_answer_asks_for_is_kept() -> None:
    backend = Told(Answer("4", rest=0.15), Answer("4"))
    client = RetryingBackend(backend, settings())
    client.ask(QUESTION)
    client.ask(QUESTION)
    assert backend.times[1] - backend.times[0] >= 0.15


def test_a_server_that_asks_for_too_much_is_an_error_at_once() -> None:
    backend = Told(ServerTrouble("busy", "later", 3600.0))
    with pytest.raises(ServerTrouble, match="asks to wait 3600 s"):
        RetryingBackend(backend, settings()).ask(QUESTION)
    assert len(backend.times) == 1


def test_a_server_that_is_down_is_not_asked_until_it_may_be_back() -> None:
    backend = Told(*[ServerTrouble("connection", "refused")] * 5, Answer("4"))
    client = RetryingBackend(backend, settings(retries=0, breaker_failures=5))
    for _ in range(5):
        with pytest.raises(ServerTrouble, match="refused"):
            client.ask(QUESTION)
    with pytest.raises(ServerTrouble, match="not sent: the last 5 questions failed"):
        client.ask(QUESTION)
    assert len(backend.times) == 5
    time.sleep(0.25)
    assert client.ask(QUESTION).text == "4"
    assert client.ask(QUESTION).text == "4"


def test_only_one_question_tries_whether_a_server_is_back() -> None:
    backend = Told(ServerTrouble("connection", "refused"))
    client = RetryingBackend(backend, settings(retries=0, breaker_failures=2))
    for _ in range(2):
        with pytest.raises(ServerTrouble):
            client.ask(QUESTION)
    time.sleep(0.25)
    with ThreadPoolExecutor(8) as pool:
        found = [each.exception() for each in [pool.submit(client.ask, QUESTION) for _ in range(8)]]
    assert all(isinstance(each, ServerTrouble) for each in found)
    assert len(backend.times) == 3


def test_a_busy_server_is_not_down() -> None:
    backend = Told(*[ServerTrouble("busy", "later")] * 12, Answer("4"))
    assert RetryingBackend(backend, settings(retries=20, breaker_failures=3)).ask(QUESTION).text == "4"


def test_one_failed_try_is_no_failed_question() -> None:
    """A short outage that meets many threads at once does not close the line."""
    backend = Told(*[ServerTrouble("server", "oops")] * 12, Answer("4"))
    client = RetryingBackend(backend, settings(retries=5, breaker_failures=3, backoff=0.01))
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(client.ask, QUESTION) for _ in range(8)]
    assert [each.result().text for each in found] == ["4"] * 8


def test_no_server_can_ask_for_a_rest_without_end() -> None:
    client = RetryingBackend(Told(Answer("4", rest=1e12)), settings(longest_wait=0.05))
    start = time.monotonic()
    client.ask(QUESTION)
    client.ask(QUESTION)
    assert time.monotonic() - start < 2


def test_trouble_of_any_kind_can_ask_for_too_much() -> None:
    backend = Told(ServerTrouble("server", "oops", 3600.0))
    with pytest.raises(ServerTrouble, match="asks to wait 3600 s"):
        RetryingBackend(backend, settings()).ask(QUESTION)


def test_who_waits_can_be_stopped() -> None:
    client = RetryingBackend(Told(ServerTrouble("busy", "later", 60.0)), settings())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.ask, QUESTION)
        time.sleep(0.05)
        client.stop()
        assert isinstance(waiting.exception(timeout=2), ServerTrouble)

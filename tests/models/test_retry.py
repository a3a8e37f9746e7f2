"""Backoff, requested waits and the circuit breaker, with a scripted backend and short times."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from onprompt.errors import Rejected, ServerTrouble
from onprompt.models.client import RetryingBackend
from onprompt.models.http import retry_after
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Question

QUESTION = Question((Message("user", ("How good?",)),))


class Scripted:
    """A backend that takes its steps in order, then repeats the last."""

    def __init__(self, *steps: Answer | Exception) -> None:
        self.steps, self.times, self.lock = steps, list[float](), threading.Lock()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": "scripted", "model": "test"}

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


def test_server_errors_are_retried() -> None:
    backend = Scripted(ServerTrouble("server", "oops"), ServerTrouble("timeout", "slow"), Answer("4"))
    assert RetryingBackend(backend, settings()).ask(QUESTION).text == "4"
    assert len(backend.times) == 3


def test_the_last_error_says_how_many_attempts_failed() -> None:
    backend = Scripted(ServerTrouble("server", "oops"))
    with pytest.raises(ServerTrouble, match=r"oops \(after 4 attempts\)"):
        RetryingBackend(backend, settings()).ask(QUESTION)


def test_a_rejected_question_is_not_retried() -> None:
    backend = Scripted(Rejected("no such model"))
    with pytest.raises(Rejected):
        RetryingBackend(backend, settings()).ask(QUESTION)
    assert len(backend.times) == 1


def test_backoff_grows() -> None:
    backend = Scripted(ServerTrouble("server", "oops"))
    with pytest.raises(ServerTrouble):
        RetryingBackend(backend, settings(backoff=0.02, retries=5)).ask(QUESTION)
    took = backend.times[-1] - backend.times[0]
    assert 0.02 < took < 0.02 * (1 + 2 + 4 + 8 + 16) + 0.5


def test_a_requested_wait_is_kept() -> None:
    backend = Scripted(ServerTrouble("busy", "later", 0.15), Answer("4"))
    RetryingBackend(backend, settings()).ask(QUESTION)
    assert backend.times[1] - backend.times[0] >= 0.15


def test_all_threads_wait_for_a_busy_server() -> None:
    backend = Scripted(ServerTrouble("busy", "later", 0.2), Answer("4"))
    retrying = RetryingBackend(backend, settings())
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(retrying.ask, QUESTION)
        while not backend.times:
            time.sleep(0.001)
        time.sleep(0.02)
        others = [pool.submit(retrying.ask, QUESTION) for _ in range(3)]
    assert all(future.result().text == "4" for future in (first, *others))
    assert min(backend.times[1:]) - backend.times[0] >= 0.19


@pytest.mark.parametrize("kind", ["busy", "server"])
def test_a_requested_wait_over_the_limit_is_an_error_at_once(kind: str) -> None:
    backend = Scripted(ServerTrouble(kind, "later", 3600.0))
    with pytest.raises(ServerTrouble, match="asks to wait 3600 s"):
        RetryingBackend(backend, settings()).ask(QUESTION)
    assert len(backend.times) == 1


def test_the_breaker_opens_and_closes() -> None:
    backend = Scripted(*[ServerTrouble("connection", "refused")] * 10, Answer("4"))
    retrying = RetryingBackend(backend, settings(retries=0))
    for _ in range(10):
        with pytest.raises(ServerTrouble, match="refused"):
            retrying.ask(QUESTION)
    with pytest.raises(ServerTrouble, match="not sent: the last 10 questions failed"):
        retrying.ask(QUESTION)
    assert len(backend.times) == 10
    time.sleep(0.25)
    assert retrying.ask(QUESTION).text == "4"
    assert retrying.ask(QUESTION).text == "4"


def test_one_question_probes_a_server_that_was_down() -> None:
    backend = Scripted(ServerTrouble("connection", "refused"))
    retrying = RetryingBackend(backend, settings(retries=0))
    for _ in range(10):
        with pytest.raises(ServerTrouble):
            retrying.ask(QUESTION)
    time.sleep(0.25)
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(retrying.ask, QUESTION) for _ in range(8)]
    assert all(isinstance(future.exception(), ServerTrouble) for future in futures)
    assert len(backend.times) == 11


def test_a_busy_server_is_not_down() -> None:
    backend = Scripted(*[ServerTrouble("busy", "later")] * 12, Answer("4"))
    assert RetryingBackend(backend, settings(retries=20)).ask(QUESTION).text == "4"


def test_a_failed_attempt_is_not_a_failed_question() -> None:
    """A short outage that hits many threads at once does not open the breaker."""
    backend = Scripted(*[ServerTrouble("server", "oops")] * 12, Answer("4"))
    retrying = RetryingBackend(backend, settings(retries=5, backoff=0.01))
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(retrying.ask, QUESTION) for _ in range(8)]
    assert [future.result().text for future in futures] == ["4"] * 8


def test_waiting_threads_can_be_stopped() -> None:
    retrying = RetryingBackend(Scripted(ServerTrouble("busy", "later", 60.0)), settings())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(retrying.ask, QUESTION)
        time.sleep(0.05)
        retrying.stop()
        assert isinstance(waiting.exception(timeout=2), ServerTrouble)


@pytest.mark.parametrize("value", ["1000000000", "1000000000000", "999999999"])
def test_a_wait_without_measure_is_no_time_in_the_past(value: str) -> None:
    wait = retry_after({"retry-after": value})
    assert wait is not None
    assert wait > 1e8

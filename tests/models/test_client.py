"""From a question to its answer: prices, budgets, backoff and requested waits, with a scripted backend."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onprompt.errors import BudgetSpent, Rejected, ServerTrouble, UserError
from onprompt.models.budget import Price, estimate, price_of
from onprompt.models.client import MAX_FAILURES, ModelClient
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Question, SentImage, Usage
from onprompt.vision.image import load_picture

QUESTION = Question((Message("user", ("How good?",)),))
FOUR = Answer("4")
PRICES = {"price_in": 1000.0, "price_out": 1000.0}


class Scripted:
    """A backend that takes its steps in order, then repeats the last."""

    identity: Mapping[str, str] = {"backend": "scripted", "model": "test"}

    def __init__(self, *steps: Answer | Exception, delay: float = 0.0) -> None:
        self.steps, self.delay, self.times, self.lock = steps, delay, list[float](), threading.Lock()

    def close(self) -> None:
        pass

    def ask(self, question: Question) -> Answer:
        with self.lock:
            step = self.steps[min(len(self.times), len(self.steps) - 1)]
            self.times.append(time.monotonic())
        time.sleep(self.delay)
        if isinstance(step, Exception):
            raise step
        return step


Open = Callable[..., ModelClient]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Clients that cache nothing and retry at once."""
    clients: list[ModelClient] = []

    def make(backend: Scripted, **changed: Any) -> ModelClient:
        usual = {"backoff": 0.0, "retries": 3, "reuse_answers": False, "answers": tmp_path / "answers.sqlite"}
        clients.append(ModelClient(backend, Settings(model="scripted/test", **{**usual, **changed})))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def trouble(kind: str, wait: float | None = None) -> ServerTrouble:
    return ServerTrouble(kind, "oops", wait)


# -- retries -----------------------------------------------------------------------------------------------------------


def test_backoff_grows(opened: Open) -> None:
    backend = Scripted(trouble("server"))
    with pytest.raises(ServerTrouble):
        opened(backend, backoff=0.02, retries=5).ask(QUESTION)
    took = backend.times[-1] - backend.times[0]
    assert 0.02 < took < 0.02 * (1 + 2 + 4 + 8 + 16) + 0.5


def test_all_threads_wait_for_a_busy_server(opened: Open) -> None:
    backend = Scripted(trouble("busy", 0.2), FOUR)
    client = opened(backend)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(client.ask, QUESTION)
        while not backend.times:
            time.sleep(0.001)
        time.sleep(0.02)
        others = [pool.submit(client.ask, Question((Message("user", (str(n),)),))) for n in range(3)]
    assert all(future.result().text == "4" for future in (first, *others))
    assert min(backend.times[1:]) - backend.times[0] >= 0.19


@pytest.mark.parametrize("kind", ["busy", "server"])
def test_a_requested_wait_over_the_limit_is_an_error_at_once(opened: Open, kind: str) -> None:
    backend = Scripted(trouble(kind, 3600.0))
    with pytest.raises(ServerTrouble, match="asks to wait 3600 s"):
        opened(backend).ask(QUESTION)
    assert len(backend.times) == 1


def test_a_server_that_is_down_gets_one_attempt_until_it_answers(opened: Open) -> None:
    failures = [trouble("connection")] * (4 * MAX_FAILURES + 1)
    backend = Scripted(*failures, FOUR, trouble("connection"), FOUR)
    client = opened(backend)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ServerTrouble):
            client.ask(QUESTION)
    assert len(backend.times) == len(failures), "the last question had a single attempt"
    assert client.ask(QUESTION).text == "4"
    assert client.ask(QUESTION).text == "4", "retried as before"


def test_a_busy_server_is_not_down(opened: Open) -> None:
    client = opened(Scripted(trouble("busy")), retries=0)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ServerTrouble):
            client.ask(QUESTION)
    assert client.failures == 0


def test_waiting_threads_can_be_stopped(opened: Open) -> None:
    client = opened(Scripted(trouble("busy", 60.0)))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.ask, QUESTION)
        time.sleep(0.05)
        client.stop()
        assert isinstance(waiting.exception(timeout=2), ServerTrouble)


# -- prices and budgets ------------------------------------------------------------------------------------------------


def about_an_image(side: int = 1024) -> Question:
    picture = load_picture(np.zeros((600, 1200, 3), np.uint8), Settings())
    return Question((Message("user", ("x" * 400, SentImage(picture, side, "jpeg", 95))),), max_tokens=100)


@pytest.mark.parametrize(
    ("model", "server", "price"),
    [
        ("openai/gpt-5.2", "", Price(1.75, 14.0)),
        ("openai/gpt-5.2", "https://api.openai.com/v1", Price(1.75, 14.0)),
        ("openai/gpt-5.2", "http://localhost:8000/v1", None),
        ("openai/gpt-4o-2024-08-06", "", Price(2.5, 10.0)),
        ("anthropic/claude-sonnet-4-5-20250929", "", Price(3.0, 15.0)),
        ("openai/gpt-5.2-pro", "", None),
        ("gemini/gpt-5.2", "", None),
        ("transformers/some/model", "", None),
    ],
)
def test_a_price_is_known_or_not(model: str, server: str, price: Price | None) -> None:
    assert price_of(model, Settings(), server) == price
    assert price_of(model, Settings(price_in=1.0, price_out=2.0), server) == (1.0, 2.0)


def test_an_estimate_counts_letters_and_pixels() -> None:
    assert estimate(about_an_image()) == Usage(101 + 1024 * 512 // 750 + 1, 100)
    assert estimate(about_an_image(512)).tokens_in < estimate(about_an_image()).tokens_in


def test_a_budget_is_not_exceeded(opened: Open) -> None:
    backend = Scripted(Answer("4", usage=Usage(1000, 650)))
    client = opened(backend, budget=2.5, **PRICES)
    assert client.ask(about_an_image()).usage.cost == pytest.approx(1.65)
    with pytest.raises(BudgetSpent, match=r"1\.6500 of 2\.5 .* may cost 0\.90"):
        client.ask(about_an_image())
    assert len(backend.times) == 1
    assert client.budget.spent == pytest.approx(1.65)


def test_what_pending_questions_hold_is_waited_for_not_taken_for_spent(opened: Open) -> None:
    """Each of 15 may cost .9 and costs .1."""
    backend = Scripted(Answer("4", usage=Usage(50, 50)), delay=0.005)
    client = opened(backend, budget=2.5, **PRICES)
    with ThreadPoolExecutor(8) as pool:
        questions = [
            Question((*about_an_image().messages, Message("user", (str(n),))), max_tokens=100) for n in range(15)
        ]
        costs = [answer.usage.cost for answer in pool.map(client.ask, questions)]
    assert costs == [pytest.approx(0.1)] * 15
    assert not client.budget.held


def test_a_question_that_failed_costs_nothing_and_one_without_usage_the_most_that_it_may(opened: Open) -> None:
    backend = Scripted(Rejected("no"), Answer("4", usage=Usage(seconds=2.0, estimated=True)))
    client = opened(backend, budget=2.5, **PRICES)
    with pytest.raises(Rejected):
        client.ask(about_an_image())
    assert client.budget.spent == 0
    usage = client.ask(about_an_image()).usage
    assert (usage.cost, usage.estimated, usage.seconds) == (client.budget.spent, True, 2.0)
    assert usage.cost == pytest.approx(0.9, abs=0.02)


def test_a_budget_without_a_price_is_refused(opened: Open) -> None:
    with pytest.raises(UserError, match="price_in"):
        opened(Scripted(FOUR), budget=1.0)

"""Prices, estimates and budgets."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from onprompt.errors import BudgetSpent, UserError
from onprompt.models.client import Budget, Price, estimate, price_of
from onprompt.settings import Settings
from onprompt.types import Message, Question, SentImage, Usage
from onprompt.vision.image import load_picture


def question(side: int = 1024) -> Question:
    picture = load_picture(np.zeros((600, 1200, 3), np.uint8), Settings())
    return Question((Message("user", ("x" * 400, SentImage(picture, side, "jpeg", 95))),), max_tokens=100)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("openai/gpt-5.2", Price(1.75, 14.0)),
        ("openai/gpt-4o-2024-08-06", Price(2.5, 10.0)),
        ("anthropic/claude-sonnet-4-5-20250929", Price(3.0, 15.0)),
        ("openai/gpt-5.2-pro", None),
        ("openai/unheard-of", None),
        ("gemini/gpt-5.2", None),
        ("transformers/some/model", None),
    ],
)
def test_a_price_is_known_or_not(model: str, price: Price | None) -> None:
    assert price_of(model, Settings()) == price


def test_a_server_of_ones_own_has_no_listed_price() -> None:
    assert price_of("openai/gpt-5.2", Settings(), "https://api.openai.com/v1") == (1.75, 14.0)
    assert price_of("openai/gpt-5.2", Settings(), "http://localhost:8000/v1") is None
    own = Settings(price_in=1.0, price_out=2.0)
    assert price_of("openai/gpt-5.2", own, "http://localhost:8000/v1") == (1.0, 2.0)


def test_an_estimate_counts_letters_and_pixels() -> None:
    assert estimate(question()) == Usage(101 + 1024 * 512 // 750 + 1, 100)
    assert estimate(question(512)).tokens_in < estimate(question()).tokens_in


def test_a_budget_is_not_exceeded() -> None:
    settings = Settings(model="openai/x", price_in=1000.0, price_out=1000.0, budget=2.5)
    budget, asked = Budget(settings.model, settings), question()
    first = budget.reserve(asked)
    assert first == pytest.approx(0.9, abs=0.02)
    assert budget.settle(asked, first, Usage(1000, 650)).cost == pytest.approx(1.65)
    with pytest.raises(BudgetSpent, match=r"1\.6500 of 2\.5"):
        budget.reserve(asked)


def test_a_question_that_failed_costs_nothing() -> None:
    settings = Settings(model="openai/x", price_in=1000.0, price_out=1000.0, budget=1.0)
    budget = Budget(settings.model, settings)
    for _ in range(5):
        budget.settle(question(), budget.reserve(question()))
    assert budget.spent == 0


def test_a_budget_without_a_price_is_refused() -> None:
    with pytest.raises(UserError, match="price_in"):
        Budget("openai/unheard-of", Settings(budget=1.0))


def test_what_is_held_is_waited_for_not_taken_for_spent() -> None:
    settings = Settings(model="openai/x", price_in=1000.0, price_out=1000.0, budget=2.5)
    budget, asked = Budget(settings.model, settings), question()
    with ThreadPoolExecutor(8) as pool:

        def ask(_: int) -> float | None:
            reserved = budget.reserve(asked)
            time.sleep(0.005)
            return budget.settle(asked, reserved, Usage(50, 50)).cost

        assert list(pool.map(ask, range(15))) == [pytest.approx(0.1)] * 15
    budget.settle(asked, budget.reserve(asked), Usage(100, 50))
    with pytest.raises(BudgetSpent, match=r"1\.6500 of 2\.5"):
        budget.reserve(asked)


def test_an_answer_without_usage_costs_the_most_that_it_may() -> None:
    settings = Settings(model="openai/x", price_in=1000.0, price_out=1000.0, budget=2.5)
    budget, asked = Budget(settings.model, settings), question()
    reserved = budget.reserve(asked)
    usage = budget.settle(asked, reserved, Usage(seconds=2.0, estimated=True))
    assert (usage.cost, usage.estimated, usage.seconds) == (reserved, True, 2.0)
    assert usage.tokens_out == asked.max_tokens
    assert budget.spent == reserved

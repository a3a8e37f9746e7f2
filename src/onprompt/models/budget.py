"""What answers cost: prices by model, estimates before a question is sent, and the budget that none may exceed."""

import math
import re
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from onprompt.errors import BudgetSpent
from onprompt.settings import Settings
from onprompt.types import Part, Question, Usage

PRICED_SERVERS = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
CHARACTERS_PER_TOKEN = 4  # of English text, roughly
PIXELS_PER_TOKEN = 750  # Anthropic's rule; others are of this order
TYPICAL_ANSWER = 400  # tokens of an answer with its reasons


class Price(NamedTuple):
    """US dollars per million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """What some tokens cost."""
        return (usage.tokens_in * self.tokens_in + usage.tokens_out * self.tokens_out) / 1e6


@cache
def price_list() -> Mapping[str, Mapping[str, list[float]]]:
    """Prices by backend and model."""
    return tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))


def price_of(model: str, settings: Settings, server: str = "") -> Price | None:
    """The price from the settings or the list; None if unknown, as on any server but the provider's own."""
    if settings.price_in is not None and settings.price_out is not None:
        return Price(settings.price_in, settings.price_out)
    backend, _, name = model.partition("/")
    if server and not server.startswith(PRICED_SERVERS.get(backend, "")):
        return None
    undated = re.sub(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$", "", name)
    price = price_list().get(backend, {}).get(undated)
    return Price(*price) if price else None


def estimate(question: Question) -> Usage:
    """About how many tokens a question and its answer take."""
    answer = 1 if question.choices else min(TYPICAL_ANSWER, question.max_tokens)
    return Usage(sum(tokens(part) for message in question.messages for part in message.parts), answer)


def most(question: Question) -> Usage:
    """The most tokens that a question and its answer may take."""
    return replace(estimate(question), tokens_out=question.max_tokens)


def tokens(part: Part) -> int:
    """About how many tokens a text takes, or an image at the size at which it is sent."""
    if isinstance(part, str):
        return len(part) // CHARACTERS_PER_TOKEN + 1
    width, height = part.picture.size
    scale = min(1.0, part.side / max(width, height))
    return int(width * height * scale * scale / PIXELS_PER_TOKEN) + 1


class Budget:
    """The US dollars that may be spent, on one model or on several; pending questions hold their highest cost."""

    def __init__(self, limit: float | None) -> None:
        self.limit, self.spent = limit or math.inf, 0.0
        self.held, self.changed = list[float](), threading.Condition()

    def reserve(self, cost: float) -> None:
        """Set aside the highest cost of a question, or raise BudgetSpent.

        If only what pending questions hold stands in the way, it waits for them: most cost less than they may.
        """
        with self.changed:
            while self.held and self.spent + sum(self.held) + cost > self.limit:
                self.changed.wait()
            if self.spent + cost > self.limit:
                spent = f"{self.spent:.4f} of {self.limit:g} US dollars are spent"
                raise BudgetSpent(f"budget: {spent}, and the next question may cost {cost:.4f}")
            self.held.append(cost)

    def settle(self, reserved: float, cost: float) -> None:
        """Release what was reserved for a question, and spend what it did cost."""
        with self.changed:
            self.held.remove(reserved)
            self.spent += cost
            self.changed.notify_all()

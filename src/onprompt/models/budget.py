"""What answers cost: known prices, an estimate before asking, and a budget that is never passed knowingly."""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from onprompt.errors import BudgetSpent, UserError
from onprompt.settings import Settings
from onprompt.types import Message, Question, Shown, Usage

MILLION = 1e6
MAKERS = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
LETTERS = 4  # of a token of English, roughly
PIXELS = 750  # of a picture for a token, by Anthropic's rule; the others are of this order
USUAL = 400  # tokens of an answer that gives its reasons


class Price(NamedTuple):
    """US dollars for a million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """What some tokens cost."""
        return (usage.tokens_in * self.tokens_in + usage.tokens_out * self.tokens_out) / MILLION


@cache
def listed() -> Mapping[str, Mapping[str, list[float]]]:
    """The price list."""
    return tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))


def price_of(model: str, settings: Settings, server: str = "") -> Price | None:
    """By the settings, else by the list; None where neither knows: a server of one's own may be free, or not."""
    if settings.price_in is not None and settings.price_out is not None:
        return Price(settings.price_in, settings.price_out)
    backend, _, name = model.partition("/")
    if server and not server.startswith(MAKERS.get(backend, "")):
        return None
    undated = re.sub(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$", "", name)
    found = listed().get(backend, {}).get(undated)
    return Price(*found) if found else None


def estimate(question: Question) -> Usage:
    """About how many tokens a question and its answer take."""
    answer = 1 if question.choices else min(USUAL, question.longest)
    return Usage(sum(tokens(message) for message in question.messages), answer)


def tokens(message: Message) -> int:
    """About how many tokens a message takes."""
    return sum(picture_tokens(part) if isinstance(part, Shown) else len(part) // LETTERS + 1 for part in message.parts)


def picture_tokens(shown: Shown) -> int:
    """About how many tokens a picture takes at the size at which it is sent."""
    width, height = shown.picture.size
    scale = min(1.0, shown.side / max(width, height))
    return int(width * height * scale * scale / PIXELS) + 1


class Budget:
    """The money that may be spent, shared by all threads: what is under way counts as spent by its estimate."""

    def __init__(self, model: str, settings: Settings, server: str = "") -> None:
        self.price, self.budget, self.lock = price_of(model, settings, server), settings.budget, threading.Lock()
        self.spent = self.held = 0.0
        if self.budget is not None and self.price is None:
            raise UserError(f"the price of {model} is not known, so no budget can be kept: set price_in and price_out")

    def hold(self, question: Question) -> float:
        """Set aside what a question may cost, or raise BudgetSpent."""
        if self.price is None or self.budget is None:
            return 0.0
        usage = estimate(question)
        cost = self.price.of(replace(usage, tokens_out=question.longest))  # as long as the answer may get
        with self.lock:
            if self.spent + self.held + cost > self.budget:
                spent = f"{self.spent:.4f} of {self.budget:g} US dollars are spent"
                raise BudgetSpent(f"stopped: {spent}, and the next question may cost {cost:.4f}")
            self.held += cost
        return cost

    def settle(self, held: float, usage: Usage | None = None) -> Usage:
        """Take what was set aside back, and pay what an answer really cost."""
        cost = None if self.price is None or usage is None else self.price.of(usage)
        with self.lock:
            self.held -= held
            self.spent += cost or 0.0
        return replace(usage or Usage(), cost=cost)

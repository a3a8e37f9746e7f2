"""What answers cost: known prices, estimates before a question is asked, and a budget that is not exceeded."""

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
    answer = 1 if question.choices else min(TYPICAL_ANSWER, question.longest)
    return Usage(sum(tokens(part) for message in question.messages for part in message.parts), answer)


def tokens(part: Part) -> int:
    """About how many tokens a text takes, or an image at the size at which it is sent."""
    if isinstance(part, str):
        return len(part) // CHARACTERS_PER_TOKEN + 1
    width, height = part.picture.size
    scale = min(1.0, part.side / max(width, height))
    return int(width * height * scale * scale / PIXELS_PER_TOKEN) + 1


def most(question: Question) -> Usage:
    """The most tokens that a question and its answer may take."""
    return replace(estimate(question), tokens_out=question.longest)


class Purse:
    """The dollars that may be spent, on one model or on several; pending questions hold their highest cost."""

    def __init__(self, limit: float | None) -> None:
        self.limit, self.settled = limit, threading.Condition()
        self.spent, self.reserved, self.pending = 0.0, 0.0, 0


class Budget:
    """What one model may spend out of a purse, shared by all threads."""

    def __init__(self, model: str, settings: Settings, server: str = "", purse: Purse | None = None) -> None:
        self.price, self.purse = price_of(model, settings, server), purse or Purse(settings.budget)
        if self.purse.limit is not None and self.price is None:
            raise UserError(f"a budget needs the price of {model}, which is unknown: set price_in and price_out")

    @property
    def spent(self) -> float:
        """US dollars that are gone from the purse."""
        return self.purse.spent

    def reserve(self, question: Question) -> float | None:
        """Set aside the highest cost of a question, or raise BudgetSpent.

        If only what pending questions hold stands in the way, it waits for them: most cost less than they may.
        """
        purse = self.purse
        if self.price is None or purse.limit is None:
            return None
        cost = self.price.of(most(question))
        with purse.settled:
            while purse.pending and purse.spent + purse.reserved + cost > purse.limit:
                purse.settled.wait()
            if purse.spent + cost > purse.limit:
                spent = f"{purse.spent:.4f} of {purse.limit:g} US dollars are spent"
                raise BudgetSpent(f"budget: {spent}, and the next question may cost {cost:.4f}")
            purse.reserved += cost
            purse.pending += 1
        return cost

    def settle(self, question: Question, reserved: float | None, usage: Usage | None = None) -> Usage:
        """Release a reservation and spend what the answer cost, if there is one; the most it may, if nobody says."""
        if usage and usage.estimated:
            usage = replace(most(question), seconds=usage.seconds, estimated=True)
        cost = None if self.price is None or usage is None else self.price.of(usage)
        with self.purse.settled:
            self.purse.spent += cost or 0.0
            if reserved is not None:
                self.purse.pending -= 1
                self.purse.reserved = self.purse.reserved - reserved if self.purse.pending else 0.0
                self.purse.settled.notify_all()
        return replace(usage or Usage(), cost=cost)

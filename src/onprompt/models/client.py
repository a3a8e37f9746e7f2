"""Ask a model: cached answers from the store, new ones within the budget and with retries.

A request is retried with exponential backoff, after the wait that the server asks for; a circuit breaker gives a server
that is down a rest.
"""

import random
import re
import threading
import time
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from onprompt import plugins, stages
from onprompt.errors import BudgetSpent, ServerTrouble, UserError
from onprompt.models import answer_store
from onprompt.models.answer_store import AnswerStore
from onprompt.models.backends.replay import record
from onprompt.models.voices import CLAIMS
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Part, Question, Usage

# ---- what answers cost ---------------------------------------------------------------------------------------------

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


def tokens(part: Part) -> int:
    """About how many tokens a text takes, or an image at the size at which it is sent."""
    if isinstance(part, str):
        return len(part) // CHARACTERS_PER_TOKEN + 1
    width, height = part.picture.size
    scale = min(1.0, part.side / max(width, height))
    return int(width * height * scale * scale / PIXELS_PER_TOKEN) + 1


def most(question: Question) -> Usage:
    """The most tokens that a question and its answer may take."""
    return replace(estimate(question), tokens_out=question.max_tokens)


class SharedBudget:
    """The dollars that may be spent, on one model or on several; pending questions hold their highest cost."""

    def __init__(self, limit: float | None) -> None:
        self.limit, self.settled = limit, threading.Condition()
        self.spent, self.reserved, self.pending = 0.0, 0.0, 0


class Budget:
    """What one model may spend out of a purse, shared by all threads."""

    def __init__(self, model: str, settings: Settings, server: str = "", purse: SharedBudget | None = None) -> None:
        self.price, self.purse = price_of(model, settings, server), purse or SharedBudget(settings.budget)
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


# ---- asking ---------------------------------------------------------------------------------------------------------

LONGEST_WAIT = 120.0  # seconds that a server may ask for
MAX_FAILURES = 10  # questions in a row that fail before a server counts as down


class NotCached(Exception):
    """The store has no answer to a question."""


class RetryingBackend:
    """A backend that retries. All threads share it, so that they hold back together."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend: Any = backend
        self.settings, self.lock = settings, threading.Lock()
        self.not_before = 0.0  # when the server takes the next question, on the monotonic clock
        self.failures, self.open_until = 0, 0.0  # questions that failed in a row; the breaker is open until then
        self.stopped = threading.Event()

    def ask(self, question: Question) -> Answer:
        """The answer, after as many attempts as the settings allow."""
        for attempt in range(self.settings.retries + 1):
            self.wait_until_ready()
            try:
                answer: Answer = self.backend.ask(question)
            except ServerTrouble as error:
                wait = error.retry_after or 0.0
                if wait > LONGEST_WAIT:
                    limit = f"the limit is {LONGEST_WAIT:g} s"
                    raise ServerTrouble(error.kind, f"the server asks to wait {wait:.0f} s; {limit}") from None
                if attempt == self.settings.retries:
                    self.count_failure(error)
                    raise ServerTrouble(error.kind, f"{error} (after {attempt + 1} attempts)") from None
                if error.kind == "busy":
                    with self.lock:
                        self.not_before = max(self.not_before, time.monotonic() + wait)
                jitter = random.uniform(0, min(self.settings.backoff * 2**attempt, LONGEST_WAIT))  # noqa: S311
                self.sleep(wait + jitter)
            else:
                with self.lock:
                    self.failures, self.open_until = 0, 0.0
                return answer
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """Make every thread that waits, or will wait, raise an error."""
        self.stopped.set()
        self.backend.close()

    def close(self) -> None:
        """Close the backend."""
        self.backend.close()

    def sleep(self, seconds: float) -> None:
        """Wait, or raise once stopped."""
        if self.stopped.wait(max(0.0, seconds)):
            raise ServerTrouble("stopped", "stopped before the server answered")

    def wait_until_ready(self) -> None:
        """Wait until the server takes questions; raise at once while the breaker is open."""
        with self.lock:
            now = time.monotonic()
            if now < self.open_until:
                raise ServerTrouble("down", f"not sent: the last {self.failures} questions failed")
            if self.failures >= MAX_FAILURES:  # this thread alone probes the server
                self.open_until = now + self.settings.breaker_pause
        self.sleep(0)
        while (wait := self.not_before - time.monotonic()) > 0:  # other threads may postpone it meanwhile
            self.sleep(wait + random.uniform(0, self.settings.backoff / 10))  # noqa: S311

    def count_failure(self, error: ServerTrouble) -> None:
        """Count a question that failed for good, and open the breaker after too many. A busy server is not down."""
        if error.kind in ("busy", "stopped"):
            return
        with self.lock:
            self.failures += 1
            if self.failures >= MAX_FAILURES:
                self.open_until = time.monotonic() + self.settings.breaker_pause


class ModelClient:
    """A backend with its answer store and budget, shared by all threads."""

    def __init__(
        self, backend: Backend, settings: Settings, purse: SharedBudget | None = None, store: AnswerStore | None = None
    ) -> None:
        self.settings, self.backend, self.identity = settings, RetryingBackend(backend, settings), backend.identity
        self.slots: int = getattr(backend, "slots", settings.concurrency)
        self.budget = Budget(settings.model, settings, self.identity.get("server", ""), purse)
        self.answers = store or AnswerStore(settings.answers)
        self.lock, self.in_flight = threading.Lock(), WeakValueDictionary[str, threading.Lock]()
        self.keeps_images: bool = getattr(backend, "keeps_images", False)

    @property
    def name(self) -> str:
        """The model as verdicts name it; of a path only the last part."""
        return f"{self.identity['backend']}/{self.identity['model']}"

    @property
    def bound_by(self) -> str:
        """What limits it: a `model` in this process, or a `server`."""
        return "model" if hasattr(self.backend.backend, "slots") else "server"

    def ask(self, question: Question) -> Answer:
        """The answer, cached or new; also recorded, if the settings say so."""
        key = answer_store.key_of(question, self.identity)
        with self.lock:  # threads with the same question share one answer
            question_lock = self.in_flight.setdefault(key, threading.Lock())
        with question_lock:
            answer = self.cached(key) or self.new_answer(question, key)
        if self.settings.record:
            record(self.settings.record, question, answer)
        return answer

    def new_answer(self, question: Question, key: str) -> Answer:
        """The backend's answer, stored before it is returned."""
        reserved = self.budget.reserve(question)
        try:
            stages.enter("ask")
            answer = self.backend.ask(question)
        except BaseException:
            self.budget.settle(question, reserved)
            raise
        answer = replace(answer, usage=self.budget.settle(question, reserved, answer.usage), key=key)
        options = {**self.identity, **answer_store.options(question)}
        self.answers.put(key, options, answer, self.settings.asked_by)
        return answer

    def remember(self, question: Question, answer: Answer) -> None:
        """Store an answer that was part of another, under a question of its own."""
        asked = {**self.identity, **answer_store.options(question)}
        self.answers.put(answer_store.key_of(question, self.identity), asked, answer, outcome="read")

    def cached_answer(self, question: Question) -> Answer:
        """The answer from the store, or NotCached."""
        if answer := self.cached(answer_store.key_of(question, self.identity)):
            return answer
        raise NotCached

    def cached(self, key: str) -> Answer | None:
        """The answer from the store, if the settings allow its use."""
        return self.answers.get(key) if self.settings.reuse_answers else None

    def stop(self) -> None:
        """Make every thread that waits for the server raise an error, now and from now on."""
        self.backend.stop()

    def close(self) -> None:
        """Close the connections and the store."""
        self.backend.close()
        self.answers.close()


def open_client(settings: Settings, purse: SharedBudget | None = None, store: AnswerStore | None = None) -> ModelClient:
    """The client for the model of the settings; the models of a jury share a purse and a store."""
    if not settings.models and settings.model:
        (settings,) = settings_by_model(settings)
    if settings.model.startswith(CLAIMS):
        alone = settings.model.removeprefix(CLAIMS)
        raise UserError(f"{settings.model} can join a jury (--judge jury); alone it is --judge claims --model {alone}")
    backend, _, model = settings.model.partition("/")
    if settings.models:
        raise UserError(f"the judge {settings.judged_by!r} asks one model; for several choose --judge jury")
    if not settings.model:
        raise UserError("a model is needed: --model BACKEND/MODEL, such as openai/gpt-5.2")
    if not model:
        raise UserError(f"invalid model {settings.model!r}: use BACKEND/MODEL, such as openai/gpt-5.2")
    return ModelClient(plugins.load("models.backends", backend).load(model, settings), settings, purse, store)


def settings_by_model(settings: Settings) -> list[Settings]:
    """The settings for each model of a jury; one may have a server of its own: BACKEND/MODEL@URL."""
    found = []
    for name in settings.models or ((settings.model,) if settings.model else ()):
        model, _, url = name.partition("@http")
        own = {"base_url": f"http{url}"} if url else {}
        found.append(settings.model_copy(update={"model": model, "models": (), **own}))
    return found

"""From a question to its answer: out of the cache, or from the backend, within the budget and with retries."""

import random
import threading
import time
from dataclasses import replace
from weakref import WeakValueDictionary

from onprompt import plugins, stages
from onprompt.errors import ServerTrouble, UserError
from onprompt.models.answer_store import AnswerStore, key_of, options
from onprompt.models.backends.replay import record
from onprompt.models.budget import Budget, most, price_of
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Question, Usage

LONGEST_WAIT = 120.0  # seconds that a server may ask for
MAX_FAILURES = 5  # questions in a row without an answer after which a server counts as down


class ModelClient:
    """A backend with its cache and budget. All threads share it, so that they hold back together."""

    def __init__(self, backend: Backend, settings: Settings, budget: Budget | None = None) -> None:
        self.backend, self.settings, self.identity = backend, settings, backend.identity
        self.name = f"{self.identity['backend']}/{self.identity['model']}"  # in verdicts; of a path only the last part
        self.slots: int = getattr(backend, "slots", settings.concurrency)
        self.bound_by = "model" if hasattr(backend, "slots") else "server"
        self.keeps_images: bool = getattr(backend, "keeps_images", False)
        self.price = price_of(settings.model, settings, self.identity.get("server", ""))
        if self.price is None and settings.budget is not None:
            raise UserError(f"a budget needs the price of {self.name}, which is unknown: set price_in and price_out")
        self.budget = budget or Budget(settings.budget)
        self.answers = AnswerStore(settings.answers)
        self.lock, self.in_flight = threading.Lock(), WeakValueDictionary[str, threading.Lock]()
        self.stopped, self.not_before = threading.Event(), 0.0  # when a busy server takes the next question
        self.failures = 0  # questions that failed for good since the last answer

    def ask(self, question: Question) -> Answer:
        """The answer, cached or new; also recorded, if the settings say so."""
        key = key_of(question, self.identity)
        with self.lock:  # threads with the same question share one answer
            question_lock = self.in_flight.setdefault(key, threading.Lock())
        with question_lock:
            answer = self.cached(key) or self.new_answer(question, key)
        if self.settings.record:
            record(self.settings.record, question, answer)
        return answer

    def cached(self, key: str) -> Answer | None:
        """The answer from the cache, if the settings allow its use."""
        return self.answers.get(key) if self.settings.reuse_answers else None

    def remember(self, question: Question, answer: Answer) -> None:
        """Store an answer that was part of another, as that to a question of its own."""
        self.answers.put(key_of(question, self.identity), {**self.identity, **options(question)}, answer)

    def new_answer(self, question: Question, key: str) -> Answer:
        """The backend's answer with its cost, stored before it is returned."""
        reserved, cost = self.price.of(most(question)) if self.price else 0.0, 0.0
        self.budget.reserve(reserved)
        try:
            stages.enter("ask")
            answer = self.try_backend(question)
            usage = self.paid(question, answer.usage)
            cost = usage.cost or 0.0
        finally:
            self.budget.settle(reserved, cost)
        answer = replace(answer, usage=usage, key=key)
        self.answers.put(key, {**self.identity, **options(question)}, answer, self.settings.asked_by)
        return answer

    def paid(self, question: Question, usage: Usage) -> Usage:
        """What an answer took, with its cost: the most that it may have taken, if the server does not say."""
        if usage.estimated:
            usage = replace(most(question), seconds=usage.seconds, estimated=True)
        return replace(usage, cost=self.price.of(usage) if self.price else None)

    def try_backend(self, question: Question) -> Answer:
        """The backend's answer, after as many attempts as the settings allow; one while the server is down."""
        attempts = 1 if self.failures >= MAX_FAILURES else self.settings.retries + 1
        for attempt in range(attempts):
            while (wait := self.not_before - time.monotonic()) > 0:  # the server is busy; others may postpone it
                self.wait(wait + random.uniform(0, self.settings.backoff / 10))  # noqa: S311
            self.wait(0)
            try:
                answer = self.backend.ask(question)
            except ServerTrouble as error:
                self.wait(0)
                wait = error.retry_after or 0.0
                if wait > LONGEST_WAIT:
                    limit = f"the limit is {LONGEST_WAIT:g} s"
                    raise ServerTrouble(error.kind, f"the server asks to wait {wait:.0f} s; {limit}") from None
                busy = error.kind == "busy"
                if attempt + 1 == attempts:
                    self.failures += not busy
                    after = f" (after {attempts} attempts)" if attempts > 1 else ""
                    raise ServerTrouble(error.kind, f"{error}{after}") from None
                if busy:
                    self.not_before = max(self.not_before, time.monotonic() + wait)
                jitter = random.uniform(0, min(self.settings.backoff * 2**attempt, LONGEST_WAIT))  # noqa: S311
                self.wait(wait + jitter)
            else:
                self.failures = 0
                return answer
        raise AssertionError("unreachable")

    def wait(self, seconds: float) -> None:
        """Wait, or raise once stopped."""
        if self.stopped.wait(seconds):
            raise ServerTrouble("stopped", "stopped before the server answered")

    def stop(self) -> None:
        """Make every thread that waits for the server raise an error, now and from now on."""
        self.stopped.set()
        self.backend.close()

    def close(self) -> None:
        """Close the connections and the cache."""
        self.backend.close()
        self.answers.close()


def open_client(settings: Settings, budget: Budget | None = None) -> ModelClient:
    """The client for the model of the settings; the models of a jury share a budget."""
    if settings.models:
        raise UserError(f"the judge {settings.judged_by!r} asks one model; for several choose --judge jury")
    settings = for_model(settings.model, settings)
    backend, _, model = settings.model.partition("/")
    if not settings.model:
        raise UserError("a model is needed: --model BACKEND/MODEL, such as openai/gpt-5.2")
    if not model:
        raise UserError(f"invalid model {settings.model!r}: use BACKEND/MODEL, such as openai/gpt-5.2")
    return ModelClient(plugins.load("models.backends", backend).load(model, settings), settings, budget)


def for_model(name: str, settings: Settings) -> Settings:
    """The settings for one model, which may have a server of its own: BACKEND/MODEL@URL."""
    model, _, url = name.partition("@http")
    own = {"base_url": f"http{url}"} if url else {}
    return settings.model_copy(update={"model": model, "models": (), **own})

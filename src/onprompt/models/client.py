"""One way to ask a model: from the store if it was asked before, else within the budget and with patience."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from onprompt import plugins
from onprompt.errors import OnpromptError, UserError
from onprompt.models import answer_store as store
from onprompt.models.budget import Budget, estimate
from onprompt.models.recording import record
from onprompt.models.retry import RetryingBackend
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Question, Usage

Item = TypeVar("Item")


class NotCached(Exception):
    """The store has no answer to a question."""


@dataclass
class Turn:
    """The threads that have one question."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0


class ModelClient:
    """A backend with its store and its budget; one is shared by all threads."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.settings, self.backend, self.identity = settings, RetryingBackend(backend, settings), backend.identity
        self.slots: int = getattr(backend, "slots", settings.concurrency)
        self.budget, self.answers = (
            Budget(settings.model, settings, backend.identity.get("server", "")),
            store.AnswerStore(settings.answers),
        )
        self.lock, self.under_way = threading.Lock(), dict[str, Turn]()

    @property
    def name(self) -> str:
        """The model as verdicts name it: of a file on this machine only the last part."""
        return f"{self.identity['backend']}/{self.identity['model']}"

    def ask(self, question: Question) -> Answer:
        """The answer; recorded too, if the settings want that."""
        answer = self.answer(question)
        if self.settings.record:
            record(self.settings.record, question, answer)
        return answer

    def answer(self, question: Question) -> Answer:
        """The answer, which is in the store before anyone reads it."""
        key = store.key_of(question, self.identity)
        if found := self.kept(key):
            return found
        with self.turn(key):
            if found := self.kept(key):  # by a thread that had the same question
                return found
            held = self.budget.hold(question)
            try:
                answer = self.backend.ask(question)
            except BaseException:
                self.budget.settle(held)
                raise
            answer = replace(answer, usage=self.budget.settle(held, answer.usage), key=key)
            self.answers.put(key, {**self.identity, **store.options(question)}, answer)
            return answer

    def cached_answer(self, question: Question) -> Answer:
        """The answer that the store has; NotCached where it has none."""
        answer = self.kept(store.key_of(question, self.identity))
        if answer is None:
            raise NotCached
        return answer

    def kept(self, key: str) -> Answer | None:
        """The answer that the store has, where it may be used."""
        return self.answers.get(key) if self.settings.reuse_answers else None

    def stop(self) -> None:
        """Let nobody wait for the server any more."""
        self.backend.stop()

    def close(self) -> None:
        """Close the connections and the store."""
        self.backend.close()
        self.answers.close()

    @contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Let one thread ask a question; others with the same one wait, and find the answer in the store."""
        with self.lock:
            mine = self.under_way.setdefault(key, Turn())
            mine.waiting += 1
        try:
            with mine.lock:
                yield
        finally:
            with self.lock:
                mine.waiting -= 1
                if not mine.waiting:
                    del self.under_way[key]


class Plan(NamedTuple):
    """What some questions would take."""

    model: str
    calls: int
    known: int  # that the store answers
    usage: Usage
    faults: Sequence[OnpromptError] = ()  # of items about which nothing can be asked
    again: bool = True  # whether what can't be read is asked for once more

    @property
    def document(self) -> dict[str, Any]:
        """The plan as JSON."""
        told = {"model": self.model, "calls": self.calls, "known": self.known, "faults": len(self.faults)}
        return told | asdict(self.usage)

    def __str__(self) -> str:
        calls = f"{self.calls} call{'' if self.calls == 1 else 's'} of {self.model}"
        known = f" ({self.known} more are answered already)" if self.known else ""
        about = f"about {self.usage.tokens_in:,} tokens in and {self.usage.tokens_out:,} out"
        money = "at a price that is not known" if self.usage.cost is None else f"about {self.usage.cost:.4f} US dollars"
        again = "; an answer that can't be read is asked for once more" if self.again else ""
        faults = f"; no question about {len(self.faults)} items, such as: {self.faults[0]}" if self.faults else ""
        return f"{calls}{known}: {about}, {money}{again}{faults}"


def plan_calls(
    client: ModelClient, items: Iterable[Item], questions: Callable[[Item], Iterable[Question]], again: bool = True
) -> Plan:
    """How many calls, tokens and dollars it would take to ask; a bad item costs no other, unless all are bad."""
    known, usage = 0, Usage()
    seen, faults, good = set[str](), list[OnpromptError](), 0
    for item in items:
        try:
            for question in questions(item):
                key = store.key_of(question, client.identity)
                if key in seen or client.kept(key):
                    known += 1
                else:
                    usage += estimate(question)
                    seen.add(key)
            good += 1
        except OnpromptError as error:
            faults.append(error)
    if faults and not good:
        raise faults[0]
    price = client.budget.price
    return Plan(client.name, len(seen), known, replace(usage, cost=price.of(usage) if price else None), faults, again)


clients: dict[Settings, ModelClient] = {}
making = threading.Lock()


def model_client(settings: Settings) -> ModelClient:
    """The one that asks the model of the settings, made once in a process."""
    backend, _, model = settings.model.partition("/")
    if not model:
        raise UserError(f"the model is named BACKEND/MODEL, such as openai/gpt-5.2, not {settings.model!r}")
    with making:
        if settings not in clients:
            clients[settings] = ModelClient(plugins.load("models.backends", backend).load(model, settings), settings)
        return clients[settings]


@atexit.register
def close_all() -> None:
    """Close every connection and file; who asks again opens them anew."""
    with making:
        while clients:
            clients.popitem()[1].close()

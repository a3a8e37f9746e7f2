"""Requests from many threads, answered in batches."""

import atexit
import os
import threading
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Queue
from typing import Generic, Protocol, TypeVar

PREPARING_THREADS = 4  # more would slow down the thread that drives the network
Request = TypeVar("Request", contravariant=True)
Prepared = TypeVar("Prepared")
Staged = TypeVar("Staged")
Result = TypeVar("Result", covariant=True)


class Steps(Protocol[Request, Prepared, Staged, Result]):
    """The steps to an answer. Only `answer` uses the network; the others run while it is busy."""

    @property
    def too_large(self) -> tuple[type[Exception], ...]:
        """Errors of a batch that is too large."""
        ...

    def prepare(self, request: Request) -> Prepared:
        """Prepare one request, in the caller's thread; its errors are that caller's alone."""
        ...

    def group(self, prepared: Prepared) -> tuple[Hashable, int]:
        """What requests must share to be in one batch, and a length that should be similar."""
        ...

    def stage(self, batch: Sequence[Prepared]) -> Staged:
        """Collate a batch."""
        ...

    def answer(self, staged: Staged) -> Sequence[Result]:
        """One result for each request."""
        ...


@dataclass(eq=False, slots=True)
class Pending(Generic[Prepared, Result]):
    """A prepared request whose caller waits."""

    prepared: Prepared
    group: Hashable
    length: int
    result: Future[Result] = field(default_factory=Future)


class Batcher(Generic[Request, Prepared, Staged, Result]):
    """Answers pending requests together, while callers prepare the next ones.

    A batch starts when it is full or, if the network is idle, as soon as no caller is about to add to it. To keep the
    network busy, twice as many threads should ask as a batch holds.
    """

    def __init__(self, steps: Steps[Request, Prepared, Staged, Result], largest: int) -> None:
        self.steps, self.largest = steps, largest
        self.changed = threading.Condition()
        self.pending: list[Pending[Prepared, Result]] = []
        self.preparing = self.running = 0  # requests being prepared; batches staged or being answered
        self.threads: list[threading.Thread] = []
        self.closed = False
        self.preparing_slots = threading.BoundedSemaphore(min(PREPARING_THREADS, os.cpu_count() or 1))
        self.staged: Queue[tuple[list[Pending[Prepared, Result]], Staged | None] | None] = Queue(maxsize=1)
        self.answered: Queue[tuple[list[Pending[Prepared, Result]], Sequence[Result]] | None] = Queue()

    def ask(self, request: Request) -> Result:
        """The result, or the error of any step."""
        with self.changed:
            self.start()
            self.preparing += 1
        added: list[Pending[Prepared, Result]] = []
        try:
            with self.preparing_slots:
                prepared = self.steps.prepare(request)
            added.append(Pending(prepared, *self.steps.group(prepared)))
        finally:
            with self.changed:
                self.preparing -= 1
                self.pending += added
                self.changed.notify_all()
        return added[0].result.result()

    def start(self) -> None:
        """Start the threads that all batches pass through."""
        if self.closed:
            raise RuntimeError("closed")
        if not self.threads:
            for step in (self.stage_all, self.answer_all, self.deliver_all):
                self.threads.append(threading.Thread(target=step, daemon=True, name=f"onprompt {step.__name__}"))
                self.threads[-1].start()
            atexit.register(self.close)  # an interpreter that exits while a thread is in a network may crash

    def close(self) -> None:
        """Take no more requests, and end the threads after the pending ones."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()

    def stage_all(self) -> None:
        """Collate the next batch while the one before is answered."""
        while batch := self.next_batch():
            try:
                staged = self.steps.stage([item.prepared for item in batch])
            except Exception:  # halving the batch will find the request at fault
                self.staged.put((batch, None))
            else:
                self.staged.put((batch, staged))
                del staged  # frees its memory while this thread waits
        self.staged.put(None)

    def next_batch(self) -> list[Pending[Prepared, Result]]:
        """Wait for a batch and take it; empty once closed and done."""
        with self.changed:
            self.changed.wait_for(lambda: self.due_batch() or (self.closed and not self.preparing and not self.pending))
            batch = self.due_batch()
            self.pending = [item for item in self.pending if item not in batch]
            self.running += bool(batch)
            return batch

    def due_batch(self) -> list[Pending[Prepared, Result]]:
        """The batch that should start now, sorted by length: the oldest request of a group and those most like it."""
        groups: dict[Hashable, list[Pending[Prepared, Result]]] = {}
        for item in self.pending:
            groups.setdefault(item.group, []).append(item)
        idle = not self.running and not self.preparing
        for oldest, *others in groups.values():
            if idle or len(others) + 1 >= self.largest:
                nearest = sorted(others, key=lambda item: abs(item.length - oldest.length))
                return sorted([oldest, *nearest[: self.largest - 1]], key=lambda item: item.length)
        return []

    def answer_all(self) -> None:
        """Answer staged batches."""
        while taken := self.staged.get():
            self.answer(*taken)
            del taken
            with self.changed:
                self.running -= 1
                self.changed.notify_all()
        self.answered.put(None)

    def deliver_all(self) -> None:
        """Hand results to their callers, who all wake up at once, while the network goes on."""
        while answered := self.answered.get():
            for item, result in zip(*answered, strict=True):
                item.result.set_result(result)

    def answer(self, batch: list[Pending[Prepared, Result]], staged: Staged | None) -> None:
        """Answer a batch; one that fails is halved until only the request at fault fails."""
        try:
            if staged is None:
                staged = self.steps.stage([item.prepared for item in batch])
            results = self.steps.answer(staged)
            if len(results) != len(batch):
                raise ValueError(f"{len(results)} answers to {len(batch)} questions")
            self.answered.put((batch, results))
            return
        except Exception as error:
            problem = error.with_traceback(None)  # the traceback would keep the batch in memory
        if len(batch) == 1:
            batch[0].result.set_exception(problem)
            return
        staged, half = None, len(batch) // 2
        if isinstance(problem, self.steps.too_large):
            self.largest = min(self.largest, half)
        self.answer(batch[:half], None)
        self.answer(batch[half:], None)

"""Questions from many threads, answered in batches."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Queue
from typing import Generic, Protocol, TypeVar

HANDS = 4  # threads that make questions ready at a time: more would get in the way of the one that drives the network
Asked = TypeVar("Asked")  # what a caller gives
Ready = TypeVar("Ready")  # made ready for a batch
Staged = TypeVar("Staged")  # a batch put together
Said = TypeVar("Said")  # what a caller gets
Taken = TypeVar("Taken", contravariant=True)
Given = TypeVar("Given", covariant=True)


class Work(Protocol[Taken, Ready, Staged, Given]):
    """The four steps of an answer. Only `answer` is the network's; the others are done while it is busy."""

    @property
    def too_large(self) -> tuple[type[Exception], ...]:
        """Errors which say that a batch was too large."""
        ...

    def prepare(self, asked: Taken) -> Ready:
        """One question made ready, by the thread that asks it; what it raises is that caller's alone."""
        ...

    def sort(self, ready: Ready) -> tuple[Hashable, int]:
        """What questions of one batch have in common, and a length that they should."""
        ...

    def stage(self, batch: Sequence[Ready]) -> Staged:
        """Questions put together."""
        ...

    def answer(self, staged: Staged) -> Sequence[Given]:
        """An answer to each."""
        ...


@dataclass(eq=False, slots=True)
class Waiting(Generic[Ready, Said]):
    """A question that is ready, and the place where its caller waits."""

    ready: Ready
    kind: Hashable
    length: int
    said: Future[Said] = field(default_factory=Future)


class Batcher(Generic[Asked, Ready, Staged, Said]):
    """Answers what is waiting together, while callers make ready what comes next.

    A batch goes when it is full; or, when the network has nothing to do, as soon as no caller is about to add to it.
    To keep the network busy, twice as many threads should ask as there are places in a batch.
    """

    def __init__(self, work: Work[Asked, Ready, Staged, Said], largest: int) -> None:
        self.work, self.largest = work, largest
        self.changed = threading.Condition()
        self.waiting: list[Waiting[Ready, Said]] = []
        self.coming = self.under_way = 0  # questions being made ready; batches staged or being answered
        self.threads: list[threading.Thread] = []
        self.closed = False
        self.hands = threading.BoundedSemaphore(min(HANDS, os.cpu_count() or 1))
        self.done: Queue[tuple[list[Waiting[Ready, Said]], Sequence[Said]] | None] = Queue()
        self.staged: Queue[tuple[list[Waiting[Ready, Said]], Staged | None] | None] = Queue(maxsize=1)

    def ask(self, asked: Asked) -> Said:
        """The answer, or what went wrong on the way to it."""
        with self.changed:
            self.start()
            self.coming += 1
        mine: list[Waiting[Ready, Said]] = []
        try:
            with self.hands:
                ready = self.work.prepare(asked)
            mine.append(Waiting(ready, *self.work.sort(ready)))
        finally:
            with self.changed:
                self.coming -= 1
                self.waiting += mine
                self.changed.notify_all()
        return mine[0].said.result()

    def start(self) -> None:
        """The threads that everybody's batches pass through."""
        if self.closed:
            raise RuntimeError("closed")
        if not self.threads:
            steps = (self.stage_all, self.answer_all, self.hand_out_all)
            self.threads = [
                threading.Thread(target=step, daemon=True, name=f"onprompt {step.__name__}") for step in steps
            ]
            for thread in self.threads:
                thread.start()
            atexit.register(self.close)  # a thread that the end of Python finds inside of a network may crash it

    def close(self) -> None:
        """No more questions; the threads end when those that were asked are answered."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()

    def stage_all(self) -> None:
        """Put the next batch together while the one before is answered."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.next() or self.ended())
                batch = self.next()
                if not batch:
                    break
                self.waiting = [each for each in self.waiting if each not in batch]
                self.under_way += 1
            try:
                staged = self.work.stage([each.ready for each in batch])
            except Exception:  # whose fault it is will be found by halving
                self.staged.put((batch, None))
            else:
                self.staged.put((batch, staged))
                del staged  # it may be large, and the next is long in coming
        self.staged.put(None)

    def ended(self) -> bool:
        """Whether nobody asks any more."""
        return self.closed and not self.coming and not self.waiting

    def next(self) -> list[Waiting[Ready, Said]]:
        """A batch that should go now, by length; the oldest that is waiting takes those along that are most like it."""
        kinds: dict[Hashable, list[Waiting[Ready, Said]]] = {}
        for each in self.waiting:
            kinds.setdefault(each.kind, []).append(each)
        idle = not self.under_way and not self.coming
        for oldest, *others in kinds.values():
            if idle or len(others) + 1 >= self.largest:
                near = sorted(others, key=lambda each: abs(each.length - oldest.length))
                return sorted([oldest, *near[: self.largest - 1]], key=lambda each: each.length)
        return []

    def answer_all(self) -> None:
        """Answer the batch that comes next."""
        while taken := self.staged.get():
            self.answer(*taken)
            del taken
            with self.changed:
                self.under_way -= 1
                self.changed.notify_all()
        self.done.put(None)

    def hand_out_all(self) -> None:
        """Give answers to their callers, who all wake up then; the network goes on meanwhile."""
        while done := self.done.get():
            for each, said in zip(*done, strict=True):
                each.said.set_result(said)

    def answer(self, batch: list[Waiting[Ready, Said]], staged: Staged | None) -> None:
        """Answer all; a batch that fails is halved, so that only the question at fault fails in the end."""
        trouble: Exception | None = None
        try:
            if staged is None:
                staged = self.work.stage([each.ready for each in batch])
            said = self.work.answer(staged)
            if len(said) != len(batch):
                raise ValueError(f"{len(said)} answers to {len(batch)} questions")
            self.done.put((batch, said))
        except Exception as error:
            trouble = error.with_traceback(None)  # which would keep the batch in memory
        if trouble is None:
            return
        if len(batch) == 1:
            batch[0].said.set_exception(trouble)
            return
        staged, half = None, len(batch) // 2
        if isinstance(trouble, self.work.too_large):
            self.largest = min(self.largest, half)
        self.answer(batch[:half], None)
        self.answer(batch[half:], None)

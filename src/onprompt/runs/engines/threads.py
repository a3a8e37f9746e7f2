"""Threads of this process: many items in progress, never far ahead of the consumer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from onprompt.settings import Settings
from onprompt.types import Job

Given = TypeVar("Given")
Made = TypeVar("Made")
Hook = Callable[[], None]
WAIT = 0.5  # seconds


def load(settings: Settings) -> Threads:  # noqa: ARG001 every engine is given them
    """The engine."""
    return Threads()


class Threads:
    """As many threads as the judge likes to have samples in progress."""

    def run(self, job: Job[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """The results, as they get ready."""
        return as_done(job, tasks, job.slots, job.begin, job.stop)


@contextmanager
def thread_pool(slots: int, begin: Hook | None, stop: Hook | None) -> Iterator[ThreadPoolExecutor]:
    """Threads that end with the consumer of their results, however early."""
    pool = ThreadPoolExecutor(slots, initializer=begin)
    try:
        yield pool
    except KeyboardInterrupt:
        if stop:
            stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def as_done(
    work: Callable[[Given], Made],
    items: Iterable[Given],
    slots: int,
    begin: Hook | None = None,
    stop: Hook | None = None,
) -> Iterator[Made]:
    """What `work` returns for each item, as they get done; up to two items per thread are in progress."""
    finished: SimpleQueue[Future[Made]] = SimpleQueue()
    pending = 0
    with thread_pool(slots, begin, stop) as pool:
        for item in items:
            pool.submit(work, item).add_done_callback(finished.put)
            pending += 1
            if pending >= 2 * slots:
                yield next_of(finished).result()
                pending -= 1
        for _ in range(pending):
            yield next_of(finished).result()


def next_of(finished: SimpleQueue[Future[Made]]) -> Future[Made]:
    """The next that is done. The wait has an end again and again, since on Windows Ctrl-C can't interrupt a wait."""
    while True:
        with suppress(Empty):
            return finished.get(timeout=WAIT)


def in_order(
    work: Callable[[Given], Made],
    items: Iterable[Given],
    slots: int,
    begin: Hook | None = None,
    stop: Hook | None = None,
) -> Iterator[Made]:
    """What `work` returns for each item, in order; `begin` is called once by each thread, `stop` on Ctrl-C.

    Up to four items per thread are in progress before the first result is taken, so that one slow answer holds up no
    other.
    """
    pending: deque[Future[Made]] = deque()
    with thread_pool(slots, begin, stop) as pool:
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > 4 * slots:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

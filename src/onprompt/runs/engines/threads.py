"""Many items under way at a time by threads of this process, never far ahead of whoever takes the results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

from onprompt.settings import Settings
from onprompt.types import Job

Given = TypeVar("Given")
Made = TypeVar("Made")


def load(settings: Settings) -> Threads:  # noqa: ARG001 every engine is given them
    """The engine."""
    return Threads()


class Threads:
    """As many threads as the judge likes to have samples under way."""

    def run(self, job: Job[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """The results, as they get ready."""
        return as_done(job, tasks, job.slots, job.begin, job.stop)


@contextmanager
def hands(
    slots: int, begin: Callable[[], None] | None, stop: Callable[[], None] | None
) -> Iterator[ThreadPoolExecutor]:
    """Threads that end with whoever takes their results, however early that is."""
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
    begin: Callable[[], None] | None = None,
    stop: Callable[[], None] | None = None,
) -> Iterator[Made]:
    """What `work` makes of each item, as they get done; twice as many are taken up as there are threads."""
    ended: SimpleQueue[Future[Made]] = SimpleQueue()
    under_way = 0
    with hands(slots, begin, stop) as pool:
        for item in items:
            pool.submit(work, item).add_done_callback(ended.put)
            under_way += 1
            if under_way >= 2 * slots:
                yield ended.get().result()
                under_way -= 1
        for _ in range(under_way):
            yield ended.get().result()


def in_order(
    work: Callable[[Given], Made],
    items: Iterable[Given],
    slots: int,
    ahead: int | None = None,
    begin: Callable[[], None] | None = None,
    at_once: Callable[[Given], Made | None] | None = None,
    stop: Callable[[], None] | None = None,
) -> Iterator[Made]:
    """What `work` makes of each item, in their order; `begin` is called once by each thread, `stop` by Ctrl-C.

    Up to `ahead` items are taken up before the first result is taken: four for each slot, so that one slow answer
    stops no other. What `at_once` has a result for needs no thread, which takes longer than to look an answer up.
    """
    window = 4 * slots if ahead is None else ahead
    under_way = deque[Future[Made] | Known[Made]]()
    with hands(slots, begin, stop) as pool:
        for item in items:
            known = at_once(item) if at_once else None
            under_way.append(pool.submit(work, item) if known is None else Known(known))
            while len(under_way) > window or (under_way and isinstance(under_way[0], Known)):
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


@dataclass(frozen=True, slots=True)
class Known(Generic[Made]):
    """A result that is there already."""

    made: Made

    def result(self) -> Made:
        return self.made

"""Many items under way at a time by threads, never far ahead of whoever takes the results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_order(
    work: Callable[[Given], Made],
    items: Iterable[Given],
    slots: int,
    ahead: int | None = None,
    begin: Callable[[], None] | None = None,
    at_once: Callable[[Given], Made | None] | None = None,
) -> Iterator[Made]:
    """What `work` makes of each item, in their order; `begin` is called once by each thread.

    Up to `ahead` items are taken up before the first result is taken: four for each slot, so that one slow answer
    stops no other. What `at_once` has a result for needs no thread, which takes longer than to look an answer up.
    """
    window = 4 * slots if ahead is None else ahead
    with ThreadPoolExecutor(slots, initializer=begin) as pool:
        under_way: deque[Future[Made] | Known[Made]] = deque()
        try:
            for item in items:
                known = at_once(item) if at_once else None
                under_way.append(pool.submit(work, item) if known is None else Known(known))
                while len(under_way) > window or (under_way and isinstance(under_way[0], Known)):
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:  # whoever takes the results may stop early
            for future in under_way:
                future.cancel()


@dataclass(frozen=True, slots=True)
class Known(Generic[Made]):
    """A result that is there already."""

    made: Made

    def result(self) -> Made:
        return self.made

    def cancel(self) -> None:
        """There is nothing to stop."""

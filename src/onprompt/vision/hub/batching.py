"""Batches of what several threads want from one network."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any, Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


class SharedBatches(Generic[Given, Made]):
    """Calls a function on batches, one at a time; what other threads ask for meanwhile is in the next one."""

    def __init__(self, run: Callable[[list[Given]], Sequence[Made]], size: int) -> None:
        self.run, self.size = run, size
        self.queue: deque[tuple[Given, Future[Made]]] = deque()
        self.running = Lock()

    def __call__(self, items: Sequence[Given]) -> list[Made]:
        """The result for each item."""
        asked: list[tuple[Given, Future[Made]]] = [(item, Future()) for item in items]
        self.queue.extend(asked)
        with self.running:
            while not all(future.done() for _, future in asked):
                self.fill([self.queue.popleft() for _ in range(min(self.size, len(self.queue)))])
        return [future.result() for _, future in asked]

    def fill(self, batch: Sequence[tuple[Given, Future[Any]]]) -> None:
        """Compute a batch; one that fails, for memory or for one bad item, is halved."""
        try:
            results = self.run([item for item, _ in batch])
        except BaseException as error:
            if isinstance(error, Exception) and len(batch) > 1:
                half = len(batch) // 2
                self.fill(batch[:half])
                self.fill(batch[half:])
                return
            for _, future in batch:  # other threads wait for them, even after Ctrl-C in this one
                future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            future.set_result(result)

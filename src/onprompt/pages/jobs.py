"""A bounded queue: a few samples are judged at a time, some wait, and more are refused at once."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from onprompt import stages
from onprompt.errors import OnpromptError


class QueueFull(OnpromptError):
    """As many samples are waiting as may."""


class Stopping(OnpromptError):
    """The server is about to stop."""


class Dropped(OnpromptError):
    """The client of a job is gone."""

    def __init__(self) -> None:
        super().__init__("this was not judged, since nobody waited for it any more; judge it again")


class Job:
    """One sample that is judged: its stages so far, and its result or error once there is one."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.stages: list[str] = ["wait"]
        self.work: Callable[[], Any] | None = work
        self.future: Future[Any] = Future()
        self.dropped = False  # nobody waits for its result

    def enter(self, stage: str) -> None:
        """Note a stage, each only once, since several models may be asked; none for a client that is gone."""
        if self.dropped:
            raise Dropped
        if stage not in self.stages:
            self.stages.append(stage)

    def run(self) -> Any:
        """Do the work: its result, or its error."""
        work, self.work = self.work, None  # with the pictures that were sent, which are not kept
        try:
            with stages.watching(self.enter):
                return work() if work else None
        except Exception as error:
            return error


class JobQueue:
    """Judges samples by `workers` threads, with at most `waiting` more in the queue."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers, self.room, self.lock = workers, workers + waiting, threading.Lock()
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        self.running, self.stopping = 0, False
        self.waiting: deque[Job] = deque()

    @property
    def unfinished(self) -> int:
        """How many samples are being judged or waiting."""
        return self.running + len(self.waiting)

    def submit(self, work: Callable[[], Any]) -> Job:
        """Queue some work; QueueFull if there is no room."""
        with self.lock:
            if self.stopping:
                raise Stopping("the server is stopping")
            if self.unfinished >= self.room:
                raise QueueFull(f"{self.room} samples are being judged or waiting; try again later")
            job = Job(work)
            self.waiting.append(job)
            self.pool.submit(self.run_next)
        return job

    def run_next(self) -> None:
        """Do the work that waits longest; nothing is left to do if it was dropped."""
        with self.lock:
            if not self.waiting:
                return
            job = self.waiting.popleft()
            self.running += 1
        result = job.run()
        with self.lock:
            self.running -= 1  # before anybody hears of the result: who does may ask for the next
        job.future.set_result(result)

    def drop(self, job: Job) -> None:
        """End a job whose client is gone: at once if it waits, or else at its next stage."""
        with self.lock:
            job.dropped = True
            if job in self.waiting:
                self.waiting.remove(job)
                job.future.set_result(Dropped())

    def stop(self, wait: bool = False) -> None:
        """Take no more and drop what is waiting; `wait` for what is in progress."""
        with self.lock:
            self.stopping, dropped, self.waiting = True, self.waiting, deque()
        for job in dropped:
            job.future.set_result(Stopping("the server is stopping"))
        self.pool.shutdown(wait=wait, cancel_futures=True)

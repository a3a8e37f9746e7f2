"""A bounded queue: a few samples are judged at a time, some wait, and more are refused at once."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from onprompt import stages
from onprompt.errors import OnpromptError

KEPT = 64  # finished jobs whose result can still be fetched


class QueueFull(OnpromptError):
    """As many samples are waiting as may."""


class Stopping(OnpromptError):
    """The server is about to stop."""


class Job:
    """One sample that is judged: its stages so far, and its result once there is one."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(16)
        self.stages: list[str] = ["wait"]
        self.future: Future[Any] = Future()

    def run(self, work: Callable[[], Any]) -> Any:
        """Do the work, and note its stages; each only once, since several models may be asked."""
        with stages.watching(lambda stage: None if stage in self.stages else self.stages.append(stage)):
            return work()


class JobQueue:
    """Judges samples by `workers` threads, with at most `waiting` more in the queue."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers, self.room, self.lock = workers, workers + waiting, threading.Lock()
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        self.unfinished, self.stopping = 0, False
        self.jobs: OrderedDict[str, Job] = OrderedDict()

    def submit(self, work: Callable[[], Any]) -> Job:
        """Queue some work; QueueFull if there is no room."""
        job = Job()
        with self.lock:
            if self.stopping:
                raise Stopping("the server is stopping")
            if self.unfinished >= self.room:
                raise QueueFull(f"{self.room} samples are being judged or waiting; try again later")
            self.unfinished += 1
            self.jobs[job.id] = job
            while len(self.jobs) > KEPT + self.room:
                self.jobs.popitem(last=False)
            job.future = self.pool.submit(job.run, work)
        job.future.add_done_callback(self.finish)
        return job

    def finish(self, _: Future[Any]) -> None:
        """Make room for another."""
        with self.lock:
            self.unfinished -= 1

    def get(self, name: str) -> Job | None:
        """A job by its id, as long as it is kept."""
        return self.jobs.get(name)

    def stop(self, wait: bool = False) -> None:
        """Take no more and drop what is waiting; `wait` for what is in progress."""
        with self.lock:
            self.stopping = True
        self.pool.shutdown(wait=wait, cancel_futures=True)


def outcome(job: Job) -> Any:
    """What became of a job that has ended: its result or its error."""
    with suppress(CancelledError):
        return job.future.exception() or job.future.result()
    return Stopping("the server is stopping")

"""Many machines: Ray actors hold the judges, and only the process that started the run writes.

It joins the cluster at RAY_ADDRESS, or the one that `ray start` set up here, or else starts one on this machine.
"""

from __future__ import annotations

import itertools
import logging
import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from onprompt.errors import UserError
from onprompt.settings import Settings
from onprompt.types import Job

# Read when Ray is imported: without it, Ray prints each lost worker on stdout, `log_to_driver` or not.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
import ray
from ray.exceptions import RayError, RayTaskError

Given = TypeVar("Given")
Made = TypeVar("Made")
TRIES = 4  # of a task whose actor died, and of an actor that can't start
QUEUED = 2  # tasks that an actor on a core has: it never waits for the next
PATIENCE = 60.0  # seconds to wait without any actor
CONNECT_TIMEOUT = 5.0  # seconds
MAX_ERROR = 300  # characters of an error of Ray's


def load(settings: Settings) -> Ray:
    """The engine."""
    return Ray(settings)


class Ray:
    """An actor per core; for a judge with a model of its own, an actor per GPU, or else per machine."""

    def __init__(self, settings: Settings, patience: float = PATIENCE) -> None:
        self.settings, self.patience = settings, patience

    def run(self, job: Job[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """The results, as they get ready."""
        if self.settings.budget is not None and job.bound_by == "server":
            raise UserError("a budget is kept by one process: use the engine threads, or no budget")
        waiting = iter(tasks)
        for first in waiting:  # without tasks, no cluster is needed
            with cluster():
                pool = ActorPool(job, allocate(job), self.patience)
                try:
                    yield from pool.run(itertools.chain([first], waiting))
                finally:
                    pool.shut_down()


@contextmanager
def cluster() -> Iterator[None]:
    """The cluster that this process is in, or else one that is running, or a new one."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    if address not in ("auto", "local") and not is_reachable(address):
        raise UserError(f"no Ray cluster at {address} (RAY_ADDRESS)")
    try:
        ray.init(include_dashboard=False, logging_level=logging.CRITICAL, log_to_driver=False)
    except Exception as error:  # of many kinds: another version of Ray, no place for its files, no memory
        action = "start a cluster here" if address == "local" else f"join the cluster {address}"
        raise UserError(f"Ray can't {action}: {brief(error.__cause__ or error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def is_reachable(address: str) -> bool:
    """Whether a server listens there: Ray itself would try for minutes, ignoring Ctrl-C."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT_TIMEOUT).close()
    except (OSError, ValueError):
        return False
    return True


def brief(error: BaseException) -> str:
    """An error on one line: the end of a traceback, the beginning of Ray's long explanations."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = lines[-1] if "ray::" in str(error) or "Traceback" in str(error) else " ".join(lines)
    return message[:MAX_ERROR] or type(error).__name__


class Allocation(NamedTuple):
    """How many actors there are, what each of them holds, and how many tasks may be in progress."""

    actors: int
    cores: int
    gpus: int
    threads: int
    tasks_each: int
    tasks: int


def allocate(job: Job[Any, Any]) -> Allocation:
    """As many actors as the whole cluster has room for; cores that are in use now may become free.

    All actors together ask a server as many questions at a time as one process would.
    """
    slots = job.slots
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cores, gpus = (sum(int(node.get(kind, 0)) for node in nodes) for kind in ("CPU", "GPU"))
    if job.bound_by == "server":
        actors = max(1, min(cores, slots))
        share = -(-slots // actors)
        return Allocation(actors, 1, 0, share, share, slots)
    if job.bound_by == "model":
        hosts = [node for node in nodes if node.get("GPU" if gpus else "CPU")] or nodes
        actors = gpus or len(hosts)
        share = min(int(node.get("CPU", 0) // node.get("GPU", 1)) for node in hosts)
        return Allocation(actors, share, 1 if gpus else 0, slots, slots, actors * slots)
    return Allocation(max(1, cores), 1, 0, 1, QUEUED, max(1, cores) * QUEUED)


class Worker:
    """An actor: it loads the judge once and works on the tasks that it is sent."""

    def __init__(self, job: Job[Any, Any], cores: int, folder: str) -> None:
        self.job, self.cores = job, cores
        with suppress(OSError):  # on another machine, where only absolute paths can work
            os.chdir(folder)

    def version(self) -> str:
        """Our version, returned as soon as the actor is up."""
        return metadata.version("onprompt")

    def do(self, task: Any) -> Any:
        """The result of a task."""
        self.job.begin(self.cores)
        return self.job(task)


class ActorPool(Generic[Given, Made]):
    """The actors and their tasks.

    After an actor died, its tasks are sent again, while every actor has one task at a time: so a task that kills its
    actor costs no other. Ray's own restarts would send it along with the same neighbours.
    """

    def __init__(self, job: Job[Given, Made], allocation: Allocation, patience: float) -> None:
        self.job, self.allocation, self.patience = job, allocation, patience
        self.starting: dict[Any, Any] = {}  # actors by the reference that is ready when they are up
        self.load: dict[Any, int] = {}  # how many tasks each actor has that is up
        self.sent: dict[Any, tuple[Any, Given, int]] = {}  # actor, task, number of the try
        self.suspects: deque[tuple[Given, int]] = deque()
        self.failed_starts, self.failure = 0, ""  # starts that failed in a row, and why
        for _ in range(allocation.actors):
            self.start_actor()

    def start_actor(self) -> None:
        """Request one more actor, which starts when the cluster has room."""
        _, cores, gpus, threads, *_ = self.allocation
        kind = ray.remote(Worker).options(num_cpus=cores, num_gpus=gpus, max_concurrency=threads)
        actor = kind.remote(self.job, max(1, cores), str(Path.cwd()))
        self.starting[actor.version.remote()] = actor

    def run(self, tasks: Iterator[Given]) -> Iterator[Made]:
        """The results, as they get ready."""
        while True:
            while self.has_room():
                task, tries = self.suspects.popleft() if self.suspects else (next(tasks, None), 0)
                if task is None:
                    break
                yield from self.send(task, tries)
            if self.load and not self.sent:
                return
            ref = self.wait()
            if ref in self.starting:
                self.admit(ref)
            else:
                yield from self.collect(ref)

    def has_room(self) -> bool:
        """Whether a task can be sent."""
        alone = bool(self.suspects) or any(tries > 1 for *_, tries in self.sent.values())
        most = 1 if alone else self.allocation.tasks_each
        return len(self.sent) < self.allocation.tasks and min(self.load.values(), default=most) < most

    def send(self, task: Given, tries: int) -> Iterator[Made]:
        """Send a task to the actor with the fewest; one that can't be sent is lost."""
        actor = min(self.load, key=self.load.__getitem__)
        try:
            ref = actor.do.remote(task)
        except Exception as error:  # whatever pickling may raise
            yield self.job.lost(task, f"can't be sent to another process: {brief(error.__cause__ or error)}")
        else:
            self.sent[ref] = actor, task, tries + 1
            self.load[actor] += 1

    def wait(self) -> Any:
        """Wait for a result or for an actor to start; without any actor, not for ever."""
        refs = [*self.sent, *self.starting]
        ready, _ = ray.wait(refs, timeout=None if self.load else self.patience) if refs else ([], refs)
        if not ready:
            why = self.failure or f"none started within {self.patience:g} s; are its cores or GPUs in use?"
            raise UserError(f"no Ray actor: {why}")
        return ready[0]

    def collect(self, ref: Any) -> Iterator[Made]:
        """The result of a task, unless it is tried again."""
        actor, task, tries = self.sent.pop(ref)
        if actor in self.load:
            self.load[actor] -= 1
        try:
            yield ray.get(ref)
        except RayTaskError as error:
            yield self.job.lost(task, brief(error))
        except RayError as error:
            if self.load.pop(actor, None) is not None:  # the first of its tasks that fails
                ray.kill(actor)
                self.start_actor()
            if tries < TRIES:
                self.suspects.append((task, tries))
            else:
                yield self.job.lost(task, f"its worker died {tries} times: {brief(error)}")

    def admit(self, ref: Any) -> None:
        """Count in an actor that is up, or replace one that failed to start."""
        actor = self.starting.pop(ref)
        try:
            theirs, ours = ray.get(ref), metadata.version("onprompt")
        except RayError as error:
            self.failed_starts, self.failure = self.failed_starts + 1, brief(error)
            if self.failed_starts < TRIES:
                self.start_actor()
            return
        if theirs != ours:
            raise UserError(f"version mismatch: a machine of the cluster has onprompt {theirs}, this one {ours}")
        self.load[actor], self.failed_starts, self.failure = 0, 0, ""

    def shut_down(self) -> None:
        """Stop all actors."""
        with suppress(RayError):
            for actor in (*self.load, *self.starting.values()):
                ray.kill(actor)

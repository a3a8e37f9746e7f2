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
        waiting = iter(tasks)
        for first in waiting:  # without tasks, no cluster is needed
            with cluster():
                pool = ActorPool(job, allocate(job, self.settings.budget is not None), self.patience)
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
    try:
        join_cluster()
        yield
    finally:
        ray.shutdown()


def join_cluster() -> None:
    """Connect to the cluster of the environment, or start one."""
    address = os.environ.get("RAY_ADDRESS", "")
    if address in ("", "auto"):
        target = None if started_here() else "local"
    elif address == "local" or is_reachable(address):
        target = address
    else:
        raise UserError(f"no Ray cluster at {address} (RAY_ADDRESS)")
    try:
        ray.init(address=target, include_dashboard=False, logging_level=logging.CRITICAL, log_to_driver=False)
    except Exception as error:  # of many kinds: another version of Ray, no place for its files, no memory
        action = "start a cluster here" if target == "local" else f"join the cluster {address or 'of this machine'}"
        raise UserError(f"Ray can't {action}: {brief(error.__cause__ or error)}") from error


def started_here() -> bool:
    """Whether a cluster that `ray start` set up on this machine is still running."""
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 where Ray notes it
    try:
        return is_reachable(Path(folder, "ray", "ray_current_cluster").read_text().strip())
    except OSError:
        return False


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
    irreplaceable: bool = False  # whether an actor that died must not be replaced


def allocate(job: Job[Any, Any], has_budget: bool) -> Allocation:
    """As many actors as the whole cluster has room for; cores that are in use now may become free.

    All actors together ask a server as many questions at a time as one process would. With a budget there is only one
    actor, since it alone knows what is spent.
    """
    slots = job.slots
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cores, gpus = (sum(int(node.get(kind, 0)) for node in nodes) for kind in ("CPU", "GPU"))
    if job.bound_by == "server":
        actors = 1 if has_budget else max(1, min(cores, slots))
        share = -(-slots // actors)
        return Allocation(actors, 1, 0, share, share, slots, irreplaceable=has_budget)
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

    After an actor died, each of its tasks is sent again to an actor of its own, so that a task that kills its actor
    costs no other. Ray's own restarts would send it along with the same neighbours.
    """

    def __init__(self, job: Job[Given, Made], allocation: Allocation, patience: float) -> None:
        self.job, self.allocation, self.patience = job, allocation, patience
        self.starting: dict[Any, Any] = {}  # actors by the reference that is ready when they are up
        self.load: dict[Any, int] = {}  # how much each actor that is up has, of `tasks_each`
        self.sent: dict[Any, tuple[Any, Given, int, int]] = {}  # actor, task, load, number of the try
        self.suspects: deque[tuple[Given, int]] = deque()
        self.all_sent = False
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
            yield from self.send_tasks(tasks)
            if not self.sent and not self.suspects and (self.load or self.all_sent):
                return
            ref = self.wait()
            if ref in self.starting:
                self.admit(ref)
            else:
                yield from self.collect(ref)

    def send_tasks(self, tasks: Iterator[Given]) -> Iterator[Made]:
        """Send tasks to the actors with the lowest load; suspects first, each to an idle actor."""
        limit = self.allocation
        while self.suspects and self.room() == limit.tasks_each:
            yield from self.send(*self.suspects.popleft(), limit.tasks_each)
        while not self.suspects and not self.all_sent and self.room() and len(self.sent) < limit.tasks:
            if (task := next(tasks, None)) is None:
                self.all_sent = True
            else:
                yield from self.send(task, 0, 1)

    def room(self) -> int:
        """How much more the actor with the lowest load can take."""
        return self.allocation.tasks_each - min(self.load.values(), default=self.allocation.tasks_each)

    def send(self, task: Given, tries: int, load: int) -> Iterator[Made]:
        """Send a task to the actor with the lowest load; one that can't be sent is lost."""
        actor = min(self.load, key=self.load.__getitem__)
        try:
            ref = actor.do.remote(task)
        except Exception as error:  # whatever pickling may raise
            yield self.job.lost(task, f"can't be sent to another process: {brief(error.__cause__ or error)}")
        else:
            self.sent[ref] = actor, task, load, tries + 1
            self.load[actor] += load

    def wait(self) -> Any:
        """Wait for a result or for an actor to start; without any actor, not for ever."""
        refs = [*self.sent, *self.starting]
        ready, _ = ray.wait(refs, timeout=None if self.load else self.patience) if refs else ([], refs)
        if not ready:
            raise UserError(self.explain_no_actors())
        return ready[0]

    def explain_no_actors(self) -> str:
        """Why there is no actor."""
        if self.failure:
            return f"no Ray actor is left: {self.failure}"
        kind = "GPU" if self.allocation.gpus else "CPU"
        free, total = (int(known.get(kind, 0)) for known in (ray.available_resources(), ray.cluster_resources()))
        return f"no Ray actor started within {self.patience:g} s: {free} of the cluster's {total} {kind}s are free"

    def collect(self, ref: Any) -> Iterator[Made]:
        """The result of a task, unless it is tried again."""
        actor, task, load, tries = self.sent.pop(ref)
        if actor in self.load:
            self.load[actor] -= load
        try:
            yield ray.get(ref)
        except RayTaskError as error:
            yield self.job.lost(task, brief(error))
        except RayError as error:
            self.replace(actor, brief(error))
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

    def replace(self, actor: Any, why: str) -> None:
        """Start another actor for one that died or can't be reached."""
        if self.load.pop(actor, None) is None:
            return
        ray.kill(actor)
        if self.allocation.irreplaceable:
            self.failure = f"the actor that tracks the budget died; run again to resume ({why})"
        else:
            self.start_actor()

    def shut_down(self) -> None:
        """Stop all actors."""
        with suppress(RayError):
            for actor in (*self.load, *self.starting.values()):
                ray.kill(actor)

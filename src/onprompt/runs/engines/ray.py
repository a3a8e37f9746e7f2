"""Many machines: Ray actors hold the judges, and only the process that started the run writes.

It joins the cluster at RAY_ADDRESS, or the one that `ray start` set up here, or else starts one on this machine.
"""

from __future__ import annotations

import itertools
import logging
import os
import socket
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar
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
TRIES = 4  # of a task whose actor died
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
                yield from Actors(job, self.patience).run(itertools.chain([first], waiting))


@contextmanager
def cluster() -> Iterator[None]:
    """The cluster that this process is in, or else one that is running, or a new one."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    try:
        if address not in ("auto", "local"):  # Ray itself would try for minutes, ignoring Ctrl-C
            parts = urlsplit(address if "://" in address else f"//{address}")
            socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT_TIMEOUT).close()
        ray.init(include_dashboard=False, logging_level=logging.CRITICAL, log_to_driver=False)
    except Exception as error:  # of many kinds: nobody listens, another version of Ray, no place for files, no memory
        action = "start a cluster here" if address == "local" else f"join the cluster {address} (RAY_ADDRESS)"
        raise UserError(f"Ray can't {action}: {brief(error.__cause__ or error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def brief(error: BaseException) -> str:
    """An error on one line: the end of a traceback, the beginning of Ray's long explanations."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = lines[-1] if "ray::" in str(error) or "Traceback" in str(error) else " ".join(lines)
    return message[:MAX_ERROR] or type(error).__name__


def allocate(job: Job[Any, Any]) -> tuple[int, int, int, int]:
    """As many actors as the whole cluster has room for, and the cores, GPUs and threads of each.

    Cores that are in use now may become free. All actors together ask a server as much at a time as one process would.
    """
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cores, gpus = (sum(int(node.get(kind, 0)) for node in nodes) for kind in ("CPU", "GPU"))
    if job.bound_by == "server":
        actors = max(1, min(cores, job.slots))
        return actors, 1, 0, -(-job.slots // actors)
    if job.bound_by == "model":
        hosts = [node for node in nodes if node.get("GPU" if gpus else "CPU")] or nodes
        share = min(int(node.get("CPU", 0) // node.get("GPU", 1)) for node in hosts)
        return gpus or len(hosts), share, int(gpus > 0), job.slots
    return max(1, cores), 1, 0, 1


class Worker:
    """An actor: it loads the judge once and works on the tasks that it is sent."""

    def __init__(self, job: Job[Any, Any], cores: int, folder: str, version: str) -> None:
        if (here := metadata.version("onprompt")) != version:
            raise UserError(f"version mismatch: a machine of the cluster has onprompt {here}, this one {version}")
        self.job, self.cores = job, max(1, cores)
        with suppress(OSError):  # on another machine, where only absolute paths can work
            os.chdir(folder)

    def ready(self) -> None:
        """Return as soon as the actor is up."""

    def do(self, task: Any) -> Any:
        """The result of a task."""
        self.job.begin(self.cores)
        return self.job(task)


class Actors(Generic[Given, Made]):
    """The actors, which Ray starts and restarts as there is room, and their tasks.

    The tasks of an actor that died are sent again to those that are up, while every actor has one task at a time: so a
    task that kills its actor costs no other. Ray's own retries would wait for the same actor, beside the same tasks.
    """

    def __init__(self, job: Job[Given, Made], patience: float) -> None:
        self.job, self.patience = job, patience
        actors, cores, gpus, self.threads = allocate(job)
        self.most = job.slots if job.bound_by == "server" else actors * self.threads  # tasks in progress
        kind = ray.remote(Worker).options(num_cpus=cores, num_gpus=gpus, max_concurrency=self.threads, max_restarts=-1)
        given = job, cores, str(Path.cwd()), metadata.version("onprompt")
        self.all = [kind.remote(*given) for _ in range(actors)]
        self.up = set[Any]()
        self.starting: dict[Any, Any] = {}  # actors by the reference that is ready when they are up
        for actor in self.all:
            self.expect(actor)
        self.sent: dict[Any, tuple[Any, Given, int]] = {}  # actor, task, number of the try
        self.suspects: deque[tuple[Given, int]] = deque()

    def expect(self, actor: Any) -> None:
        """Send tasks to an actor once it is up, or up again."""
        self.up.discard(actor)
        self.starting[actor.ready.options(max_task_retries=-1).remote()] = actor

    def run(self, tasks: Iterator[Given]) -> Iterator[Made]:
        """The results, as they get ready."""
        try:
            while True:
                while actor := self.free():
                    task, tries = self.suspects.popleft() if self.suspects else (next(tasks, None), 0)
                    if task is None:
                        break
                    try:
                        self.sent[actor.do.remote(task)] = actor, task, tries + 1
                    except Exception as error:  # whatever pickling may raise
                        why = brief(error.__cause__ or error)
                        yield self.job.lost(task, f"can't be sent to another process: {why}")
                if self.up and not self.sent:
                    return
                yield from self.next_result()
        finally:
            for actor in self.all:
                ray.kill(actor)

    def free(self) -> Any:
        """The actor with the fewest tasks, if one more can be sent to it."""
        busy = Counter(actor for actor, *_ in self.sent.values())
        alone = bool(self.suspects) or any(tries > 1 for *_, tries in self.sent.values())
        actor = min(self.up, key=busy.__getitem__, default=None)
        most = 1 if alone else self.threads
        return actor if len(self.sent) < self.most and busy[actor] < most else None

    def next_result(self) -> Iterator[Made]:
        """Wait for an actor to start, or for a result, unless its task is tried again."""
        ready, _ = ray.wait([*self.sent, *self.starting], timeout=None if self.up else self.patience)
        if not ready:
            raise UserError(f"no Ray actor: none started within {self.patience:g} s; are its cores or GPUs in use?")
        if actor := self.starting.pop(ready[0], None):
            try:
                ray.get(ready[0])
            except RayError as error:
                raise UserError(f"no Ray actor: {brief(error)}") from error
            self.up.add(actor)
            return
        actor, task, tries = self.sent.pop(ready[0])
        try:
            yield ray.get(ready[0])
        except RayTaskError as error:
            yield self.job.lost(task, brief(error))
        except RayError as error:
            if actor in self.up:  # the first of its tasks that fails
                self.expect(actor)
            if tries < TRIES:
                self.suspects.append((task, tries))
            else:
                yield self.job.lost(task, f"its worker died {tries} times: {brief(error)}")

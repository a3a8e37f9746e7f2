"""Many machines: Ray's actors hold the judges, and the process that started the run alone writes.

Joins the cluster that RAY_ADDRESS names, or that `ray start` set up here; else it starts one of this machine's cores.
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
from onprompt.types import Work
from onprompt.vision.runtime import openvino_core

# Read by Ray when it is imported: else it tells of each lost worker on stdout, `log_to_driver` or not.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
import ray
from ray.exceptions import RayError, RayTaskError

Given = TypeVar("Given")
Made = TypeVar("Made")
TRIES = 4  # of a task whose actor died, and of an actor that can't start
AHEAD = 2  # tasks that an actor on a core has: it never waits for the next
PATIENCE = 60.0  # seconds without any actor, after which none is hoped for
REACH = 5.0  # seconds in which a cluster must answer
LONGEST = 300  # characters of an error of Ray's


def load(settings: Settings) -> Ray:
    """The engine."""
    return Ray(settings)


class Ray:
    """An actor for each core; where the judge has a model of its own, for each GPU or else for each machine."""

    def __init__(self, settings: Settings, patience: float = PATIENCE) -> None:
        self.settings, self.patience = settings, patience

    def run(self, work: Work[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """What became of each task, as they get done."""
        waiting = iter(tasks)
        for first in waiting:  # where there is nothing to do, no cluster is needed
            with cluster():
                crew = Crew(work, posts(work, self.settings.budget is not None), self.patience)
                try:
                    yield from crew.run(itertools.chain([first], waiting))
                finally:
                    crew.dismiss()


@contextmanager
def cluster() -> Iterator[None]:
    """The one that this process is in, or else one that runs, or one of our own."""
    if ray.is_initialized():
        yield
        return
    try:
        join()
        yield
    finally:
        ray.shutdown()


def join() -> None:
    """Into the cluster that the user means."""
    named = os.environ.get("RAY_ADDRESS", "")
    if named in ("", "auto"):
        address = None if started_here() else "local"
    elif named == "local" or answers(named):
        address = named
    else:
        raise UserError(f"no cluster of Ray's answers at {named}, which RAY_ADDRESS names")
    try:
        ray.init(address=address, include_dashboard=False, logging_level=logging.CRITICAL, log_to_driver=False)
    except Exception as error:  # of many kinds: another version of Ray, no place for its files, no memory
        what = "start a cluster here" if address == "local" else f"join the cluster {named or 'of this machine'}"
        raise UserError(f"Ray can't {what}: {in_short(error.__cause__ or error)}") from error


def started_here() -> bool:
    """Whether `ray start` set up a cluster on this machine that is still there."""
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 where Ray notes it
    try:
        return answers(Path(folder, "ray", "ray_current_cluster").read_text().strip())
    except OSError:
        return False


def answers(address: str) -> bool:
    """Whether anybody listens there: Ray itself would try for minutes, deaf to Ctrl-C."""
    try:
        found = urlsplit(address if "://" in address else f"//{address}")
        socket.create_connection((found.hostname or "", found.port or 0), REACH).close()
    except (OSError, ValueError):
        return False
    return True


def in_short(error: BaseException) -> str:
    """An error in a line: of a traceback the end, of what Ray explains at length the beginning."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = lines[-1] if "ray::" in str(error) or "Traceback" in str(error) else " ".join(lines)
    return told[:LONGEST] or type(error).__name__


class Posts(NamedTuple):
    """How many actors there may be, what each holds, and how many tasks each and all may have."""

    number: int
    cores: int
    gpus: int
    threads: int
    each: int
    all: int
    for_good: bool = False  # whether nobody may take the place of one that died


def posts(work: Work[Any, Any], one_purse: bool) -> Posts:
    """As many as the whole cluster has room for; what others hold now may get free.

    Where a server answers, all actors together have as many questions under way as it shall be asked; within a budget
    one actor asks them all, since it alone knows what is spent.
    """
    slots = work.slots
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cores, gpus = (sum(int(has.get(kind, 0)) for has in nodes) for kind in ("CPU", "GPU"))
    if work.bound_by == "server":
        number = 1 if one_purse else max(1, min(cores, slots))
        share = -(-slots // number)
        return Posts(number, 1, 0, share, share, slots, for_good=one_purse)
    if work.bound_by == "model":
        hosts = [has for has in nodes if has.get("GPU" if gpus else "CPU")] or nodes
        number = gpus or len(hosts)
        share = min(int(has.get("CPU", 0) // has.get("GPU", 1)) for has in hosts)
        return Posts(number, share, 1 if gpus else 0, slots, slots, number * slots)
    return Posts(max(1, cores), 1, 0, 1, AHEAD, max(1, cores) * AHEAD)


class Hand:
    """An actor: it makes the judge once and works on what it is sent."""

    def __init__(self, work: Work[Any, Any], cores: int, folder: str) -> None:
        self.work = work
        keep_to(cores)
        with suppress(OSError):  # of another machine; there, only whole paths can be found
            os.chdir(folder)

    def version(self) -> str:
        """Told as soon as it is up."""
        return metadata.version("onprompt")

    def do(self, task: Any) -> Any:
        """What becomes of a task."""
        self.work.begin()
        return self.work(task)


def keep_to(cores: int) -> None:
    """Networks of this process on so many cores, wherever the machine has room.

    By itself OpenVINO takes all, and holds its threads to the first: there the actors of a machine would meet.
    """
    openvino_core().set_property("CPU", {"INFERENCE_NUM_THREADS": cores, "ENABLE_CPU_PINNING": False})


class Crew(Generic[Given, Made]):
    """The actors and what they have in hand.

    The tasks of one that died are sent again, each to an actor of its own: the one that kills whoever has it costs no
    other. Ray's own restarts would send it along with the same neighbours.
    """

    def __init__(self, work: Work[Given, Made], posts: Posts, patience: float) -> None:
        self.work, self.posts, self.patience = work, posts, patience
        self.starting: dict[Any, Any] = {}  # actors by what they say when they are up
        self.load: dict[Any, int] = {}  # how much those have that are up, of `posts.each`
        self.sent: dict[Any, tuple[Any, Given, int, int]] = {}  # to whom, what, how much of it that takes, which try
        self.suspects: deque[tuple[Given, int]] = deque()
        self.over = False  # whether all tasks were sent
        self.failed, self.why = 0, ""  # actors in a row that could not start
        for _ in range(posts.number):
            self.hire()

    def hire(self) -> None:
        """One more, as soon as the cluster has room."""
        _, cores, gpus, threads, *_ = self.posts
        kind = ray.remote(Hand).options(num_cpus=cores, num_gpus=gpus, max_concurrency=threads)
        hand = kind.remote(self.work, max(1, cores), str(Path.cwd()))
        self.starting[hand.version.remote()] = hand

    def run(self, tasks: Iterator[Given]) -> Iterator[Made]:
        """What became of each task, as they get done."""
        while True:
            yield from self.send_out(tasks)
            if not self.sent and not self.suspects and (self.load or self.over):
                return
            ref = self.next_event()
            if ref in self.starting:
                self.welcome(ref)
            else:
                yield from self.take(ref)

    def send_out(self, tasks: Iterator[Given]) -> Iterator[Made]:
        """Tasks to whoever has least; suspects first, and alone."""
        while self.suspects and self.room() == self.posts.each:
            yield from self.send(*self.suspects.popleft(), self.posts.each)
        while not self.suspects and not self.over and self.room() and len(self.sent) < self.posts.all:
            if (task := next(tasks, None)) is None:
                self.over = True
            else:
                yield from self.send(task, 0, 1)

    def room(self) -> int:
        """How much the actor that has least could take on."""
        return self.posts.each - min(self.load.values(), default=self.posts.each)

    def send(self, task: Given, tried: int, load: int) -> Iterator[Made]:
        """One task to whoever has least; one that can't be sent is lost."""
        hand = min(self.load, key=self.load.__getitem__)
        try:
            ref = hand.do.remote(task)
        except Exception as error:  # whatever pickling may raise
            yield self.work.lost(task, f"it can't be sent to another process: {in_short(error.__cause__ or error)}")
        else:
            self.sent[ref] = hand, task, load, tried + 1
            self.load[hand] += load

    def next_event(self) -> Any:
        """Waits for a task that is done or for an actor that is up; not for ever where there is none."""
        refs = [*self.sent, *self.starting]
        done, _ = ray.wait(refs, timeout=None if self.load else self.patience) if refs else ([], refs)
        if not done:
            raise UserError(self.nobody())
        return done[0]

    def nobody(self) -> str:
        """Why there is no actor."""
        if self.why:
            return f"Ray has no actor left: {self.why}"
        kind = "GPU" if self.posts.gpus else "CPU"
        free, all_ = (int(told.get(kind, 0)) for told in (ray.available_resources(), ray.cluster_resources()))
        return f"no actor of Ray's started in {self.patience:g} s: of the cluster's {all_} {kind}s {free} are free"

    def take(self, ref: Any) -> Iterator[Made]:
        """What became of a task, unless it is tried again."""
        hand, task, load, tried = self.sent.pop(ref)
        if hand in self.load:
            self.load[hand] -= load
        try:
            yield ray.get(ref)
        except RayTaskError as error:
            yield self.work.lost(task, in_short(error))
        except RayError as error:
            self.replace(hand, in_short(error))
            if tried < TRIES:
                self.suspects.append((task, tried))
            else:
                yield self.work.lost(task, f"its worker died {tried} times: {in_short(error)}")

    def welcome(self, ref: Any) -> None:
        """An actor that is up, or that could not start."""
        hand = self.starting.pop(ref)
        try:
            theirs, ours = ray.get(ref), metadata.version("onprompt")
        except RayError as error:
            self.failed, self.why = self.failed + 1, in_short(error)
            if self.failed < TRIES:
                self.hire()
            return
        if theirs != ours:
            raise UserError(f"a machine of the cluster has onprompt {theirs}, this one {ours}: verdicts might differ")
        self.load[hand], self.failed, self.why = 0, 0, ""

    def replace(self, hand: Any, why: str) -> None:
        """Another one for one that died, or that can't be reached."""
        if self.load.pop(hand, None) is None:
            return
        ray.kill(hand)
        if self.posts.for_good:
            self.why = f"the one that kept to the budget died; run again to go on ({why})"
        else:
            self.hire()

    def dismiss(self) -> None:
        """Nothing is left to do, or somebody wants it to end."""
        with suppress(RayError):
            for hand in (*self.load, *self.starting.values()):
                ray.kill(hand)

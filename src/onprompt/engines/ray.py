"""Many machines: Ray's actors hold the judges, and the process that started the run alone writes.

Joins the cluster that RAY_ADDRESS names, or `ray start` set up here; else it starts one of this machine's cores.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import ray

from onprompt.settings import Settings
from onprompt.types import Work

Given = TypeVar("Given")
Made = TypeVar("Made")
TRIES = 3  # of a task whose actor died: one that kills every actor must not do so for ever
AHEAD = 2  # tasks sent to an actor for each that it works on: so it never waits for the next


def load(settings: Settings) -> Ray:
    """The engine."""
    return Ray(settings)


class Ray:
    """An actor for each GPU of the cluster or, where there is none, for each core."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def run(self, work: Work[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """What became of each task, as they get done."""
        ours = not ray.is_initialized()
        if ours:
            join()
        try:
            hands, each = hired(work)
            yield from shared_out([hand for hand in hands for _ in range(AHEAD * each)], tasks)
        finally:
            if ours:
                ray.shutdown()


def join() -> None:
    """A cluster that runs, or one of our own."""
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        ray.init(include_dashboard=False, **quiet)


class Hand:
    """An actor: it makes the judge once and works on what it is sent."""

    def __init__(self, work: Work[Any, Any]) -> None:
        self.work = work

    def do(self, task: Any) -> Any:
        """What becomes of a task."""
        self.work.begin()
        return self.work(task)


def hired(work: Work[Any, Any]) -> tuple[list[Any], int]:
    """The actors, and how many tasks each works on at a time. One that dies is started anew, and its tasks with it."""
    has = ray.cluster_resources()
    gpus, cores = int(has.get("GPU", 0)), int(has.get("CPU", 1))
    number = gpus or cores
    each = max(1, work.slots // number)
    hand = ray.remote(Hand).options(
        num_cpus=0 if gpus else 1,
        num_gpus=1 if gpus else 0,
        max_restarts=-1,
        max_task_retries=TRIES,
        max_concurrency=each,
    )
    return [hand.remote(work) for _ in range(number)], each


def shared_out(slots: list[Any], tasks: Iterable[Any]) -> Iterator[Any]:
    """Tasks to whoever has a free slot, results as they come."""
    under_way: dict[Any, Any] = {}
    waiting = iter(tasks)
    while True:
        while slots and (task := next(waiting, None)) is not None:
            hand = slots.pop()
            under_way[hand.do.remote(task)] = hand
        if not under_way:
            return
        (done, *_), _ = ray.wait(list(under_way))
        slots.insert(0, under_way.pop(done))
        yield ray.get(done)

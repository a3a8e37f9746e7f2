"""An engine: one sample after the other, in this thread. `--engine serial`."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from onprompt.settings import Settings
from onprompt.types import Job

Given = TypeVar("Given")
Made = TypeVar("Made")


def load(settings: Settings) -> "Serial":  # noqa: ARG001 every engine is given them
    """The engine."""
    return Serial()


class Serial:
    """Nothing in parallel: easy to debug."""

    def run(self, job: Job[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """The results as they get ready."""
        job.begin()
        for task in tasks:
            yield job(task)

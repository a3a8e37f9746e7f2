"""What a judge is doing at the moment, for a page that shows it; a listener that raises an error ends the work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]
WORDS = {
    "wait": "waiting for its turn",
    "open": "opening the images and loading the judge",
    "parse": "reading the prompt",
    "compare": "comparing both versions",
    "detect": "looking for objects",
    "estimate": "estimating what no detector knows",
    "match": "matching what was asked for and what was found",
    "ask": "asking the model",
    "grade": "grading",
    "draw": "drawing the evidence",
}
listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def enter(stage: str) -> None:
    """Say that a stage begins: parse, detect, ask …"""
    if hear := listener.get():
        hear(stage)


@contextmanager
def watching(hear: Listener) -> Iterator[None]:
    """Hear of the stages of all that is judged meanwhile in this thread, and in those that it starts."""
    token = listener.set(hear)
    try:
        yield
    finally:
        listener.reset(token)

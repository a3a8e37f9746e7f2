"""A backend asked with patience: pauses that grow, waits that servers ask for, and no calls to one that is down."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping

from onprompt.errors import ServerTrouble
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Question


class RetryingBackend:
    """A backend that asks again where that may help. One is shared by all threads, which so hold back together."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings, self.lock = backend, settings, threading.Lock()
        self.not_before = 0.0  # when the server is ready for another question, by the clock that never jumps
        self.failed, self.closed_until = 0, 0.0  # questions that failed in a row
        self.stopped = threading.Event()

    @property
    def identity(self) -> Mapping[str, str]:
        return self.backend.identity

    def ask(self, question: Question) -> Answer:
        """The answer, after as many tries as the settings allow."""
        for tried in range(self.settings.retries + 1):
            self.hold()
            try:
                answer = self.backend.ask(question)
            except ServerTrouble as trouble:
                wait = self.asked_for(trouble)
                if tried == self.settings.retries:
                    self.note(trouble)
                    raise ServerTrouble(trouble.kind, f"{trouble} (after {tried + 1} tries)") from None
                self.pause(trouble, wait, tried)
            else:
                with self.lock:
                    self.failed, self.closed_until = 0, 0.0
                    rest = min(answer.rest, self.settings.longest_wait)
                    self.not_before = max(self.not_before, time.monotonic() + rest)
                return answer
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """Let nobody wait any more: whoever does gets an error."""
        self.stopped.set()
        self.backend.close()

    def close(self) -> None:
        """Close what the backend holds open."""
        self.backend.close()

    def sleep(self, seconds: float) -> None:
        """Wait, unless all is stopped."""
        if self.stopped.wait(max(0.0, seconds)):
            raise ServerTrouble("stopped", "stopped before the server answered")

    def hold(self) -> None:
        """Wait until the server is ready; complain at once while it counts as down."""
        with self.lock:
            now = time.monotonic()
            if now < self.closed_until:
                raise ServerTrouble("down", f"not asked: {self.failed} questions in a row failed")
            if self.failed >= self.settings.breaker_failures:  # one question tries whether it is back
                self.closed_until = now + self.settings.breaker_pause
        self.sleep(0)
        while (wait := self.not_before - time.monotonic()) > 0:  # which others may put off meanwhile
            self.sleep(wait + random.uniform(0, self.settings.backoff / 10))  # noqa: S311 not all at once

    def note(self, trouble: ServerTrouble) -> None:
        """Count a question that failed for good: a server on which all fail is down. One that is busy is not."""
        if trouble.kind in ("busy", "stopped"):
            return
        with self.lock:
            self.failed += 1
            if self.failed >= self.settings.breaker_failures:
                self.closed_until = time.monotonic() + self.settings.breaker_pause

    def asked_for(self, trouble: ServerTrouble) -> float:
        """The wait that the server asks for; one that is longer than the settings allow is an error."""
        wait = trouble.retry_after or 0.0
        if wait > self.settings.longest_wait:
            limit = f"{self.settings.longest_wait:g} s are allowed (setting longest_wait)"
            raise ServerTrouble(trouble.kind, f"the server wants to be left alone for {wait:.0f} s; {limit}")
        return wait

    def pause(self, trouble: ServerTrouble, wait: float, tried: int) -> None:
        """Wait before the next try: twice as long each time, and at random, so that threads don't all come at once."""
        if trouble.kind == "busy":  # all threads hold back together
            with self.lock:
                self.not_before = max(self.not_before, time.monotonic() + wait)
        longest = min(self.settings.backoff * 2**tried, self.settings.longest_wait)
        self.sleep(wait + random.uniform(0, longest))  # noqa: S311

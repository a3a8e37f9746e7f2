"""A backend asked with patience: pauses that grow, waits that servers ask for, and no calls to one that is down."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping

from onprompt.errors import ServerTrouble
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Question


class Patient:
    """A backend that asks again where that may help. One is shared by all threads, which so hold back together."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings, self.lock = backend, settings, threading.Lock()
        self.not_before = 0.0  # when the server is ready for another question, by the clock that never jumps
        self.failed, self.closed_until = 0, 0.0

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
                self.note(trouble)
                if tried == self.settings.retries:
                    raise ServerTrouble(trouble.kind, f"{trouble} (after {tried + 1} tries)") from None
                self.pause(trouble, tried)
            else:
                with self.lock:
                    self.failed, self.closed_until = 0, 0.0
                    self.not_before = max(self.not_before, time.monotonic() + answer.rest)
                return answer
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close what the backend holds open."""
        self.backend.close()

    def hold(self) -> None:
        """Wait until the server is ready; complain at once while it counts as down."""
        with self.lock:
            now = time.monotonic()
            if now < self.closed_until:
                raise ServerTrouble("down", f"not asked: the server failed {self.failed} times in a row")
            if self.failed >= self.settings.breaker_failures:  # one question tries whether it is back
                self.closed_until = now + self.settings.breaker_pause
            wait = self.not_before - now
        if wait > 0:
            time.sleep(wait)

    def note(self, trouble: ServerTrouble) -> None:
        """Count a failure: a server that fails all the time is down. One that is busy is not."""
        with self.lock:
            now = time.monotonic()
            if trouble.kind == "busy":
                self.not_before = max(self.not_before, now + self.asked_for(trouble))
                return
            self.failed += 1
            if self.failed >= self.settings.breaker_failures:
                self.closed_until = now + self.settings.breaker_pause

    def asked_for(self, trouble: ServerTrouble) -> float:
        """The wait that the server asks for; one that is longer than the settings allow is an error."""
        wait = trouble.retry_after or 0.0
        if wait > self.settings.longest_wait:
            limit = f"{self.settings.longest_wait:g} s are allowed (setting longest_wait)"
            raise ServerTrouble("busy", f"the server wants to be left alone for {wait:.0f} s; {limit}")
        return wait

    def pause(self, trouble: ServerTrouble, tried: int) -> None:
        """Wait before the next try: twice as long each time, and at random, so that threads don't all come at once."""
        longest = min(self.settings.backoff * 2**tried, self.settings.longest_wait)
        time.sleep((trouble.retry_after or 0.0) + random.uniform(0, longest))  # noqa: S311

"""Retries with exponential backoff, waits that servers ask for, and a circuit breaker for servers that are down."""

import random
import threading
import time

from onprompt.errors import ServerTrouble
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Question


class RetryingBackend:
    """A backend that retries. All threads share it, so that they hold back together."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings, self.lock = backend, settings, threading.Lock()
        self.not_before = 0.0  # when the server takes the next question, on the monotonic clock
        self.failures, self.open_until = 0, 0.0  # questions that failed in a row; the breaker is open until then
        self.stopped = threading.Event()

    def ask(self, question: Question) -> Answer:
        """The answer, after as many attempts as the settings allow."""
        for attempt in range(self.settings.retries + 1):
            self.wait_until_ready()
            try:
                answer = self.backend.ask(question)
            except ServerTrouble as error:
                wait = self.requested_wait(error)
                if attempt == self.settings.retries:
                    self.count_failure(error)
                    raise ServerTrouble(error.kind, f"{error} (after {attempt + 1} attempts)") from None
                self.back_off(error, wait, attempt)
            else:
                with self.lock:
                    self.failures, self.open_until = 0, 0.0
                self.postpone(min(answer.rest, self.settings.longest_wait))
                return answer
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """Make every thread that waits, or will wait, raise an error."""
        self.stopped.set()
        self.backend.close()

    def close(self) -> None:
        """Close the backend."""
        self.backend.close()

    def sleep(self, seconds: float) -> None:
        """Wait, or raise once stopped."""
        if self.stopped.wait(max(0.0, seconds)):
            raise ServerTrouble("stopped", "stopped before the server answered")

    def postpone(self, seconds: float) -> None:
        """Let no thread ask for some seconds."""
        with self.lock:
            self.not_before = max(self.not_before, time.monotonic() + seconds)

    def wait_until_ready(self) -> None:
        """Wait until the server takes questions; raise at once while the breaker is open."""
        with self.lock:
            now = time.monotonic()
            if now < self.open_until:
                raise ServerTrouble("down", f"not sent: the last {self.failures} questions failed")
            if self.failures >= self.settings.breaker_failures:  # this thread alone probes the server
                self.open_until = now + self.settings.breaker_pause
        self.sleep(0)
        while (wait := self.not_before - time.monotonic()) > 0:  # other threads may postpone it meanwhile
            self.sleep(wait + random.uniform(0, self.settings.backoff / 10))  # noqa: S311

    def count_failure(self, error: ServerTrouble) -> None:
        """Count a question that failed for good, and open the breaker after too many. A busy server is not down."""
        if error.kind in ("busy", "stopped"):
            return
        with self.lock:
            self.failures += 1
            if self.failures >= self.settings.breaker_failures:
                self.open_until = time.monotonic() + self.settings.breaker_pause

    def requested_wait(self, error: ServerTrouble) -> float:
        """The wait that the server asks for; longer than the settings allow is an error."""
        wait = error.retry_after or 0.0
        if wait > self.settings.longest_wait:
            limit = f"the limit is {self.settings.longest_wait:g} s (setting longest_wait)"
            raise ServerTrouble(error.kind, f"the server asks to wait {wait:.0f} s; {limit}")
        return wait

    def back_off(self, error: ServerTrouble, wait: float, attempt: int) -> None:
        """Wait before the next attempt: exponential, with jitter."""
        if error.kind == "busy":
            self.postpone(wait)
        longest = min(self.settings.backoff * 2**attempt, self.settings.longest_wait)
        self.sleep(wait + random.uniform(0, longest))  # noqa: S311

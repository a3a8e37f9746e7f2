"""A described function, called in a process of its own, with limits: what it does there can't hurt the audit."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

CHILD = Path(__file__).with_name("child.py")
KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")  # of the environment; no key, no token, no home
LONGEST = 2**20  # bytes of one reply
RESTARTS = 3  # of a function that ends its process or hangs
LIMIT, PATIENCE = 60.0, 10.0  # seconds for all calls of a function, and for one of them


class Reply(NamedTuple):
    """What a call returned, or what went wrong with it, to be read after the function's name: "raises …"."""

    value: Any = None
    trouble: str = ""


class Ended(Exception):
    """The process is gone, or was sent away; the message says why."""


class Calls:
    """A function by its `module:function`. Use it as a context: at its end the process and its group are gone."""

    def __init__(self, function: str, folder: Path | None, kind: str = "call", limit: float = LIMIT) -> None:
        self.function, self.folder, self.kind = function, folder, kind
        self.limit, self.patience = limit, min(PATIENCE, limit)
        self.left, self.ends, self.given_up = limit, 0, ""
        self.process: subprocess.Popen[bytes] | None = None
        self.known: dict[str, Reply] = {}

    def __enter__(self) -> Self:
        self.place = tempfile.TemporaryDirectory(prefix="onprompt-audit-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self.place.cleanup()

    def many(self, calls: Sequence[Sequence[Any]]) -> list[Reply]:
        """A reply for each list of arguments; the same arguments are not tried twice."""
        keys = [json.dumps(each) for each in calls]
        new = [key for key in dict.fromkeys(keys) if key not in self.known]
        start = time.monotonic()
        while new and not self.given_up:
            new = new[self.batch(new, start) :]
        self.left -= time.monotonic() - start
        return [self.known.get(key, Reply(trouble=self.given_up)) for key in keys]

    def batch(self, keys: Sequence[str], start: float) -> int:
        """Ask for replies until the process ends; how many there are. A call that ends it is replied to by that."""
        done = 0
        try:
            if self.process is None:
                self.start()
                self.ready(start)
            self.request(keys)
            while done < len(keys):
                self.known[keys[done]] = self.next(start)
                done += 1
        except Ended as end:
            self.stop()
            if not self.given_up:
                self.known[keys[done]] = Reply(trouble=str(end))
                self.ends += 1
                if self.ends > RESTARTS:
                    self.given_up = f"was given up: {self.ends} times its process had to be started again"
        return done + 1

    def ready(self, start: float) -> None:
        """Wait until their module is imported; where it can't be there is nothing more to try."""
        try:
            trouble = self.next(start).trouble
        except Ended as end:
            trouble = f"{end} while it is imported"
        if trouble:
            self.given_up = self.given_up or trouble
            raise Ended(trouble)

    def start(self) -> None:
        """Begin a process that knows nothing of ours and leaves no compiled files beside their code."""
        command = [sys.executable, "-I", "-B", str(CHILD), str(self.folder or ""), self.function, self.kind]
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.place.name,
            env=environment | {"PYTHONUTF8": "1"},
            start_new_session=True,
        )
        self.lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=pump, args=(self.process.stdout, self.lines), daemon=True).start()

    def request(self, keys: Sequence[str]) -> None:
        """Send the calls, in a file: a pipe that they don't read would hold us up."""
        path = Path(self.place.name, f"calls-{time.monotonic_ns()}.jsonl")
        path.write_text("\n".join(keys), encoding="utf-8")
        if self.process and self.process.stdin:
            with contextlib.suppress(OSError):  # it is gone, which its missing reply will tell
                self.process.stdin.write(f"{path}\n".encode())
                self.process.stdin.flush()

    def next(self, start: float) -> Reply:
        """The next reply, if it comes in time and is one."""
        left = self.left - (time.monotonic() - start)
        try:
            line = self.lines.get(timeout=max(0.0, min(left, self.patience)))
        except queue.Empty:
            if left <= self.patience:
                self.given_up = f"was stopped: the limit of {self.limit:g} s was over"
            raise Ended(f"gives no answer in {self.patience:g} s") from None
        if not line:
            raise Ended(f"ends its process ({self.way()})")
        try:
            found = json.loads(line)
            return Reply(found.get("value"), str(found.get("trouble", "")))
        except (ValueError, AttributeError, RecursionError):
            raise Ended("writes into our channel, so that no reply can be read") from None

    def way(self) -> str:
        """How the process ended."""
        try:
            code = self.process.wait(1) if self.process else 0
        except subprocess.TimeoutExpired:
            return "its output was closed"
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name

    def stop(self) -> None:
        """End the process, with all that it started."""
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        with contextlib.suppress(OSError):  # what was not read is lost, as it should be
            if process.stdin:
                process.stdin.close()


def pump(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Hand over each line that the process writes, then an empty one."""
    with pipe, contextlib.suppress(OSError):
        while line := pipe.readline(LONGEST):
            lines.put(line)
    lines.put(b"")

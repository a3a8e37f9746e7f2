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
RESTARTS = 3  # of a function that ends its process, among calls of one sort; one that hangs takes two
LIMIT, PATIENCE = 60.0, 10.0  # seconds for all calls of a function, and for one of them


class Reply(NamedTuple):
    """What a call returned, or what went wrong with it, to be read after the function's name: "raises …"."""

    value: Any = None
    trouble: str = ""
    tried: bool = True  # else `trouble` says why it was not called


class Ended(Exception):
    """The process is gone, or was sent away; the message says why."""


class Hung(Ended):
    """It was sent away after a long wait."""


class Calls:
    """A function by its `module:function`. Use it as a context: at its end the process and its group are gone."""

    def __init__(self, function: str, folder: Path | None, kind: str = "call", limit: float = LIMIT) -> None:
        self.function, self.folder, self.kind = function, folder, kind
        self.limit, self.patience = limit, min(PATIENCE, limit)
        self.left = limit
        self.broken = self.over = ""  # why no call can be replied to; why no more are made
        self.process: subprocess.Popen[bytes] | None = None
        self.known: dict[str, Reply] = {}

    def __enter__(self) -> Self:
        self.place = tempfile.TemporaryDirectory(prefix="onprompt-audit-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self.place.cleanup()

    def many(self, calls: Sequence[Sequence[Any]], again: bool = False) -> list[Reply]:
        """A reply for each list of arguments, all of one sort; the same are not tried twice, unless asked for again."""
        keys = [json.dumps(each) for each in calls]
        known = {} if again else self.known
        new = [key for key in dict.fromkeys(keys) if key not in known]
        ends, start = 0, time.monotonic()
        while new and not (self.broken or self.over) and ends <= RESTARTS:
            done, ended = self.batch(new, start, known)
            new, ends = new[done:], ends + ended
        self.left -= time.monotonic() - start
        if ends > RESTARTS and all(reply.trouble for reply in self.known.values()):
            self.broken = next(reply.trouble for reply in known.values())  # it never replied, and won't
        why = self.over or "was not called any more for this sort, after several calls that ended its process or hung"
        missing = Reply(trouble=self.broken) if self.broken else Reply(trouble=why, tried=False)
        return [known.get(key, missing) for key in keys]

    def batch(self, keys: Sequence[str], start: float, known: dict[str, Reply]) -> tuple[int, int]:
        """Ask until the process ends: how many calls are replied to, the one that ended it too, and what that costs."""
        done = 0
        try:
            if self.process is None:
                self.start()
                self.ready(start)
            self.requests.put(("\n".join(keys) + "\n").encode())
            while done < len(keys):
                known[keys[done]] = self.next(start, self.patience)
                done += 1
        except Ended as end:
            self.stop()
            if self.broken or self.over:
                return done, 1
            known[keys[done]] = Reply(trouble=str(end))
            return done + 1, 1 + isinstance(end, Hung)
        return done, 0

    def ready(self, start: float) -> None:
        """Wait until their module is imported, be it all the time; where it can't be there is nothing more to try."""
        try:
            self.broken = self.next(start, self.limit).trouble
        except Ended as end:
            self.broken = "" if self.over else f"{end} while it is imported"
        if self.broken or self.over:
            raise Ended

    def start(self) -> None:
        """Begin a process that knows nothing of ours and leaves no compiled files beside their code."""
        command = [sys.executable, "-I", "-B", str(CHILD), str(self.folder or ""), self.function, self.kind]
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.mkdtemp(dir=self.place.name),  # a new one each time, for they may remove it
            env=environment | {"PYTHONUTF8": "1"},
            start_new_session=True,
        )
        self.requests: queue.Queue[bytes] = queue.Queue()
        self.lines: queue.Queue[bytes] = queue.Queue()
        for target, pipe, lines in (
            (push, self.process.stdin, self.requests),
            (pump, self.process.stdout, self.lines),
        ):
            threading.Thread(target=target, args=(pipe, lines), daemon=True).start()

    def next(self, start: float, patience: float) -> Reply:
        """The next reply, if it comes in time and is one."""
        left = self.left - (time.monotonic() - start)
        try:
            line = self.lines.get(timeout=max(0.0, min(left, patience)))
        except queue.Empty:
            if left <= patience:
                self.over = f"was stopped when the {self.limit:g} s of --limit were over"
            raise Hung(f"gives no answer in {patience:g} s") from None
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
        """End the process, with all of its group."""
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        self.requests.put(b"")


def push(pipe: IO[bytes], requests: queue.Queue[bytes]) -> None:
    """Write what is asked for, in a thread: a pipe that they don't read would hold us up."""
    with contextlib.suppress(OSError), pipe:  # it is gone, which its missing reply will tell
        while request := requests.get():
            pipe.write(request)
            pipe.flush()


def pump(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Hand over each line that the process writes, then an empty one."""
    with pipe, contextlib.suppress(OSError):
        while line := pipe.readline(LONGEST):
            lines.put(line)
    lines.put(b"")

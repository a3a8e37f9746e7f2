"""A described function, called in a process of its own with limits, so that it can't break the audit."""

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
from typing import IO, Any, NamedTuple, Self

CHILD = Path(__file__).with_name("child.py")
KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
LONGEST = 2**20  # bytes of one reply
RESTARTS = 3  # of a function that ends its process, in one list of calls; a call that hangs counts twice
LIMIT, PATIENCE = 60.0, 10.0  # seconds for all calls of a function, and for one of them


class Reply(NamedTuple):
    """What a call returned, or an error that reads on after the function's name: "raises …"."""

    value: Any = None
    error: str = ""
    tried: bool = True  # else `error` says why the function was not called


class Ended(Exception):
    """The process has ended or was stopped; the message says why."""


class Hung(Ended):
    """The process was stopped after a long wait."""


class IsolatedFunction:
    """A function given as `module:function`. A context manager: on exit its process group is killed."""

    def __init__(self, function: str, folder: Path | None, kind: str = "call", limit: float = LIMIT) -> None:
        self.function, self.folder, self.kind = function, folder, kind
        self.limit, self.patience = limit, min(PATIENCE, limit)
        self.seconds_left = limit
        self.broken = self.over = ""  # why no call can succeed; why no more are made
        self.process: subprocess.Popen[bytes] | None = None
        self.replies: dict[str, Reply] = {}

    def __enter__(self) -> Self:
        self.folder_of_runs = tempfile.TemporaryDirectory(prefix="onprompt-audit-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.folder_of_runs.cleanup()

    def call_all(self, calls: Sequence[Sequence[Any]], again: bool = False) -> list[Reply]:
        """A reply for each list of arguments; known replies are reused unless the calls are made again."""
        keys = [json.dumps(arguments) for arguments in calls]
        replies = {} if again else self.replies
        new = [key for key in dict.fromkeys(keys) if key not in replies]
        restarts, start = 0, time.monotonic()
        while new and not (self.broken or self.over) and restarts <= RESTARTS:
            done, cost = self.call_until_end(new, start, replies)
            new, restarts = new[done:], restarts + cost
        self.seconds_left -= time.monotonic() - start
        if restarts > RESTARTS and all(reply.error for reply in self.replies.values()):
            self.broken = next(reply.error for reply in replies.values())  # it has never worked
        why = self.over or "was not called again for this class, after several calls that ended its process or hung"
        missing = Reply(error=self.broken) if self.broken else Reply(error=why, tried=False)
        return [replies.get(key, missing) for key in keys]

    def call_until_end(self, keys: Sequence[str], start: float, replies: dict[str, Reply]) -> tuple[int, int]:
        """Call until the process ends: how many calls are done, including the one that ended it, and its cost."""
        done = 0
        try:
            if self.process is None:
                self.start()
                self.wait_for_import(start)
            self.requests.put(("\n".join(keys) + "\n").encode())
            while done < len(keys):
                replies[keys[done]] = self.next_reply(start, self.patience)
                done += 1
        except Ended as end:
            self.stop()
            if self.broken or self.over:
                return done, 1
            replies[keys[done]] = Reply(error=str(end))
            return done + 1, 1 + isinstance(end, Hung)
        return done, 0

    def wait_for_import(self, start: float) -> None:
        """Wait until their module is imported, for all the time that is left."""
        try:
            self.broken = self.next_reply(start, self.limit).error
        except Ended as end:
            self.broken = "" if self.over else f"{end} during import"
        if self.broken or self.over:
            raise Ended

    def start(self) -> None:
        """Start a process without our environment that writes no compiled files beside their code."""
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(CHILD), str(self.folder or ""), self.function, self.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.mkdtemp(dir=self.folder_of_runs.name),  # a new one each time: they may remove it
            env=environment | {"PYTHONUTF8": "1"},
            start_new_session=True,
        )
        self.requests: queue.Queue[bytes] = queue.Queue()
        self.lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=write_requests, args=(self.process.stdin, self.requests), daemon=True).start()
        threading.Thread(target=read_lines, args=(self.process.stdout, self.lines), daemon=True).start()

    def next_reply(self, start: float, patience: float) -> Reply:
        """The next reply, if it is valid and comes in time."""
        left = self.seconds_left - (time.monotonic() - start)
        try:
            line = self.lines.get(timeout=max(0.0, min(left, patience)))
        except queue.Empty:
            if left <= patience:
                self.over = f"was stopped after the {self.limit:g} s of --limit"
            raise Hung(f"does not return within {patience:g} s") from None
        if not line:
            raise Ended(f"ends its process ({self.exit_status()})")
        try:
            message = json.loads(line)
            return Reply(message.get("value"), str(message.get("error", "")))
        except (ValueError, AttributeError, RecursionError):
            raise Ended("writes to the audit's channel, so its reply can't be read") from None

    def exit_status(self) -> str:
        """How the process ended."""
        try:
            code = self.process.wait(1) if self.process else 0
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name

    def stop(self) -> None:
        """Kill the process and its group."""
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


def write_requests(pipe: IO[bytes], requests: queue.Queue[bytes]) -> None:
    """Write requests in a thread: a pipe that they don't read would block us."""
    with contextlib.suppress(OSError), pipe:  # a broken pipe shows as a missing reply
        while request := requests.get():
            pipe.write(request)
            pipe.flush()


def read_lines(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Pass on each line that the process writes, then an empty one."""
    with pipe, contextlib.suppress(OSError):
        while line := pipe.readline(LONGEST):
            lines.put(line)
    lines.put(b"")

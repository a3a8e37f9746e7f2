"""The process that runs audited code: bounded in time, memory and output, so that it can't break or hang the audit."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

CHILD = Path(__file__).with_name("child.py")
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
LONGEST = 2**20  # bytes of one reply
RESTARTS = 3  # in one list of calls
LIMIT, PATIENCE = 60.0, 5.0  # seconds for all calls, and for one

Call = tuple[str, Sequence[Any]]  # function, arguments


class Reply(NamedTuple):
    """What a call returned, or an error that reads on after the function's name: "raises …"."""

    value: Any = None
    error: str = ""
    tried: bool = True  # else `error` says why nothing is known of it


class Ended(Exception):
    """The process has ended or was stopped; the message says why."""


class AuditedCode:
    """A Python file in a process of its own. A context manager: on exit its process group is killed."""

    def __init__(self, file: Path, limit: float = LIMIT) -> None:
        self.file, self.limit = file, limit
        self.end = time.monotonic() + limit
        self.process: subprocess.Popen[bytes] | None = None
        self.replies: dict[str, Reply] = {}
        self.functions: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.missing: list[str] = []  # packages that are not installed
        self.error = ""  # why the file can't be imported

    def __enter__(self) -> Self:
        self.folder = tempfile.TemporaryDirectory(prefix="onprompt-audit-", ignore_cleanup_errors=True)
        with contextlib.suppress(Ended):
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.folder.cleanup()

    def call_all(self, calls: Sequence[Call], again: bool = False) -> list[Reply]:
        """A reply for each call; known replies are reused unless the calls are made again."""
        keys = [json.dumps(call) for call in calls]
        replies = {} if again else self.replies
        new = [key for key in dict.fromkeys(keys) if key not in replies]
        ends = 0
        while new and ends <= RESTARTS and not self.error and time.monotonic() < self.end:
            done = 0
            try:
                process = self.process or self.start()
                sent = ("\n".join(new) + "\n").encode()
                threading.Thread(target=write, args=(process.stdin, sent), daemon=True).start()
                for key in new:
                    replies[key] = self.next_reply(PATIENCE)
                    done += 1
            except Ended as end:
                self.stop()
                ends += 1
                if not self.error and time.monotonic() < self.end:
                    replies[new[done]] = Reply(error=str(end))
                    done += 1
            new = new[done:]
        over = f"was stopped after the {self.limit:g} s of --limit"
        why = self.error or (over if time.monotonic() >= self.end else "ended its process or hung, again and again")
        return [replies.get(key, Reply(error=why, tried=False)) for key in keys]

    def mentions(self, pattern: str) -> bool:
        """Whether the file has a text that matches."""
        return re.search(pattern, self.file.read_text("utf-8", "replace"), re.IGNORECASE) is not None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process and import the file: no environment of ours, no compiled files beside theirs."""
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = tempfile.mkdtemp(dir=self.folder.name)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(CHILD), str(self.file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=own,
            env=environment | {"PYTHONUTF8": "1", "TMPDIR": own},
            start_new_session=True,
        )
        self.lines: queue.Queue[bytes] = queue.Queue(maxsize=64)
        threading.Thread(target=read_lines, args=(self.process.stdout, self.lines), daemon=True).start()
        try:
            reply = self.next_reply(self.limit)
            self.error = reply.error
        except Ended as end:
            self.error = f"{end} during import"
        if self.error or not isinstance(reply.value, dict):
            self.stop()
            raise Ended(self.error)
        self.functions, self.values, self.missing = (reply.value[name] for name in ("functions", "values", "missing"))
        return self.process

    def next_reply(self, patience: float) -> Reply:
        """The next reply, if it is valid and comes in time."""
        left = min(self.end - time.monotonic(), patience)
        try:
            line = self.lines.get(timeout=max(0.0, left))
        except queue.Empty:
            raise Ended(f"does not return within {left:.0f} s") from None
        if not line:
            raise Ended(f"ends its process ({self.stop()})")
        try:
            message = json.loads(line)
            return Reply(message.get("value"), str(message.get("error", "")), not message.get("missing"))
        except (ValueError, AttributeError, RecursionError):
            raise Ended("writes to the audit's channel, so its reply can't be read") from None

    def stop(self) -> str:
        """Kill the process and its group; says how it ended."""
        process, self.process = self.process, None
        if process is None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)  # it may be ending by itself
        with contextlib.suppress(OSError):
            kill = partial(os.killpg, process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill
            kill()
        code = process.wait()
        if process.stdin:
            with contextlib.suppress(OSError):  # what was not read is lost
                process.stdin.close()
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def write(pipe: IO[bytes], requests: bytes) -> None:
    """Write in a thread: a pipe that they don't read would block us."""
    with contextlib.suppress(OSError, ValueError):  # a broken pipe shows as a missing reply
        pipe.write(requests)
        pipe.flush()


def read_lines(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Pass on each line that the process writes, then an empty one."""
    with pipe, contextlib.suppress(OSError):
        while line := pipe.readline(LONGEST):
            lines.put(line)
    lines.put(b"")

"""What other systems lack or do in another way: put to the test by taking it away here."""

from __future__ import annotations

import ast
import ctypes
import os
import queue
import re
import socket
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from onprompt.pages.server import listen
from onprompt.runs.engines.threads import WAIT, next_of
from onprompt.vision.runtime import available_cores, call_c_library
from onprompt.weights.sources import SourceFailed, run_pip

ROOT = Path(__file__).parent.parent
OURS = [*(ROOT / "src").rglob("*.py"), *(ROOT / "plugins").glob("*/onprompt_*/*.py")]


def test_text_is_utf8_wherever_it_is_read_or_written() -> None:
    """Windows' default is another encoding."""
    others = ("os", "Image", "webbrowser", "wheel", "archive")  # whose `open` is no text file
    calls = ((path, call) for path in OURS for call in ast.walk(ast.parse(path.read_text("utf-8"))))
    for path, call in calls:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            name, of = call.func.attr, call.func.value
            if name in ("read_text", "write_text") or (name == "open" and ast.unparse(of) not in others):
                known = re.search("utf-8|encoding=|ray_current_cluster|b'", ast.unparse(call))
                assert known, f"{path}, line {call.lineno}"


def test_macos_and_windows_do_not_say_which_cores_a_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert available_cores() == os.cpu_count()


def test_there_is_no_mallopt_but_in_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    call_c_library("no_such_function", ctypes.c_int(1))

    def no_library(name: object) -> object:
        raise TypeError("bad argument type for built-in operation")  # of CDLL(None) on Windows

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    call_c_library("mallopt", ctypes.c_int(1))


def test_pip_keeps_its_temporary_files_where_it_is_told_to(tmp_path: Path) -> None:
    """POSIX reads TMPDIR, Windows TEMP and TMP."""
    code = "import os; raise SystemExit(' '.join(os.environ[n] for n in ('TMPDIR', 'TEMP', 'TMP')))"
    with pytest.raises(SourceFailed, match=" ".join([str(tmp_path)] * 3)):
        run_pip([sys.executable, "-c", code], str(tmp_path))


@pytest.mark.parametrize(("system", "shared"), [("linux", True), ("darwin", True), ("win32", False)])
def test_no_two_servers_share_a_port(monkeypatch: pytest.MonkeyPatch, system: str, shared: bool) -> None:
    """Elsewhere the option only lets a port be used again at once."""
    monkeypatch.setattr(sys, "platform", system)
    with listen("127.0.0.1", 0) as listening:
        assert bool(listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)) is shared


def test_a_wait_can_be_interrupted_on_windows() -> None:
    """There, Ctrl-C is noticed only between two waits: each must end by itself."""
    finished: queue.SimpleQueue[Future[int]] = queue.SimpleQueue()
    late: Future[int] = Future()
    threading.Timer(1.5 * WAIT, finished.put, (late,)).start()
    assert next_of(finished) is late
    assert WAIT <= 1

"""The same run on Ray: the same verdicts, and nothing lost when a worker or the driver dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")
from onprompt import findings
from onprompt.asking.asker import close_all
from onprompt.ledger import Ledger
from tests.test_run import PROGRAM, judged, scores, table

ON_RAY = PROGRAM.replace('Work("verify", settings))', 'Work("verify", settings), "ray")')


def started(folder: Path) -> subprocess.Popen[bytes]:
    """A run on Ray in a process of its own."""
    return subprocess.Popen([sys.executable, "-W", "ignore", "-c", ON_RAY, str(folder)], start_new_session=True)


def done(folder: Path) -> int:
    """How many verdicts there are."""
    if not (folder / "run.sqlite").exists():
        return 0
    with Ledger(folder / "run.sqlite") as ledger:
        return findings.overview(ledger, 1).verdicts


def test_ray_gives_the_same_verdicts_as_threads(tmp_path: Path) -> None:
    for name in ("threads", "ray"):
        (tmp_path / name).mkdir()
    judged(tmp_path / "threads", table(tmp_path / "threads", 60))
    table(tmp_path / "ray", 60)
    process = started(tmp_path / "ray")
    assert process.wait(timeout=120) == 0
    assert scores(tmp_path / "ray") == scores(tmp_path / "threads")
    close_all()


def test_workers_and_drivers_may_die(tmp_path: Path) -> None:
    table(tmp_path, 3000)
    process = started(tmp_path)
    deadline = time.monotonic() + 90
    while done(tmp_path) < 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    workers = subprocess.run(["pgrep", "-f", "ray::Hand"], capture_output=True, text=True).stdout.split()
    assert workers
    os.kill(int(workers[0]), signal.SIGKILL)
    before = done(tmp_path)
    while done(tmp_path) < before + 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert done(tmp_path) > before
    os.killpg(process.pid, signal.SIGKILL)  # and all that it started
    process.wait()
    again = started(tmp_path)
    assert again.wait(timeout=150) == 0
    assert scores(tmp_path) == {str(index): index % 10 % 5 for index in range(3000)}
    close_all()

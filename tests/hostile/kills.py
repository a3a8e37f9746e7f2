"""A run that is killed again and again: nothing that was written is lost, and the end is right."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.runs.test_run import judged, scores, table, verdicts

SAMPLES, LONGEST = 300, 0.6  # seconds until a kill


def case(chance: Random, folder: Path) -> Counter[str]:
    """One run, killed ten times or until it is done."""
    data, path, before, killed = table(folder, SAMPLES), folder / "run.sqlite", 0, 0
    for _ in range(10):
        child = os.fork()
        if not child:
            try:
                judged(folder, data, concurrency=chance.choice((1, 4, 16)))
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0.005, LONGEST))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        known = verdicts(path)
        assert known >= before, f"{before} verdicts became {known}"
        before = known
    child = os.fork()
    if not child:
        try:
            judged(folder, data)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    assert scores(folder) == {str(index): index % 10 % 5 for index in range(SAMPLES)}
    return Counter({"kills": killed, "verdicts": SAMPLES})

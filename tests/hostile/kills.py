"""A run that is killed again and again: nothing that was written is lost, and the end is right."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

from tests.runs.test_run import judged, scores, table, verdicts

SAMPLES, LONGEST = 300, 0.6  # seconds until a kill


def case(chance: Random, folder: Path) -> Counter[str]:
    """One run, killed ten times or until it is done."""
    data, path, before, killed = table(folder, SAMPLES), folder / "run.sqlite", 0, 0
    fork = multiprocessing.get_context("fork")  # no start-up of Python, so that kills hit the run itself
    for _ in range(10):
        child = fork.Process(target=judged, args=(folder, data), kwargs={"concurrency": chance.choice((1, 4, 16))})
        child.start()
        time.sleep(chance.uniform(0.005, LONGEST))
        child.kill()
        child.join()
        killed += child.exitcode != 0
        known = verdicts(path)
        assert known >= before, f"{before} verdicts became {known}"
        before = known
    last = fork.Process(target=judged, args=(folder, data))
    last.start()
    last.join()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert scores(folder) == {str(index): index % 10 % 5 for index in range(SAMPLES)}
    return Counter({"kills": killed, "verdicts": SAMPLES})

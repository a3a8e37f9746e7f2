"""Run files with broken bytes: a verdict that is not as it was written is found by `onprompt check`."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from onprompt.api import judges
from onprompt.errors import OnpromptError
from onprompt.runs import findings
from onprompt.runs.damage import find_damage
from onprompt.runs.ledger import Ledger
from tests.runs.test_run import judged, table

SAMPLES = 40


@cache
def whole() -> Path:
    """A run file without damage."""
    folder = Path(mkdtemp(prefix="onprompt-hostile-"))
    judged(folder, table(folder, SAMPLES))
    judges.close()
    return folder / "run.sqlite"


def case(chance: Random, folder: Path) -> Counter[str]:
    """One file with some bytes flipped, or cut."""
    path = folder / "run.sqlite"
    shutil.copy(whole(), path)
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 2, 8, 100))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data if chance.random() < 0.9 else data[: chance.randrange(len(data))])
    try:
        with opened(path) as ledger:
            damage = find_damage(ledger)
            found = {row["id"]: row["score"] for row in findings.rows(ledger, 1) if row["value"] is not None}
    except OnpromptError:
        return Counter(["refused"])
    right = {str(index): index % 10 % 5 for index in range(SAMPLES)}
    assert damage or found == right, "a verdict changed, and nobody says so"
    return Counter(["damage found" if damage else "unharmed"])


@contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    """The run file, open to read."""
    with Ledger(path) as ledger:
        yield ledger

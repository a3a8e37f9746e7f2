"""Tries every kind of case with seeds: half of them always the same, half new; a failure names the one to replay."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random, SystemRandom

from rich.console import Console
from rich.table import Table

from tests.hostile import inputs, kills, requests, run_files, servers

Case = Callable[[Random, Path], Counter[str]]
KINDS: dict[str, tuple[Case, int]] = {  # what tries one case, and how often
    "kills": (kills.case, 150),
    "images": (inputs.image, 10_000),
    "prompts": (inputs.prompt, 10_000),
    "answers": (inputs.answer, 10_000),
    "servers": (servers.case, 1_000),
    "run files": (run_files.case, 500),
    "requests": (requests.case, 24),
}


def main() -> None:
    """Run the kinds that were asked for, and show what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--only", choices=KINDS, help="one kind of case")
    parser.add_argument("--seed", type=int, help="replay one case of that kind")
    parser.add_argument("--share", type=float, default=1.0, help="the part of the usual number of cases")
    options = parser.parse_args()
    failures, table = 0, Table("kind", "cases", "seconds", "outcomes", "failures")
    for name in [options.only] if options.only else KINDS:
        case, times = KINDS[name]
        start, number = time.monotonic(), max(1, round(times * options.share))
        new = (SystemRandom().randrange(10**6, 10**12) for _ in range(number // 2))
        seeds = [options.seed] if options.seed is not None else [*range((number + 1) // 2), *new]
        outcomes, failed = attempt(name, case, seeds)
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(outcomes.items()))
        table.add_row(name, f"{len(seeds):,}", f"{time.monotonic() - start:.0f}", counts, str(failed))
        failures += failed
    Console().print(table)
    sys.exit(1 if failures else 0)


def attempt(name: str, case: Case, seeds: list[int]) -> tuple[Counter[str], int]:
    """The outcomes of all cases, and how many failed."""
    outcomes, failed = Counter[str](), 0
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="onprompt-hostile-") as folder:
            try:
                outcomes += case(Random(seed), Path(folder))
            except Exception:
                failed += 1
                traceback.print_exc()
                sys.stderr.write(f"replay: python -m tests.hostile --only '{name}' --seed {seed}\n")
    return outcomes, failed


if __name__ == "__main__":
    main()

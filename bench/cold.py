"""A cold `onprompt verify`, from the start of the process to its last line: `python bench/cold.py [SRC_BEFORE]`.

With the `src` folder of another version, both run in turns, so that a noisy machine disturbs both alike. Model files
must be present. The first run of each version is not counted: it compiles what later ones read from the cache folder.
Ends with 1 if the two versions print different texts.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

CASES = {
    "astronaut.png": "an astronaut to the right of a flag, holding a white helmet",
    "chelsea.png": "a brown cat",
}


def onprompt(source, *arguments):
    """Seconds of a command, and what it printed."""
    command, env = [sys.executable, "-m", "onprompt", *arguments], {**os.environ, "PYTHONPATH": str(source)}
    start = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", nargs="?", type=Path, help="the src folder of another version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--detector", default="coco")
    options = parser.parse_args()
    sources = {"before": options.before} if options.before else {}
    sources["now"] = Path(__file__).resolve().parents[1] / "src"
    weights = Path(onprompt(sources["now"], "models", "path", "chelsea.png")[1].strip()).parent
    differs = False
    for name, prompt in CASES.items():
        times, printed = {version: [] for version in sources}, {}
        for _ in range(options.rounds + 1):
            for version, source in sources.items():
                arguments = ("verify", str(weights / name), prompt, "--detector", options.detector)
                seconds, printed[version] = onprompt(source, *arguments)
                times[version].append(seconds)
        for version, each in times.items():
            print(f"{name:14} {options.detector:7} {version:7} {statistics.median(each[1:]):6.2f} s")
        differs |= len(set(printed.values())) > 1
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())

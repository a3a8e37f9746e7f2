"""How fast generated images are judged: `python bench/speed.py DATA [SRC_BEFORE]`, where DATA/t2i holds the images.

Pictures a second of a run on all cores and on one, and of a `verify` in a warm process; with the `src` folder of
another version, in turns with it. Each runs in a process of its own, which has judged some pictures before, one of them
with text. Medians over rounds.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = """
import json, os, sys, time
if sys.argv[3] == "one":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from pathlib import Path
import onprompt
from onprompt.runs import datasets
from onprompt.runs.run import JudgeJob
from onprompt.runs.run import run
from onprompt.settings import load
table, warm, kind, settings = sys.argv[1], sys.argv[2], sys.argv[3], load(detector=sys.argv[4])
def finished(data):
    job = JudgeJob("verify", settings)
    start, busy = time.perf_counter(), time.process_time()
    done = run(datasets.open_dataset(data, job.rubric, {}), Path(data).with_suffix(".sqlite"), job).done
    return done / (time.perf_counter() - start), (time.process_time() - busy) / done
if kind in ("all", "one"):
    finished(warm)
    print(json.dumps(finished(table)))
else:
    rows = [row.item for row in datasets.open_dataset(table, JudgeJob("verify", settings).rubric, {}).rows()]
    rows = [(item["image"], item["prompt"]) for item in rows]
    for image, prompt in [*rows[:10], (rows[0][0], 'a sign that says "open"')]:
        onprompt.verify(image, prompt, settings=settings)
    start, busy = time.perf_counter(), time.process_time()
    for image, prompt in rows[10:]:
        onprompt.verify(image, prompt, settings=settings)
    number = len(rows) - 10
    print(json.dumps([number / (time.perf_counter() - start), (time.process_time() - busy) / number]))
"""
KINDS = {"all": "run, all cores", "one": "run, one core", "verify": "verify"}
TEXT = 'a sign that says "open"'  # so that reading text is loaded, too


def write(path, rows, data):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "image", "prompt"])
        writer.writerows([number, data / "t2i" / row["image"], row["prompt"]] for number, row in enumerate(rows))


def measured(source, rows, data, kind, detector):
    """Pictures a second, and seconds of processor time a picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "warm.csv", [*rows[:12], {**rows[0], "prompt": TEXT}], data)
        write(folder / "table.csv", rows[12:], data)
        arguments = [folder / "table.csv", folder / "warm.csv", kind, detector]
        env = {**os.environ, "PYTHONPATH": str(source)}
        done = subprocess.run(
            [sys.executable, "-c", RUN, *map(str, arguments)], env=env, capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--pictures", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--detector", default="coco")
    options = parser.parse_args()
    data = options.data.resolve()
    with (data / "t2i" / "Text-To-Image.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    rows = rows[:: max(1, len(rows) // (options.pictures + 12))]
    sources = {"now": Path(__file__).parents[1] / "src"} | ({"before": options.before} if options.before else {})
    now = {}
    for kind, words in KINDS.items():
        found = {name: [] for name in sources}
        for _ in range(options.rounds):
            for name, source in sources.items():
                found[name].append(measured(source, rows, data, kind, options.detector))
        rates = {name: statistics.median(rate for rate, _ in each) for name, each in found.items()}
        busy = {name: statistics.median(spent for _, spent in each) for name, each in found.items()}
        ratio = f", {rates['now'] / rates['before']:.2f} times as many" if options.before else ""
        told = "; ".join(
            f"{name} {rates[name]:.2f} a second, {busy[name]:.3f} s of processor time each" for name in sources
        )
        print(f"{words:18} {told}{ratio}", flush=True)
        now[kind] = rates["now"]
    print(f"all cores: {now['all'] / now['one']:.2f} times as many as one")


main()

"""How runs grow: `python bench/scale.py [growth] [opening] [cores] [nodes]`. Needs model files; nodes: onprompt[ray].

growth: seconds and memory of runs of 1,000 to 20,000 samples by a judge of recorded answers, and what the engine and
the ledger add to each sample beside the judge. opening: how long a finished run of 20,000 takes to show. cores: the
evidence judge on small pictures by one thread and by as many as there are cores. nodes: the same on one and on two
local nodes of Ray, each with one core.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

SIZES = (1000, 5000, 20_000)
PICTURES = 60  # for the evidence judge
TEXT = 'Step 1: ["a cat"]\nStep 2: ["a cat"]\nStep 3&4: []\nStep 5: all matched.\n(4)'
RUN = """
import json, resource, sys, time
from pathlib import Path
from onprompt import api, datasets
from onprompt.run import Task, Work, run
from onprompt.settings import Settings
folder, engine, model, slots = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
settings = Settings(model=model, answers=folder / "answers.sqlite", concurrency=4)
work = Work("verify", settings)
if slots:
    work.judge.slots = slots
rows = [row.item for row in datasets.opened(str(folder / "data.csv"), "verify", {}).rows()][:200]
for item in rows[:2]:
    work(Task(0, item))  # what is loaded once
start = time.perf_counter()
if model:
    for number, item in enumerate(rows):
        work(Task(number, item))
bare = (time.perf_counter() - start) / len(rows)
start = time.perf_counter()
summary = run(datasets.opened(str(folder / "data.csv"), "verify", {}), folder / "run.sqlite", work, engine)
seconds = time.perf_counter() - start
pages = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
print(json.dumps({"seconds": seconds, "done": summary.done, "rss": pages / 1e6, "bare": bare}))
"""


def data(folder, number, size=(32, 32), pictures=1):
    """A table of samples, and answers to them."""
    made = np.random.default_rng(0)
    for index in range(pictures):
        Image.fromarray(made.integers(0, 255, (*size, 3), dtype=np.uint8)).resize((256, 256)).save(
            folder / f"{index}.png"
        )
    rows = [f"{index},{index % pictures}.png,a cat and {index} mice on a table" for index in range(number)]
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *rows]) + "\n")
    (folder / "said.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")


def ran(folder, engine="threads", model="", slots=0, **environment):
    """A run in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(folder), engine, model, str(slots)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | environment)
    return json.loads(run.stdout.splitlines()[-1])


def growth():
    found = []
    for number in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            data(folder, number)
            told = ran(folder, model=f"replay/{folder / 'said.jsonl'}")
            found.append(told)
            each, bare = told["seconds"] / number * 1000, told["bare"] * 1000
            print(
                f"{number:6,} samples: {told['seconds']:6.2f} s, {each:.3f} ms each, the judge alone {bare:.3f}: "
                f"the run adds {each - bare:.3f}; {told['rss']:.0f} MB at the end",
                flush=True,
            )
    print(f"memory from {SIZES[0]:,} to {SIZES[-1]:,}: {found[-1]['rss'] / found[0]['rss'] - 1:+.1%}")


def opening():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data(folder, SIZES[-1])
        ran(folder, model=f"replay/{folder / 'said.jsonl'}")
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "onprompt", "show", str(folder / "run.sqlite")], check=True, capture_output=True
            )
            times.append(time.perf_counter() - start)
        print(f"`onprompt show` of {SIZES[-1]:,}: {statistics.median(times):.2f} s")


def cores():
    rates = []
    for slots in (1, os.cpu_count()):
        with tempfile.TemporaryDirectory() as name:
            data(Path(name), PICTURES, (8, 8), PICTURES)
            told = ran(Path(name), slots=slots)
            rates.append(told["done"] / told["seconds"])
            print(f"evidence, {slots} at a time: {rates[-1]:.2f} samples a second", flush=True)
    print(f"{rates[1] / rates[0]:.2f} times as many")


def nodes():
    rates = []
    for number in (1, 2):
        with tempfile.TemporaryDirectory() as name:
            data(Path(name), PICTURES, (8, 8), PICTURES)
            ray = Path(sys.executable).with_name("ray")
            start = [[ray, "start", "--head", "--port=6399", "--num-cpus=1", "--include-dashboard=false"]]
            start += [[ray, "start", "--address=127.0.0.1:6399", "--num-cpus=1"]] * (number - 1)
            try:
                for command in start:
                    subprocess.run(command, check=True, capture_output=True)
                told = ran(Path(name), "ray", RAY_ADDRESS="127.0.0.1:6399")
            finally:
                subprocess.run([ray, "stop", "--force"], check=False, capture_output=True)
            rates.append(told["done"] / told["seconds"])
            print(f"Ray, {number} nodes: {rates[-1]:.2f} samples a second, start-up included", flush=True)
    print(f"{rates[1] / rates[0]:.2f} times as many")


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["growth", "opening", "cores", "nodes"]
    for each in wanted:
        {"growth": growth, "opening": opening, "cores": cores, "nodes": nodes}[each]()

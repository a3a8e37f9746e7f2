"""Ray: `python bench/nodes.py [rounds]`. Needs onprompt[ray] and model files.

The evidence judge on small pictures, on one and on two local nodes with one core each, in turns: samples a second once
every actor has loaded its networks, and the start-up beside it. Then what a sample costs on Ray: recorded
answers on Ray and on threads, in turns.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

PICTURES, WARM = 50, 10  # of them, the first are not in the rate
ANSWERS = 3000
PROMPTS = ("a red cup on a table", "a black dog", "a green apple", "a man in a blue shirt")
RUN = """
import json, sys, time
from pathlib import Path
from onprompt.runs import datasets
from onprompt.runs.run import JudgeJob
from onprompt.runs.run import run
from onprompt.settings import Settings
folder, engine, model, warm = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
job = JudgeJob("verify", Settings(model=model, answers=folder / "answers.sqlite", concurrency=4))
data, times = datasets.open_dataset(str(folder / "data.csv"), job.rubric, {}), []
start = time.perf_counter()
def tell(summary):
    if summary.done > len(times):
        times.append(time.perf_counter() - start)
summary = run(data, folder / f"{time.time_ns()}.sqlite", job, engine, tell)
assert not summary.errors, summary
print(json.dumps({"first": times[0], "rate": (len(times) - warm) / (times[-1] - times[warm - 1]), "all": times[-1]}))
"""


def data(folder, number, pictures):
    """A table of small pictures, and an answer for each."""
    made = np.random.default_rng(0)
    for index in range(pictures):
        pixels = made.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((256, 256), Image.Resampling.BICUBIC).save(folder / f"{index}.png")
    ends = [""] * number if number == pictures else [f" of {index}" for index in range(number)]  # so all differ
    rows = [f"{index},{index % pictures}.png,{PROMPTS[index % len(PROMPTS)]}{end}" for index, end in enumerate(ends)]
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *rows]) + "\n")
    (folder / "said.jsonl").write_text(json.dumps({"text": "All is there.\n(4)"}) + "\n")


@contextmanager
def nodes(number, cores=1):
    """A cluster of as many nodes on this machine; what is run meanwhile finds it."""
    ray = Path(sys.executable).with_name("ray")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, ExitStack() as stack:
        place = {"RAY_TMPDIR": folder, "RAY_ADDRESS": "", "RAY_AUTH_MODE": "disabled"}
        note, where = Path(folder, "ray", "ray_current_cluster"), ["--head", "--port=0", "--include-dashboard=false"]
        for _ in range(number):
            command = [ray, "start", *where, f"--num-cpus={cores}", "--disable-usage-stats", "--block"]
            process = subprocess.Popen(
                command, env=os.environ | place, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            while not note.exists():
                time.sleep(0.1)
            time.sleep(5)  # until it has told the others
            where = [f"--address={note.read_text()}"]
        yield place


def ran(folder, engine, model="", warm=WARM, **environment):
    """A run in a process of its own."""
    command = [sys.executable, "-c", RUN, str(folder), engine, model, str(warm)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | environment)
    return json.loads(run.stdout.splitlines()[-1])


def evidence(rounds):
    rates = {1: [], 2: []}
    for number in (1, 2) * rounds:
        with tempfile.TemporaryDirectory() as name, nodes(number) as place:
            data(Path(name), PICTURES, PICTURES)
            told = ran(Path(name), "ray", **place)
        rates[number].append(told["rate"])
        print(
            f"nodes: {number}; {told['rate']:.2f} samples a second; the first after {told['first']:.1f} s, "
            f"all {PICTURES} after {told['all']:.1f}",
            flush=True,
        )
    one, two = (statistics.median(rates[number]) for number in (1, 2))
    print(f"two nodes: {two / one:.2f} times as many as one (medians of {rounds})")


def overhead(rounds):
    each = {"threads": [], "ray": []}
    for _ in range(rounds):
        for engine, found in each.items():
            with tempfile.TemporaryDirectory() as name, nodes(1, os.cpu_count()) as place:
                data(Path(name), ANSWERS, 1)
                told = ran(Path(name), engine, f"replay/{Path(name) / 'said.jsonl'}", ANSWERS // 10, **place)
            found.append(1000 / told["rate"])
            print(f"recorded answers, {engine}: {found[-1]:.2f} ms a sample", flush=True)
    threads, ray = (statistics.median(found) for found in each.values())
    print(f"Ray: {ray:.2f} ms a sample, threads {threads:.2f}: {ray - threads:+.2f} (medians of {rounds})")


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    evidence(wanted)
    overhead(wanted)

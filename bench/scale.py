"""How runs grow: `python bench/scale.py [growth] [large[=FOLDER]] [table[=ROWS]] [cores] [real[=SAMPLES]]`.

growth: seconds and memory of runs of 1,000 to 20,000 samples by a judge of recorded answers, and what the engine and
the file add to each sample beside the judge. large: memory on the way through a run of 100,000, and how long `show` and
`agree` take on it; a FOLDER keeps the run. table: memory of reading a table of a million rows. The last two need model
files. cores: the evidence judge on small pictures on one core and on all, in turns. real: a run by the evidence judge,
with its memory and its processor time on the way; 20,000 take about two hours on two cores.
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

from onprompt.probe.pictures import draw

SIZES = (1000, 5000, 20_000)
LARGE, MODELS, RATERS = 100_000, 4, 3
PICTURES, ROUNDS = 40, 3  # for the cores
COLOURS = ("red", "green", "blue", "yellow")
TEXT = 'Step 1: ["a cat"]\nStep 2: ["a cat"]\nStep 3&4: []\nStep 5: all matched.\n({})'
RUN = """
import json, os, resource, sys, time
if sys.argv[3] == "1":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from pathlib import Path
from onprompt.runs import datasets
from onprompt.runs.datasets import Row
from onprompt.runs.run import JudgeJob, run
from onprompt.settings import Settings
folder, model, marks = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[4])
settings = Settings(model=model, answers=folder / "answers.sqlite", concurrency=4, detector=sys.argv[5])
job = JudgeJob("verify", settings)
rows = [row.item for row in datasets.open_dataset(str(folder / "data.csv"), job.rubric, {}).rows()][:200]
for item in rows[:2]:
    job(Row(str(0), "", item))  # what is loaded once
start = time.perf_counter()
if model:
    for number, item in enumerate(rows):
        job(Row(str(number), "", item))
bare, on_the_way = (time.perf_counter() - start) / len(rows), []
def memory():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
def tell(summary):
    if marks and summary.done >= marks[0]:
        on_the_way.append((marks.pop(0), time.process_time() - busy, memory()))
        print(on_the_way[-1], file=sys.stderr, flush=True)
start, busy = time.perf_counter(), time.process_time()
data = datasets.open_dataset(str(folder / "data.csv"), job.rubric, {})
summary = run(data, folder / "run.sqlite", job, on_progress=tell)
told = {"seconds": time.perf_counter() - start, "done": summary.done, "rss": memory(), "bare": bare}
told["size"] = sum(path.stat().st_size for path in folder.glob("*.sqlite"))
print(json.dumps(told | {"on_the_way": on_the_way}))
"""


def data(folder, number):
    """A table of rated samples on one picture, a prompt for each model, and an answer for every score."""
    Image.fromarray(np.full((32, 32, 3), 99, np.uint8)).save(folder / "0.png")
    chance = np.random.default_rng(0)
    raters = [f"r{rater}" for rater in range(RATERS)]
    rows = [",".join(["id", "image", "prompt", "model", "category", *raters])]
    for index in range(number):
        prompt = index // MODELS
        ratings = np.clip(prompt % 5 + 1 + chance.integers(-1, 2, RATERS), 1, 5)
        words = f"a cat of kind {prompt % 5} and {prompt} mice"
        rows.append(",".join(map(str, [index, "0.png", words, f"m{index % MODELS}", f"c{prompt % 7}", *ratings])))
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    said = [{"contains": f"kind {score} and", "text": TEXT.format(score)} for score in range(5)]
    (folder / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))


def pictures(folder, number):
    """A table of small pictures, each another, of a cup and a clock."""
    rows, chance = [], np.random.default_rng(0)
    for index in range(number):
        one, other = COLOURS[index % 4], COLOURS[index // 4 % 4]
        image = drawings(one, other)
        noisy = np.clip(image + chance.integers(-9, 10, image.shape), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(folder / f"{index}.png", compress_level=1)
        rows.append(f"{index},{index}.png,a {one} cup and a {COLOURS[index // 16 % 4]} clock on a table")
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *rows]) + "\n")


made = {}


def drawings(one, other):
    """A drawing in two colours, small."""
    if (one, other) not in made:
        image = draw("table", f"{one} cup, {other} clock").resize((128, 96))
        made[one, other] = np.asarray(image.convert("RGB"), np.int16)
    return made[one, other]


def ran(folder, model="", cores=0, marks=(), detector="coco"):
    """A run in a process of its own, on one core or on all."""
    given = [str(folder), model, str(cores), json.dumps(marks), detector]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, *given], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def growth():
    found = []
    for number in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            data(folder, number)
            told = ran(folder, f"replay/{folder / 'said.jsonl'}")
            found.append(told)
            each, bare = told["seconds"] / number * 1000, told["bare"] * 1000
            print(
                f"{number:6,} samples: {told['seconds']:6.2f} s, {each:.3f} ms each, the judge alone {bare:.3f}: "
                f"the run adds {each - bare:.3f}; {told['rss']:.0f} MB at the end, "
                f"{told['size'] / number / 1000:.1f} kB on disk for each",
                flush=True,
            )
    print(f"memory from {SIZES[0]:,} to {SIZES[-1]:,}: {found[-1]['rss'] / found[0]['rss'] - 1:+.1%}")


def large(folder=""):
    """A run of 100,000, kept in a folder if one is named, and how long its figures take."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(folder or name)
        path.mkdir(exist_ok=True)
        if not (path / "run.sqlite").exists():
            data(path, LARGE)
            marks = [1000, LARGE // 4, LARGE // 2, LARGE]
            for mark, busy, memory in ran(path, f"replay/{path / 'said.jsonl'}", marks=marks)["on_the_way"]:
                print(f"{mark:7,} samples: {busy / mark * 1000:.2f} ms of processor time each; {memory:.0f} MB")
        columns = [word for rater in range(RATERS) for word in ("--human-column", f"r{rater}")]
        for words in (["show"], ["show", "--by", "model"], ["agree", *columns, "--human-scale", "1-5"]):
            times = []
            for _ in range(ROUNDS):
                start, before = time.perf_counter(), os.times()
                subprocess.run(
                    [sys.executable, "-m", "onprompt", words[0], str(path / "run.sqlite"), *words[1:]],
                    check=True,
                    capture_output=True,
                )
                after = os.times()
                busy = after.children_user + after.children_system - before.children_user - before.children_system
                times.append((time.perf_counter() - start, busy))
            seconds, busy = (statistics.median(side) for side in zip(*times, strict=True))
            print(
                f"`onprompt {' '.join(words)}` of {LARGE:,}: {seconds:.2f} s, {busy:.2f} of the processor", flush=True
            )


READ = """
import resource, sys
from onprompt.runs import datasets
from onprompt.samples import load_rubric
def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
before = memory()
rows = sum(1 for _ in datasets.open_dataset(sys.argv[1], load_rubric("verify"), {}).rows())
print(f"{rows:,} rows: at most {memory():.0f} MB, {before:.0f} of them before")
"""


def table(number=1_000_000):
    """Memory of reading a table, with an id in each row and without."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "data.csv"
        for ids in (True, False):
            with path.open("w") as file:
                file.write("id,image,prompt\n" if ids else "image,prompt\n")
                for index in range(number):
                    file.write(
                        f"sample-{index}," * ids + f"pictures/{index:07}.png,a cat and {index} mice on a table\n"
                    )
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", READ, str(path)], check=True)
            print(f"{'with' if ids else 'without'} ids, {time.perf_counter() - start:.0f} s", flush=True)


def cores():
    rates = {1: [], os.cpu_count(): []}
    for _ in range(ROUNDS):
        for number, found in rates.items():
            with tempfile.TemporaryDirectory() as name:
                pictures(Path(name), PICTURES)
                told = ran(Path(name), cores=number)
                found.append(told["done"] / told["seconds"])
                size = f"{told['size'] / PICTURES / 1000:.0f} kB on disk for each"
                print(f"evidence, {number} cores: {found[-1]:.2f} samples a second, {size}", flush=True)
    one, all_of_them = (statistics.median(found) for found in rates.values())
    print(f"{all_of_them / one:.2f} times as many")


def real(number=2000):
    with tempfile.TemporaryDirectory() as name:
        pictures(Path(name), number)
        marks = [mark for mark in (1000, 2000, 5000, 10_000, 20_000) if mark <= number]
        told = ran(Path(name), marks=marks, detector="coco")
    for mark, busy, memory in told["on_the_way"]:
        print(f"{mark:6,} samples: {busy / mark * 1000:.0f} ms of processor time each; {memory:.0f} MB")


if __name__ == "__main__":
    parts = {"growth": growth, "large": large, "table": table, "cores": cores, "real": real}
    for each in sys.argv[1:] or parts:
        name, _, value = each.partition("=")
        parts[name](*([int(value) if value.isdecimal() else value] if value else []))

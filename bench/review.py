"""How fast a review answers: `python bench/review.py [SAMPLES]`, 20,000 by default. Needs model files.

One photo is judged by the evidence judge, and its verdict stored under many ids with other scores, models and
categories, through the run's own file; a quarter of them is reviewed. Then a real server on loopback is asked for
each kind of answer, and in between a process of its own writes verdicts to the same file, as a run would.
"""

import dataclasses
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import onprompt
from onprompt.runs.file import RunFile
from onprompt.runs.reviews import Review, ReviewFile
from onprompt.runs.run import JudgeJob, to_stored
from onprompt.settings import load
from onprompt.weights.cache import paths

MODELS, CATEGORIES, ROUNDS, LIMIT = 5, 12, 40, 0.1
WRITE = """
import sys, time
from pathlib import Path
from onprompt.runs.file import RunFile, StoredVerdict
with RunFile(Path(sys.argv[1]), writing=True) as file:
    row = dict(zip([n for _, n, *_ in file.query("PRAGMA table_info(verdicts)")],
                   file.first("SELECT * FROM verdicts LIMIT 1")))
    (document,) = file.first("SELECT document FROM documents LIMIT 1")
    own = ("sample", "configuration", "sample_version", "created", "digest")
    row = {name: row[name] for name in row if name not in own}
    file.begin(1, "more", {})
    for number in range(100_000):
        about = {"id": f"more{number}", "prompt": "a cup", "image": "/none", "model": "m", "category": "c"}
        ((sample, _),) = file.add_samples([about | {"given": "{}", "stamp": "", "version": "v"}], 1)
        file.save_verdict(1, StoredVerdict(sample, row, [], document))
        time.sleep(0.01)
"""


def make_run(folder, number):
    """A run of many samples on one photo."""
    photo = paths(["coffee.png"], load())["coffee.png"]
    verdict = onprompt.verify(photo, "Two green cups on a table next to a laptop.")
    rubric = JudgeJob("verify", load())
    identity, chance, path = rubric.identity, random.Random(0), folder / "run.sqlite"
    with RunFile(path, writing=True) as file:
        configuration, _ = file.add_configuration(identity)
        file.begin(configuration, "bench", {})
        given = f'{{"image": "{photo}", "prompt": "cups"}}'
        for index in range(number):
            model, category = f"model {index % MODELS}", f"category {index % CATEGORIES}"
            about = {
                "id": f"sample {index}",
                "prompt": "cups",
                "image": str(photo),
                "model": model,
                "category": category,
            }
            about |= {"given": given, "stamp": "", "version": f"{index}"}
            ((sample, _),) = file.add_samples([about], configuration)
            score = chance.randrange(5)
            factors = {"score": dataclasses.replace(verdict.factors["score"], score=score)}
            flags = ("needs_review",) if index % 7 == 0 else ()
            made = dataclasses.replace(verdict, factors=factors, value=score / 4, flags=flags)
            file.save_verdict(configuration, to_stored(sample, made))
    with ReviewFile(path) as file:
        for sample in range(1, number + 1, 4):
            file.save(sample, 1, "Ada", Review({"score": sample % 5}), rubric.rubric)
    return path


def ask(address, body=None):
    """Seconds until an answer is there, and its size."""
    start = time.perf_counter()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"} if body else {})
    with urllib.request.urlopen(request) as answer:
        size = len(answer.read())
    return time.perf_counter() - start, size


def processor_time(process):
    """Milliseconds that a process has used: what an answer costs, however busy the machine is."""
    used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return 1000 * (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def measure(base, number, title, server):
    """Ask for each kind of answer, at places all over the run."""
    chance = random.Random(1)

    def places():
        return chance.randrange(1, number + 1)

    kinds = {
        "first page": lambda: ask(base),
        "a sample of all": lambda: ask(f"{base}review/{places()}?rater=Ada&queue=all&unreviewed=1"),
        "a sample, filtered": lambda: ask(f"{base}review/{places()}?rater=Ada&queue=flagged&model=model+1&score=2"),
        "the next open one": lambda: ask(f"{base}review?rater=Ada&queue=all&category=category+3&unreviewed=1"),
        "save": lambda: ask(f"{base}review/{places()}", b'{"rater": "Bo", "scores": {"score": 2}, "comment": "yes"}'),
        "undo": lambda: ask(f"{base}undo", b'{"rater": "Bo"}'),
        "a picture": lambda: ask(f"{base}image/{places()}/image"),
    }
    print(f"{title}: median, 95th percentile and processor time of {ROUNDS}, in ms; load {os.getloadavg()[0]:.0f}")
    worst = 0.0
    for kind, get in kinds.items():
        before = processor_time(server)
        times = sorted(get()[0] for _ in range(ROUNDS))
        used = (processor_time(server) - before) / ROUNDS
        high = times[int(0.95 * ROUNDS) - 1]
        worst = max(worst, high)
        print(f"  {kind:20} {1000 * statistics.median(times):6.1f} {1000 * high:6.1f} {used:6.1f}", flush=True)
    return worst


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        path = make_run(Path(name), number)
        size = path.stat().st_size / 1e6
        print(f"{number:,} verdicts, {size:,.0f} MB, written in {time.perf_counter() - start:.0f} s", flush=True)
        command = [sys.executable, "-m", "onprompt", "review", str(path), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        base = server.stdout.readline().strip()
        threading.Thread(target=server.stdout.read, daemon=True).start()
        worst = measure(base, number, "a finished run", server)
        writer = subprocess.Popen([sys.executable, "-c", WRITE, str(path)])
        time.sleep(2)
        busy = measure(base, number, "while a run is written", server)
        writer.terminate()
        server.terminate()
        writer.wait()
        server.wait()
        print(f"slowest 95th percentile: {1000 * worst:.0f} ms, {1000 * busy:.0f} ms while a run is written")
        if worst > LIMIT:
            sys.exit(f"over the limit of {1000 * LIMIT:.0f} ms")


if __name__ == "__main__":
    main()

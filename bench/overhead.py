"""How much a warm `verify` costs beyond the bare inference of the models it ran: `python bench/overhead.py`.

Both are measured in one process and one run, alternating, so that a noisy machine disturbs both alike. The bare side
runs the same networks on the very inputs that `verify` gave them, with nothing of ours around them. Prints medians.
The last line is of a `run` over 12-megapixel JPEGs, against bare inference on as many threads. Ends with 1 if a picture
of the size that text-to-image models make (up to 1024 px) costs more than 5 % on top: it does.
"""

import argparse
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image
from timing import bare_inference, seconds

import onprompt
from onprompt.language import parse
from onprompt.runs.datasets import Row
from onprompt.runs.engines.threads import Threads
from onprompt.runs.run import JudgeJob
from onprompt.settings import load
from onprompt.vision.image import load_picture
from onprompt.vision.matchers import load_matcher, small
from onprompt.vision.runtime import available_cores
from onprompt.weights.cache import paths

LIMIT = 0.05
LARGE = "12MP.jpg", (4032, 3024)
CASES = {
    "coffee.png": "a red cup on a table next to two spoons",
    "astronaut.png": "an astronaut to the right of a flag, holding a white helmet",
    "chelsea.png": "a brown cat",
}


def pictures(folder):
    """The three photos as they are; one at the size of a text-to-image model; one as a camera's 12 megapixels."""
    files = paths(list(CASES), load())
    yield from ((name, files[name], prompt) for name, prompt in CASES.items())
    for (name, size), source in ((("1024px.jpg", (1024, 1024)), "astronaut.png"), (LARGE, "coffee.png")):
        with Image.open(files[source]) as image:
            image.convert("RGB").resize(size).save(folder / name, quality=92)
        yield name, folder / name, CASES[source]


def forget():
    """Remember nothing of pictures and prompts that were judged before."""
    parse.cache_clear()
    for cached in (load_matcher, small.load):
        cached.__wrapped__.cache_clear()


def measured(picture, prompt, rounds):
    """Median milliseconds of the whole, of the bare inference, and of reading the file."""

    def verify():
        forget()
        return onprompt.verify(picture, prompt)

    return medians(
        {
            "verify": verify,
            "bare": bare_inference(verify),
            "reading": lambda: load_picture(picture, load()),
        },
        rounds,
    )


def measured_run(folder, prompt, number, rounds):
    """Median milliseconds for each picture of a run over large ones, and of bare inference on as many threads."""
    job, pixels = JudgeJob("verify", load()), np.asarray(Image.open(folder / LARGE[0]))
    files = [folder / f"{place}.jpg" for place in range(number)]
    for place, file in enumerate(files):  # each another one, or the matcher would know it
        Image.fromarray(np.roll(pixels, 8 * place, axis=1)).save(file, quality=92)
    tasks = [Row(str(place), "", {"image": str(file), "prompt": prompt}) for place, file in enumerate(files)]

    def verify():
        forget()
        return onprompt.verify(files[0], prompt)

    def run():
        forget()
        return list(Threads().run(job, tasks))

    bare = [bare_inference(verify, on_threads=True) for _ in range(available_cores())]

    def inference():
        with ThreadPoolExecutor(len(bare)) as pool:
            list(pool.map(lambda look: [look() for _ in range(number // len(bare))], bare))

    run(), inference()  # which compiles them for threads
    return [each / number for each in medians({"run": run, "bare": inference}, rounds)]


def medians(actions, rounds):
    """Milliseconds of each action, in turns."""
    times = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            times[name].append(seconds(action))
    return [statistics.median(each) * 1000 for each in times.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, picture, prompt in pictures(Path(folder)):
            verify, bare, reading = measured(picture, prompt, rounds)
            print(
                f"{name:14} verify {verify:6.1f} ms, bare inference {bare:6.1f} ms, overhead {verify / bare - 1:+.1%} "
                f"(reading the file {reading / bare:.1%})"
            )
            worst = max(worst, verify / bare - 1) if name != LARGE[0] else worst
        run, bare = measured_run(Path(folder), CASES["coffee.png"], 12, max(3, rounds // 8))
        print(
            f"a run of {LARGE[0]} {run:.1f} ms a picture, bare inference {bare:.1f} ms, overhead {run / bare - 1:+.1%}"
        )
    sys.exit(worst > LIMIT)


main()

"""How much a warm `verify` costs beyond the bare inference of the models it ran: `python bench/overhead.py`.

Both are measured in one process and one run, alternating, so that a noisy machine disturbs both alike. The bare side
runs the same networks on the very inputs that `verify` gave them, with nothing of ours around them. Prints medians;
ends with 1 if a picture of the size that text-to-image models make (up to 1024 px) costs more than a fifth on top.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from PIL import Image
from timing import bare_inference, seconds

import onprompt
from onprompt.language.parser import parse
from onprompt.settings import load
from onprompt.vision.image import load_picture
from onprompt.vision.matchers import small
from onprompt.vision.matching import load_matcher
from onprompt.weights.cache import paths

LIMIT = 0.20
CASES = {
    "coffee.png": "a red cup on a table next to two spoons",
    "astronaut.png": "an astronaut to the right of a flag, holding a white helmet",
    "chelsea.png": "a brown cat",
}


def pictures(folder):
    """The three photos as they are; one at the size of a text-to-image model; one as a camera's 12 megapixels."""
    files = paths(list(CASES), load())
    yield from ((name, files[name], prompt) for name, prompt in CASES.items())
    for name, source, size in (("1024px.jpg", "astronaut.png", (1024, 1024)), ("12MP.jpg", "coffee.png", (4032, 3024))):
        with Image.open(files[source]) as image:
            image.convert("RGB").resize(size).save(folder / name, quality=92)
        yield name, folder / name, CASES[source]


def measured(picture, prompt, rounds):
    """Median milliseconds of the whole, of the bare inference, and of reading the file."""

    def verify():
        for cached in (load_matcher, small.load):  # so that nothing is remembered of the picture and the prompt
            cached.__wrapped__.cache_clear()
        parse.cache_clear()
        return onprompt.verify(picture, prompt)

    actions = {
        "verify": verify,
        "bare": bare_inference(verify),
        "reading": lambda: load_picture(picture, load()),
    }
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
            worst = max(worst, verify / bare - 1) if name != "12MP.jpg" else worst
    sys.exit(worst > LIMIT)


main()

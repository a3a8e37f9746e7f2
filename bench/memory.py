"""Whether memory stays where it is: `python bench/memory.py DATA`, where DATA/t2i holds images with prompts.

Verifies 3,000 pictures in one process, each scaled to a random size and shape, every eighth with a prompt that asks for
text, and compares the memory in use during the last third with that during the first. Ends with 1 if it grew by more
than 3 %.
"""

import argparse
import csv
import random
import resource
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import onprompt
from onprompt.settings import load

SMALLEST, LARGEST = 150, 1200  # pixels of a side
TEXT_EVERY = 8
GROWTH = 1.03


def resident():
    """The megabytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pictures", type=int, default=3000)
    parser.add_argument("--detector", default="coco")
    options = parser.parse_args()
    with (options.data / "t2i" / "Text-To-Image.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    chance, settings, sizes = random.Random(0), load(detector=options.detector), []
    for number in range(options.pictures):
        row = chance.choice(rows)
        with Image.open(options.data / "t2i" / row["image"]) as image:
            shape = [chance.randint(SMALLEST, LARGEST) for _ in range(2)]
            pixels = np.asarray(image.convert("RGB").resize(shape))
        text = "" if number % TEXT_EVERY else ', and a sign that says "open"'
        onprompt.verify(pixels, row["prompt"] + text, settings=settings)
        sizes.append(resident())
        if number % 100 == 99:
            print(f"{number + 1:5} pictures, {np.mean(sizes[-100:]):.0f} MB", flush=True)
    third = len(sizes) // 3
    first, last = np.mean(sizes[:third]), np.mean(sizes[-third:])
    print(f"first third {first:.0f} MB, last third {last:.0f} MB: {last / first - 1:+.1%}")
    sys.exit(int(last > first * GROWTH))


main()

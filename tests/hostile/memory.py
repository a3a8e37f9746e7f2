"""Pictures of random sizes through the whole evidence: memory stays where it is."""

from __future__ import annotations

import resource
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

import onprompt
from onprompt.settings import Settings
from onprompt.weights.cache import paths

PICTURES, WARM, GROWTH = 400, 150, 1.03
PHOTOS = ("astronaut.png", "chelsea.png", "coffee.png")
PROMPTS = ("a cup of coffee on a table", "two cats", "a woman in an orange suit", 'a sign that says "open"')


def case(chance: Random, folder: Path) -> Counter[str]:
    """All pictures, one after the other."""
    found = paths(PHOTOS, Settings())
    photos = [Image.open(found[name]).convert("RGB") for name in PHOTOS]
    sizes = []
    for _ in range(PICTURES):
        shape = chance.randint(150, 1200), chance.randint(150, 1200)
        pixels = np.asarray(chance.choice(photos).resize(shape))
        onprompt.verify(pixels, f"{chance.choice(PROMPTS)} and {chance.randint(2, 9)} birds")
        sizes.append(resident())
    early, late = (float(np.mean(part)) for part in (sizes[WARM : WARM + 50], sizes[-50:]))
    assert late < early * GROWTH, f"{early:.0f} MB became {late:.0f} MB"
    return Counter({"pictures": PICTURES, "MB at the end": round(late)})


def resident() -> float:
    """The megabytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6

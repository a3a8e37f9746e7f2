"""Broken images, odd prompts, broken answers of models: each is read, or refused by an error of ours, and in time."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

import onprompt
from onprompt import plugins
from onprompt.errors import OnpromptError, UnreadableAnswer
from onprompt.models.reading import ascii_digits, read_answer
from onprompt.samples import make_sample
from onprompt.settings import Settings
from onprompt.types import Answer, Rubric, Sample
from onprompt.vision.image import load_picture
from tests.hostile.damage import damaged_bytes, damaged_text, limited

IMAGE_LIMIT = 25.0  # seconds, in which the limit of 10 and one step past it lie
PROMPT_LIMIT = 10.0
FORMS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *(("PNG", mode, {}) for mode in ("RGB", "RGBA", "1", "I;16")),
    ("PNG", "P", {"transparency": 0}),
    ("JPEG", "RGB", {"progressive": True}),
    ("JPEG", "CMYK", {}),
    ("GIF", "P", {"save_all": True, "append_images": True, "duration": 50}),
    ("WEBP", "RGBA", {"lossless": True}),
    ("WEBP", "RGB", {"save_all": True, "append_images": True}),
    ("TIFF", "CMYK", {"compression": "tiff_lzw"}),
    ("TIFF", "F", {}),
    ("TGA", "RGB", {"compression": "tga_rle"}),
    *((name, "RGB", {}) for name in ("BMP", "ICO", "PPM", "JPEG2000")),
)
PROMPTS = (
    "Two happy dogs with a red ball in a grassy park, and no people.",
    'A sign that says "Open 24 hours" above the blue door of an old shop at night',
    "three cats, four birds and a dozen apples on a wooden table, a knife to the left of the plate",
    "the word 'LOVE' written in flowers; half of the flowers are yellow, the others pink",
)
EDITS = (
    "Replace the red car with a blue bicycle and remove the person on the left.",
    "make the sky darker, add three birds above the mountains, and change the text to 'Hello'",
    "Move the cup to the right of the laptop; the background should become a beach at sunset",
)
WORDS = " ".join(["The ball is red as the instruction asks."] * 3)
FACTORS = {
    name: {"score": score, "justification": WORDS}
    for name, score in (("alignment", 6), ("completeness", 5), ("plausibility", 7))
}
ANSWERS = {
    "verify": 'Step 1: ["Two dogs","A ball"]\nStep 2: ["Two dogs"]\nStep 3&4: [("A ball", "nothing")]\nNone.\n(2)',
    "rate": "Reasoning: The image shows both dogs, but the ball is blue instead of red.\nScore: 3",
    "edit": json.dumps({"image_id": "the picture", "online_factor_results": FACTORS}),
}


@cache
def whole(form: int) -> bytes:
    """A valid file of some form."""
    name, mode, options = FORMS[form]
    rows, columns = np.mgrid[0:60, 0:90]
    drawn = Image.fromarray(np.stack([rows * 4, columns * 2, rows + columns], axis=2).astype(np.uint8))
    image = Image.fromarray((rows * 900).astype(np.uint16)) if mode == "I;16" else drawn.convert(mode)
    more = {**options, **({"append_images": [image.rotate(90), image]} if "append_images" in options else {})}
    file = io.BytesIO()
    image.save(file, name, **more)
    return file.getvalue()


def image(chance: Random, folder: Path) -> Counter[str]:
    """One broken file, or now and then two files in one, or no image at all."""
    data = damaged_bytes(chance, whole(chance.randrange(len(FORMS))))
    if chance.random() < 0.1:
        data += whole(chance.randrange(len(FORMS)))
    path = folder / chance.choice(("a.png", "a.jpg", "a.gif", "a", "a.txt", "\u202egnp.exe"))
    path.write_bytes(data if chance.random() < 0.98 else chance.randbytes(chance.randrange(5000)))
    with limited(IMAGE_LIMIT, path.name):
        try:
            pixels = load_picture(path, Settings(), frame=chance.choice((0, 0, 0, 1, 30))).pixels
        except OnpromptError:
            return Counter(["refused"])
    assert pixels.dtype == np.uint8
    assert pixels.shape[2:] == (3,)
    return Counter(["read"])


def prompt(chance: Random, folder: Path) -> Counter[str]:
    """One odd prompt or instruction: no object comes from nowhere."""
    edit = chance.random() < 0.3
    text = damaged_text(chance, chance.choice(EDITS if edit else PROMPTS))
    with limited(PROMPT_LIMIT, text):
        try:
            if edit:
                onprompt.parse_edit(text)
                return Counter(["parsed"])
            things = onprompt.parse(text).things
        except OnpromptError:
            return Counter(["refused"])
    for thing in things:
        assert pieces(thing.phrase) <= pieces(text) | pieces("text"), (thing.phrase, text)
        assert thing.count.low >= 0, thing
    return Counter(["parsed"])


def pieces(text: str) -> set[str]:
    """The letters and digits of a text in pieces of three, which survive any cleaning of what is between them."""
    plain = "".join(re.findall(r"[a-z0-9]", unicodedata.normalize("NFKD", text).casefold()))
    return {plain[start : start + 3] for start in range(max(1, len(plain) - 2))} if len(plain) > 3 else set()


@cache
def asked(name: str) -> tuple[Rubric, Sample]:
    """A rubric, and a sample for it."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC
    picture = np.zeros((8, 8, 3), np.uint8)
    given = {name: picture if name in rubric.image_inputs else "two dogs" for name in rubric.required}
    return rubric, make_sample(rubric, Settings(), given)


def answer(chance: Random, folder: Path) -> Counter[str]:
    """One broken answer: a score that is read stands in it."""
    name = chance.choice(list(ANSWERS))
    text = damaged_text(chance, ANSWERS[name])
    rubric, sample = asked(name)
    try:
        reading = read_answer(rubric, Answer(text, chance.choice(("end", "end", "length"))), sample)
    except UnreadableAnswer:
        return Counter(["unreadable"])
    for key, score in reading.scores.items():
        assert score in rubric.factors[key], (key, score)
        assert str(score) in ascii_digits(text), (score, text)
    return Counter(["read"])

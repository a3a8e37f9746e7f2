"""Broken images: each becomes pixels or an error of ours, in bounded time."""

from __future__ import annotations

import io
import time
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from onprompt.errors import OnpromptError
from onprompt.settings import Settings
from onprompt.vision.image import load_picture
from tests.hostile.damage import damaged_bytes
from tests.vision.test_image import paged_tiff

LONGEST = 25.0  # seconds of processor time, in which the limit of 10 and one step past it lie
FORMS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("PNG", "RGB", {}),
    ("PNG", "RGBA", {}),
    ("PNG", "P", {"transparency": 0}),
    ("PNG", "1", {}),
    ("PNG", "I;16", {}),
    ("JPEG", "RGB", {"progressive": True}),
    ("JPEG", "CMYK", {}),
    ("JPEG", "L", {"quality": 20}),
    ("GIF", "P", {"save_all": True, "append_images": True, "duration": 50}),
    ("WEBP", "RGBA", {"lossless": True}),
    ("WEBP", "RGB", {"save_all": True, "append_images": True}),
    ("TIFF", "CMYK", {"compression": "tiff_lzw"}),
    ("TIFF", "F", {}),
    ("BMP", "RGB", {}),
    ("ICO", "RGBA", {}),
    ("PPM", "RGB", {}),
    ("TGA", "RGB", {"compression": "tga_rle"}),
    ("JPEG2000", "RGB", {}),
)


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


def slow(chance: Random) -> bytes:
    """A small file that takes a decoder long: pages, scans, or frames that build on each other."""
    match chance.randrange(3):
        case 0:
            return paged_tiff(chance.randrange(1, 30_000))
        case 1:
            file = io.BytesIO()
            side = chance.choice((300, 3000, 9000))
            Image.new("RGB", (side, side), "teal").save(file, "JPEG", progressive=True)
            data = file.getvalue()
            scan = data[data.rfind(b"\xff\xda") : -2]
            return data[:-2] + scan * chance.randrange(1, 2000) + data[-2:]
        case _:
            file = io.BytesIO()
            frames = [Image.new("P", (chance.choice((200, 2000)),) * 2, number % 3) for number in range(40)]
            frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
            return file.getvalue()


def case(chance: Random, folder: Path) -> Counter[str]:
    """One broken file, or now and then two files in one, or no image at all."""
    data = damaged_bytes(chance, whole(chance.randrange(len(FORMS))))
    if chance.random() < 0.1:
        data += whole(chance.randrange(len(FORMS)))
    if chance.random() < 0.01:
        data = slow(chance)
    path = folder / chance.choice(("a.png", "a.jpg", "a.gif", "a", "a.txt", "\u202egnp.exe"))
    path.write_bytes(data if chance.random() < 0.98 else chance.randbytes(chance.randrange(5000)))
    start = time.process_time()
    try:
        picture = load_picture(path, Settings(), frame=chance.choice((0, 0, 0, 1, 30)))
        pixels = picture.pixels
        assert pixels.dtype == np.uint8
        assert pixels.ndim == 3
        assert pixels.shape[2] == 3
        outcome = "read"
    except OnpromptError:
        outcome = "refused"
    assert time.process_time() - start < LONGEST
    return Counter([outcome])

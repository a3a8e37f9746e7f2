"""The numbers of many pictures, computed by the package itself, so that training sees what the product will see."""

import hashlib
import os
import random
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from onprompt.runs.engines.threads import in_order
from onprompt.settings import load
from onprompt.vision import backbone
from onprompt.vision.image import load_picture
from onprompt.vision.runtime import use_single_core
from onprompt.weights.cache import hashes

SMALLEST, LARGEST = 0.75, 0.95  # side of a cut, in sides of the picture


def numbers(paths, variants=1, store=None):
    """For each picture and each variant the row for the whole; kept in `store`, a folder, for the next time."""
    kept = Path(store) / f"numbers-{fingerprint(paths, variants)}.npy" if store else None
    if kept and kept.is_file():
        return np.load(kept).astype(np.float32)
    settings = load()

    def of(work):
        path, number = work
        pixels = load_picture(varied(path, number), settings).pixels
        return backbone.image_features(backbone.shrink(pixels), settings)[0].astype(np.float16)

    work, cores = [(path, number) for number in range(variants) for path in paths], os.cpu_count() or 1
    found = list(in_order(of, work, cores, begin=use_single_core))
    found = np.stack(found).reshape(variants, len(paths), -1)
    if kept:
        np.save(kept, found)
    return found.astype(np.float32)


def varied(path, number):
    """The picture as it is; in a mirror; then cut at its edges, in a mirror or not."""
    chance = random.Random(f"{Path(path).name} {number}")
    with Image.open(path) as file:
        image = ImageOps.exif_transpose(file).convert("RGB")
    if number == 0:
        return image
    if number > 1:
        side = chance.uniform(SMALLEST, LARGEST)
        width, height = int(image.width * side), int(image.height * side)
        left, top = chance.randint(0, image.width - width), chance.randint(0, image.height - height)
        image = image.crop((left, top, left + width, top + height))
    return ImageOps.mirror(image) if number == 1 or chance.random() < 0.5 else image


def fingerprint(paths, variants):
    """Changes with the pictures and with what makes numbers of them."""
    known = [f"{path} {Path(path).stat().st_size}" for path in paths]
    made_by = [Path(backbone.__file__).read_text(), Path(__file__).read_text(), str(hashes(backbone.FILES))]
    return hashlib.sha256("\n".join([*known, *made_by, str(variants)]).encode()).hexdigest()[:16]

"""Image features computed by the package itself, so that training sees what inference will see."""

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

SMALLEST, LARGEST = 0.75, 0.95  # side of a crop, as a fraction of the image's


def compute_features(paths, variants=1, store=None):
    """For each variant and each image the features of the whole; cached in `store`, a folder."""
    cached = Path(store) / f"features-{fingerprint(paths, variants)}.npy" if store else None
    if cached and cached.is_file():
        return np.load(cached).astype(np.float32)
    settings = load()

    def features(work):
        path, number = work
        pixels = load_picture(augment(path, number), settings).pixels
        return backbone.image_features(backbone.shrink(pixels), settings)[0].astype(np.float16)

    work, cores = [(path, number) for number in range(variants) for path in paths], os.cpu_count() or 1
    rows = list(in_order(features, work, cores, begin=use_single_core))
    table = np.stack(rows).reshape(variants, len(paths), -1)
    if cached:
        np.save(cached, table)
    return table.astype(np.float32)


def augment(path, number):
    """The image as it is; mirrored; then cropped at its edges, mirrored or not."""
    rng = random.Random(f"{Path(path).name} {number}")
    with Image.open(path) as file:
        image = ImageOps.exif_transpose(file).convert("RGB")
    if number == 0:
        return image
    if number > 1:
        side = rng.uniform(SMALLEST, LARGEST)
        width, height = int(image.width * side), int(image.height * side)
        left, top = rng.randint(0, image.width - width), rng.randint(0, image.height - height)
        image = image.crop((left, top, left + width, top + height))
    return ImageOps.mirror(image) if number == 1 or rng.random() < 0.5 else image


def fingerprint(paths, variants):
    """A hash of the images and of the code that computes their features."""
    images = [f"{path} {Path(path).stat().st_size}" for path in paths]
    code = [Path(backbone.__file__).read_text(), Path(__file__).read_text(), str(hashes(backbone.FILES))]
    return hashlib.sha256("\n".join([*images, *code, str(variants)]).encode()).hexdigest()[:16]

"""Draw images with hidden shapes, with the original's folders and file names, to try the benchmark."""

import zlib
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.random import Generator
from PIL import Image

from onprompt.errors import UserError
from onprompt.illusion.protocol import SCENES, Split
from onprompt.illusion.scenery import SCENERY, swarm
from onprompt.illusion.silhouettes import SIDE, Mask, drawable, kinds, silhouette

# The generator's strengths, with their difficulty and the contrast of the shape here.
STRENGTHS = {"1.25": ("Easy", 0.85), "1.05": ("Hard", 0.5), "1.4": ("Easy", 1.0), "0.85": ("Hard", 0.36)}
SMALLEST = 64  # pixels: a smaller image has no room for the elements of a scene


class Plan(NamedTuple):
    """An image to draw: its path and what it shows."""

    path: str
    shape: str
    kind: str  # of silhouette
    scene: str
    strength: str


def make(folder: Path, split: Split, per_class: int = len(SCENES), side: int = 512, seed: int = 0) -> list[Path]:
    """Draw images of each drawable shape; the same seed draws the same images."""
    if per_class < 1 or side < SMALLEST:
        raise UserError(f"draw at least 1 image per class with at least {SMALLEST} pixels, not {per_class} with {side}")
    paths = []
    for plan in plans(split, per_class):
        path = folder / plan.path
        path.parent.mkdir(parents=True, exist_ok=True)
        picture(plan, split, side, seed).save(path)
        paths.append(path)
    return paths


def plans(split: Split, per_class: int) -> list[Plan]:
    """The images to draw: every shape, with scenes and strengths in rotation."""
    shapes = drawable(split)
    planned = []
    for place, shape in enumerate(shapes):
        # The texture of a cue conflict is another shape.
        scenes = shapes[place + 1 :] + shapes[:place] if split.name == "old_sin" else SCENES
        begin = 0 if split.name == "old_sin" else place  # so that a few images per class have all scenes
        for number in range(per_class):
            kind = kinds(shape)[number % len(kinds(shape))]
            scene, strength = scenes[(number + begin) % len(scenes)], list(STRENGTHS)[(number + place) % len(STRENGTHS)]
            planned.append(
                Plan(file_name(split, shape, kind, scene, strength, number + 1), shape, kind, scene, strength)
            )
    return planned


def file_name(split: Split, shape: str, kind: str, scene: str, strength: str, number: int) -> str:
    """A path that the original's rule reads the shape and the scene from."""
    if split.name == "old_sin":
        return f"{shape}/{shape}{number}-{scene}{number % 10}.png"  # one digit: the rule drops one character
    difficulty = STRENGTHS[strength][0]
    fields = (shape.lower(), kind) if split.name == "icon" else (shape.lower(),)  # the rule for icons skips a field
    return f"{shape}/{difficulty}/{'-'.join((*fields, scene, difficulty, strength, str(number)))}.png"


def picture(plan: Plan, split: Split, side: int, seed: int = 0) -> Image.Image:
    """A shape in a scene."""
    rng = generator(plan, seed)
    mask = placed(plan.kind, side, rng)
    paint = swarm(plan.scene) if split.name == "old_sin" else SCENERY[plan.scene]
    return Image.fromarray(paint(mask * np.float32(STRENGTHS[plan.strength][1]), rng))


def generator(plan: Plan, seed: int) -> Generator:
    """The random numbers of an image, independent of other images."""
    return np.random.default_rng([seed, zlib.crc32(plan.path.encode())])


def placed(kind: str, side: int, rng: Generator) -> Mask:
    """A silhouette, slightly rotated, scaled and moved."""
    turn, scale = rng.uniform(-7, 7), rng.uniform(0.86, 0.98) * side / SIDE
    moved = np.zeros((2, 3))
    moved[:, 2] = (side - SIDE) / 2 + rng.uniform(-0.02, 0.02, 2) * side
    matrix = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), turn, scale) + moved
    return np.asarray(cv2.warpAffine(silhouette(kind), matrix, (side, side), flags=cv2.INTER_AREA), np.float32)

"""Small hidden-shape images in the original's folders and file names, so that the whole path can be tried."""

from __future__ import annotations

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

# The generator's strengths, and how clearly the shape shows here: of the way from the scene's tones to the shape's.
STRENGTHS = {"1.25": ("Easy", 0.85), "1.05": ("Hard", 0.5), "1.4": ("Easy", 1.0), "0.85": ("Hard", 0.36)}
SMALLEST = 64  # pixels: below that no element of a scene is left


class Plan(NamedTuple):
    """An image to be drawn: where it goes, and what it shows."""

    path: str
    shape: str
    kind: str  # of silhouette
    scene: str
    strength: str


def make(folder: Path, split: Split, per_class: int = len(SCENES), side: int = 512, seed: int = 0) -> list[Path]:
    """Draw so many images of each shape that can be drawn; the same seed draws the same images."""
    if per_class < 1 or side < SMALLEST:
        raise UserError(f"at least 1 image of {SMALLEST} pixels can be drawn of a class, not {per_class} of {side}")
    paths = []
    for each in plans(split, per_class):
        path = folder / each.path
        path.parent.mkdir(parents=True, exist_ok=True)
        picture(each, split, side, seed).save(path)
        paths.append(path)
    return paths


def plans(split: Split, per_class: int) -> list[Plan]:
    """What is drawn: each shape in each scene in turn, by turns easy and hard."""
    shapes = drawable(split)
    found = []
    for place, shape in enumerate(shapes):
        # A cue conflict's texture is that of another shape.
        scenes = shapes[place + 1 :] + shapes[:place] if split.name == "old_sin" else SCENES
        begin = 0 if split.name == "old_sin" else place  # so that a few of each class show all scenes
        for number in range(per_class):
            kind = kinds(shape)[number % len(kinds(shape))]
            scene, strength = scenes[(number + begin) % len(scenes)], list(STRENGTHS)[(number + place) % len(STRENGTHS)]
            found.append(Plan(file_name(split, shape, kind, scene, strength, number + 1), shape, kind, scene, strength))
    return found


def file_name(split: Split, shape: str, kind: str, scene: str, strength: str, number: int) -> str:
    """A path from which the original's rule reads the shape and the scene."""
    if split.name == "old_sin":
        return f"{shape}/{shape}{number}-{scene}{number % 10}.png"  # one digit: the rule cuts one character
    difficulty = STRENGTHS[strength][0]
    fields = (shape.lower(), kind) if split.name == "icon" else (shape.lower(),)  # the rule for icons skips a field
    return f"{shape}/{difficulty}/{'-'.join((*fields, scene, difficulty, strength, str(number)))}.png"


def picture(plan: Plan, split: Split, side: int, seed: int = 0) -> Image.Image:
    """A shape in a scene."""
    dice = rolls(plan, seed)
    where = placed(plan.kind, side, dice)
    paint = swarm(plan.scene) if split.name == "old_sin" else SCENERY[plan.scene]
    return Image.fromarray(paint(where * np.float32(STRENGTHS[plan.strength][1]), dice))


def rolls(plan: Plan, seed: int) -> Generator:
    """The dice of an image: its own, so that it doesn't depend on which others are drawn."""
    return np.random.default_rng([seed, zlib.crc32(plan.path.encode())])


def placed(kind: str, side: int, dice: Generator) -> Mask:
    """A silhouette somewhat turned, scaled and moved."""
    turn, scale = dice.uniform(-7, 7), dice.uniform(0.86, 0.98) * side / SIDE
    moved = np.zeros((2, 3))
    moved[:, 2] = (side - SIDE) / 2 + dice.uniform(-0.02, 0.02, 2) * side
    matrix = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), turn, scale) + moved
    return np.asarray(cv2.warpAffine(silhouette(kind), matrix, (side, side), flags=cv2.INTER_AREA), np.float32)

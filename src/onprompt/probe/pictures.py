"""The pictures that a judge is probed with, drawn here so that their content is known."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from onprompt.probe.objects import OBJECTS, Pen, rgb, sign

WIDTH, HEIGHT = 768, 576
SUPERSAMPLING = 2  # for smooth edges
HALF_SIZES = {1: 0.33, 2: 0.26, 3: 0.19, 4: 0.148, 5: 0.12}  # of an object in heights, by their number
SEED = 7
MOSAIC_BLOCK = 48  # pixels
HORIZONS = {"field": (0.66, "#6ea050"), "table": (0.6, "#96683e")}  # the height of the ground, and its colour


class Drawing(NamedTuple):
    """Objects side by side: `red cup, -, blue clock` leaves the second of three places empty."""

    background: str
    objects: str


DRAWINGS = {
    name: Drawing(*drawing)
    for name, drawing in tomllib.loads(Path(__file__).with_name("pictures.toml").read_text(encoding="utf-8")).items()
}


def blank(colour: str) -> Image.Image:
    """A picture of one colour."""
    return Image.new("RGB", (WIDTH, HEIGHT), rgb(colour))


def noise(channels: int, block: int = 1) -> Image.Image:
    """Random pixels, or larger squares, in colour (3 channels) or grey (1)."""
    shape = (HEIGHT // block, WIDTH // block, channels)
    pixels = np.random.default_rng(SEED).integers(0, 256, shape, dtype=np.uint8).repeat(3 // channels, axis=2)
    return Image.fromarray(pixels.repeat(block, axis=0).repeat(block, axis=1))


BLANK: Mapping[str, Callable[[], Image.Image]] = {
    "blank-white": lambda: blank("white"),
    "blank-grey": lambda: blank("#808080"),
    "blank-black": lambda: blank("black"),
}
NOISE: Mapping[str, Callable[[], Image.Image]] = {
    "noise-colour": lambda: noise(3),
    "noise-grey": lambda: noise(1),
    "noise-mosaic": lambda: noise(3, MOSAIC_BLOCK),
}
NAMES = (*DRAWINGS, *BLANK, *NOISE)


@cache
def picture(name: str) -> Image.Image:
    """A picture by its name."""
    return draw(DRAWINGS[name]) if name in DRAWINGS else {**BLANK, **NOISE}[name]()


def draw(drawing: Drawing) -> Image.Image:
    """Draw a background and its objects."""
    image = background(drawing.background)
    objects = drawing.objects.split(", ")
    unit, width = HALF_SIZES[len(objects)] * image.height, image.width / len(objects)
    for index, words in enumerate(objects):
        if words != "-":
            pen = Pen(ImageDraw.Draw(image), ((index + 0.5) * width, image.height / 2), unit)
            colour, name, *text = words.split()
            sign(pen, colour, *text) if name == "sign" else OBJECTS[name](pen, colour)
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def background(kind: str) -> Image.Image:
    """White, a wall, a wall behind a table, or a field under the sky."""
    width, height = WIDTH * SUPERSAMPLING, HEIGHT * SUPERSAMPLING
    if kind == "white":
        return Image.new("RGB", (width, height), "white")
    top, bottom = ("#86bdf5", "#d8e8fa") if kind == "field" else ("#f0eade", "#d8d0c0")
    gradient = np.linspace(rgb(top), rgb(bottom), height).round().astype(np.uint8)
    image = Image.fromarray(np.broadcast_to(gradient[:, None], (height, width, 3)).copy())
    if kind in HORIZONS:
        horizon, colour = HORIZONS[kind]
        ImageDraw.Draw(image).rectangle((0, horizon * height, width, height), fill=rgb(colour))
    return image

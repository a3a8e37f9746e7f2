"""The pictures that a judge is probed with: drawn here, so that what they show is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from onprompt.probe.things import THINGS, Pen, paint, sign

WIDTH, HEIGHT = 768, 576
FINE = 2  # times as large it is drawn, and then scaled down: for smooth edges
HALF = {1: 0.33, 2: 0.26, 3: 0.19, 4: 0.148, 5: 0.12}  # a thing's half size in heights, by how many stand in a row
SEED = 7
BLOCK = 48  # pixels of a mosaic's squares


class Drawing(NamedTuple):
    """Things in a row on a ground: `red cup, -, blue clock` leaves the second of three places empty."""

    ground: str
    row: str


# Those with a prompt of their own in `cases`, and what is edited from and into.
DRAWINGS = {
    "red-cups": Drawing("table", "red cup, red cup, red cup"),
    "blue-clocks": Drawing("wall", "blue clock, blue clock"),
    "stop-sign": Drawing("field", "red stop"),
    "yellow-kites": Drawing("field", "yellow kite, yellow kite, yellow kite, yellow kite"),
    "umbrella-kite": Drawing("field", "yellow umbrella, red kite"),
    "cup-clock": Drawing("table", "green cup, red clock"),
    "light-stop": Drawing("field", "green light, red stop"),
    "open": Drawing("wall", "blue sign OPEN"),
    "exit": Drawing("wall", "green sign EXIT"),
    "circles-square": Drawing("white", "blue circle, red square, blue circle"),
    "triangle": Drawing("white", "green triangle"),
    "stars": Drawing("white", "yellow star, yellow star, yellow star, yellow star, yellow star"),
    "house-trees": Drawing("field", "green tree, yellow house, green tree"),
    "red-cup": Drawing("table", "red cup, -"),
    "blue-cup": Drawing("table", "blue cup, -"),
    "red-cup-clock": Drawing("table", "red cup, blue clock"),
    "three-kites": Drawing("field", "red kite, red kite, red kite"),
    "two-kites": Drawing("field", "red kite, -, red kite"),
    "triangle-square": Drawing("white", "green triangle, blue square"),
    "triangle-circle": Drawing("white", "green triangle, blue circle"),
    "closed": Drawing("wall", "blue sign CLOSED"),
    "red-light": Drawing("field", "red light"),
    "green-light": Drawing("field", "green light"),
    "one-clock": Drawing("wall", "-, red clock, -"),
    "three-clocks": Drawing("wall", "red clock, red clock, red clock"),
    "umbrella-field": Drawing("field", "purple umbrella"),
    "umbrella-white": Drawing("white", "purple umbrella"),
}


def plain(colour: str) -> Image.Image:
    """A picture of one colour."""
    return Image.new("RGB", (WIDTH, HEIGHT), paint(colour))


def noise(channels: int, block: int = 1) -> Image.Image:
    """Dots of random colours, or greys; as squares where a block is more than a pixel."""
    shape = (HEIGHT // block, WIDTH // block, channels)
    dots = np.random.default_rng(SEED).integers(0, 256, shape, dtype=np.uint8).repeat(3 // channels, axis=2)
    return Image.fromarray(dots.repeat(block, axis=0).repeat(block, axis=1))


BLANK: Mapping[str, Callable[[], Image.Image]] = {
    "blank-white": lambda: plain("white"),
    "blank-grey": lambda: plain("#808080"),
    "blank-black": lambda: plain("black"),
}
NOISE: Mapping[str, Callable[[], Image.Image]] = {
    "noise-colour": lambda: noise(3),
    "noise-grey": lambda: noise(1),
    "noise-mosaic": lambda: noise(3, BLOCK),
}


@cache
def picture(name: str) -> Image.Image:
    """A picture by its name."""
    made = {**BLANK, **NOISE}.get(name)
    return made() if made else drawn(DRAWINGS[name])


def names() -> list[str]:
    """All of them."""
    return [*DRAWINGS, *BLANK, *NOISE]


def drawn(drawing: Drawing) -> Image.Image:
    """A drawing, drawn."""
    image = ground(drawing.ground)
    things = drawing.row.split(", ")
    unit, width = HALF[len(things)] * image.height, image.width / len(things)
    for index, words in enumerate(things):
        if words != "-":
            put(Pen(ImageDraw.Draw(image), ((index + 0.5) * width, image.height / 2), unit), words)
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def put(pen: Pen, words: str) -> None:
    """One thing: `red cup`, `blue sign OPEN`."""
    colour, thing, *text = words.split()
    if thing == "sign":
        sign(pen, colour, *text)
    else:
        THINGS[thing](pen, colour)


def ground(kind: str) -> Image.Image:
    """White, a wall, a wall with a table before it, or a field under the sky."""
    width, height = WIDTH * FINE, HEIGHT * FINE
    if kind == "white":
        return Image.new("RGB", (width, height), "white")
    top, bottom = ("#86bdf5", "#d8e8fa") if kind == "field" else ("#f0eade", "#d8d0c0")
    shades = np.linspace(paint(top), paint(bottom), height).round().astype(np.uint8)
    image = Image.fromarray(np.broadcast_to(shades[:, None], (height, width, 3)).copy())
    if kind in GROUNDS:
        line, colour = GROUNDS[kind]
        ImageDraw.Draw(image).rectangle((0, line * height, width, height), fill=paint(colour))
    return image


GROUNDS = {"field": (0.66, "#6ea050"), "table": (0.6, "#96683e")}  # where it begins, and its colour

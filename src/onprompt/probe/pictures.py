"""The pictures of probes: drawn objects on drawn backgrounds."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

COLOURS = {
    "red": "#d62026",
    "green": "#1c923e",
    "blue": "#1c4ac8",
    "yellow": "#fad020",
    "purple": "#7c2c9c",
    "white": "#fafafa",
    "black": "#121212",
    "brown": "#70421e",
}
Point = tuple[float, float]


class Pen(NamedTuple):
    """Draws an object, which fills the square from -1 to 1, at its place and size."""

    draw: ImageDraw.ImageDraw
    centre: Point
    unit: float

    def at(self, x: float, y: float) -> Point:
        """Object to picture coordinates."""
        return self.centre[0] + x * self.unit, self.centre[1] + y * self.unit

    def oval(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """An ellipse."""
        self.draw.ellipse((*self.at(left, top), *self.at(right, bottom)), fill=rgb(colour))

    def disc(self, x: float, y: float, radius: float, colour: str) -> None:
        """A circle."""
        self.oval(x - radius, y - radius, x + radius, y + radius, colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str, corner: float = 0) -> None:
        """A rectangle, optionally with round corners."""
        sides = (*self.at(left, top), *self.at(right, bottom))
        self.draw.rounded_rectangle(sides, corner * self.unit, fill=rgb(colour))

    def polygon(self, points: Sequence[Point], colour: str) -> None:
        """A polygon."""
        self.draw.polygon([self.at(*point) for point in points], fill=rgb(colour))

    def line(self, points: Sequence[Point], colour: str, width: float) -> None:
        """A line with round joints."""
        path = [self.at(*point) for point in points]
        self.draw.line(path, fill=rgb(colour), width=max(1, round(width * self.unit)), joint="curve")

    def text(self, words: str, colour: str, height: float, x: float = 0, y: float = 0) -> None:
        """Text centred on a point."""
        font = ImageFont.load_default(height * self.unit)
        self.draw.text(self.at(x, y), words, rgb(colour), font, anchor="mm")


def rgb(colour: str) -> tuple[int, ...]:
    """A colour of COLOURS or a hexadecimal one."""
    return ImageColor.getrgb(COLOURS.get(colour, colour))


def regular_polygon(corners: int, radius: float = 1, turn: float = 0) -> list[Point]:
    """The corners, clockwise from the top."""
    angles = [turn + 2 * math.pi * corner / corners for corner in range(corners)]
    return [(radius * math.sin(angle), -radius * math.cos(angle)) for angle in angles]


def star(pen: Pen, colour: str) -> None:
    """A star with five points."""
    tips, dents = regular_polygon(5), regular_polygon(5, 0.42, math.pi / 5)
    pen.polygon([point for pair in zip(tips, dents, strict=True) for point in pair], colour)


def clock(pen: Pen, colour: str) -> None:
    """A clock with a coloured rim, at ten past ten."""
    pen.disc(0, 0, 1, colour)
    pen.disc(0, 0, 0.84, "white")
    for hour, (x, y) in enumerate(regular_polygon(12, 0.7)):
        pen.text(str(hour or 12), "black", 0.2, x, y)
    pen.line([(0, 0), (-0.3, -0.28)], "black", 0.08)
    pen.line([(0, 0), (0.3, -0.45)], "black", 0.05)
    pen.disc(0, 0, 0.06, "black")


def stop(pen: Pen, colour: str) -> None:
    """A stop sign on its post."""
    pen.box(-0.05, 0.2, 0.05, 1, "#8a8f96")
    for radius, shade in ((0.75, "white"), (0.68, colour)):
        pen.polygon([(x, y - 0.3) for x, y in regular_polygon(8, radius, math.pi / 8)], shade)
    pen.text("STOP", "white", 0.46, y=-0.3)


def light(pen: Pen, colour: str) -> None:
    """A traffic light on its post, with one lamp on."""
    pen.box(-0.06, 0.5, 0.06, 1, "#555555")
    pen.box(-0.32, -1, 0.32, 0.6, "#222222", 0.1)
    for y, lamp in ((-0.72, "red"), (-0.2, "yellow"), (0.32, "green")):
        pen.disc(0, y, 0.2, lamp if lamp == colour else "#3a3a3a")


def umbrella(pen: Pen, colour: str) -> None:
    """An open umbrella."""
    pen.line([(0, -0.9), (0, 0.8)], "brown", 0.07)
    pen.line([(0, 0.8), (0.05, 0.92), (0.17, 0.95), (0.26, 0.85)], "brown", 0.08)
    dome = [(math.cos(math.pi * step / 24), -0.85 * math.sin(math.pi * step / 24)) for step in range(25)]
    hem = [(step / 12 - 1, 0.02 - 0.14 * abs(math.sin(math.pi * step / 6))) for step in range(25)]
    pen.polygon([*dome, *hem], colour)
    for end in (-0.5, 0, 0.5):
        pen.line([(0, -0.85), (end * 0.7, -0.5), (end, -0.05)], "#444444", 0.02)


def kite(pen: Pen, colour: str) -> None:
    """A kite with two bows on its tail."""
    pen.polygon([(0, -1), (0.6, -0.3), (0, 0.5), (-0.6, -0.3)], colour)
    pen.line([(0, -1), (0, 0.5)], "#444444", 0.03)
    pen.line([(-0.6, -0.3), (0.6, -0.3)], "#444444", 0.03)
    pen.line([(0, 0.5), (0.15, 0.65), (-0.1, 0.8), (0.1, 1)], "#444444", 0.03)
    for x, y in ((0.12, 0.65), (-0.06, 0.8)):
        for side in (-0.12, 0.12):
            pen.polygon([(x, y), (x + side, y - 0.07), (x + side, y + 0.07)], colour)


def cup(pen: Pen, colour: str) -> None:
    """A cup of coffee."""
    pen.draw.arc((*pen.at(0.3, -0.45), *pen.at(1, 0.45)), 0, 360, rgb(colour), round(0.17 * pen.unit))
    pen.polygon([(-0.8, -0.7), (0.6, -0.7), (0.48, 0.8), (-0.68, 0.8)], colour)
    pen.oval(-0.68, 0.65, 0.48, 0.95, colour)
    pen.oval(-0.8, -0.88, 0.6, -0.52, "#e0e0e0")
    pen.oval(-0.72, -0.83, 0.52, -0.57, "#4a2a14")


def house(pen: Pen, colour: str) -> None:
    """A house with a door, two windows and a roof."""
    pen.box(-0.8, -0.2, 0.8, 1, colour)
    pen.polygon([(-1, -0.2), (0, -1), (1, -0.2)], "#8c2f23")
    pen.box(-0.18, 0.35, 0.18, 1, "#5a3820")
    for x in (-0.5, 0.5):
        pen.box(x - 0.18, 0.05, x + 0.18, 0.4, "#cfe6f5")


def tree(pen: Pen, colour: str) -> None:
    """A tree in leaf."""
    pen.box(-0.12, 0.2, 0.12, 1, "brown")
    for x, y, radius in ((0, -0.5, 0.5), (-0.4, -0.1, 0.42), (0.4, -0.1, 0.42), (0, 0, 0.5)):
        pen.disc(x, y, radius, colour)


def sign(pen: Pen, colour: str, word: str) -> None:
    """A board with a word on it."""
    pen.box(-1.3, -0.55, 1.3, 0.55, "white", 0.08)
    pen.box(-1.24, -0.49, 1.24, 0.49, colour, 0.06)
    pen.text(word, "white", min(0.8, 3.2 / len(word)))


OBJECTS: Mapping[str, Callable[[Pen, str], None]] = {
    "circle": lambda pen, colour: pen.disc(0, 0, 0.9, colour),
    "square": lambda pen, colour: pen.box(-0.8, -0.8, 0.8, 0.8, colour),
    "triangle": lambda pen, colour: pen.polygon([(0, -0.9), (1, 0.8), (-1, 0.8)], colour),
    **{function.__name__: function for function in (star, clock, stop, light, umbrella, kite, cup, house, tree)},
}


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

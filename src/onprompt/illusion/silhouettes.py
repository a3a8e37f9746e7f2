"""Silhouettes of discs, polygons and lines, bold enough to show through a texture."""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onprompt.illusion.protocol import Split, load_toml

SIDE = 512  # pixels of a silhouette
HALF = 0.47 * SIDE / 100  # pixels of a unit, with a small margin
STEPS = 6  # between two points of a smooth outline
Point = tuple[float, float]
Mask = NDArray[np.float32]


@cache
def load_outlines() -> dict[str, Any]:
    """All outlines, and which of them show an option."""
    return load_toml("silhouettes.toml")


def kinds(option: str) -> tuple[str, ...]:
    """The outlines that show an option; none for most logos, which have no simple outline."""
    named = option.lower()
    return tuple(load_outlines()["drawn"].get(option) or ([named] if named in load_outlines()["outlines"] else []))


def drawable(split: Split) -> tuple[str, ...]:
    """The shapes of a split that can be drawn."""
    return tuple(shape for shape in split.shapes if kinds(shape))


@cache
def silhouette(kind: str) -> Mask:
    """The mask of an outline: 1 inside, 0 outside."""
    image = Image.new("L", (2 * SIDE, 2 * SIDE))
    pen = ImageDraw.Draw(image)
    for mark in load_outlines()["outlines"][kind].strip().splitlines():
        draw(pen, mark.removeprefix("cut "), 0 if mark.startswith("cut ") else 255)
    mask: Mask = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX), np.float32) / np.float32(255)
    mask.setflags(write=False)
    return mask


def draw(pen: ImageDraw.ImageDraw, mark: str, ink: int) -> None:
    """Draw one mark: `disc 0,0 50`, `line 9 0,0 10,10`."""
    name, *words = mark.split()
    points = [(float(x), float(y)) for x, _, y in (word.partition(",") for word in words if "," in word)]
    numbers = [float(word) for word in words if "," not in word]
    if name == "line":
        stroke(pen, points, numbers[0], ink)
    elif name in ("arc", "ring"):
        radius, *ends, width = numbers if name == "ring" else numbers[:4]
        start, end = ends or (0, 360)
        tall = numbers[4] if len(numbers) > 4 else 1
        stroke(pen, around(points[0], radius, tall * radius, start, end), width, ink)
    else:
        pen.polygon([to_pixels(point) for point in outline(name, points, numbers)], fill=ink)


def outline(name: str, points: list[Point], numbers: list[float]) -> list[Point]:
    """The corners of a filled mark."""
    if name == "disc":
        return around(points[0], numbers[0], numbers[0])
    if name == "soft":
        return spline(points)
    if name == "shape":
        return points
    (left, top), (right, bottom) = points
    if name == "oval":
        return around(((left + right) / 2, (top + bottom) / 2), (right - left) / 2, (bottom - top) / 2)
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def around(middle: Point, wide: float, tall: float, start: float = 0, end: float = 360) -> list[Point]:
    """Points on an ellipse, clockwise from the right, in degrees."""
    angles = (math.radians(start + (end - start) * step / 64) for step in range(65))
    return [(middle[0] + wide * math.cos(angle), middle[1] + tall * math.sin(angle)) for angle in angles]


def spline(points: list[Point]) -> list[Point]:
    """A closed Catmull-Rom spline through the points."""
    b = np.array(points)
    a, c, d = np.roll(b, 1, 0), np.roll(b, -1, 0), np.roll(b, -2, 0)
    curve = []
    for t in np.arange(STEPS) / STEPS:
        curve.append(b + t * (c - a) / 2 + t**2 * (a - 2.5 * b + 2 * c - d / 2) + t**3 * (1.5 * (b - c) + (d - a) / 2))
    return [(float(x), float(y)) for x, y in np.stack(curve, 1).reshape(-1, 2)]


def stroke(pen: ImageDraw.ImageDraw, points: list[Point], width: float, ink: int) -> None:
    """Draw a line with round ends and joints."""
    where, radius = [to_pixels(point) for point in points], width * HALF
    pen.line(where, fill=ink, width=round(2 * radius), joint="curve")
    for x, y in (where[0], where[-1]):
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=ink)


def to_pixels(point: Point) -> Point:
    """A point in pixels; silhouettes are drawn at twice their size for smooth edges."""
    return SIDE + 2 * HALF * point[0], SIDE + 2 * HALF * point[1]

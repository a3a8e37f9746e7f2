"""The pictures of probes: simple objects on simple backgrounds, drawn by the shapes in pictures.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

DATA = tomllib.loads(Path(__file__).with_name("pictures.toml").read_text(encoding="utf-8"))
WIDTH, HEIGHT = 768, 576
SUPERSAMPLING = 2  # for smooth edges
HALF_SIZES = {1: 0.33, 2: 0.26, 3: 0.19, 4: 0.148}  # of an object in heights of the picture, by their number
SKIES = {"field": ("#86bdf5", "#d8e8fa"), "table": ("#f0eade", "#d8d0c0"), "wall": ("#f0eade", "#d8d0c0")}
GROUNDS = {"field": (0.66, "#6ea050"), "table": (0.6, "#96683e")}  # where the ground begins, and its color
BLANK = {"blank-white": "white", "blank-gray": "#808080", "blank-black": "black"}
NOISE = {"noise": 1, "noise-mosaic": 48}  # the size of its squares, in pixels


@cache
def picture(name: str) -> Image.Image:
    """A picture by its name."""
    if name in BLANK:
        return Image.new("RGB", (WIDTH, HEIGHT), BLANK[name])
    if name in NOISE:
        side = NOISE[name]
        pixels = np.random.default_rng(7).integers(0, 256, (HEIGHT // side, WIDTH // side, 3), np.uint8)
        return Image.fromarray(pixels).resize((WIDTH, HEIGHT), Image.Resampling.NEAREST)
    return draw(*DATA["pictures"][name])


def draw(background: str, objects: str) -> Image.Image:
    """Objects side by side: `red cup, -, blue clock` leaves the second of three places empty."""
    width, height = WIDTH * SUPERSAMPLING, HEIGHT * SUPERSAMPLING
    top, bottom = (np.array(ImageColor.getrgb(shade)) for shade in SKIES.get(background, ("white", "white")))
    gradient = np.linspace(top, bottom, height).round().astype(np.uint8)
    image = Image.fromarray(np.broadcast_to(gradient[:, None], (height, width, 3)).copy())
    pen, places = ImageDraw.Draw(image), objects.split(", ")
    if background in GROUNDS:
        begin, color = GROUNDS[background]
        pen.rectangle((0, begin * height, width, height), color)
    for number, words in enumerate(places):
        if words != "-":
            center = (number + 0.5) * width / len(places), height / 2
            draw_object(pen, center, HALF_SIZES[len(places)] * height, *words.split())
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def draw_object(
    pen: ImageDraw.ImageDraw, center: tuple[float, float], unit: float, color: str, name: str, word: str = ""
) -> None:
    """An object by its shapes; `word` is the text of a sign."""
    for shape, paint, *rest in DATA["objects"][name]:
        shade = color if paint == "*" else paint
        fill = DATA["colors"].get(shade, shade)
        text, size = (rest.pop(0), rest.pop(0)) if shape == "text" else ("", rest.pop(0) if shape == "line" else 0)
        points = [(center[0] + x * unit, center[1] + y * unit) for x, y in zip(rest[::2], rest[1::2], strict=True)]
        if shape == "text":
            pen.text(points[0], text or word, fill, ImageFont.load_default(size * unit), anchor="mm")
        elif shape == "line":
            pen.line(points, fill, max(1, round(size * unit)), joint="curve")
        else:
            getattr(pen, shape)(points, fill)

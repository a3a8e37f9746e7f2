"""Scenes as textures whose elements are lighter, denser or rotated inside the shape."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onprompt.illusion.protocol import SCENES
from onprompt.illusion.silhouettes import Mask, silhouette

Pixels = NDArray[np.uint8]
Paint = Callable[[Mask, Generator], Pixels]  # the mask of the shape, 0 to its contrast → a picture
Colour = tuple[int, int, int]


class Cell(NamedTuple):
    """The place of an element: its centre and size in pixels, its share of the shape, and a random number."""

    x: float
    y: float
    wide: float
    tall: float
    shape: float
    luck: float

    def box(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        """A box in coordinates from -1 to 1."""
        return (*self.at(left, top), *self.at(right, bottom))

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point in coordinates from -1 to 1."""
        return self.x + x * self.wide / 2, self.y + y * self.tall / 2


def cells(mask: Mask, rng: Generator, across: int, down: int, loose: float = 0.0) -> Iterator[Cell]:
    """A grid with every other row shifted by half a cell; `loose` moves cells at random."""
    side = len(mask)
    wide, tall = side / across, side / down
    row, column = np.mgrid[0 : down + 2, 0 : across + 2]
    stray, rise, luck = rng.random((3, *row.shape))
    x = (column - 0.5 + (row % 2) / 2 + loose * (stray - 0.5)) * wide
    y = (row - 0.5 + loose * (rise - 0.5)) * tall
    around = cv2.blur(mask, (max(1, round(wide * 2 / 3)), max(1, round(tall * 2 / 3))))
    shape = around[tuple(np.clip(axis.round().astype(int), 0, side - 1) for axis in (y, x))]
    for left, top, part, die in np.stack([x, y, shape, luck], -1).reshape(-1, 4).tolist():
        yield Cell(left, top, wide, tall, part, die)


def mix(dark: Colour, light: Colour, share: float, jitter: float = 0.0) -> Colour:
    """A colour between two; jitter makes it lighter or darker."""
    parts = (max(0, min(255, round((a + (b - a) * share) * (1 + jitter)))) for a, b in zip(dark, light, strict=True))
    red, green, blue = parts
    return red, green, blue


def noise(side: int, rng: Generator, coarse: int, octaves: int = 4) -> Mask:
    """Fractal noise from 0 to 1, starting with `coarse` patches across."""
    total = np.zeros((side, side), np.float32)
    for octave in range(octaves):
        patches = rng.random((coarse * 2**octave + 1, coarse * 2**octave + 1), np.float32)
        total += cv2.resize(patches, (side, side), interpolation=cv2.INTER_CUBIC) / 2**octave
    return np.asarray((total - total.min()) / (total.max() - total.min()), np.float32)


def tinted(light: Mask, *colours: Colour) -> Pixels:
    """Map values from 0 to 1 to a colour scale."""
    stops = np.linspace(0, 1, len(colours))
    channels = [np.interp(light, stops, [colour[channel] for colour in colours]) for channel in range(3)]
    return np.stack(channels, 2).round().astype(np.uint8)


def drawn(
    mask: Mask, ground: Colour, stamp: Callable[[ImageDraw.ImageDraw, Cell], None], grid: Iterator[Cell]
) -> Pixels:
    """Draw elements on a background."""
    image = Image.new("RGB", mask.shape, ground)
    pen = ImageDraw.Draw(image)
    for cell in grid:
        stamp(pen, cell)
    return np.asarray(image)


def ocean(mask: Mask, rng: Generator) -> Pixels:
    """Waves; shorter and foaming inside the shape."""
    side = len(mask)
    y = np.linspace(0, 1, side, dtype=np.float32)[:, None]
    swell = noise(side, rng, 5)
    waves = np.sin(2 * np.pi * (26 * y + 3.2 * swell))
    chop = np.sin(2 * np.pi * (44 * y + 5 * noise(side, rng, 9)))
    crests = (1 - mask) * np.clip(waves, 0, 1) ** 2 * 0.34 + mask * (0.42 + 0.5 * np.clip(chop, 0, 1))
    return tinted(
        np.clip(0.1 + 0.12 * swell + crests, 0, 1), (5, 30, 66), (22, 92, 140), (120, 190, 212), (246, 252, 252)
    )


def origami(mask: Mask, rng: Generator) -> Pixels:
    """Folded paper triangles; facing the light inside the shape."""

    def fold(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        paper = mix((120, 44, 66), (255, 226, 196), cell.shape, 0.5 * (cell.luck - 0.5))
        pen.polygon([cell.at(-1, 1), cell.at(1, 1), cell.at(0, -1)], fill=paper)
        pen.polygon([cell.at(0, -1), cell.at(1, 1), cell.at(2, -1)], fill=mix((0, 0, 0), paper, 0.8))

    return drawn(mask, (80, 30, 50), fold, cells(mask, rng, 30, 34))


def forest(mask: Mask, rng: Generator) -> Pixels:
    """Rows of fir trees; sunlit inside the shape."""

    def fir(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        green = mix((12, 44, 26), (168, 206, 92), cell.shape, 0.5 * (cell.luck - 0.5))
        for top, half in ((-1.8, 0.6), (-1.1, 0.8), (-0.4, 1.0)):
            pen.polygon([cell.at(0, top), cell.at(half, top + 1.5), cell.at(-half, top + 1.5)], fill=green)
            pen.polygon(
                [cell.at(0, top), cell.at(half, top + 1.5), cell.at(0, top + 1.5)], fill=mix((0, 20, 10), green, 0.75)
            )

    return drawn(mask, (14, 34, 22), fir, cells(mask, rng, 34, 38, 0.7))


def cloud(mask: Mask, rng: Generator) -> Pixels:
    """Clouds in the sky; thick inside the shape."""
    side = len(mask)
    soft = cv2.GaussianBlur(mask, (0, 0), side / 110)
    puffs = noise(side, rng, 10, 4)
    wisps = noise(side, rng, 4, 5)
    thick = np.clip((0.55 * puffs + 0.45 * wisps - 0.62 + 0.6 * np.sqrt(soft)) * 3.2 + 0.1, 0, 1)
    return tinted(
        np.clip(thick * (0.55 + 0.45 * puffs), 0, 1), (58, 118, 190), (150, 186, 222), (226, 232, 240), (255, 255, 255)
    )


def sand_dune(mask: Mask, rng: Generator) -> Pixels:
    """Ripples in sand; in another direction and sunlit inside the shape."""
    side = len(mask)
    y, x = np.mgrid[0:side, 0:side].astype(np.float32) / side
    bend = noise(side, rng, 3, 3)
    outer = np.sin(2 * np.pi * (24 * y + 8 * x + 3 * bend))
    inner = np.sin(2 * np.pi * (30 * x - 10 * y + 3 * bend))
    light = (1 - mask) * (0.3 + 0.16 * outer) + mask * (0.72 + 0.2 * inner) + 0.16 * (bend - 0.5)
    return tinted(np.clip(light, 0, 1), (92, 50, 24), (184, 122, 66), (232, 188, 124), (255, 238, 200))


def medieval_village(mask: Mask, rng: Generator) -> Pixels:
    """Timber-framed houses; sunlit inside the shape."""

    def house(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        jitter = 0.3 * (cell.luck - 0.5)
        wall = mix((74, 58, 52), (250, 228, 180), cell.shape, jitter)
        beam = mix((36, 26, 24), (120, 76, 44), cell.shape)
        pen.rectangle(cell.box(-0.8, -0.4, 0.8, 1.3), fill=wall)
        pen.line([cell.at(0, -0.4), cell.at(0, 1.3)], fill=beam)
        pen.line([cell.at(-0.8, 0.4), cell.at(0.8, 0.4)], fill=beam)
        pen.polygon(
            [cell.at(-1, -0.3), cell.at(0, -1.4), cell.at(1, -0.3)],
            fill=mix((66, 30, 28), (226, 104, 66), cell.shape, jitter),
        )

    return drawn(mask, (52, 44, 38), house, cells(mask, rng, 28, 30, 0.35))


def city(mask: Mask, rng: Generator) -> Pixels:
    """Facades at night; their windows are lit inside the shape."""

    def window(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        lit = cell.luck < 0.05 + 0.95 * math.sqrt(cell.shape)  # so that a faint shape is complete too
        glow = mix((150, 120, 70), (255, 232, 160), cell.shape, 0.3 * (cell.luck - 0.5))
        pen.rectangle(
            cell.box(-0.55, -0.6, 0.55, 0.6), fill=glow if lit else mix((30, 38, 56), (46, 56, 78), cell.luck)
        )

    fronts = rng.integers(20, 46, 12)
    blocks = np.repeat(fronts, -(-len(mask) // 12))[: len(mask)]
    picture = drawn(mask, (0, 0, 0), window, cells(mask, rng, 44, 40))
    wall = np.broadcast_to(blocks[None, :, None] * np.array([0.8, 0.9, 1.2]), picture.shape)
    return np.maximum(picture, wall.astype(np.uint8))


def underwater_ruins(mask: Mask, rng: Generator) -> Pixels:
    """Stone blocks in green water; bare and light inside the shape."""

    def stone(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        worn = 0.18 * cell.luck
        block = mix((16, 62, 70), (176, 226, 204), cell.shape, 0.45 * (cell.luck - 0.5))
        pen.rectangle(cell.box(-0.9 + worn, -0.85 + worn, 0.9 - worn, 0.85), fill=block)
        if cell.luck > 0.85:  # a fallen column
            pen.ellipse(cell.box(-0.7, -0.7, 0.7, 0.7), fill=mix((8, 40, 48), block, 0.6))

    picture = drawn(mask, (6, 36, 44), stone, cells(mask, rng, 24, 38)).astype(np.float32)
    rays = 0.8 + 0.4 * noise(len(mask), rng, 6, 3)
    return np.clip(picture * rays[:, :, None], 0, 255).astype(np.uint8)


def museum(mask: Mask, rng: Generator) -> Pixels:
    """Pictures in golden frames; lit inside the shape."""

    def framed(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        pen.rectangle(cell.box(-0.85, -0.85, 0.85, 0.85), fill=mix((70, 50, 26), (244, 208, 110), cell.shape))
        dark, light = (
            ((52, 34, 34), (250, 226, 206)),
            ((34, 40, 48), (214, 232, 240)),
            ((40, 44, 30), (232, 236, 190)),
        )[int(cell.luck * 3)]
        pen.rectangle(
            cell.box(-0.6, -0.6, 0.6, 0.6), fill=mix(dark, light, cell.shape, 0.4 * (cell.luck * 3 % 1 - 0.5))
        )
        pen.line([cell.at(-0.5, 0.3), cell.at(0, -0.2), cell.at(0.5, 0.3)], fill=mix(dark, (150, 120, 100), cell.shape))

    return drawn(mask, (58, 22, 26), framed, cells(mask, rng, 28, 30))


def bazaar_market(mask: Mask, rng: Generator) -> Pixels:
    """Striped awnings over goods; new and bright inside the shape."""
    new = ((255, 214, 92), (255, 160, 120), (250, 240, 214), (196, 236, 150))
    old = ((110, 58, 20), (100, 24, 30), (78, 52, 60), (36, 66, 44))

    def stall(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        cloth = mix(old[int(cell.luck * 4)], new[int(cell.luck * 4)], cell.shape)
        pen.polygon([cell.at(-0.8, -0.9), cell.at(0.8, -0.9), cell.at(1, 0.2), cell.at(-1, 0.2)], fill=cloth)
        for left in (-0.75, -0.05, 0.65):
            stripe = mix((60, 30, 30), (255, 250, 240), cell.shape)
            pen.polygon(
                [cell.at(left, -0.9), cell.at(left + 0.3, -0.9), cell.at(left + 0.35, 0.2), cell.at(left - 0.05, 0.2)],
                fill=stripe,
            )
        for place, goods in zip((-0.7, 0, 0.7), (cell.luck, cell.luck * 7 % 1, cell.luck * 13 % 1), strict=True):
            fruit = mix(old[int(goods * 4)], new[int(goods * 4)], cell.shape, -0.15)
            pen.ellipse(cell.box(place - 0.33, 0.3, place + 0.33, 0.95), fill=fruit)

    return drawn(mask, (44, 26, 24), stall, cells(mask, rng, 22, 28))


def time_square(mask: Mask, rng: Generator) -> Pixels:
    """Billboards at night; bright inside the shape."""
    neon = ((255, 60, 140), (60, 220, 255), (255, 220, 60), (140, 255, 120), (255, 255, 255), (255, 130, 50))

    def board(pen: ImageDraw.ImageDraw, cell: Cell) -> None:
        colour = neon[int(cell.luck * 6)]
        bright = mix(mix((10, 8, 24), colour, 0.2), mix((255, 255, 255), colour, 0.75), cell.shape)
        size = 0.6 + 0.38 * (cell.luck * 6 % 1)
        pen.rectangle(cell.box(-0.95, -size, 0.95, size), fill=bright)
        pen.line(
            [cell.at(-0.6, 0), cell.at(0.5, 0)], fill=mix((0, 0, 0), bright, 0.45), width=max(1, round(cell.tall / 6))
        )

    return drawn(mask, (10, 8, 24), board, cells(mask, rng, 26, 40, 0.25))


def swarm(kind: str) -> Paint:
    """Many small silhouettes of one shape: the texture of a cue conflict."""

    def paint(mask: Mask, rng: Generator) -> Pixels:
        size = round(len(mask) / 13)
        stamp = cv2.resize(silhouette(kind), (size, size), interpolation=cv2.INTER_AREA)
        picture = np.zeros_like(mask)
        for cell in cells(mask, rng, 14, 15, 0.2):
            left, top = round(cell.x - size / 2), round(cell.y - size / 2)
            part = picture[max(0, top) : max(0, top + size), max(0, left) : max(0, left + size)]
            rows, columns = part.shape
            start = max(0, -top), max(0, -left)
            np.maximum(part, stamp[start[0] : start[0] + rows, start[1] : start[1] + columns], out=part)
        light = (1 - mask) * (0.1 + 0.35 * picture) + mask * (0.5 + 0.48 * picture)
        return tinted(light, (30, 34, 52), (120, 110, 120), (250, 240, 214))

    return paint


SIMPLE_SCENES = (ocean, origami, forest, cloud, sand_dune)
COMPLEX_SCENES = (medieval_village, city, underwater_ruins, museum, bazaar_market, time_square)
SCENERY: Mapping[str, Paint] = dict(zip(SCENES, (*SIMPLE_SCENES, *COMPLEX_SCENES), strict=True))

"""Colours as people name them: dominant colours in CIELAB, and how far they are from a colour term (ΔE2000)."""

from __future__ import annotations

import itertools
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Swatch

Floats = NDArray[np.float64]

# What people call by each term: a term is a region, so each has several examples, from dark to light.
EXAMPLES = {
    "red": "c00000 e01818 ff2020 900c10 a82828 d04038 701018 480810",
    "orange": "ff8000 e86c10 ff9c38 d06018 ffb060 f05820",
    "yellow": "ffe000 ffff40 e8c818 d0b020 fff080 c8b848 e0b040 d8a838",
    "green": "008000 20a030 58b850 88c848 205020 608038 a0d890 00b050 305838",
    "blue": "0000ff 2050c0 103070 4090e0 80b0e0 3870a0 001850 507898 00a0e8",
    "purple": "800080 6a2090 9050b0 b080d0 481068 604080 a040c0",
    "pink": "ff80b0 ffc0cb e04890 f0a0b8 f8d0d8 d87090 ff20a0",
    "brown": "704018 603818 885830 a07848 482810 381c10 906850 b08860 584030 8b4513 a0522d b5651d",
    "black": "000000 101010 202022 2c2c2e 181820 201814",
    "white": "ffffff f4f4f4 e8e8e8 f0ece4 e4e8f0 dcdcdc",
    "gray": "808080 989898 686868 b0b0b0 c4c4c4 505052 707880 88827a",
}
SHADES = {
    "grey": EXAMPLES["gray"],
    "beige": "e8d8b8 d8c8a8 f0e4cc c8b898",
    "tan": "d2b48c c8a880 b89868",
    "cream": "fff8dc f8f0d8 f0e8c8",
    "gold": "d4af37 c89820 e8c860 a88020",
    "golden": "d4af37 c89820 e8c860 a88020",
    "silver": "c0c0c0 a8acb0 d4d8dc 909498",
    "teal": "008080 107070 30a0a0",
    "turquoise": "40e0d0 30c0b8 20a8a8",
    "cyan": "00ffff 40e0f0 00c8d8",
    "navy": "000080 101858 182848",
    "maroon": "800000 600818 701828",
    "violet": "8f00ff 7030c0 9860d0 b090e0",
    "magenta": "ff00ff e010c0 c01890",
    "lime": "a0ff00 80e020 bfff40",
    "olive": "808000 707030 606028",
    "blond": "e0c890 c8a860 f0dca8",
    "blonde": "e0c890 c8a860 f0dca8",
}
DARK, LIGHT = 40.0, 65.0  # L* below which a colour is dark, above which it is light
SAMPLE = 3000  # pixels looked at in an object: more do not change its dominant colours
GREYS = ("black", "gray", "white")
# Pixels of one hue are one colour in light and shadow. Where one hue ends and the next begins, in degrees of CIELAB:
HUES = (-15, 20, 45, 72, 108, 200, 300, 330, 345)
LEAST_CHROMA, LEAST_CHROMA_IN_SHADOW = 16.0, 12.0  # below it, a pixel has no hue
SHADOW = 30.0  # L* below which a pixel lies in shadow: black, unless it has a hue
WHITE = 75.0  # L* from which the lit part of a colourless surface is white
SHADED = 35.0  # how much darker, in L*, a white surface may be where it is turned away from the light
LIT = (45.0, 85.0)  # of the pixels of one hue, by lightness: those between these percentiles show its colour
BRIGHT_SCENE, MOST_GAIN = 95.0, 1.5  # percentile of the picture's light that is taken as full, and how far it is raised
MANY, PATCH = 4, 0.08  # so many colours that each cover so much make a thing multicolored
MULTICOLORED = ("multicolored", "multicoloured", "multi-colored", "multi-coloured", "colorful", "colourful", "rainbow")
STRAY = 0.02  # hues that cover less than this share of an object are left out


def to_lab(rgb: NDArray[np.uint8]) -> Floats:
    """CIELAB (D65) of rows of sRGB values."""
    row = rgb.reshape(1, -1, 3).astype(np.float32) / 255
    lab: Floats = cv2.cvtColor(row, cv2.COLOR_RGB2LAB)[0].astype(np.float64)
    return lab


@cache
def examples(term: str) -> Floats:
    """CIELAB examples of a term; `dark red` and `light blue` keep the dark or light part of theirs."""
    tone, _, base = term.rpartition(" ")
    codes = (EXAMPLES | SHADES)[base].split()
    lab: Floats = to_lab(np.array([list(bytes.fromhex(code)) for code in codes], dtype=np.uint8))
    if tone in ("dark", "deep"):
        lab = lab[lab[:, 0] <= max(DARK, lab[:, 0].min())]
    if tone in ("light", "pale"):
        lab = lab[lab[:, 0] >= min(LIGHT, lab[:, 0].max())]
    return lab


def can_check(term: str) -> bool:
    """Whether there are examples for a term, with or without a tone before it."""
    tone, _, base = term.rpartition(" ")
    return base in EXAMPLES | SHADES and tone in ("", "dark", "deep", "light", "pale", "bright")


def delta_e(a: Floats, b: Floats) -> Floats:
    """CIEDE2000 between rows of CIELAB values; shapes broadcast."""
    lightness = (a[..., 0] + b[..., 0]) / 2
    chroma_a, chroma_b = np.hypot(a[..., 1], a[..., 2]), np.hypot(b[..., 1], b[..., 2])
    mean7 = ((chroma_a + chroma_b) / 2) ** 7
    grey = 1 + 0.5 * (1 - np.sqrt(mean7 / (mean7 + 25.0**7)))  # makes near-greys less red-green
    chroma_a, chroma_b = np.hypot(a[..., 1] * grey, a[..., 2]), np.hypot(b[..., 1] * grey, b[..., 2])
    hue_a = np.arctan2(a[..., 2], a[..., 1] * grey) % (2 * np.pi)
    hue_b = np.arctan2(b[..., 2], b[..., 1] * grey) % (2 * np.pi)
    chroma = (chroma_a + chroma_b) / 2
    colourless = chroma_a * chroma_b == 0
    turn = np.where(colourless, 0, (hue_b - hue_a + np.pi) % (2 * np.pi) - np.pi)
    hue = np.where(colourless, hue_a + hue_b, hue_a + turn / 2)
    t = 1 - 0.17 * np.cos(hue - np.pi / 6) + 0.24 * np.cos(2 * hue) + 0.32 * np.cos(3 * hue + np.pi / 30)
    t = t - 0.20 * np.cos(4 * hue - np.radians(63))
    s_l = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    degrees = np.degrees(hue) % 360
    rotation = (
        -2
        * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
        * np.sin(np.radians(60 * np.exp(-(((degrees - 275) / 25) ** 2))))
    )
    d_l, d_c = (b[..., 0] - a[..., 0]) / s_l, (chroma_b - chroma_a) / s_c
    d_h = 2 * np.sqrt(chroma_a * chroma_b) * np.sin(turn / 2) / s_h
    result: Floats = np.sqrt(np.maximum(0, d_l**2 + d_c**2 + d_h**2 + rotation * d_c * d_h))
    return result


@cache
def hued_examples() -> tuple[tuple[str, ...], Floats]:
    """All examples of the basic terms that have a hue, and the term of each."""
    terms = [term for term in EXAMPLES if term not in GREYS]
    return tuple(term for term in terms for _ in examples(term)), np.concatenate([examples(term) for term in terms])


def name_of(lab: Floats) -> str:
    """The basic term, of those that have a hue, whose nearest example is nearest."""
    names, known = hued_examples()
    return names[int(delta_e(lab, known).argmin())]


def distance(swatch: Swatch, term: str) -> float:
    """ΔE2000 from a colour to the nearest that people call by the term; 0 inside the term's own region."""
    lab = np.array(swatch.lab)
    base = term.removeprefix("bright ")
    if swatch.name == base or (swatch.name == "gray" and base == "grey"):
        return 0.0
    return float(delta_e(lab, examples(base)).min())


def exposure(pixels: NDArray[np.uint8]) -> float:
    """How much brighter a picture should be for its lights to be full: people discount dim light."""
    small = pixels[:: max(1, pixels.shape[0] // 120), :: max(1, pixels.shape[1] // 120)]
    lights = float(np.percentile(small.max(axis=-1), BRIGHT_SCENE))
    return min(MOST_GAIN, 255 / max(lights, 1.0))


def dominant(pixels: NDArray[np.uint8], gain: float, least: float) -> tuple[Swatch, ...]:
    """The colours that cover at least so much of an object, given its pixels in rows, the largest share first."""
    some = pixels[:: max(1, len(pixels) // SAMPLE)]
    lit = np.clip(some * gain, 0, 255).astype(np.uint8)
    lab = to_lab(lit)
    shares: dict[str, float] = {}
    members: dict[str, list[NDArray[np.bool_]]] = {}
    for name, part in (*colourless(lab), *coloured(lab)):
        shares[name] = shares.get(name, 0.0) + float(part.mean())
        members.setdefault(name, []).append(part)
    largest = sorted((name for name in shares if shares[name] >= max(least, 1e-9)), key=lambda name: -shares[name])
    return tuple(swatch(name, shares[name], some[np.any(members[name], axis=0)], gain) for name in largest)


def hueless(lab: Floats) -> NDArray[np.bool_]:
    """The pixels that have no hue; in shadow less of it is needed."""
    needed = np.where(lab[:, 0] < SHADOW, LEAST_CHROMA_IN_SHADOW, LEAST_CHROMA)
    found: NDArray[np.bool_] = np.hypot(lab[:, 1], lab[:, 2]) <= needed
    return found


def colourless(lab: Floats) -> list[tuple[str, NDArray[np.bool_]]]:
    """Black, grey and white parts. A surface whose lit part is white is white in its own shade, too."""
    plain = hueless(lab)
    black = plain & (lab[:, 0] < SHADOW)
    rest = plain & ~black
    top = float(np.percentile(lab[rest, 0], 75)) if rest.any() else 0.0
    white = rest & (lab[:, 0] >= top - SHADED) if top >= WHITE else np.zeros_like(rest)
    return [("black", black), ("white", white), ("gray", rest & ~white)]


def coloured(lab: Floats) -> list[tuple[str, NDArray[np.bool_]]]:
    """The parts that have a hue, each named by how it looks where light falls on it."""
    hue = (np.degrees(np.arctan2(lab[:, 2], lab[:, 1])) - HUES[0]) % 360 + HUES[0]
    has_hue = ~hueless(lab)
    found = []
    for low, high in itertools.pairwise(HUES):
        part = has_hue & (hue >= low) & (hue < high)
        if part.mean() >= STRAY:
            dark, light = np.percentile(lab[part, 0], LIT)
            shown = part & (lab[:, 0] >= dark) & (lab[:, 0] <= light)
            found.append((name_of(np.median(lab[shown if shown.any() else part], axis=0)), part))
    return found


def sure(swatch: Swatch) -> float:
    """How sure the name of a colour is: about as sure as it covers the object (bench/vision.py, colours)."""
    return round(min(0.95, 0.15 + 0.9 * swatch.share), 4)


def swatch(name: str, share: float, pixels: NDArray[np.uint8], gain: float) -> Swatch:
    """One colour of an object: as it is in the file, and in CIELAB as it would be in full light."""
    rgb = np.median(pixels, axis=0).astype(np.uint8)
    full = np.clip(np.median(pixels, axis=0) * gain, 0, 255).astype(np.uint8)
    lab = to_lab(full[None])[0]
    return Swatch(
        name, (int(rgb[0]), int(rgb[1]), int(rgb[2])), (float(lab[0]), float(lab[1]), float(lab[2])), round(share, 4)
    )

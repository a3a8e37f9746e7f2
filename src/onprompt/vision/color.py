"""Colors as people name them: dominant colors in CIELAB, and their distance from a color term (ΔE2000)."""

import itertools
from collections.abc import Iterator
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Swatch
from onprompt.vision.boxes import Pixels
from onprompt.vision.vocabulary import TERMS

Lab = NDArray[np.float64]
Mask = NDArray[np.bool_]

BASIC_TERMS: dict[str, str] = TERMS["color"]["basic"]
ALL_TERMS: dict[str, str] = BASIC_TERMS | TERMS["color"]["shades"]
SHADES_OF: dict[str, str] = {
    shade: basic for basic, shades in TERMS["color"]["shades_of"].items() for shade in shades.split()
}
MULTICOLORED = ("multicolored", "multicoloured", "multi-colored", "multi-coloured", "colorful", "colourful", "rainbow")
GRAYS = ("black", "gray", "white")
SAMPLE = 3000  # pixels of an object that are sampled: more do not change its dominant colors
# Pixels of one hue are one color in light and shadow. Where one hue ends and the next begins, in degrees of CIELAB:
HUES = (-15, 20, 45, 72, 108, 200, 300, 330, 345)
MIN_CHROMA, MIN_CHROMA_IN_SHADOW = 16.0, 12.0  # below it, a pixel has no hue
SHADOW = 30.0  # L* below which a pixel is in shadow: black, unless it has a hue
WHITE = 75.0  # L* from which the lit part of an achromatic surface is white
SHADED = 35.0  # how much darker, in L*, a white surface may be where it is turned away from the light
LIT = (45.0, 85.0)  # percentiles of lightness between which the pixels of one hue show its color
BRIGHT_SCENE, MAX_GAIN = 95.0, 1.5  # percentile of the image's brightness that counts as full light, and the most gain
MANY_COLORS, MIN_PATCH = 4, 0.08  # as many colors, each covering as much, make an object multicolored
MIN_HUE_SHARE = 0.02  # hues that cover a smaller share of an object are ignored
BETWEEN = 3.0  # ΔE2000: a color whose own term is at most this much nearer than another may be called either
TONES = {"dark": (0.0, 50.0), "deep": (0.0, 50.0), "light": (55.0, 100.0), "pale": (55.0, 100.0)}  # L* of a tone


def rgb_to_lab(rgb: Pixels) -> Lab:
    """CIELAB (D65) of rows of sRGB values."""
    row = rgb.reshape(1, -1, 3).astype(np.float32) / 255
    return np.asarray(cv2.cvtColor(row, cv2.COLOR_RGB2LAB)[0], dtype=np.float64)


@cache
def examples(term: str) -> Lab:
    """CIELAB examples of a basic term or a shade."""
    return rgb_to_lab(np.array([list(bytes.fromhex(code)) for code in ALL_TERMS[term].split()], dtype=np.uint8))


def can_check(term: str) -> bool:
    """Whether there are examples for a term, with or without a tone before it."""
    tone, _, base = term.rpartition(" ")
    return base in ALL_TERMS and tone in ("", "bright", *TONES)


def delta_e_2000(a: Lab, b: Lab) -> Lab:
    """CIEDE2000 between rows of CIELAB values; shapes broadcast."""
    lightness = (a[..., 0] + b[..., 0]) / 2
    chroma_a, chroma_b = np.hypot(a[..., 1], a[..., 2]), np.hypot(b[..., 1], b[..., 2])
    mean7 = ((chroma_a + chroma_b) / 2) ** 7
    gray = 1 + 0.5 * (1 - np.sqrt(mean7 / (mean7 + 25.0**7)))  # makes near-grays less red-green
    chroma_a, chroma_b = np.hypot(a[..., 1] * gray, a[..., 2]), np.hypot(b[..., 1] * gray, b[..., 2])
    hue_a = np.arctan2(a[..., 2], a[..., 1] * gray) % (2 * np.pi)
    hue_b = np.arctan2(b[..., 2], b[..., 1] * gray) % (2 * np.pi)
    chroma = (chroma_a + chroma_b) / 2
    colorless = chroma_a * chroma_b == 0
    turn = np.where(colorless, 0, (hue_b - hue_a + np.pi) % (2 * np.pi) - np.pi)
    hue = np.where(colorless, hue_a + hue_b, hue_a + turn / 2)
    t = 1 - 0.17 * np.cos(hue - np.pi / 6) + 0.24 * np.cos(2 * hue) + 0.32 * np.cos(3 * hue + np.pi / 30)
    t = t - 0.20 * np.cos(4 * hue - np.radians(63))
    s_l = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    degrees = np.degrees(hue) % 360
    angle = np.radians(60 * np.exp(-(((degrees - 275) / 25) ** 2)))
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7)) * np.sin(angle)
    d_l, d_c = (b[..., 0] - a[..., 0]) / s_l, (chroma_b - chroma_a) / s_c
    d_h = 2 * np.sqrt(chroma_a * chroma_b) * np.sin(turn / 2) / s_h
    distance: Lab = np.sqrt(np.maximum(0, d_l**2 + d_c**2 + d_h**2 + rotation * d_c * d_h))
    return distance


@cache
def chromatic_examples() -> tuple[tuple[str, ...], Lab]:
    """All examples of the basic terms that have a hue, and the term of each."""
    terms = [term for term in BASIC_TERMS if term not in GRAYS]
    return tuple(term for term in terms for _ in examples(term)), np.concatenate([examples(term) for term in terms])


def likeness(swatch: Swatch, term: str, match: float, near: float) -> float:
    """How well a color fits a term: 1, ½ for another shade of the same basic color or a color near it, else 0.

    The basic color is compared first, then the shade: a dark blue is no light blue, but no red either. `match` and
    `near` are the ΔE2000 within which a color matches and is near.
    """
    tone, _, base = term.rpartition(" ")
    basic = base if base in BASIC_TERMS else SHADES_OF[base]
    apart = float(delta_e_2000(np.array(swatch.lab), examples(base)).min())
    own = float(delta_e_2000(np.array(swatch.lab), examples(swatch.name)).min())
    if base == basic or base == "grey":
        matches = swatch.name == basic or (apart <= match and apart <= own + BETWEEN)
    else:
        matches = apart <= match
    lowest, highest = TONES.get(tone, (0.0, 100.0))
    if matches and lowest <= swatch.lab[0] <= highest:
        return 1.0
    return 0.5 if matches or swatch.name == basic or apart <= near else 0.0


def exposure_gain(pixels: Pixels) -> float:
    """How much brighter the image should be for its lights to be full: people discount dim light."""
    small = pixels[:: max(1, pixels.shape[0] // 120), :: max(1, pixels.shape[1] // 120)]
    lights = float(np.percentile(brightest_channel(small), BRIGHT_SCENE))
    return min(MAX_GAIN, 255 / max(lights, 1.0))


def brightest_channel(pixels: Pixels) -> Pixels:
    """The highest value of each pixel; by far faster than `max` along an axis of three."""
    return np.maximum(np.maximum(pixels[..., 0], pixels[..., 1]), pixels[..., 2])


def dominant_colors(pixels: Pixels, gain: float, min_share: float) -> tuple[Swatch, ...]:
    """The colors that cover at least a share of an object, given its pixels in rows; the largest share first."""
    sample = pixels[:: max(1, len(pixels) // SAMPLE)]
    lab = rgb_to_lab(np.clip(sample * gain, 0, 255).astype(np.uint8))
    shares: dict[str, float] = {}
    parts: dict[str, Mask] = {}
    for term, part in named_parts(lab):
        shares[term] = shares.get(term, 0.0) + float(part.mean())
        parts[term] = parts.get(term, np.zeros_like(part)) | part
    largest = sorted((term for term in shares if shares[term] >= max(min_share, 1e-9)), key=lambda term: -shares[term])
    return tuple(make_swatch(term, shares[term], sample[parts[term]], gain) for term in largest)


def named_parts(lab: Lab) -> Iterator[tuple[str, Mask]]:
    """The parts of one color each; those that have a hue are named by how they look where light falls on them."""
    lightness, chroma = lab[:, 0], np.hypot(lab[:, 1], lab[:, 2])
    achromatic = chroma <= np.where(lightness < SHADOW, MIN_CHROMA_IN_SHADOW, MIN_CHROMA)
    black = achromatic & (lightness < SHADOW)
    rest = achromatic & ~black
    top = float(np.percentile(lightness[rest], 75)) if rest.any() else 0.0
    # A surface whose lit part is white is white in its own shade, too.
    white = rest & (lightness >= top - SHADED) if top >= WHITE else np.zeros_like(rest)
    yield from (("black", black), ("white", white), ("gray", rest & ~white))
    hue = (np.degrees(np.arctan2(lab[:, 2], lab[:, 1])) - HUES[0]) % 360 + HUES[0]
    for low, high in itertools.pairwise(HUES):
        part = ~achromatic & (hue >= low) & (hue < high)
        if part.mean() >= MIN_HUE_SHARE:
            dark, light = np.percentile(lightness[part], LIT)
            lit = part & (lightness >= dark) & (lightness <= light)
            color = np.median(lab[lit if lit.any() else part], axis=0)
            terms, known = chromatic_examples()
            yield terms[int(delta_e_2000(color, known).argmin())], part


def swatch_confidence(swatch: Swatch) -> float:
    """The confidence in a color's name, which grows with its share of the object (bench/vision.py, colors)."""
    return round(min(0.95, 0.15 + 0.9 * swatch.share), 4)


def make_swatch(term: str, share: float, pixels: Pixels, gain: float) -> Swatch:
    """One color of an object: as it is in the file, and in CIELAB as it would be in full light."""
    median = np.median(pixels, axis=0)
    red, green, blue = median.astype(np.uint8).tolist()
    lightness, a, b = rgb_to_lab(np.clip(median * gain, 0, 255).astype(np.uint8)[None])[0].tolist()
    return Swatch(term, (red, green, blue), (lightness, a, b), round(share, 4))

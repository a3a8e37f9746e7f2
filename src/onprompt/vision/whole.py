"""What can be told of a picture as a whole: colour or none, light, sharpness; whether it is artwork or a photo.

In which style it is drawn or painted no measure here can tell.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Picture, Trait
from onprompt.vision.colour import Floats, to_lab
from onprompt.vision.geometry import ramp
from onprompt.vision.matcher import matcher

SIDE = 256  # pixels of the longer side at which a picture is measured
GREY = 4.0, 10.0  # CIELAB chroma that nineteen of twenty pixels stay below: surely grey, surely coloured
TINT = 0.97, 0.99  # how alike the hues of a picture are: surely many, surely one, as in sepia
SPOT = 20.0, 40.0  # chroma of the strongest hundredth: surely none, surely a spot of colour
FAINT = 40.0, 30.0  # chroma above which one hue is a colour, below which it is a tint
NIGHT, DAY = 20.0, 40.0  # median L*: surely dark, surely light
BLURRED, SHARP = 3.0, 9.0  # strength of edges, in grey levels: surely blurred, surely sharp
EDGELESS = 2.5  # strength of edges below which there is nothing to see: one colour, or one that runs into another
EVEN = 4.0  # grey levels by which a picture may differ from one colour that runs evenly into another
COARSE = (64, 32, 16)  # pixels of the longer side at which neighbours are alike in any picture of something
ALIKE = 0.25  # correlation of neighbours below which they are not


def properties(picture: Picture) -> tuple[Trait, ...]:
    """Black and white or colour, dark or light, blurred or sharp; each with its confidence, of at least .5."""
    small = at_most(picture.pixels, SIDE)
    # Colours and edges are weaker in the dark: they are measured as if in full light.
    lit = np.clip(small * (255 / max(float(np.percentile(small.max(axis=-1), 95)), 1.0)), 0, 255).astype(np.uint8)
    lightness = float(np.median(to_lab(small.reshape(-1, 3))[:, 0]))
    pairs = (
        ("style", "color", coloured(to_lab(lit.reshape(-1, 3))), "black and white"),
        ("lighting", "light", ramp(lightness, NIGHT, DAY), "dark"),
        ("quality", "sharp", ramp(sharpness(lit), BLURRED, SHARP), "blurry"),
    )
    return tuple(Trait(kind, yes if p >= 0.5 else no, round(max(p, 1 - p), 4)) for kind, yes, p, no in pairs)


def shows_nothing(picture: Picture) -> bool:
    """Whether a picture is empty: without any edge, or noise, in which neighbours have nothing in common."""
    if edges(at_most(picture.pixels, SIDE)).max() < EDGELESS and unevenness(at_most(picture.pixels, COARSE[1])) < EVEN:
        return True
    return all(likeness_of_neighbours(at_most(picture.pixels, side)) < ALIKE for side in COARSE)


def at_most(pixels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A picture whose longer side has at most so many pixels."""
    ratio = min(1.0, side / max(pixels.shape[:2]))
    size = [max(1, round(length * ratio)) for length in pixels.shape[1::-1]]
    return cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.uint8)


def likeness_of_neighbours(pixels: NDArray[np.uint8]) -> float:
    """The correlation between pixels that are side by side or one above the other, in the channel that has most."""
    channels = np.moveaxis(pixels.astype(np.float64), -1, 0)
    channels = channels - channels.mean(axis=(1, 2), keepdims=True)
    spread = np.maximum((channels**2).mean(axis=(1, 2)), 1e-9)
    beside = (channels[:, :, 1:] * channels[:, :, :-1]).mean(axis=(1, 2)) if pixels.shape[1] > 1 else spread
    below = (channels[:, 1:] * channels[:, :-1]).mean(axis=(1, 2)) if pixels.shape[0] > 1 else spread
    return float((np.maximum(beside, below) / spread).max())


def medium(picture: Picture, settings: Settings) -> Trait:
    """Drawn or painted, or photographed, by the matcher's view of it."""
    chance = matcher(settings).pictured(picture).artwork
    return Trait("medium", "artwork" if chance >= 0.5 else "photo", round(max(chance, 1 - chance), 4))


def coloured(lab: Floats) -> float:
    """How surely a picture has colours: chroma, and more than one hue; a sepia print is black and white."""
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    strongest = float(np.percentile(chroma, 95))
    total = float(chroma.sum())
    alike = float(np.hypot(lab[:, 1].sum(), lab[:, 2].sum())) / total if total else 1.0
    spot = ramp(float(np.percentile(chroma, 99)), *SPOT)  # one red thing in a grey picture leaves it open
    return max(0.5 * spot, ramp(strongest, *GREY) * (1 - ramp(strongest, *FAINT) * ramp(alike, *TINT)))


def sharpness(pixels: NDArray[np.uint8]) -> float:
    """The strength of edges where the picture is sharpest: a sharp disk on a plain ground is sharp."""
    return float(np.percentile(edges(pixels), 98))


def edges(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """How strong they are around each pixel, in grey levels."""
    found = cv2.blur(np.abs(cv2.Laplacian(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.CV_32F)), (9, 9))
    return np.asarray(found, dtype=np.float32)


def unevenness(pixels: NDArray[np.uint8]) -> float:
    """How far a picture is from one colour that runs evenly into another: the spread about the best plane."""
    y, x = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    plane = np.column_stack([x.ravel(), y.ravel(), np.ones(x.size)])
    colours = pixels.reshape(-1, 3).astype(np.float64)
    best, *_ = np.linalg.lstsq(plane, colours, rcond=None)
    return float((colours - plane @ best).std())

"""Properties of the image as a whole: color or black and white, light, sharpness; whether it is artwork or a photo.

Styles of drawing or painting are not measured.
"""

import cv2
import numpy as np

from onprompt.settings import Settings
from onprompt.types import Picture, Trait
from onprompt.vision.backbone import shrink
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.color import Lab, brightest_channel, rgb_to_lab
from onprompt.vision.geometry import ramp
from onprompt.vision.masks import Mask
from onprompt.vision.matchers.small import artwork_probability

SIDE = 256  # pixels of the longer side at which an image is measured
GRAY = 4.0, 10.0  # 95th percentile of CIELAB chroma: surely gray, surely colored
TINT = 0.97, 0.99  # how similar the hues of an image are: surely many, surely one, as in sepia
SPOT = 20.0, 40.0  # 99th percentile of chroma: surely none, surely a spot of color
FAINT = 40.0, 30.0  # chroma above which one hue is a color, below which it is a tint
NIGHT, DAY = 20.0, 40.0  # median L*: surely dark, surely light
BLURRED, SHARP = 3.0, 9.0  # strength of edges, in gray levels: surely blurred, surely sharp
EDGELESS = 2.5  # strength of edges below which the image is blank: one color, or a gradient
GRADIENT = 4.0  # gray levels by which a gradient may deviate from a plane
COARSE = (64, 32, 16)  # pixels of the longer side at which neighboring pixels correlate unless the image is noise
NOISE = 0.25  # correlation of neighboring pixels below which the image is noise


def properties(picture: Picture) -> tuple[Trait, ...]:
    """Black and white or color, dark or light, blurred or sharp; each with a confidence of at least .5."""
    small = shrink(picture.pixels, SIDE)
    # Colors and edges are weaker in the dark: they are measured as if in full light.
    gain = 255 / max(float(np.percentile(brightest_channel(small), 95)), 1.0)
    lit = np.asarray(cv2.LUT(small, np.clip(np.arange(256) * gain, 0, 255).astype(np.uint8)), dtype=np.uint8)
    lightness = float(np.median(rgb_to_lab(small.reshape(-1, 3))[:, 0]))
    pairs = (
        ("style", "color", color_probability(rgb_to_lab(lit.reshape(-1, 3))), "black and white"),
        ("lighting", "light", ramp(lightness, NIGHT, DAY), "dark"),
        ("quality", "sharp", ramp(sharpness(lit), BLURRED, SHARP), "blurry"),
    )
    return tuple(Trait(kind, yes if p >= 0.5 else no, round(max(p, 1 - p), 4)) for kind, yes, p, no in pairs)


def is_blank(picture: Picture) -> bool:
    """Whether an image shows nothing: one color, a gradient, or noise."""
    edgeless = edge_strength(shrink(picture.pixels, SIDE)).max() < EDGELESS
    if edgeless and deviation_from_plane(shrink(picture.pixels, COARSE[1])) < GRADIENT:
        return True
    return all(neighbor_correlation(shrink(picture.pixels, side)) < NOISE for side in COARSE)


def neighbor_correlation(pixels: Pixels) -> float:
    """The correlation of adjacent pixels, across or down, in the channel where it is highest."""
    channels = np.moveaxis(pixels.astype(np.float64), -1, 0)
    channels = channels - channels.mean(axis=(1, 2), keepdims=True)
    variance = np.maximum((channels**2).mean(axis=(1, 2)), 1e-9)
    across = (channels[:, :, 1:] * channels[:, :, :-1]).mean(axis=(1, 2)) if pixels.shape[1] > 1 else variance
    down = (channels[:, 1:] * channels[:, :-1]).mean(axis=(1, 2)) if pixels.shape[0] > 1 else variance
    return float((np.maximum(across, down) / variance).max())


def medium(picture: Picture, settings: Settings) -> Trait:
    """Artwork or photo, by the matcher's probe."""
    artwork = artwork_probability(picture, settings)
    return Trait("medium", "artwork" if artwork >= 0.5 else "photo", round(max(artwork, 1 - artwork), 4))


def color_probability(lab: Lab) -> float:
    """How likely an image has colors: chroma, and more than one hue; a sepia print is black and white."""
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    strongest, spots = np.percentile(chroma, (95, 99)).tolist()
    total = float(chroma.sum())
    similar = float(np.hypot(lab[:, 1].sum(), lab[:, 2].sum())) / total if total else 1.0
    spot = ramp(spots, *SPOT)  # one red object in a gray image leaves it open
    return max(0.5 * spot, ramp(strongest, *GRAY) * (1 - ramp(strongest, *FAINT) * ramp(similar, *TINT)))


def sharpness(pixels: Pixels, part: Mask | None = None) -> float:
    """The strength of edges where the image, or a part of it, is sharpest: a sharp disk on a plain ground is sharp."""
    strength = edge_strength(pixels)
    return float(np.percentile(strength if part is None else strength[part], 98))


def edge_strength(pixels: Pixels) -> Floats:
    """The mean strength of edges around each pixel, in gray levels."""
    edges = np.abs(cv2.Laplacian(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.CV_32F))
    return np.asarray(cv2.blur(edges, (9, 9)), dtype=np.float32)


def deviation_from_plane(pixels: Pixels) -> float:
    """The standard deviation of an image from the linear gradient that fits it best."""
    y, x = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    plane = np.column_stack([x.ravel(), y.ravel(), np.ones(x.size)])
    colors = pixels.reshape(-1, 3).astype(np.float64)
    best, *_ = np.linalg.lstsq(plane, colors, rcond=None)
    return float((colors - plane @ best).std())

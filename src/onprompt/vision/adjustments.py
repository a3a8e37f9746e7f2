"""What was done to an image as a whole: brighter, black and white, blurred, mirrored, cropped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onprompt.vision.boxes import Floats
from onprompt.vision.change import Change, Mask, to_lab
from onprompt.vision.geometry import ramp
from onprompt.vision.global_properties import color_probability, sharpness

HAPPENED = 0.5  # strength from which an adjustment counts
LIGHT = 0.5, 4.0  # change of mean L*: none, clear
CONTRAST = 0.03, 0.2  # change of the logarithm of the spread of L*
CHROMA = 0.1, 0.4  # change of the logarithm of mean chroma
EDGES = 0.2, 0.7  # change of the logarithm of sharpness
NEGATIVE = -0.2, -0.7  # correlation of lightness
CAST = 0.5, 4.0  # mean shift of colors in CIELAB, apart from lightness: none, clear
SHIFTED = 0.97, 1.03  # area of the frame of an image that was shifted, not cropped
ONE_HUE = 4.0, 2.0  # spread of colors across the mean hue, in CIELAB: of a color photo, of a tinted one
SEPIA_HUE = 45.0, 100.0  # degrees in CIELAB


def measure_adjustments(change: Change, part: Mask) -> dict[str, float]:
    """The strength of each adjustment within a part of the image, 0 to 1."""
    before, after = (to_lab(image)[part] for image in (change.before, change.after))
    light = float(after[:, 0].mean() - before[:, 0].mean())
    contrast = log_ratio(after[:, 0].std(), before[:, 0].std())
    chroma = log_ratio(chroma_of(after).mean(), chroma_of(before).mean())
    edges = log_ratio(*(sharpness(image, part) for image in (change.after, change.before)))
    _, green_red, warmth = (after - before).mean(axis=0)
    grey = ramp(color_probability(after.astype(np.float64)), 0.5, 0.1)
    colored = max(ramp(color_probability(before.astype(np.float64)), 0.2, 0.6), ramp(-chroma, *CHROMA))
    found = {
        "brighter": ramp(light, *LIGHT),
        "darker": ramp(-light, *LIGHT),
        "more contrast": ramp(contrast, *CONTRAST),
        "less contrast": ramp(-contrast, *CONTRAST),
        "more saturated": ramp(chroma, *CHROMA),
        "less saturated": ramp(-chroma, *CHROMA),
        "warmer": ramp(float(warmth), *CAST) * (1 - grey),
        "cooler": ramp(float(-warmth), *CAST) * (1 - grey),
        "tinted": ramp(float(np.hypot(green_red, warmth)), *CAST) * (1 - grey),
        "sepia": ramp(hue_spread(after), *ONE_HUE) * colored * float(is_warm(after)),
        "black and white": grey * colored * float(not is_warm(after)),
        "blurred": ramp(-edges, *EDGES),
        "sharper": ramp(edges, *EDGES),
        "inverted": ramp(correlation(before[:, 0], after[:, 0]), *NEGATIVE),
    }
    if change.turned:
        found[change.turned] = 1.0
    if change.crop:
        smallest, largest = SHIFTED
        area = change.crop.area
        found["zoomed out" if area > largest else "cropped" if area < smallest else "shifted"] = 1.0
    return found


def chroma_of(lab: Floats) -> Floats:
    """How colorful each pixel is."""
    return np.hypot(lab[:, 1], lab[:, 2])


def hue_spread(lab: Floats) -> float:
    """How far colors deviate from the mean hue: hardly at all where a photo has a single tint."""
    a, b = lab[:, 1], lab[:, 2]
    hue = float(np.arctan2(b.mean(), a.mean()))
    return float((b * np.cos(hue) - a * np.sin(hue)).std())


def is_warm(lab: Floats) -> bool:
    """Whether a tint is that of an old photograph."""
    a, b = float(lab[:, 1].mean()), float(lab[:, 2].mean())
    return bool(np.hypot(a, b) > 4) and SEPIA_HUE[0] <= float(np.degrees(np.arctan2(b, a))) <= SEPIA_HUE[1]


def log_ratio(after: float, before: float) -> float:
    """The logarithm of a ratio; 0 where both are nothing."""
    return float(np.log((float(after) + 0.5) / (float(before) + 0.5)))


def correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; 0 where either is constant."""
    spread = float(a.std() * b.std())
    return float(((a - a.mean()) * (b - b.mean())).mean()) / spread if spread > 1e-6 else 0.0


def made(measured: Mapping[str, float]) -> tuple[str, ...]:
    """The adjustments that were made, the strongest first."""
    return tuple(sorted((name for name, value in measured.items() if value >= HAPPENED), key=lambda n: -measured[n]))

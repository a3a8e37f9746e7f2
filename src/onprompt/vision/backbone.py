"""A picture as numbers: what a classifier of 1,000 kinds (PPLCNetV2) makes of it and of its parts, and its colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import openvino as ov

from onprompt.settings import Settings
from onprompt.vision.boxes import Floats
from onprompt.vision.runtime import Network, core, once, taking_pixels
from onprompt.vision.tiles import Pixels
from onprompt.weights.cache import paths

FILES = ("pplcnet.pdmodel", "pplcnet.pdiparams")
OUTPUTS = ("relu_39.tmp_0", "linear_1.tmp_1")  # the last layer but one, and the logits
MEAN, SPREAD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet, as it was trained with
LONGEST = 256  # pixels; larger pictures are made as small first, so that all look alike
QUALITY = 80
SIDE = 224  # pixels of what the classifier looks at
PART = 0.6  # side of a part, in sides of the picture: four that overlap, one in each corner
INNER = 1280  # numbers of the layer but one
COLOUR_SIDE = 96
HUES, LIGHTS, GREYS = 12, 2, 5
BINS = HUES * LIGHTS + GREYS


@once
def network(path: Path) -> Network:
    """Compiled once in a process."""
    model = core().read_model(path)
    named = {node.get_friendly_name(): node.output(0) for node in model.get_ops()}
    cut = ov.Model([ov.opset13.result(named[name]) for name in OUTPUTS], model.get_parameters(), "pplcnet")
    return Network(taking_pixels(cut, 0, MEAN, SPREAD))


def numbers(small: Pixels, settings: Settings) -> Floats:
    """All that the matcher knows of a small picture, a row for the whole and one for each of four parts.

    A row has the classifier's view of the whole, the best of its parts, and the colours; a part is its own best part.
    """
    small = as_jpeg(small)
    cuts = [small, *parts(small)]
    squares = np.stack([resized(each, (SIDE, SIDE)) for each in cuts])
    inner, logits = network(paths(FILES, settings)[FILES[0]]).run([squares])
    inner = inner.reshape(len(cuts), INNER)
    best = [np.concatenate([each[1:].max(axis=0, keepdims=True), each[1:]]) for each in (inner, logits)]
    found: Floats = np.concatenate(
        [inner, best[0], logits, best[1], np.stack([colours(each) for each in cuts])], axis=1
    ).astype(np.float32)
    return found


def shrunk(pixels: Pixels) -> Pixels:
    """No side longer than LONGEST."""
    ratio = LONGEST / max(pixels.shape[:2])
    return resized(pixels, [max(1, round(side * ratio)) for side in pixels.shape[1::-1]]) if ratio < 1 else pixels


def as_jpeg(pixels: Pixels) -> Pixels:
    """The picture as a JPEG of common quality shows it: training saw such only, and clean ones look drawn to it."""
    _, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)[..., ::-1])


def resized(pixels: Pixels, size: Sequence[int]) -> Pixels:
    """Made larger smoothly, or smaller by areas."""
    smaller = size[0] < pixels.shape[1]
    return cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_CUBIC).astype(np.uint8)


def parts(pixels: Pixels) -> list[Pixels]:
    """One in each corner; they overlap."""
    height, width = (max(1, int(PART * side)) for side in pixels.shape[:2])
    return [np.ascontiguousarray(pixels[rows, columns]) for rows in ends(height) for columns in ends(width)]


def ends(length: int) -> tuple[slice, slice]:
    """The first and the last of something."""
    return slice(None, length), slice(-length, None)


def colours(pixels: Pixels) -> Floats:
    """How much of the picture, of its middle and of its quarters has which hue, light or dark, or which grey."""
    hue, saturation, value = np.moveaxis(
        cv2.cvtColor(resized(pixels, (COLOUR_SIDE, COLOUR_SIDE)), cv2.COLOR_RGB2HSV).astype(int), -1, 0
    )
    grey = (saturation < 50) | (value < 40)
    bins = np.where(grey, HUES * LIGHTS + value // 52, hue // 15 * LIGHTS + (value > 150))
    half, quarter = COLOUR_SIDE // 2, COLOUR_SIDE // 4
    middle = bins[quarter:-quarter, quarter:-quarter]
    quarters = [bins[rows, columns] for rows in ends(half) for columns in ends(half)]
    shares = [np.bincount(each.ravel(), minlength=BINS) / each.size for each in (bins, middle, *quarters)]
    found: Floats = np.sqrt(np.concatenate(shares)).astype(np.float32)
    return found

"""Image features: an ImageNet classifier (PPLCNetV2) on the image and its parts, and color histograms."""

from collections.abc import Sequence

import cv2
import numpy as np

from onprompt.settings import Settings
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.runtime import (
    Network,
    Source,
    network,
    openvino_core,
    ov,
    source,
    thread_safe_cache,
    with_pixel_input,
)

FILES = ("pplcnet.pdmodel", "pplcnet.pdiparams")
LABELS = "pplcnet-labels.txt"  # a line for each class: its number, then its names
OUTPUTS = ("relu_39.tmp_0", "linear_1.tmp_1")  # the penultimate layer, and the logits
LOCAL = ("relu_27.tmp_0",)  # a layer in the middle that still knows where things are, 14 × 14 places
MAX_SIDE = 256  # pixels; larger images are scaled down to this first, so that all sizes have the same features
QUALITY = 80
INPUT_SIDE = 224
CROP = 0.6  # a crop's fraction of the image's width and height: four that overlap, one in each corner
HIDDEN = 1280  # width of the penultimate layer
CLASSES = 1000  # of ImageNet
COLOR_SIDE = 96
HUES, LIGHTS, GRAYS = 12, 2, 5
BINS = HUES * LIGHTS + GRAYS
HUE_BIN, GRAY_BIN = np.arange(256) // 15 * LIGHTS, HUES * LIGHTS + np.arange(256) // 52  # of a pixel's hue or value


def feature_similarity(first: Pixels, second: Pixels, settings: Settings) -> Floats:
    """The cosine of two images' features at each place of a grid: they see more than pixels do."""
    inputs = np.stack([resize(image, (INPUT_SIDE, INPUT_SIDE)) for image in (first, second)])
    (maps,) = load_backbone(source(FILES, settings), LOCAL).run([inputs])
    a, b = maps / np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), 1e-6)
    return np.asarray((a * b).sum(axis=0), dtype=np.float32)


@thread_safe_cache
def load_backbone(made_of: Source, layers: tuple[str, ...]) -> Network:
    """The classifier with some layers as its outputs, compiled once per process."""

    def build() -> ov.Model:
        model = openvino_core().read_model(made_of.file)
        outputs = {node.get_friendly_name(): node.output(0) for node in model.get_ops()}
        results = [ov.opset13.result(outputs[layer]) for layer in layers]
        return with_pixel_input(ov.Model(results, model.get_parameters(), "pplcnet"))

    return network("pplcnet" if layers == OUTPUTS else "pplcnet features", made_of, build)


def image_features(small: Pixels, settings: Settings) -> Floats:
    """A row for the whole image and one for each of four crops, given an image that `shrink` made small.

    A row holds the classifier's outputs, their maximum over the crops, and the colors; a crop is its own only crop.
    """
    small = recompress(small)
    crops = [small, *corner_crops(small)]
    hidden, logits = run_backbone(crops, settings)
    best = [np.concatenate([rows[1:].max(axis=0, keepdims=True), rows[1:]]) for rows in (hidden, logits)]
    colors = np.stack([color_histogram(crop) for crop in crops])
    return np.concatenate([hidden, best[0], logits, best[1], colors], axis=1).astype(np.float32)


def class_probabilities(features: Floats) -> Floats:
    """How likely each class is, in the image or the crop where it is likeliest, by `image_features`."""
    logits = features[:, 2 * HIDDEN : 2 * HIDDEN + CLASSES]
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray((odds / odds.sum(axis=1, keepdims=True)).max(axis=0), dtype=np.float32)


@thread_safe_cache
def load_labels(made_of: Source) -> tuple[tuple[str, ...], ...]:
    """The names of each class, the usual one first."""
    lines = made_of.file.read_text(encoding="utf-8").lower().splitlines()
    return tuple(tuple(name.strip() for name in line.partition(" ")[2].split(",")) for line in lines)


def run_backbone(crops: Sequence[Pixels], settings: Settings) -> tuple[Floats, Floats]:
    """The penultimate layer and the logits, a row for each crop; a crop is scaled to a square."""
    inputs = np.stack([resize(crop, (INPUT_SIDE, INPUT_SIDE)) for crop in crops])
    hidden, logits = load_backbone(source(FILES, settings), OUTPUTS).run([inputs])
    return hidden.reshape(len(crops), HIDDEN), logits


def shrink(pixels: Pixels, side: int = MAX_SIDE) -> Pixels:
    """The image with its longer side at most `side` pixels."""
    ratio = side / max(pixels.shape[:2])
    return resize(pixels, [max(1, round(length * ratio)) for length in pixels.shape[1::-1]]) if ratio < 1 else pixels


def recompress(pixels: Pixels) -> Pixels:
    """The image as a JPEG of common quality: the matcher was trained on those, and takes clean images for drawings."""
    _, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    decoded = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)
    return np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), dtype=np.uint8)


def resize(pixels: Pixels, size: Sequence[int]) -> Pixels:
    """Cubic interpolation to enlarge, pixel areas to shrink."""
    smaller = size[0] < pixels.shape[1]
    method = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, size, interpolation=method), dtype=np.uint8)


def corner_crops(pixels: Pixels) -> list[Pixels]:
    """One crop in each corner; they overlap."""
    height, width = (max(1, int(CROP * side)) for side in pixels.shape[:2])
    return [np.ascontiguousarray(pixels[rows, columns]) for rows in both_ends(height) for columns in both_ends(width)]


def both_ends(length: int) -> tuple[slice, slice]:
    """The first and the last `length` items."""
    return slice(None, length), slice(-length, None)


def color_histogram(pixels: Pixels) -> Floats:
    """Shares of each hue, light or dark, and of each gray: of the image, its centre and its quarters."""
    small = resize(pixels, (COLOR_SIDE, COLOR_SIDE))
    hue, saturation, value = cv2.split(cv2.cvtColor(small, cv2.COLOR_RGB2HSV))
    gray = (saturation < 50) | (value < 40)
    bins = np.where(gray, GRAY_BIN[value], HUE_BIN[hue] + (value > 150))
    half, quarter = COLOR_SIDE // 2, COLOR_SIDE // 4
    centre = bins[quarter:-quarter, quarter:-quarter]
    quarters = [bins[rows, columns] for rows in both_ends(half) for columns in both_ends(half)]
    counts = [np.bincount(area.ravel(), minlength=BINS) for area in (centre, *quarters)]
    shares = np.stack([sum(counts[1:]), *counts]) / [[bins.size], *([area.size] for area in (centre, *quarters))]
    return np.asarray(np.sqrt(shares.ravel()), dtype=np.float32)

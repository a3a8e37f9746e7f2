"""The 80 COCO classes by small networks with permissive licences: PicoDet and EfficientDet-Lite0."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np

from onprompt.settings import Settings
from onprompt.vision.boxes import MIN_SCORE, Boxes, Floats, Pixels, likely_boxes, load_curves
from onprompt.vision.closed_set import ClosedSetDetector
from onprompt.vision.runtime import (
    Network,
    Source,
    network,
    op,
    openvino_core,
    ov,
    source,
    thread_safe_cache,
    with_pixel_input,
)

PICODET = ("picodet.pdmodel", "picodet.pdiparams")
LITE0 = "efficientdet-lite0.tflite"
FILES = (*PICODET, LITE0)
CURVE = "picodet + efficientdet"
PICODET_SIDE = 416
LITE0_SIDE = 320
# EfficientDet numbers its classes as COCO's files do, from 1 and with gaps: these ids are unused.
UNUSED_IDS = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
CLASS_COLUMNS = [number - 1 for number in range(1, 91) if number not in UNUSED_IDS]
STRIDES = (8, 16, 32, 64, 128)  # approximate pixels between anchors
ANCHOR_SCALE = 3  # the smallest anchor's side, in those; EfficientDet-Lite has 3 where EfficientDet has 4
ASPECT_RATIOS = (1.0, 2.0, 0.5)
MIN_ODDS = math.log(MIN_SCORE / (1 - MIN_SCORE))


@dataclass(frozen=True)
class MirroredNetwork:
    """What a network detects in an image, and in its mirror image, as test-time augmentation."""

    network: Network
    side: int
    interpolation: int
    decode: Callable[..., Boxes]
    inputs: tuple[Floats, ...] = ()  # before the pixels

    def __call__(self, pixels: Pixels) -> list[Boxes]:
        small = np.asarray(cv2.resize(pixels, (self.side, self.side), interpolation=self.interpolation), dtype=np.uint8)
        views = small, cv2.flip(small, 1)
        own, other = self.network.read_all([[*self.inputs, view[None]] for view in views], self.decode)
        left, top, right, bottom = other.corners.T
        return [own, other._replace(corners=np.stack([1 - right, top, 1 - left, bottom], axis=1))]


@thread_safe_cache
def load_network(made_of: Source) -> MirroredNetwork:
    """One network, compiled once per process, whatever the settings."""
    read = partial(openvino_core().read_model, made_of.file)
    if made_of.file.suffix == ".tflite":
        built = network("efficientdet", made_of, lambda: without_sigmoid(dequantize(read())), views=2)
        return MirroredNetwork(built, LITE0_SIDE, cv2.INTER_AREA, partial(decode_lite0, make_anchors(LITE0_SIDE)))
    built = network("picodet", made_of, lambda: with_pixel_input(read(), 1), views=2)
    scale = np.array([[PICODET_SIDE, PICODET_SIDE]], dtype=np.float32)  # so that boxes come out as fractions
    return MirroredNetwork(built, PICODET_SIDE, cv2.INTER_CUBIC, decode_picodet, (scale,))


def decode_picodet(rows: Floats, _: Floats) -> Boxes:
    """Boxes from the network's outputs: class, score and corners in a row."""
    rows = rows[(rows[:, 0] >= 0) & (rows[:, 1] > MIN_SCORE)]
    return Boxes(np.clip(rows[:, 2:], 0, 1), rows[:, 1], rows[:, 0].astype(int))


def decode_lite0(anchors: Floats, odds: Floats, shifts: Floats, best: Floats) -> Boxes:
    """Boxes from the network's outputs: log odds of the classes at each anchor, its shift, and its best class."""
    likely = np.flatnonzero(best[0] > MIN_ODDS)  # of some 20,000, a few hundred
    y, x, height, width = anchors[likely].T
    dy, dx, dh, dw = shifts[0, likely].T
    centre = np.stack([x + dx * width, y + dy * height], axis=1)
    half = np.stack([width * np.exp(dw), height * np.exp(dh)], axis=1) / 2
    corners = np.clip(np.concatenate([centre - half, centre + half], axis=1), 0, 1)
    return likely_boxes(corners, 1 / (1 + np.exp(-odds[0, likely][:, CLASS_COLUMNS])))


def make_anchors(image_side: int) -> Floats:
    """Centre (y, x) and size (height, width) of each anchor, as fractions of the image, in the network's order."""
    anchors = []
    for stride in STRIDES:
        number = -(-image_side // stride)
        between = image_side / number  # pixels, where the last row is not cut off
        sides = [ANCHOR_SCALE * between * 2 ** (octave / 3) for octave in range(3)]
        sizes = [(side / ratio**0.5, side * ratio**0.5) for side in sides for ratio in ASPECT_RATIOS]
        rows, columns = np.mgrid[0:number, 0:number]
        centres = (np.stack([rows.ravel(), columns.ravel()], axis=1) + 0.5) * between
        anchors.append(np.concatenate([centres.repeat(len(sizes), axis=0), np.tile(sizes, (len(centres), 1))], axis=1))
    return (np.concatenate(anchors) / image_side).astype(np.float32)


def dequantize(model: ov.Model) -> ov.Model:
    """The network without its eight-bit steps, whose results depend on the processor; only their limits stay."""
    for node in model.get_ops():
        if node.get_type_name() == "FakeQuantize":
            low, high, *out = (node.input_value(index).get_node().get_data().item() for index in range(1, 5))
            if np.allclose((low, high), out, atol=1e-6):  # not so the input, which is scaled, too
                node.output(0).replace(op.clamp(node.input_value(0), low, high).output(0))
    return model


def without_sigmoid(model: ov.Model) -> ov.Model:
    """The network with log odds in place of scores, and the best of each anchor: nearly all are too low to matter."""
    odds, shifts = (result.input_value(0) for result in model.get_results())
    while odds.get_node().get_type_name() in ("Clamp", "Sigmoid"):  # limits before and after it
        odds = odds.get_node().input_value(0)
    best = op.reduce_max(odds, np.array([2]), False)
    return ov.Model([op.result(odds), op.result(shifts), op.result(best)], model.get_parameters())


def load(settings: Settings) -> ClosedSetDetector:
    """The detector, with its files fetched and its networks compiled."""
    networks = [load_network(source(files, settings)) for files in (PICODET, (LITE0,))]
    return ClosedSetDetector(FILES, networks, load_curves()[CURVE], settings)

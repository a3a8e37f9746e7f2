"""The 80 COCO classes by small networks with permissive licences: PicoDet and EfficientDet-Lite0."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
from openvino import Model
from openvino import opset13 as op
from openvino.frontend import FrontEndManager

from onprompt.settings import Settings
from onprompt.vision.boxes import Floats, Pixels, RawDetections
from onprompt.vision.calibration import load_curves
from onprompt.vision.closed_set import MIN_SCORE, ClosedSetDetector
from onprompt.vision.compiled import Source, network, source
from onprompt.vision.runtime import openvino_core, thread_safe_cache, with_pixel_input
from onprompt.vision.vocabulary import COCO

PICODET = ("picodet.pdmodel", "picodet.pdiparams")
LITE0 = "efficientdet-lite0.tflite"
FILES = (*PICODET, LITE0)
CURVE = "picodet + efficientdet"
PICODET_SIDE = 416
LITE0_SIDE = 320
# EfficientDet numbers its classes as COCO's files do, from 1 and with gaps: these ids are unused.
UNUSED_IDS = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
CLASS_COLUMNS = [number - 1 for number in range(1, 91) if number not in UNUSED_IDS]
STRIDES = (8, 16, 32, 64, 128)  # pixels between anchors
ASPECT_RATIOS = (1.0, 2.0, 0.5)
MIN_ODDS = math.log(MIN_SCORE / (1 - MIN_SCORE))


class PicoDet:
    """Boxes and scores of an image, and of its mirror image."""

    def __init__(self, made_of: Source) -> None:
        self.network = network(
            "picodet", made_of, lambda: with_pixel_input(openvino_core().read_model(made_of.file), 1), views=2
        )

    def __call__(self, pixels: Pixels) -> list[RawDetections]:
        return with_mirrored(self.detect, pixels, PICODET_SIDE, cv2.INTER_CUBIC)

    def detect(self, views: Sequence[Pixels]) -> list[RawDetections]:
        """Boxes and scores of images of the network's size."""
        scale = np.array([[PICODET_SIDE, PICODET_SIDE]], dtype=np.float32)  # so that boxes come out as fractions
        return self.network.read_all([[scale, view[None]] for view in views], self.decode)

    def decode(self, rows: Floats, _: Floats) -> RawDetections:
        """Boxes and scores from the network's outputs."""
        rows = rows[rows[:, 0] >= 0]
        scores = np.zeros((len(rows), len(COCO)), dtype=np.float32)
        scores[np.arange(len(rows)), rows[:, 0].astype(int)] = rows[:, 1]
        return np.clip(rows[:, 2:], 0, 1), scores


class EfficientDet:
    """Boxes and scores of an image, and of its mirror image."""

    def __init__(self, made_of: Source) -> None:
        self.network = network(
            "efficientdet", made_of, lambda: without_sigmoid(dequantize(read_tflite(made_of.file))), views=2
        )
        self.anchors = make_anchors(LITE0_SIDE)

    def __call__(self, pixels: Pixels) -> list[RawDetections]:
        return with_mirrored(self.detect, pixels, LITE0_SIDE, cv2.INTER_AREA)

    def detect(self, views: Sequence[Pixels]) -> list[RawDetections]:
        """Boxes and scores of images of the network's size."""
        return self.network.read_all([[view[None]] for view in views], self.decode)

    def decode(self, odds: Floats, shifts: Floats, best: Floats) -> RawDetections:
        """Boxes and scores from the network's outputs."""
        likely = np.flatnonzero(best[0] > MIN_ODDS)  # of some 20,000, a few hundred
        y, x, height, width = self.anchors[likely].T
        dy, dx, dh, dw = shifts[0, likely].T
        centre = np.stack([x + dx * width, y + dy * height], axis=1)
        half = np.stack([width * np.exp(dw), height * np.exp(dh)], axis=1) / 2
        boxes = np.clip(np.concatenate([centre - half, centre + half], axis=1), 0, 1)
        return boxes, 1 / (1 + np.exp(-odds[0, likely][:, CLASS_COLUMNS]))


def with_mirrored(
    detect: Callable[[Sequence[Pixels]], list[RawDetections]], pixels: Pixels, side: int, interpolation: int
) -> list[RawDetections]:
    """What is detected in an image of a network's size, and in its mirror image, as test-time augmentation."""
    small = np.asarray(cv2.resize(pixels, (side, side), interpolation=interpolation), dtype=np.uint8)
    own, (boxes, scores) = detect([small, np.asarray(cv2.flip(small, 1), dtype=np.uint8)])
    left, top, right, bottom = boxes.T
    return [own, (np.stack([1 - right, top, 1 - left, bottom], axis=1), scores)]


def read_tflite(path: Path) -> Model:
    """Scores and shifts of the anchors, without the step that some files end with, which OpenVINO does not know."""
    frontend = FrontEndManager().load_by_framework("tflite")
    model = frontend.convert_partially(frontend.load(str(path)))
    for node in model.get_ops():
        if node.get_type_name() == "TFFrameworkNode":
            shifts, scores, _ = node.input_values()
            return Model([op.result(scores), op.result(shifts)], model.get_parameters())
    return model


def make_anchors(image_side: int) -> Floats:
    """Centre (y, x) and size (height, width) of each anchor, as fractions of the image, in the network's order."""
    anchors = []
    for stride in STRIDES:
        number = -(-image_side // stride)
        sides = [4 * stride * 2 ** (octave / 3) for octave in range(3)]
        sizes = [(side / ratio**0.5, side * ratio**0.5) for side in sides for ratio in ASPECT_RATIOS]
        rows, columns = np.mgrid[0:number, 0:number]
        centres = (np.stack([rows.ravel(), columns.ravel()], axis=1) + 0.5) * stride
        anchors.append(np.concatenate([centres.repeat(len(sizes), axis=0), np.tile(sizes, (len(centres), 1))], axis=1))
    return (np.concatenate(anchors) / image_side).astype(np.float32)


def dequantize(model: Model) -> Model:
    """The network without its eight-bit steps, whose results depend on the processor; only their limits stay."""
    for node in model.get_ops():
        if node.get_type_name() != "FakeQuantize":
            continue
        limits = [node.input_value(index).get_node() for index in range(1, 5)]
        if all(limit.get_type_name() == "Constant" and limit.get_data().size == 1 for limit in limits):
            low, high, low_out, high_out = (float(limit.get_data().item()) for limit in limits)
            if np.allclose((low, high), (low_out, high_out), atol=1e-6):
                node.output(0).replace(op.clamp(node.input_value(0), low, high).output(0))
    return model


def without_sigmoid(model: Model) -> Model:
    """The network with log odds in place of scores, and the best of each anchor: nearly all are too low to matter."""
    odds, shifts = (result.input_value(0) for result in model.get_results())
    removed = []
    # The limits before the sigmoid are those of the heads, too.
    while (kind := odds.get_node().get_type_name()) in ("Clamp", "Sigmoid"):
        odds = odds.get_node().input_value(0)
        removed.append(kind)
    if removed.count("Sigmoid") != 1:
        raise ValueError(f"the network's scores should end with one sigmoid, not with {removed}")
    best = op.reduce_max(odds, np.array([2]), False)
    return Model([op.result(odds), op.result(shifts), op.result(best)], model.get_parameters())


@thread_safe_cache
def load_network(made_of: Source) -> PicoDet | EfficientDet:
    """One network, compiled once per process, whatever the settings."""
    return (EfficientDet if made_of.file.suffix == ".tflite" else PicoDet)(made_of)


def load(settings: Settings) -> ClosedSetDetector:
    """The detector, with its files fetched and its networks compiled."""
    networks = [load_network(source(files, settings)) for files in (PICODET, (LITE0,))]
    return ClosedSetDetector(FILES, networks, load_curves()[CURVE], settings)

"""The 80 COCO kinds by two small networks with permissive licences, PicoDet and EfficientDet-Lite0."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from openvino import Model
from openvino import opset13 as op

from onprompt.settings import Settings
from onprompt.vision.boxes import Floats
from onprompt.vision.closed import Closed, mirrored
from onprompt.vision.runtime import Network, core, once, taking_pixels
from onprompt.vision.tiles import Pixels, Raw
from onprompt.vision.vocabulary import COCO
from onprompt.weights.cache import paths

FILES = ("picodet.pdmodel", "picodet.pdiparams", "efficientdet-lite0.tflite")
PICODET_SIDE, EFFICIENTDET_SIDE = 416, 320
MEAN, SPREAD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet, as PicoDet was trained with
# EfficientDet numbers its kinds as COCO's files do, with gaps: these are the numbers that stand for nothing.
GAPS = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
NUMBERS = [number for number in range(1, 91) if number not in GAPS]
LEVELS = (8, 16, 32, 64, 128)  # pixels between anchors
RATIOS = (1.0, 2.0, 0.5)  # an anchor's width over its height


class PicoDet:
    """Boxes and scores of a picture."""

    def __init__(self, path: Path) -> None:
        self.network = Network(taking_pixels(core().read_model(path), 1, MEAN, SPREAD))

    def __call__(self, pixels: Pixels) -> Raw:
        scale = np.array([[PICODET_SIDE, PICODET_SIDE]], dtype=np.float32)  # so that boxes come out in shares
        small = cv2.resize(pixels, (PICODET_SIDE, PICODET_SIDE), interpolation=cv2.INTER_CUBIC)
        rows, _ = self.network.run([scale, small[None]])
        rows = rows[rows[:, 0] >= 0]
        scores = np.zeros((len(rows), len(COCO)), dtype=np.float32)
        scores[np.arange(len(rows)), rows[:, 0].astype(int)] = rows[:, 1]
        return np.clip(rows[:, 2:], 0, 1), scores


class EfficientDet:
    """Boxes and scores of a picture."""

    def __init__(self, path: Path) -> None:
        self.network = Network(in_full_precision(core().read_model(path)))
        self.anchors = anchors()
        self.kinds = [number - 1 for number in NUMBERS]

    def __call__(self, pixels: Pixels) -> Raw:
        small = cv2.resize(pixels, (EFFICIENTDET_SIDE, EFFICIENTDET_SIDE), interpolation=cv2.INTER_AREA)
        scores, shifts = self.network.run([small[None]])
        y, x, height, width = self.anchors.T
        dy, dx, dh, dw = shifts[0].T
        centre = np.stack([x + dx * width, y + dy * height], axis=1)
        half = np.stack([width * np.exp(dw), height * np.exp(dh)], axis=1) / 2
        boxes = np.clip(np.concatenate([centre - half, centre + half], axis=1), 0, 1)
        return boxes, scores[0][:, self.kinds]


def anchors() -> Floats:
    """Centre (y, x) and size (height, width) of each anchor, in shares of the picture, in the network's order."""
    found = []
    for step in LEVELS:
        number = -(-EFFICIENTDET_SIDE // step)
        sides = [4 * step * 2 ** (octave / 3) for octave in range(3)]
        sizes = [(side / ratio**0.5, side * ratio**0.5) for side in sides for ratio in RATIOS]
        rows, columns = np.mgrid[0:number, 0:number]
        centres = (np.stack([rows.ravel(), columns.ravel()], axis=1) + 0.5) * step
        found.append(np.concatenate([centres.repeat(len(sizes), axis=0), np.tile(sizes, (len(centres), 1))], axis=1))
    table: Floats = (np.concatenate(found) / EFFICIENTDET_SIDE).astype(np.float32)
    return table


def in_full_precision(model: Model) -> Model:
    """The network without its eight-bit steps, whose results depend on the processor; only their limits stay."""
    for node in model.get_ops():
        if node.get_type_name() != "FakeQuantize":
            continue
        limits = [node.input_value(index).get_node() for index in range(1, 5)]
        if all(each.get_type_name() == "Constant" and each.get_data().size == 1 for each in limits):
            low, high, low_out, high_out = (float(each.get_data().item()) for each in limits)
            if np.allclose((low, high), (low_out, high_out), atol=1e-6):
                node.output(0).replace(op.clamp(node.input_value(0), low, high).output(0))
    return model


@once
def networks(folder: Path) -> tuple[PicoDet, EfficientDet]:
    """Compiled once in a process, whatever the settings."""
    return PicoDet(folder / FILES[0]), EfficientDet(folder / FILES[2])


def load(settings: Settings) -> Closed:
    """The detector, with its files fetched and its networks compiled. Each network looks twice, once in a mirror."""
    both = networks(paths(FILES, settings)[FILES[0]].parent)
    return Closed(FILES, [look for each in both for look in (each, mirrored(each))], "picodet + efficientdet", settings)

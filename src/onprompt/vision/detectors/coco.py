"""The 80 COCO kinds by PicoDet: small, quick, permissive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from onprompt.language import ontology
from onprompt.settings import Settings
from onprompt.types import Box, Known, Picture, Seen, Sighting
from onprompt.vision.boxes import distinct
from onprompt.vision.calibration import calibrated
from onprompt.vision.runtime import Network, core, taking_pixels
from onprompt.weights.cache import paths

FILES = ("picodet.pdmodel", "picodet.pdiparams")
SIDE = 416
MEAN, SPREAD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet, as the network was trained with

LIST = """
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign,
parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella,
handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard,
surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange,
broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv,
laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase,
scissors, teddy bear, hair drier, toothbrush
"""
NAMES = tuple(" ".join(LIST.split()).split(", "))


class Coco:
    """PicoDet behind the detector protocol."""

    files = FILES

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        model = core().read_model(paths(self.files, settings)["picodet.pdmodel"])
        self.network = Network(taking_pixels(model, 1, MEAN, SPREAD))

    def see(self, picture: Picture, names: Sequence[str]) -> Seen:
        """All 80 kinds are looked for, whatever the names; they decide only what is known."""
        scale = np.array([[SIDE, SIDE]], dtype=np.float32)  # so that boxes come out in shares of the picture
        small = cv2.resize(picture.pixels, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
        rows, _ = self.network.run([scale, small[None]])
        rows = rows[rows[:, 0] >= 0]
        scores = calibrated(rows[:, 1], "picodet")
        likely = scores >= self.settings.missing_below
        rows, scores, kinds = rows[likely], scores[likely], rows[likely, 0].astype(int)
        boxes = np.clip(rows[:, 2:], 0, 1)
        known = self.known(names)
        found = [
            Sighting(label, NAMES[kinds[i]], Box(*map(float, boxes[i])), float(scores[i]), "picodet")
            for i in distinct(boxes, scores, kinds, self.settings.duplicate_overlap)
            for label in asked_by(NAMES[kinds[i]], known)
        ]
        return Seen(tuple(found), known)

    def known(self, names: Sequence[str]) -> dict[str, Known]:
        """How the names are understood, those that are."""
        return ontology.resolve_all(names, NAMES, self.settings.subtype_score)


def asked_by(word: str, known: Mapping[str, Known]) -> list[str]:
    """The names that a word answers for; its own where nobody asked."""
    return [name for name, how in known.items() if word in how.words] or [word]


def load(settings: Settings) -> Coco:
    """The detector, with its files fetched and its network compiled."""
    return Coco(settings)

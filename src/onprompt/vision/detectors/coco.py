"""The 80 COCO kinds by PicoDet: small, quick, permissive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from onprompt.settings import Settings
from onprompt.types import Box, Known, Look, Name, Picture, Seen, Sighting
from onprompt.vision.boxes import distinct
from onprompt.vision.calibration import calibrated
from onprompt.vision.runtime import Network, core, taking_pixels
from onprompt.vision.vocabulary import COCO, resolve_all
from onprompt.weights.cache import paths

FILES = ("picodet.pdmodel", "picodet.pdiparams")
SIDE = 416
MEAN, SPREAD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet, as the network was trained with


class Coco:
    """PicoDet behind the detector protocol."""

    files = FILES

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.network = network(paths(self.files, settings)["picodet.pdmodel"])

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One picture after the other: each already keeps all cores busy."""
        return [self.see_one(look.picture, look.names) for look in looks]

    def see_one(self, picture: Picture, names: Sequence[Name]) -> Seen:
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
            Sighting(label, COCO[kinds[i]], Box(*map(float, boxes[i])), float(scores[i]), "picodet")
            for i in distinct(boxes, scores, kinds, self.settings.duplicate_overlap)
            for label in asked_by(COCO[kinds[i]], known)
        ]
        return Seen(tuple(found), known)

    def known(self, names: Sequence[Name]) -> dict[str, Known]:
        """How the names are understood, those that are."""
        return resolve_all(names, COCO, self.settings.subtype_score)


@cache
def network(path: Path) -> Network:
    """Compiled once in a process, whatever the settings."""
    return Network(taking_pixels(core().read_model(path), 1, MEAN, SPREAD))


def asked_by(word: str, known: Mapping[str, Known]) -> list[str]:
    """The names that a word answers for; its own where nobody asked."""
    return [name for name, how in known.items() if word in how.words] or [word]


def load(settings: Settings) -> Coco:
    """The detector, with its files fetched and its network compiled."""
    return Coco(settings)

"""Detectors of the 80 COCO kinds: networks that look for all of them, whatever the names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Known, Look, Name, Picture, Seen
from onprompt.vision.boxes import Floats, distinct
from onprompt.vision.ranking import Finds, sightings
from onprompt.vision.tiles import Pixels, Raw, closer
from onprompt.vision.vocabulary import COCO, resolve_all

MOST = 1000  # boxes looked at, the surest
LEAST = 0.01  # raw scores up to this are not looked at


class Closed:
    """One network or several behind the detector protocol; where several look, their scores are fused."""

    def __init__(
        self, files: Sequence[str], networks: Sequence[Callable[[Pixels], Raw]], curve: str, settings: Settings
    ) -> None:
        self.files, self.networks, self.curve, self.settings = files, networks, curve, settings

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One picture after the other: each already keeps all cores busy."""
        return [self.see_one(look.picture, look.names) for look in looks]

    def see_one(self, picture: Picture, names: Sequence[Name]) -> Seen:
        """All 80 kinds are looked for; the names decide only what is known."""
        known = self.known(names)
        closely = any(name.fine for name in names)
        return Seen(sightings(self.finds(picture, known, closely), self.curve, self.settings.faintest), known)

    def finds(self, picture: Picture, known: Mapping[str, Known], closely: bool = False) -> dict[str, list[Finds]]:
        """What each network found of each name."""
        overlap, pixels = self.settings.duplicate_overlap, picture.pixels
        looks = (closer(network, pixels) if closely else network(pixels) for network in self.networks)
        raw = [best_boxes(*look, overlap) for look in looks]
        return {label: [of_kinds(each, kinds, overlap) for each in raw] for label, kinds in wanted(known).items()}

    def known(self, names: Sequence[Name]) -> dict[str, Known]:
        """How the names are understood, those that are."""
        return resolve_all(names, COCO, self.settings.subtype_score)


Found = tuple[Floats, Floats, NDArray[np.int_]]  # boxes, scores, kinds


def best_boxes(boxes: Floats, scores: Floats, overlap: float) -> Found:
    """The boxes whose score for a kind is worth looking at, duplicates of one kind merged."""
    cells, kinds = np.nonzero(scores > LEAST)
    likely = scores[cells, kinds]
    best = np.argsort(-likely, kind="stable")[:MOST]
    cells, kinds, likely = cells[best], kinds[best], likely[best]
    kept = distinct(boxes[cells], likely, kinds, overlap)
    return boxes[cells[kept]], likely[kept], kinds[kept]


def of_kinds(found: Found, kinds: Sequence[int], overlap: float) -> Finds:
    """What was found of some kinds that go by one name: a thing that is both a car and a truck is one vehicle."""
    boxes, scores, all_kinds = found
    mine = np.flatnonzero(np.isin(all_kinds, kinds))
    if len(kinds) > 1:
        mine = mine[distinct(boxes[mine], scores[mine], np.zeros(len(mine), dtype=int), overlap)]
    return Finds(boxes[mine], scores[mine], [COCO[kind] for kind in all_kinds[mine]])


def wanted(known: Mapping[str, Known]) -> dict[str, list[int]]:
    """The kinds that each name stands for; kinds that nobody asked for go by their own name."""
    asked = {label: [COCO.index(word) for word in how.words] for label, how in known.items()}
    taken = {kind for kinds in asked.values() for kind in kinds}
    return asked | {word: [kind] for kind, word in enumerate(COCO) if kind not in taken and word not in asked}


def mirrored(network: Callable[[Pixels], Raw]) -> Callable[[Pixels], Raw]:
    """The network looking at the picture in a mirror, which is another opinion."""

    def look(pixels: Pixels) -> Raw:
        boxes, scores = network(np.ascontiguousarray(pixels[:, ::-1]))
        left, top, right, bottom = boxes.T
        return np.stack([1 - right, top, 1 - left, bottom], axis=1), scores

    return look

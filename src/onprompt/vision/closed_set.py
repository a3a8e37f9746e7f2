"""Detectors of the 80 COCO classes: networks that look for all of them, whatever the names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress

import numpy as np

from onprompt.settings import Settings
from onprompt.types import Detections, Name, NameMatch, Picture
from onprompt.vision.boxes import (
    Boxes,
    Curve,
    Floats,
    Pixels,
    calibrate,
    highest_confidence,
    merge_tiles,
    non_max_suppression,
    with_tiles,
)
from onprompt.vision.vocabulary import COCO, resolve_all

MAX_BOXES = 1000  # candidates per image, the best
WORDS = np.array(COCO)


class ClosedSetDetector:
    """One network or several behind the detector protocol; the scores of several are fused.

    A network returns what it detects in the image, and what it detects in other views of it, if it has any.
    """

    def __init__(
        self,
        files: Sequence[str],
        networks: Sequence[Callable[[Pixels], Sequence[Boxes]]],
        curve: Curve,
        settings: Settings,
        packages: Sequence[str] = (),
    ) -> None:
        self.files, self.networks, self.curve, self.settings, self.packages = files, networks, curve, settings, packages

    def see(self, picture: Picture, names: Sequence[Name]) -> Detections:
        """What all networks detect; the names decide only what is known."""
        known = self.known(names)
        candidates = self.candidates(picture, known, any(name.fine for name in names), self.settings.min_confidence)
        return Detections(calibrate(candidates, self.curve, self.settings.min_confidence), known)

    def known(self, names: Sequence[Name]) -> dict[str, NameMatch]:
        """How the names are resolved, those that can be."""
        return resolve_all(names, COCO, self.settings.subtype_score)

    def candidates(
        self, picture: Picture, known: Mapping[str, NameMatch], tiled: bool = False, min_confidence: float = 0.0
    ) -> dict[str, list[Boxes]]:
        """The candidates of each network for each name, but of names that can't reach a confidence: most can't.

        Classes that no name covers go by their own name.
        """
        best = self.look(picture.pixels, tiled)
        classes = {label: [COCO.index(word) for word in resolved.words] for label, resolved in known.items()}
        covered = {index for own in classes.values() for index in own}
        classes |= {word: [number] for number, word in enumerate(COCO) if number not in covered and word not in classes}
        if min_confidence:
            scores = np.stack([best_scores(boxes, classes.values()) for boxes in best], axis=1)
            classes = dict(compress(classes.items(), highest_confidence(scores, self.curve) >= min_confidence))
        overlap, wanted = self.settings.duplicate_overlap, [index for own in classes.values() for index in own]
        kept = [boxes.only(np.isin(boxes.classes, wanted)).once(overlap) for boxes in best]
        return {label: [candidates_of(boxes, own, overlap) for boxes in kept] for label, own in classes.items()}

    def look(self, pixels: Pixels, tiled: bool) -> list[Boxes]:
        """What each network detects in each of its views of the image, best first."""
        parts = with_tiles(pixels) if tiled else [pixels]
        views = [view for network in self.networks for view in zip(*map(network, parts), strict=True)]
        found = [merge_tiles(view) if tiled else view[0] for view in views]
        return [boxes.only(np.argsort(-boxes.scores, kind="stable")[:MAX_BOXES]) for boxes in found]


def best_scores(best: Boxes, groups: Iterable[Sequence[int]]) -> Floats:
    """The best score of each group of classes; 0 for none."""
    by_class = np.zeros(len(COCO), dtype=np.float32)
    np.maximum.at(by_class, best.classes, best.scores)
    return np.array([max((by_class[index] for index in group), default=0.0) for group in groups], dtype=np.float32)


def candidates_of(kept: Boxes, classes: Sequence[int], overlap: float) -> Boxes:
    """The candidates of the classes that one name covers: what is both a car and a truck is one vehicle."""
    own = kept.only(np.isin(kept.classes, classes))
    if len(classes) > 1:
        own = own.only(non_max_suppression(own.corners, own.scores, np.zeros_like(own.classes), overlap))
    return own._replace(classes=WORDS[own.classes])

"""Detectors of the 80 COCO classes: networks that look for all of them, whatever the names."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Known, Look, Name, Picture, Seen
from onprompt.vision.boxes import Floats, Pixels, RawDetections, merge_tiles, non_max_suppression, with_tiles
from onprompt.vision.calibration import Candidates, Curve, calibrate, highest_confidence
from onprompt.vision.vocabulary import COCO, resolve_all

MAX_BOXES = 1000  # candidates per image, the best
MIN_SCORE = 0.01


class BestBoxes(NamedTuple):
    """Boxes, the score of each, and its class."""

    boxes: Floats
    scores: Floats
    classes: NDArray[np.int_]

    def only(self, chosen: Any) -> "BestBoxes":
        """Those that were chosen, by index or by mask."""
        return BestBoxes(*(each[chosen] for each in self))


class ClosedSetDetector:
    """One network or several behind the detector protocol; the scores of several are fused.

    A network returns what it detects in the image, and what it detects in other views of it, if it has any.
    """

    def __init__(
        self,
        files: Sequence[str],
        networks: Sequence[Callable[[Pixels], Sequence[RawDetections]]],
        curve: Curve,
        settings: Settings,
        packages: Sequence[str] = (),
    ) -> None:
        self.files, self.networks, self.curve, self.settings, self.packages = files, networks, curve, settings, packages

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One image after the other: each keeps all cores busy. The names decide only what is known."""
        seen = []
        for picture, names in looks:
            known = self.known(names)
            candidates = self.candidates(picture, known, any(name.fine for name in names), self.settings.min_confidence)
            seen.append(Seen(calibrate(candidates, self.curve, self.settings.min_confidence), known))
        return seen

    def candidates(
        self, picture: Picture, known: Mapping[str, Known], tiled: bool = False, min_confidence: float = 0.0
    ) -> dict[str, list[Candidates]]:
        """The candidates of each network for each name, but of names that can't reach a confidence: most can't."""
        pixels = picture.pixels
        best = [best_boxes(*view) for views in self.look(pixels, tiled) for view in views]
        classes = classes_by_label(known)
        if min_confidence:
            scores = np.stack([best_scores(boxes, classes.values()) for boxes in best], axis=1)
            classes = dict(compress(classes.items(), highest_confidence(scores, self.curve) >= min_confidence))
        overlap = self.settings.duplicate_overlap
        kept = [suppress(boxes, {index for own in classes.values() for index in own}, overlap) for boxes in best]
        return {label: [candidates_of(boxes, own, overlap) for boxes in kept] for label, own in classes.items()}

    def look(self, pixels: Pixels, tiled: bool) -> list[list[RawDetections]]:
        """What each network detects in each of its views of the image."""
        whole_and_tiles = with_tiles(pixels) if tiled else [pixels]

        def views(network: Callable[[Pixels], Sequence[RawDetections]]) -> list[RawDetections]:
            looks = [network(part) for part in whole_and_tiles]
            return [merge_tiles(view) for view in zip(*looks, strict=True)] if tiled else list(looks[0])

        return [views(network) for network in self.networks]

    def known(self, names: Sequence[Name]) -> dict[str, Known]:
        """How the names are resolved, those that can be."""
        return resolve_all(names, COCO, self.settings.subtype_score)


def best_boxes(boxes: Floats, scores: Floats) -> BestBoxes:
    """The boxes with the best class scores, best first."""
    cells, classes = np.nonzero(scores > MIN_SCORE)
    likely = scores[cells, classes]
    best = np.argsort(-likely, kind="stable")[:MAX_BOXES]
    return BestBoxes(boxes[cells[best]], likely[best], classes[best])


def best_scores(best: BestBoxes, groups: Iterable[Sequence[int]]) -> Floats:
    """The best score of each group of classes; 0 for none."""
    _, scores, classes = best
    by_class = np.zeros(len(COCO), dtype=np.float32)
    np.maximum.at(by_class, classes, scores)
    return np.array([max((by_class[index] for index in group), default=0.0) for group in groups], dtype=np.float32)


def suppress(best: BestBoxes, classes: Collection[int], overlap: float) -> BestBoxes:
    """The boxes of some classes, each object once in each class."""
    own = best.only(np.isin(best.classes, list(classes)))
    return own.only(non_max_suppression(*own, overlap))


def candidates_of(kept: BestBoxes, classes: Sequence[int], overlap: float) -> Candidates:
    """The candidates of the classes that one name covers: what is both a car and a truck is one vehicle."""
    own = kept.only(np.isin(kept.classes, classes))
    if len(classes) > 1:
        own = own.only(non_max_suppression(own.boxes, own.scores, np.zeros_like(own.classes), overlap))
    return Candidates(own.boxes, own.scores, [COCO[index] for index in own.classes])


def classes_by_label(known: Mapping[str, Known]) -> dict[str, list[int]]:
    """The classes that each name covers; classes that no name covers go by their own name."""
    asked = {label: [COCO.index(word) for word in resolved.words] for label, resolved in known.items()}
    covered = {index for classes in asked.values() for index in classes}
    return asked | {word: [index] for index, word in enumerate(COCO) if index not in covered and word not in asked}

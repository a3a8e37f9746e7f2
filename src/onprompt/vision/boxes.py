"""Boxes: as networks give them, in tiles, each object once, and as sightings with calibrated confidences.

The confidence of the k-th sighting of a name is the probability that the image holds at least k of it: the first tells
whether there is one at all, and as many as reach .5 is the likeliest count.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Box, Sighting

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]
LOWEST_SCORE = -1.0  # below all scores
MIN_SCORE = 0.01  # of a class, below which a network is taken not to see it
TILE = 0.6  # a tile's fraction of the image's width and height
MAX_AREA = 0.04  # what covers more of the image than this is detected well enough in the whole
TILES = tuple(product((0.0, 1 - TILE), repeat=2))  # the top left corner of each
EDGE = 0.01  # a box this close to a tile's inner edge is cut off by it
SAME_OBJECT = 0.5  # IoU from which boxes of two networks are one object
MAX_SCORE = 1 - 1e-4  # raw scores are clipped to this
CURVES = Path(__file__).with_name("curves.toml")
ROUNDING = 1e-4  # more than the same confidence can differ by when it is computed in another order


class Boxes(NamedTuple):
    """Boxes as shares of the image, with the score and the class of each: a number, or the detector's own word.

    A box may also have several scores in a row: one for each word, or for each network that saw it.
    """

    corners: Floats  # left, top, right, bottom
    scores: Floats
    classes: NDArray[Any]

    def only(self, chosen: Any) -> "Boxes":
        """Those that were chosen, by index or by mask."""
        return Boxes(*(each[chosen] for each in self))

    def once(self, overlap: float) -> "Boxes":
        """Each object of a class once: of boxes whose IoU exceeds a limit, the best."""
        return self.only(non_max_suppression(*self, overlap))


def likely_boxes(corners: Floats, scores: Floats) -> Boxes:
    """Each box once for each class that it may be, by a row of class scores for each box."""
    rows, classes = np.nonzero(scores > MIN_SCORE)
    return Boxes(corners[rows], scores[rows, classes], classes)


def together(parts: Sequence[Boxes]) -> Boxes:
    """All boxes of several parts."""
    return Boxes(*map(np.concatenate, zip(*parts, strict=True)))


def box_iou(boxes: Floats, others: Floats) -> Floats:
    """IoU of each box with each of the others: a matrix, or a row for a single box."""
    left, top, right, bottom = np.moveaxis(boxes[..., None, :], -1, 0)
    lefts, tops, rights, bottoms = others.T
    width = np.maximum(np.minimum(right, rights) - np.maximum(left, lefts), 0)
    height = np.maximum(np.minimum(bottom, bottoms) - np.maximum(top, tops), 0)
    shared = width * height
    joint = (right - left) * (bottom - top) + (rights - lefts) * (bottoms - tops) - shared
    return np.asarray(shared / np.maximum(joint, 1e-9), dtype=np.float32)


def non_max_suppression(boxes: Floats, scores: Floats, classes: NDArray[np.int_], threshold: float) -> list[int]:
    """Of boxes of one class whose IoU exceeds the threshold, the index of the best; best first."""
    with_sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1).astype(np.float64)
    empty = np.flatnonzero(with_sizes[:, 2:].min(axis=1, initial=np.inf) <= 0)  # which OpenCV takes for equal
    full = np.setdiff1d(np.arange(len(boxes)), empty)
    rectangles, likely, kinds = (each[full].tolist() for each in (with_sizes, scores, classes))
    kept = cv2.dnn.NMSBoxesBatched(rectangles, likely, kinds, LOWEST_SCORE, threshold) if rectangles else ()
    chosen = np.sort(np.concatenate([full[list(kept)], empty]).astype(int)).tolist()
    return sorted(chosen, key=lambda index: -float(scores[index]))


def with_tiles(pixels: Pixels) -> list[Pixels]:
    """The whole image, then its tiles."""
    height, width = pixels.shape[:2]
    tiles = [
        pixels[int(y * height) : int((y + TILE) * height), int(x * width) : int((x + TILE) * width)] for x, y in TILES
    ]
    return [pixels, *map(np.ascontiguousarray, tiles)]


def merge_tiles(views: Sequence[Boxes]) -> Boxes:
    """What was detected in the whole image, and the small objects that were detected in the tiles after it."""
    whole, *tiles = views
    parts = [whole]
    for (x, y), found in zip(TILES, tiles, strict=True):
        low, high = np.where([x, y], EDGE, -1), np.where([x, y], 2, 1 - EDGE)
        complete = (found.corners[:, :2] >= low).all(axis=1) & (found.corners[:, 2:] <= high).all(axis=1)
        placed = found.corners * TILE + np.array([x, y, x, y], dtype=np.float32)
        small = (placed[:, 2:] - placed[:, :2]).prod(axis=1) <= MAX_AREA
        parts.append(found._replace(corners=placed.astype(np.float32)).only(complete & small))
    return together(parts)


class Curve(NamedTuple):
    """Log odds that there are at least k, from the k-th best score of each network and the scores around it."""

    source: str  # the networks, as sightings name them
    floor: float  # raw scores are raised to this
    offset: float
    mix: tuple[float, ...]  # each network's weight in the mean score that the last three use
    own: tuple[float, ...]  # for the k-th score of each network
    first: float  # added for k = 1
    second: float  # added for k = 2
    rank: float  # for log k
    best: float  # for the best score, where k > 1
    before: float  # for the score before the k-th, where k > 1
    after: float  # for the score after it: one of many is seldom the last


@cache
def load_curves(path: Path = CURVES) -> dict[str, Curve]:
    """The fitted curves of a file by name; the file names the data."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: Curve(name, **table | {key: tuple(table[key]) for key in ("mix", "own")})
        for name, table in tables["curve"].items()
    }


def logit(scores: Floats, floor: float) -> Floats:
    """The log odds of raw scores, clipped to `floor` and MAX_SCORE."""
    clipped = np.clip(np.asarray(scores, dtype=np.float64), floor, MAX_SCORE)
    return np.log(clipped / (1 - clipped)).astype(np.float32)


def features(ordered: Floats, floor: float, mix: Sequence[float]) -> Floats:
    """A row for each k, from the ordered scores of each network (networks × k): what a curve multiplies."""
    odds = logit(ordered, floor)
    mean = np.array(mix) @ odds
    k = np.arange(ordered.shape[1])
    later = k > 0
    before = np.concatenate([mean[:1], mean[:-1]])
    after = np.concatenate([mean[1:], logit(np.zeros(1, dtype=np.float32), floor)])
    columns = [k == 0, k == 1, np.log1p(k), later * mean[:1], later * before, after]
    return np.column_stack([*odds, *columns]).astype(np.float32)


def count_probabilities(ordered: Floats, curve: Curve) -> Floats:
    """The probability that there are at least 1, 2, … objects; it never rises."""
    weights = np.array([*curve.own, *curve[5:]], dtype=np.float64)
    odds = curve.offset + features(ordered, curve.floor, curve.mix).astype(np.float64) @ weights
    return np.minimum.accumulate(1 / (1 + np.exp(-odds))).astype(np.float32)


def highest_confidence(best: Floats, curve: Curve) -> Floats:
    """A limit of the confidence of each name, from the best score of each network (names × networks).

    It is that of one sighting if each network had two of the best score. Of more sightings none is more confident.
    """
    odds = logit(best, curve.floor).astype(np.float64)
    lowest = logit(np.zeros(1, dtype=np.float32), curve.floor)
    after = np.maximum(curve.after * (odds @ curve.mix), curve.after * lowest)
    limit: Floats = 1 / (1 + np.exp(-(curve.offset + curve.first + odds @ curve.own + after)))
    return limit + ROUNDING


def ordered_scores(members: Sequence[Boxes], number: int) -> Floats:
    """The best scores of each network in descending order, padded with zeros to the same number."""
    ordered = np.zeros((len(members), number), dtype=np.float32)
    for row, member in zip(ordered, members, strict=True):
        best = np.sort(member.scores)[::-1][:number]
        row[: len(best)] = best
    return ordered


def fuse(members: Sequence[Boxes], curve: Curve) -> Boxes:
    """Each object once, by descending confidence: the best box and word, and the score of each network, 0 for none."""
    every = together(members)
    order = np.argsort(-every.scores, kind="stable")
    every = every.only(order)
    if len(members) == 1:
        return every._replace(scores=every.scores[:, None])
    network = np.repeat(np.arange(len(members)), [len(member.scores) for member in members])[order].tolist()
    iou = box_iou(every.corners, every.corners)
    near: list[list[tuple[int, float]]] = [[] for _ in order]  # better boxes in the same place
    better, worse = np.nonzero(np.triu(iou >= SAME_OBJECT, 1))
    for first, second, shared in zip(better.tolist(), worse.tolist(), iou[better, worse].tolist(), strict=True):
        near[second].append((first, shared))
    objects: dict[int, list[float]] = {}  # the score of each network, by the index of the best box
    for index, score in enumerate(every.scores.tolist()):
        free = [pair for pair in near[index] if pair[0] in objects and not objects[pair[0]][network[index]]]
        best, _ = max(free, key=itemgetter(1), default=(index, 1.0))
        objects.setdefault(best, [0.0] * len(members))[network[index]] = score
    scores = np.array(list(objects.values()), dtype=np.float32).reshape(-1, len(members))
    own = np.array(curve.own)
    likelihood = np.array([np.dot(own, odds) for odds in logit(scores, curve.floor)])
    fused = every.only(np.array(list(objects), dtype=int))._replace(scores=scores)
    return fused.only(np.argsort(-likelihood, kind="stable"))


def calibrate(candidates: Mapping[str, Sequence[Boxes]], curve: Curve, min_confidence: float) -> tuple[Sighting, ...]:
    """The sightings of each name from a minimum confidence on."""
    sightings = []
    for label, members in candidates.items():
        objects = fuse(members, curve)
        if number := len(objects.scores):
            confidences = count_probabilities(ordered_scores(members, number), curve)
            number = int((confidences >= min_confidence).sum())  # the first ones, since confidences never rise
            found = (each[:number].tolist() for each in (objects.classes, objects.corners, confidences))
            sightings += [
                Sighting(label, word, Box(*corners), confidence, curve.source)
                for word, corners, confidence in zip(*found, strict=True)
            ]
    return tuple(sorted(sightings, key=lambda sighting: -sighting.confidence))

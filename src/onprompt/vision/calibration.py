"""From raw scores to sightings with calibrated confidences.

The confidence of the k-th sighting of a name is the probability that the image holds at least k of it: the first tells
whether there is one at all, and as many as reach .5 is the likeliest count.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from onprompt.types import Box, Sighting
from onprompt.vision.boxes import Floats, box_iou

SAME_OBJECT = 0.5  # IoU from which boxes of two networks are one object
MAX_SCORE = 1 - 1e-4  # raw scores are clipped to this
CURVES = Path(__file__).with_name("curves.toml")
ROUNDING = 1e-4  # more than the same confidence can differ by when it is computed in another order


class Candidates(NamedTuple):
    """What one network detected of one name: boxes as fractions of the image, raw scores, and its own words."""

    boxes: Floats
    scores: Floats
    words: Sequence[str]


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


def ordered_scores(members: Sequence[Candidates], number: int) -> Floats:
    """The best scores of each network in descending order, padded with zeros to the same number."""
    ordered = np.zeros((len(members), number), dtype=np.float32)
    for row, member in zip(ordered, members, strict=True):
        best = np.sort(member.scores)[::-1][:number]
        row[: len(best)] = best
    return ordered


class FusedObject(NamedTuple):
    """One object as several networks see it: the best box and word, and the score of each network, 0 for none."""

    box: Floats
    word: str
    scores: Floats


def fuse(members: Sequence[Candidates], curve: Curve) -> list[FusedObject]:
    """Each object once, by descending confidence."""
    boxes, scores = (np.concatenate([getattr(member, field) for member in members]) for field in ("boxes", "scores"))
    words = [word for member in members for word in member.words]
    order = np.argsort(-scores, kind="stable")
    if len(members) == 1:
        return [FusedObject(boxes[index], words[index], scores[index, None]) for index in order]
    network = np.repeat(np.arange(len(members)), [len(member.scores) for member in members])[order].tolist()
    boxes, scores = boxes[order], scores[order]
    iou = box_iou(boxes, boxes)
    near: list[list[tuple[int, float]]] = [[] for _ in order]  # better boxes in the same place
    better, worse = np.nonzero(np.triu(iou >= SAME_OBJECT, 1))
    for first, second, shared in zip(better.tolist(), worse.tolist(), iou[better, worse].tolist(), strict=True):
        near[second].append((first, shared))
    objects: dict[int, list[float]] = {}  # the score of each network, by the index of the best box
    for index, score in enumerate(scores.tolist()):
        free = [pair for pair in near[index] if pair[0] in objects and not objects[pair[0]][network[index]]]
        best, _ = max(free, key=itemgetter(1), default=(index, 1.0))
        objects.setdefault(best, [0.0] * len(members))[network[index]] = score
    found = np.array(list(objects.values()), dtype=np.float32).reshape(-1, len(members))
    fused = [FusedObject(boxes[best], words[order[best]], row) for best, row in zip(objects, found, strict=True)]
    own = np.array(curve.own)
    likelihood = [float(np.dot(own, odds)) for odds in logit(found, curve.floor)]
    return [fused[place] for place in sorted(range(len(fused)), key=lambda place: -likelihood[place])]


def calibrate(
    candidates: Mapping[str, Sequence[Candidates]], curve: Curve, min_confidence: float
) -> tuple[Sighting, ...]:
    """The sightings of each name from a minimum confidence on."""
    sightings = []
    for label, members in candidates.items():
        if objects := fuse(members, curve):
            confidences = count_probabilities(ordered_scores(members, len(objects)), curve)
            number = int((confidences >= min_confidence).sum())  # the first ones, since confidences never rise
            sightings += [
                Sighting(label, item.word, Box(*item.box.tolist()), confidence, curve.source)
                for item, confidence in zip(objects, confidences[:number].tolist(), strict=False)
            ]
    return tuple(sorted(sightings, key=lambda sighting: -sighting.confidence))

"""From raw scores to sightings: duplicates merged, and a confidence that counts.

The confidence of the k-th sighting of a name is the probability that the picture holds at least k of it. So the first
tells whether there is one at all, and as many as reach .5 is the likeliest number.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from onprompt.types import Box, Sighting
from onprompt.vision.boxes import Floats, overlaps

SAME_OBJECT = 0.5  # IoU from which boxes of two networks are one object
SURE = 1 - 1e-4  # raw scores above this are taken as this


class Finds(NamedTuple):
    """What one network found of one name: boxes in shares of the picture, raw scores, and its own words."""

    boxes: Floats
    scores: Floats
    words: Sequence[str]


class Curve(NamedTuple):
    """Log odds that there are at least k, from the k-th best score of each network and the scores around it."""

    floor: float  # raw scores below this are taken as this
    offset: float
    mix: tuple[float, ...]  # each network's part in the mean score that the last three look at
    own: tuple[float, ...]  # for the k-th score of each network
    first: float  # added for k = 1
    second: float  # added for k = 2
    rank: float  # for log k
    best: float  # for the best score, where k > 1
    before: float  # for the score before the k-th, where k > 1
    after: float  # for the score after it: what is one of many is seldom the last


@cache
def curves() -> dict[str, Curve]:
    """The fitted curves by name; curves.toml says on what they were fitted."""
    tables = tomllib.loads(Path(__file__).with_name("curves.toml").read_text(encoding="utf-8"))
    return {
        name: Curve(**table | {key: tuple(table[key]) for key in ("mix", "own")})
        for name, table in tables["curve"].items()
    }


def logit(scores: Floats, floor: float) -> Floats:
    """The log odds of raw scores; none is below the floor, nor quite sure."""
    q = np.clip(np.asarray(scores, dtype=np.float64), floor, SURE)
    return np.log(q / (1 - q)).astype(np.float32)


def features(ordered: Floats, floor: float, mix: Sequence[float]) -> Floats:
    """A row for each k, from the ordered scores of each network (networks × k): what a curve multiplies."""
    odds = logit(ordered, floor)
    mean = np.array(mix) @ odds
    k = np.arange(ordered.shape[1])
    later = k > 0
    before = np.concatenate([mean[:1], mean[:-1]])
    after = np.concatenate([mean[1:], logit(np.zeros(1, dtype=np.float32), floor)])
    columns = [k == 0, k == 1, np.log1p(k), later * mean[:1], later * before, after]
    table: Floats = np.column_stack([*odds, *columns]).astype(np.float32)
    return table


def at_least(ordered: Floats, curve: Curve) -> Floats:
    """The probability that there are at least 1, 2, … objects; it never rises."""
    weights = np.array([*curve.own, *curve[4:]], dtype=np.float64)
    odds = curve.offset + features(ordered, curve.floor, curve.mix).astype(np.float64) @ weights
    chances: Floats = np.minimum.accumulate(1 / (1 + np.exp(-odds))).astype(np.float32)
    return chances


def ordered_scores(members: Sequence[Finds], number: int) -> Floats:
    """The best scores of each network, in falling order, filled up to the same number."""
    table = np.zeros((len(members), number), dtype=np.float32)
    for row, finds in zip(table, members, strict=True):
        best = np.sort(finds.scores)[::-1][:number]
        row[: len(best)] = best
    return table


class Joint(NamedTuple):
    """One object as several networks see it: the surest box and word, and the score of each network, 0 for none."""

    box: Floats
    word: str
    scores: Floats


def joined(members: Sequence[Finds], curve: Curve) -> list[Joint]:
    """Each object once, the surest first."""
    if len(members) == 1:
        (finds,) = members
        order = np.argsort(-finds.scores, kind="stable")
        return [Joint(finds.boxes[index], finds.words[index], finds.scores[index, None]) for index in order]
    boxes, scores = (np.concatenate([getattr(each, part) for each in members]) for part in ("boxes", "scores"))
    words = [word for each in members for word in each.words]
    network = np.repeat(np.arange(len(members)), [len(each.scores) for each in members])
    near = overlaps(boxes, boxes)
    first: list[int] = []  # the box that each object was first seen by
    found: list[Joint] = []
    for index in np.argsort(-scores, kind="stable"):
        free = [place for place, each in enumerate(found) if not each.scores[network[index]]]
        place = max(free, key=lambda each: near[index, first[each]], default=-1)
        if place < 0 or near[index, first[place]] < SAME_OBJECT:
            place = len(found)
            first.append(int(index))
            found.append(Joint(boxes[index], words[index], np.zeros(len(members), dtype=np.float32)))
        found[place].scores[network[index]] = scores[index]
    return sorted(found, key=lambda each: -float(np.dot(curve.own, logit(each.scores, curve.floor))))


def sightings(found: Mapping[str, Sequence[Finds]], source: str, least: float) -> tuple[Sighting, ...]:
    """The sightings of each name that are at least so sure; the curve goes by the name of its source."""
    curve = curves()[source]
    seen = []
    for label, members in found.items():
        if objects := joined(members, curve):
            chances = at_least(ordered_scores(members, len(objects)), curve)
            seen += [
                Sighting(label, each.word, Box(*map(float, each.box)), float(chance), source)
                for each, chance in zip(objects, chances, strict=True)
                if chance >= least
            ]
    return tuple(sorted(seen, key=lambda sighting: -sighting.confidence))

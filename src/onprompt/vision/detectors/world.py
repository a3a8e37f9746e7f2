"""Objects by name, from some 2,100 names, by YOLO-World: the words of the prompt and others that compete with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Known, Look, Name, Picture, Seen, Sighting
from onprompt.vision import vocabulary, world_graph
from onprompt.vision.boxes import Floats, distinct
from onprompt.vision.calibration import calibrated, logit
from onprompt.vision.runtime import Network, taking_pixels
from onprompt.weights.cache import paths
from onprompt.weights.torchfile import read_tensors

SIDE = 640
GREY = 114  # the border that the network was trained with
LEAST = 0.01  # raw scores below this are never looked at
FAINT = 0.15  # odds added to each member of a kind: where all are fainter than this, none stands out


class Claims(NamedTuple):
    """Cells of the picture that a name's words claim; without a label, each word speaks for itself."""

    label: str
    cells: NDArray[np.int_]
    words: NDArray[np.int_]
    scores: Floats


class World:
    """YOLO-World behind the detector protocol."""

    files = ("yolov8s-world.pt", *vocabulary.FILES)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        folder = paths(self.files, settings)["yolov8s-world.pt"].parent
        self.vocabulary, self.network = loaded(folder)

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One picture after the other: each already keeps all cores busy."""
        return [self.see_one(look.picture, look.names) for look in looks]

    def see_one(self, picture: Picture, names: Sequence[Name]) -> Seen:
        """Look for the names that have a vector, beside common objects that might be mistaken for them."""
        known = self.known(names)
        asked = [name for name in names if name.label in known]
        words = self.words(asked, known)
        text = self.vocabulary.vectors[[self.vocabulary.rows[word] for word in words]]
        pixels, scale = letterboxed(picture.pixels)
        distances, scores = self.network.run([pixels[None], text])
        claims = [*asked_claims(scores, words, asked, known), other_claims(scores, words, known)]
        boxes = decoded(distances, pixels.shape[:2])
        found = (sighting for each in claims for sighting in self.sightings(each, boxes, words, scale))
        return Seen(tuple(found), known)

    def known(self, names: Sequence[Name]) -> dict[str, Known]:
        """How the names are understood, those that are."""
        return vocabulary.resolve_all(names, self.vocabulary.rows, self.settings.subtype_score)

    def words(self, asked: Sequence[Name], known: Mapping[str, Known]) -> list[str]:
        """The words of the prompt, then as distractors their rivals and the COCO names, less what may mean the same."""
        rows = self.vocabulary.rows
        words = [word for how in known.values() for word in how.words]
        words += [word for name in asked if name.split for word in (name.split[0], *name.split[1])]
        taken = {rows[word] for word in words}
        rivals = [word for name in asked for word in sorted(name.rivals) if word in rows]
        for word in (*rivals, *vocabulary.COCO):
            if rows[word] not in taken and not any(name.may_be(word) for name in asked):
                words.append(word)
        return list(dict.fromkeys(words))

    def sightings(self, claims: Claims, boxes: Floats, words: list[str], scale: tuple[float, float]) -> list[Sighting]:
        """The boxes that are claimed with enough confidence, duplicates merged."""
        sure = calibrated(claims.scores, "world")
        likely = sure >= self.settings.missing_below
        cells, word, sure = claims.cells[likely], claims.words[likely], sure[likely]
        group = np.zeros_like(word) if claims.label else word
        kept = distinct(boxes[cells], sure, group, self.settings.duplicate_overlap)
        shares = np.clip(boxes[cells] / np.array([*scale, *scale], dtype=np.float32), 0, 1)
        return [
            Sighting(
                claims.label or words[word[i]],
                words[word[i]],
                Box(*map(float, shares[i])),
                float(sure[i]),
                "yolo-world",
            )
            for i in kept
        ]


@cache
def loaded(folder: Path) -> tuple[vocabulary.Vocabulary, Network]:
    """Built once in a process, whatever the settings."""
    model = world_graph.build(read_tensors(folder / "yolov8s-world.pt"))
    return vocabulary.read(folder), Network(taking_pixels(model, 0, (0, 0, 0), (255, 255, 255)))


def asked_claims(
    scores: Floats, words: list[str], asked: Sequence[Name], known: Mapping[str, Known]
) -> Iterator[Claims]:
    """For each name, the cells that it may claim: those where no word wins that can't be said of the same thing.

    A woman may be called a person too, so those two do not compete; a zebra and a horse do.
    """
    winner = scores.argmax(axis=0)
    for name in asked:
        answers = known[name.label].words
        mine = [index for index, word in enumerate(words) if word in answers]
        friendly = np.array([word in answers or name.may_be(word) for word in words])
        top = told_apart(scores, words, name) if name.split else scores[mine].max(axis=0)
        cells = np.flatnonzero(friendly[winner] & (top >= LEAST))
        yield Claims(name.label, cells, np.array(mine)[scores[mine][:, cells].argmax(axis=0)], top[cells])


def told_apart(scores: Floats, words: list[str], name: Name) -> Floats:
    """The kind's score times the name's share among the kind's members, by their odds.

    The words "man" and "woman" score low and alike wherever there is a person: only their ratio says something.
    """
    kind, parts = name.split or ("", ())
    odds = {part: np.exp(logit(scores[words.index(part)])) + FAINT for part in parts}
    covered = [odds[part] for part in parts if part in name.same or part in name.members]
    share: Floats = scores[words.index(kind)] * sum(covered) / sum(odds.values())
    return share


def other_claims(scores: Floats, words: list[str], known: Mapping[str, Known]) -> Claims:
    """The cells that a distractor wins: things in the picture that nobody asked for."""
    asked = {word for how in known.values() for word in how.words}
    winner, top = scores.argmax(axis=0), scores.max(axis=0)
    other = np.array([word not in asked for word in words])
    cells = np.flatnonzero(other[winner] & (top >= LEAST))
    return Claims("", cells, winner[cells], top[cells])


def letterboxed(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[float, float]]:
    """The picture with its long side at SIDE, padded to whole cells; and its width and height there."""
    height, width = pixels.shape[:2]
    ratio = SIDE / max(height, width)
    inner = max(1, round(width * ratio)), max(1, round(height * ratio))
    coarse = max(world_graph.STRIDES)
    padded = np.full((-(-inner[1] // coarse) * coarse, -(-inner[0] // coarse) * coarse, 3), GREY, dtype=np.uint8)
    method = cv2.INTER_AREA if ratio < 1 else cv2.INTER_LINEAR
    padded[: inner[1], : inner[0]] = cv2.resize(pixels, inner, interpolation=method)
    return padded, (float(inner[0]), float(inner[1]))


def decoded(distances: Floats, shape: tuple[int, ...]) -> Floats:
    """Boxes in pixels of the network's input, from the distances of each cell's centre to its box's sides."""
    centres, strides = [], []
    for stride in world_graph.STRIDES:
        rows, columns = np.mgrid[0 : shape[0] // stride, 0 : shape[1] // stride]
        centres.append(np.stack([columns.ravel(), rows.ravel()], axis=1) + 0.5)
        strides.append(np.full((centres[-1].shape[0], 1), stride))
    centre, stride_column = np.concatenate(centres), np.concatenate(strides)
    low, high = centre - distances[:2].T, centre + distances[2:].T
    boxes: Floats = (np.concatenate([low, high], axis=1) * stride_column).astype(np.float32)
    return boxes


def load(settings: Settings) -> World:
    """The detector, with its files fetched and its network built."""
    return World(settings)

"""Does a text describe a picture as a whole? A small model of our own: two towers, a cosine, a probability.

Trained by training/matcher/train.py on photos with captions; MATCHER.md beside this file says what it can do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op

from onprompt.settings import Settings
from onprompt.types import Picture
from onprompt.vision import backbone
from onprompt.vision.blocks import Node
from onprompt.vision.boxes import Floats
from onprompt.vision.runtime import Network
from onprompt.vision.words import FILES as WORD_FILES
from onprompt.vision.words import words
from onprompt.weights.cache import paths

FILES = (*backbone.FILES, *WORD_FILES)
TRAINED = Path(__file__).with_name("matcher.npz")
KEPT = 4096  # pictures whose vectors are remembered


@cache
def trained() -> dict[str, Floats]:
    """The numbers that training found."""
    with np.load(TRAINED, allow_pickle=False) as data:
        return {name: data[name].astype(np.float32) for name in data.files}


def tower(side: str, weights: Mapping[str, Floats]) -> ov.Model:
    """From numbers of pictures, or of texts, to vectors of length 1: those of the model's seeds side by side.

    A graph and not plain numpy, whose threads would get into the way of the other networks'.
    """
    x = op.parameter([-1, len(weights[f"{side}.mean"])], np.float32)
    limit = float(weights["limit"])
    scaled = op.divide(op.subtract(x, weights[f"{side}.mean"]), weights[f"{side}.spread"])
    y = op.clamp(scaled, -limit, limit)
    y = op.matmul(y, weights[f"{side}.basis"], False, False) if f"{side}.basis" in weights else y
    named = [weights[f"{side}.{name}"] for name in ("in", "in_bias", "out", "skip", "bias")]
    found = [of_seed(y, *seed) for seed in zip(*named, strict=True)]
    vectors = op.divide(op.concat(found, 1), np.float32(len(found) ** 0.5))
    if side == "text":
        vectors = op.concat([vectors, op.multiply(nearness(vectors, weights), np.float32(-1))], 1)
    return ov.Model([vectors], [x], f"matcher of {side}s")


def nearness(vectors: Node, weights: Mapping[str, Floats]) -> Node:
    """What is taken off a text's cosines: a share of how near it is to the photos, of those known, that suit it best.

    Some texts are near to many pictures and others to none, and that says nothing of this picture.
    """
    cosines = op.matmul(vectors, weights["known"], False, True)
    best = op.topk(cosines, np.int64(weights["nearest"]), 1, "max", "none").output(0)
    return op.multiply(op.reduce_mean(best, np.array([1]), True), weights["share"])


def of_seed(x: Node, into: Floats, into_bias: Floats, out: Floats, skip: Floats, bias: Floats) -> Node:
    """A linear map and a two-layer one beside it, to a vector of length 1."""
    inner = op.gelu(op.add(op.matmul(x, into, False, False), into_bias), "tanh")
    found = op.add(op.add(op.matmul(x, skip, False, False), op.matmul(inner, out, False, False)), bias)
    return op.normalize_l2(found, np.array([1]), 1e-12, "add")


@cache
def towers() -> dict[str, Network]:
    """Compiled once in a process."""
    return {side: Network(tower(side, trained())) for side in ("image", "text")}


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture to the matcher: vectors of the whole and of four parts, and the chance that it is artwork.

    A vector ends with a 1, so that its product with a text's is their cosine less what is taken off for the text.
    """

    vectors: Floats
    artwork: float


class Matcher:
    """Pictures and texts as vectors that can be compared; the last few thousand pictures are remembered."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.weights = trained()
        self.remembered: OrderedDict[bytes, Pictured] = OrderedDict()
        self.lock = Lock()

    def pictured(self, picture: Picture) -> Pictured:
        """A picture's vectors, computed once."""
        small = backbone.shrunk(picture.pixels)
        key = blake2b(repr(small.shape).encode() + small.tobytes()).digest()
        with self.lock:
            if key in self.remembered:
                self.remembered.move_to_end(key)
                return self.remembered[key]
        numbers = backbone.numbers(small, self.settings)
        (vectors,) = towers()["image"].run([numbers])
        found = Pictured(np.pad(vectors, ((0, 0), (0, 1)), constant_values=1.0), self.artwork(numbers[0]))
        with self.lock:
            self.remembered[key] = found
            if len(self.remembered) > KEPT:
                self.remembered.popitem(last=False)
        return found

    def texts(self, texts: Sequence[str]) -> Floats:
        """The vectors of some texts; each ends with what is taken off its cosines."""
        table = words(paths(WORD_FILES, self.settings)[WORD_FILES[0]].parent)
        numbers = np.stack([table.numbers(text, self.weights["rarity"]) for text in texts])
        (vectors,) = towers()["text"].run([numbers])
        return vectors

    def chances(self, picture: Picture, texts: Sequence[str]) -> list[float]:
        """The probability that each text describes the picture as a whole, and not another one."""
        if not texts:
            return []
        cosines = self.texts(texts) @ self.pictured(picture).vectors[0]
        return [round(float(chance), 4) for chance in logistic(cosines, self.weights["whole"])]

    def phrase_chances(self, picture: Picture, phrases: Sequence[str]) -> list[float]:
        """The probability that each phrase is true of the picture or of a part of it."""
        if not phrases:
            return []
        cosines = (self.texts(phrases) @ self.pictured(picture).vectors.T).max(axis=1)
        return [round(float(chance), 4) for chance in logistic(cosines, self.weights["phrase"])]

    def artwork(self, numbers: Floats) -> float:
        """The probability that a picture is drawn or painted rather than photographed."""
        inner = slice(0, backbone.INNER)
        x = (numbers[inner] - self.weights["image.mean"][inner]) / self.weights["image.spread"][inner]
        x = np.clip(x, -self.weights["limit"], self.weights["limit"])
        return float(logistic(x @ self.weights["artwork"], self.weights["artwork_line"]))


def logistic(x: Any, line: Floats) -> Any:
    """A probability, by a steepness and a shift."""
    return 1 / (1 + np.exp(-(line[0] * x + line[1])))


made: dict[Settings, Matcher] = {}
making = Lock()


def matcher(settings: Settings) -> Matcher:
    """One for each set of settings, whichever thread asks first."""
    with making:
        return made.setdefault(settings, Matcher(settings))

"""How well a text describes an image as a whole: two small towers of our own, a cosine, a probability.

Trained by training/matcher/train.py on photos with captions; vision/MATCHER.md is the model card.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Matcher, Picture
from onprompt.vision import backbone
from onprompt.vision.boxes import Floats
from onprompt.vision.runtime import LatestValues, Network, Node, Source, network, op, ov, source, thread_safe_cache
from onprompt.weights.cache import paths

TEXT_FILES = ("wordllama.safetensors", "wordllama-tokens.json")
TENSOR = "embedding.weight"
MAX_LENGTH = 20_000  # characters of a text that are read
FILES = (*backbone.FILES, *TEXT_FILES)
WEIGHTS = Path(__file__).parents[1] / "matcher.npz"
ARTWORK_FILES = (*backbone.FILES, backbone.LABELS, str(WEIGHTS))
BATCH = 8  # texts
CACHE_SIZE = 512  # image embeddings of 10 kB each


@cache
def weight(name: str) -> Floats:
    """One of the trained weights, read when it is first needed: the towers are mostly compiled already."""
    with np.load(WEIGHTS, allow_pickle=False) as file:
        return np.asarray(file[name], dtype=np.float32)


def build_tower(side: str, weight: Callable[[str], Floats] = weight) -> ov.Model:
    """From image or text features to embeddings of length 1: those of the model's seeds, concatenated.

    A graph rather than numpy, whose threads would compete with the networks'. A text's embedding ends with its negative
    hubness: some texts are close to many images and others to none, which says nothing about this image.
    """
    x = op.parameter([-1, len(weight(f"{side}.mean"))], np.float32)
    limit = float(weight("limit"))
    scaled = op.divide(op.subtract(x, weight(f"{side}.mean")), weight(f"{side}.spread"))
    y = op.clamp(scaled, -limit, limit)
    y = op.matmul(y, weight("image.basis"), False, False) if side == "image" else y
    seeds = zip(*(weight(f"{side}.{name}") for name in ("in", "in_bias", "out", "skip", "bias")), strict=True)
    heads = [projection_head(y, *seed) for seed in seeds]
    vectors = op.divide(op.concat(heads, 1), np.float32(len(heads) ** 0.5))
    if side == "text":  # its mean cosine with its nearest neighbors among known photos, of which a share is taken off
        cosines = op.matmul(vectors, weight("known"), False, True)
        nearest = op.topk(cosines, np.int64(weight("nearest")), 1, "max", "none").output(0)
        hubness = op.multiply(op.reduce_mean(nearest, np.array([1]), True), weight("share"))
        vectors = op.concat([vectors, op.multiply(hubness, np.float32(-1))], 1)
    return ov.Model([vectors], [x], f"matcher of {side}s")


def projection_head(x: Node, into: Floats, into_bias: Floats, out: Floats, skip: Floats, bias: Floats) -> Node:
    """A linear map and a two-layer one beside it, to a vector of length 1."""
    hidden = op.gelu(op.add(op.matmul(x, into, False, False), into_bias), "tanh")
    vector = op.add(op.add(op.matmul(x, skip, False, False), op.matmul(hidden, out, False, False)), bias)
    return op.normalize_l2(vector, np.array([1]), 1e-12, "add")


@thread_safe_cache
def load_towers(made_of: Source) -> dict[str, Network]:
    """Both towers, compiled once per process."""
    return {side: network(f"matcher {side}", made_of, partial(build_tower, side)) for side in ("image", "text")}


class EmbeddingTable:
    """The tokenizer, and a vector for each token; a safetensors file is a JSON header and plain numbers."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(folder / TEXT_FILES[1]))
        data = (folder / TEXT_FILES[0]).read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        entry = json.loads(data[8:start])[TENSOR]
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data, dtype=np.float16, count=(last - first) // 2, offset=start + first)
        self.vectors: NDArray[np.float16] = numbers.reshape(entry["shape"])

    def tokens(self, text: str) -> list[int]:
        """The token ids of a text; an empty one has the first."""
        valid = text[:MAX_LENGTH].lower().strip().encode("utf-8", "replace").decode()  # lone surrogates are no text
        return self.tokenizer.encode(valid, add_special_tokens=False).ids or [0]

    def features(self, text: str, rarity: Floats) -> Floats:
        """The mean of the token vectors weighted by rarity, and their maximum and minimum."""
        ids = self.tokens(text)
        vectors, weights = self.vectors[ids].astype(np.float32), rarity[ids][:, None]
        mean = (vectors * weights).sum(axis=0) / max(float(weights.sum()), 1e-6)
        return np.concatenate([mean, vectors.max(axis=0), vectors.min(axis=0)])


load_embeddings = thread_safe_cache(EmbeddingTable)


@dataclass(frozen=True, slots=True)
class ImageEmbedding:
    """The vectors of the whole image and of four crops, and the probability that it is artwork.

    A vector ends with a 1, so that its product with a text's is their cosine with the text's hubness taken off.
    `classes` are the probabilities of the classifier's classes, each where it is highest.
    """

    vectors: Floats
    artwork: float
    classes: Floats


class SmallMatcher(Matcher):
    """Images and texts as vectors that can be compared; those of the latest images are cached."""

    files = (*FILES, str(WEIGHTS))

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.towers = load_towers(source([str(WEIGHTS)], settings))
        self.images: LatestValues[tuple[str, int, int], ImageEmbedding] = LatestValues(CACHE_SIZE)

    def embed_image(self, picture: Picture) -> ImageEmbedding:
        """An image's embedding, computed once."""
        key = picture.sha256, picture.frame, picture.side
        if (found := self.images.get(key)) is None:
            features = backbone.image_features(backbone.shrink(picture.pixels), self.settings)
            (vectors,) = self.towers["image"].run([features])
            padded = np.pad(vectors, ((0, 0), (0, 1)), constant_values=1.0)
            classes = backbone.class_probabilities(features)
            found = ImageEmbedding(padded, self.artwork_probability(features[0]), classes)
            self.images.put(key, found)
        return found

    def embed_texts(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts; each ends with its negative hubness.

        In batches of one size: OpenVINO keeps a copy of the weights for each size.
        """
        table = load_embeddings(paths(TEXT_FILES, self.settings)[TEXT_FILES[0]].parent)
        features = np.stack([table.features(text, weight("rarity")) for text in texts])
        batches = np.pad(features, ((0, -len(texts) % BATCH), (0, 0))).reshape(-1, BATCH, features.shape[1])
        return np.concatenate([self.towers["text"].run([batch])[0] for batch in batches])[: len(texts)]

    def probabilities(self, picture: Picture, texts: Sequence[str]) -> list[float]:
        """The probability that each text describes this image as a whole rather than another one."""
        if not texts:
            return []
        cosines = self.embed_texts(texts) @ self.embed_image(picture).vectors[0]
        return [round(float(value), 4) for value in logistic(cosines, weight("whole"))]

    def phrase_probabilities(self, picture: Picture, phrases: Sequence[str]) -> list[float]:
        """The probability that each phrase is true of the image or of a part of it."""
        if not phrases:
            return []
        cosines = (self.embed_texts(phrases) @ self.embed_image(picture).vectors.T).max(axis=1)
        return [round(float(value), 4) for value in logistic(cosines, weight("phrase"))]

    def artwork_probability(self, features: Floats) -> float:
        """The probability that an image is drawn or painted rather than photographed."""
        hidden = slice(0, backbone.HIDDEN)
        x = (features[hidden] - weight("image.mean")[hidden]) / weight("image.spread")[hidden]
        x = np.clip(x, -weight("limit"), weight("limit"))
        return float(logistic(x @ weight("artwork"), weight("artwork_line")))


def logistic(x: Any, line: Floats) -> Any:
    """A probability, by a slope and an intercept."""
    return 1 / (1 + np.exp(-(line[0] * x + line[1])))


@thread_safe_cache
def load(settings: Settings) -> SmallMatcher:
    """The matcher, one for each set of settings."""
    return SmallMatcher(settings)


def artwork_probability(picture: Picture, settings: Settings) -> float:
    """The probability that an image is drawn or painted, whichever matcher makes the estimates: only this one knows."""
    return load(settings).embed_image(picture).artwork


def class_probabilities(picture: Picture, settings: Settings) -> Floats:
    """The probabilities of the backbone's classes, in the order of its labels."""
    return load(settings).embed_image(picture).classes


def class_labels(settings: Settings) -> tuple[tuple[str, ...], ...]:
    """The names of each of those classes, the usual one first."""
    return backbone.load_labels(source([backbone.LABELS], settings))

"""Tags, dependency trees and lemmas by the package's own small network: parser.npz, made by training/parser.

MODEL.md beside it is the model card. The forward pass of a spaCy pipeline, in numpy: the same trees in a tenth of the
time to load, without spaCy.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onprompt.language import word_hashes
from onprompt.language.arc_eager import State
from onprompt.language.dependency_tree import Word

WEIGHTS = Path(__file__).with_name("parser.npz")
TABLES, LAYERS = 4, 4
PADDING = 4  # rows around a sentence, one for each layer, that a word may see
SINGLE_THREADED = 500_000  # multiplications up to which OpenBLAS uses one thread: less than 2 × 4 × 65,536
NO_TREE = (1 << 32) - 1  # where an edit tree has no branch
Floats = NDArray[np.float32]


class Weights:
    """The arrays of the file, and its tables: moves, tags, edit trees, words that have numbers of their own."""

    def __init__(self) -> None:
        with np.load(WEIGHTS, allow_pickle=False) as data:
            self.arrays = {name: data[name] for name in data.files}
        tables: dict[str, Any] = json.loads(self.arrays.pop("tables").tobytes())
        self.moves: list[str] = tables["moves"]
        self.tags: list[str] = tables["tags"]
        self.trees: list[list[Any]] = tables["trees"]
        self.lemmas: list[int] = tables["lemmas"]
        self.symbols: dict[str, int] = tables["symbols"]
        self.embeddings = [self.arrays[f"embed.{index}"] for index in range(TABLES)]
        self.seeds = [int(self.arrays[f"seed.{index}"]) for index in range(TABLES)]

    @lru_cache(32)  # noqa: B019 there is one instance
    def impossible(self, valid: str) -> Floats:
        """What to add to the scores of moves, so that one of the valid kinds is the best."""
        return np.array([0 if move[0] in valid else -np.inf for move in self.moves], dtype=np.float32)

    def linear(self, name: str, x: Floats) -> Floats:
        """A linear layer."""
        y: Floats = product(x, self.arrays[f"{name}.W"]) + self.arrays[f"{name}.b"]
        return y

    def maxout(self, index: int, x: Floats) -> Floats:
        """A maxout layer with layer normalization."""
        name = f"maxout.{index}"
        weights, bias = self.arrays[f"{name}.W"], self.arrays[f"{name}.b"]
        y = (product(x, weights.reshape(-1, x.shape[1])) + bias.ravel()).reshape(len(x), *bias.shape).max(axis=2)
        variance = y.var(axis=1, keepdims=True) + np.float32(1e-8)
        normal = (y - y.mean(axis=1, keepdims=True)) * variance ** np.float32(-0.5)
        return np.asarray(normal * self.arrays[f"{name}.G"] + self.arrays[f"{name}.shift"], dtype=np.float32)


def product(x: Floats, weights: Floats) -> Floats:
    """The matrix product with transposed weights, a few rows at a time.

    For more, OpenBLAS would wake its threads, which takes longer than these products and disturbs the networks.
    """
    step = max(1, SINGLE_THREADED // weights.size)
    return np.concatenate([x[at : at + step] @ weights.T for at in range(0, len(x), step)])


@cache
def load_weights() -> Weights:
    """The weights, loaded once."""
    return Weights()


@lru_cache(50_000)
def rows(word: str) -> list[list[int]]:
    """The rows of a word in each table."""
    weights = load_weights()
    return word_hashes.rows(word, weights.seeds, [len(table) for table in weights.embeddings], weights.symbols)


def parse_words(sentences: Sequence[Sequence[str]]) -> list[list[Word]]:
    """The words of each sentence with tag, label, lemma and head."""
    filled = [words for words in sentences if words]
    if not filled:
        return [[] for _ in sentences]
    weights, vectors = load_weights(), encode(filled)
    tags = weights.linear("tagger", vectors).argmax(axis=1)
    trees = weights.linear("lemmatizer", vectors).argmax(axis=1)
    features = precompute(weights.linear("parser.reduce", vectors))
    said = zip(chain.from_iterable(filled), tags.tolist(), trees.tolist(), strict=True)
    rest = iter(run_moves(features, [len(words) for words in filled]))

    def read(state: State) -> list[Word]:
        return [
            Word(
                weights.tags[tag],
                state.labels.get(at, "ROOT"),
                lemma_of(word, weights.lemmas[tree]),
                state.heads.get(at, at),
            )
            for at, (word, tag, tree) in enumerate(islice(said, state.length))
        ]

    return [read(next(rest)) if words else [] for words in sentences]


def encode(sentences: Sequence[Sequence[str]]) -> Floats:
    """A vector for each word of all sentences, by itself and its neighbours."""
    weights = load_weights()
    places = np.array([rows(word) for words in sentences for word in words])
    embedded = [table[places[:, index]].sum(axis=1) for index, table in enumerate(weights.embeddings)]
    mixed = weights.maxout(0, np.concatenate(embedded, axis=1))
    kept = np.concatenate([[*[False] * PADDING, *[True] * len(words)] for words in sentences] + [[False] * PADDING])
    x = np.zeros((len(kept), mixed.shape[1]), dtype=np.float32)
    x[kept] = mixed
    for layer in range(1, LAYERS + 1):
        edge = np.zeros((1, x.shape[1]), dtype=np.float32)
        window = np.concatenate([np.concatenate([edge, x[:-1]]), x, np.concatenate([x[1:], edge])], axis=1)
        x = x + weights.maxout(layer, window)
    return x[kept]


def precompute(vectors: Floats) -> Floats:
    """What each word contributes to a state in each of its places; the last row is for a place that is empty."""
    arrays = load_weights().arrays
    weights = arrays["parser.lower.W"]
    by_word = product(vectors, weights.reshape(-1, vectors.shape[1])).reshape(len(vectors), len(weights), -1)
    return np.concatenate([by_word, arrays["parser.lower.pad"].reshape(1, len(weights), -1)])


def run_moves(features: Floats, lengths: Sequence[int]) -> list[State]:
    """The states after the best moves for the words of each sentence, one move in all of them at a time."""
    weights = load_weights()
    bias, places = weights.arrays["parser.lower.b"], np.arange(features.shape[1])
    upper, upper_bias = weights.arrays["parser.upper.W"], weights.arrays["parser.upper.b"]
    states = [State(length, start) for length, start in zip(lengths, accumulate((0, *lengths)), strict=False)]
    active = states
    while active := [state for state in active if not state.is_final]:
        contexts = np.array([state.context() for state in active])  # an empty place, -1, is the last row
        hidden = (features[contexts, places].sum(axis=1).reshape(-1, *bias.shape) + bias).max(axis=2)
        scores = product(hidden, upper) + upper_bias + np.array([weights.impossible(state.valid()) for state in active])
        for state, best in zip(active, scores.argmax(axis=1).tolist(), strict=True):
            state.apply(weights.moves[best])
    return states


def lemma_of(word: str, tree: int) -> str:
    """The word edited by a tree; the word itself where the tree does not fit."""
    edited = edit(word, tree)
    return word if edited is None else edited


def edit(text: str, tree: int) -> str | None:
    """A text with its ends edited, or replaced as a whole; None where the tree does not fit."""
    match load_weights().trees[tree]:
        case [str(found), str(made)]:
            return made if text == found else None
        case [before, after, left, right]:
            if before + after > len(text):
                return None
            stop = len(text) - after
            head = "" if left == NO_TREE else edit(text[:before], left)
            tail = "" if right == NO_TREE else edit(text[stop:], right)
            return None if head is None or tail is None else head + text[before:stop] + tail
    raise ValueError("an edit tree has two or four parts")

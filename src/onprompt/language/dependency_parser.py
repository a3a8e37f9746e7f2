"""Tags, dependency trees and lemmas by the package's own small network: parser.npz, made by training/parser.

MODEL.md beside it is the model card. The forward pass of a spaCy pipeline, in numpy: words are hashed into embedding
tables as spaCy does, encoded with their neighbours, then parsed by arc-eager moves (Nivre 2003; non-monotonic, Honnibal
and Johnson 2015).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onprompt.language.words import edited

TABLES, LAYERS = 4, 4
PADDING = 4  # rows around a sentence, one for each layer, that a word may see
SINGLE_THREADED = 500_000  # multiplications up to which OpenBLAS uses one thread: less than 2 × 4 × 65,536
SHIFT, REDUCE, LEFT, RIGHT, BREAK = "SDLRB"  # the first letter of a move's name
Floats = NDArray[np.float32]


class Word(NamedTuple):
    """What the parser says of a word: its tag, label, lemma, and the place of its head; a root is its own head."""

    tag: str
    label: str
    lemma: str
    head: int


def parse_words(sentences: Sequence[Sequence[str]]) -> list[list[Word]]:
    """The words of each sentence with tag, label, lemma and head."""
    words = list(chain.from_iterable(sentences))
    if not words:
        return [[] for _ in sentences]
    weights, vectors = load_weights(), encode(sentences)
    tags = weights.linear("tagger", vectors).argmax(axis=1).tolist()
    lemmas = weights.linear("lemmatizer", vectors).argmax(axis=1).tolist()

    def read(state: State, at: int) -> Word:
        word, lemma = words[state.offset + at], weights.lemmas[lemmas[state.offset + at]]
        learned = edited(word, lemma, weights.trees)
        tag, label = weights.tags[tags[state.offset + at]], state.labels.get(at, "ROOT")
        return Word(tag, label, word if learned is None else learned, state.heads.get(at, at))

    states = run_moves(weights.linear("parser.reduce", vectors), list(map(len, sentences)))
    return [[read(state, at) for at in range(state.length)] for state in states]


class Weights:
    """The arrays of the file, and its tables: moves, tags, edit trees, words that have numbers of their own."""

    def __init__(self) -> None:
        with np.load(Path(__file__).with_name("parser.npz"), allow_pickle=False) as data:
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


def run_moves(vectors: Floats, lengths: Sequence[int]) -> list[State]:
    """The states after the best moves for the words of each sentence, one move in all of them at a time."""
    weights = load_weights()
    lower, bias, empty = (weights.arrays[f"parser.lower.{name}"] for name in ("W", "b", "pad"))
    upper, upper_bias = weights.arrays["parser.upper.W"], weights.arrays["parser.upper.b"]
    by_word = product(vectors, lower.reshape(-1, vectors.shape[1])).reshape(len(vectors), len(lower), -1)
    features = np.concatenate([by_word, empty.reshape(1, len(lower), -1)])  # of each word in each place of a context
    places = np.arange(features.shape[1])
    states = [State(length, start) for length, start in zip(lengths, accumulate((0, *lengths)), strict=False)]
    active = states
    while active := [state for state in active if state.stack or state.coming]:
        contexts = np.array([state.context() for state in active])  # an empty place, -1, is the last row
        hidden = (features[contexts, places].sum(axis=1).reshape(-1, *bias.shape) + bias).max(axis=2)
        scores = product(hidden, upper) + upper_bias + np.array([weights.impossible(state.valid()) for state in active])
        for state, best in zip(active, scores.argmax(axis=1).tolist(), strict=True):
            state.apply(weights.moves[best])
    return states


@dataclass(slots=True)
class State:
    """A sentence as far as it is parsed: words on the stack, and those to come; the next of each is last."""

    length: int
    offset: int = 0  # of its first word among those of all sentences
    stack: list[int] = field(default_factory=list)
    coming: list[int] = field(init=False)
    heads: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    children: tuple[dict[int, list[int]], dict[int, list[int]]] = field(default_factory=lambda: ({}, {}))
    unshiftable: set[int] = field(default_factory=set)
    starts: set[int] = field(default_factory=set)  # of sentences

    def __post_init__(self) -> None:
        self.coming = list(reversed(range(self.length)))

    def last_child(self, word: int, right: bool) -> int:
        """The latest child on one side of a word; -1 where there is none."""
        found = self.children[right].get(word)
        return found[-1] if found else -1

    def context(self) -> list[int]:
        """The words that the next move depends on, as numbers among those of all sentences; -1 for none."""
        (first, second), (top, *below) = nearest(self.coming, 2), nearest(self.stack, 3)
        around = [self.last_child(first, False), self.last_child(top, False), self.last_child(top, True)]
        return [word + self.offset if word >= 0 else -1 for word in (first, second, top, *below, *around)]

    def valid(self) -> str:
        """The moves that are possible."""
        moves, remaining, (first, second) = "", len(self.coming), nearest(self.coming, 2)
        starts = first in self.starts
        if not self.stack or (remaining >= 2 and not starts and first not in self.unshiftable):
            moves += SHIFT
        if self.stack:
            moves += REDUCE
            if remaining and not starts:
                moves += LEFT + RIGHT
        if remaining >= 2 and second == first + 1 and second not in self.starts:
            moves += BREAK
        return moves

    def apply(self, move: str) -> None:
        """Make a move, such as `S` or `L-nsubj`."""
        kind, _, label = move.partition("-")
        if kind == REDUCE:
            top = self.stack.pop()
            if self.stack and top not in self.heads:
                self.unshiftable.add(top)
                self.coming.append(top)
        elif kind == LEFT:
            self.attach(self.coming[-1], self.stack.pop(), label)
            self.unshiftable.discard(self.coming[-1])
        elif kind == BREAK:
            self.starts.add(self.coming[-2])
        else:
            if kind == RIGHT:
                self.attach(self.stack[-1], self.coming[-1], label)
            self.stack.append(self.coming.pop())

    def attach(self, head: int, child: int, label: str) -> None:
        """Add an arc, in place of the child's earlier one."""
        if (before := self.heads.get(child)) is not None:
            siblings = self.children[child > before][before]
            if siblings[-1] == child:
                siblings.pop()
        self.children[child > head].setdefault(head, []).append(child)
        self.heads[child], self.labels[child] = head, label


def nearest(words: Sequence[int], number: int) -> list[int]:
    """The last words, the last one first; -1 where there is none."""
    return [words[-1 - at] if at < len(words) else -1 for at in range(number)]


MASK64, MASK32 = (1 << 64) - 1, (1 << 32) - 1
MULTIPLIER = 0xC6A4A7935BD1E995
C1, C2, C3, C4 = 0x87C37B91114253D5, 0x4CF5AD432745937F, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
LONG = 100  # characters from which a word has no shape of its own
SAME = 4  # letters of one kind in a row that a shape shows


@lru_cache(50_000)
def rows(word: str) -> list[list[int]]:
    """Four rows of each table, whose vectors are added up: hashes of the form, first and last letters, and shape."""
    weights, found = load_weights(), []
    features = word.lower(), word[:1], word[-3:], shape(word)
    for text, seed, table in zip(features, weights.seeds, weights.embeddings, strict=True):
        key = weights.symbols[text] if text in weights.symbols else hash_text(text)  # "" is among them: 0
        found.append([row % len(table) for row in hash_key(key, seed)])
    return found


def shape(word: str) -> str:
    """`Xxxxx` for Hello, `dd` for 20: kinds of characters, at most four of a kind in a row."""
    if len(word) >= LONG:
        return "LONG"
    shown, last, run = [], "", 0
    for char in word:
        kind = ("X" if char.isupper() else "x") if char.isalpha() else "d" if char.isdigit() else char
        run, last = (run + 1 if kind == last else 0), kind
        if run < SAME:
            shown.append(kind)
    return "".join(shown)


def hash_text(text: str) -> int:
    """MurmurHash64A with seed 1."""
    data = text.encode("utf-8", "replace")  # lone surrogates are no text
    whole = len(data) // 8 * 8
    value = 1 ^ (len(data) * MULTIPLIER & MASK64)
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * MULTIPLIER & MASK64
        part = (part ^ part >> 47) * MULTIPLIER & MASK64
        value = (value ^ part) * MULTIPLIER & MASK64
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * MULTIPLIER & MASK64
    value = (value ^ value >> 47) * MULTIPLIER & MASK64
    return value ^ value >> 47


def hash_key(key: int, seed: int) -> tuple[int, int, int, int]:
    """MurmurHash3 (x64, 128 bits) of eight bytes: four numbers of 32 bits."""
    mixed = key * C1 & MASK64
    mixed = (mixed << 31 | mixed >> 33) * C2 & MASK64
    first = (mixed ^ seed ^ 8) + (seed ^ 8) & MASK64
    second = finalize((seed ^ 8) + first & MASK64)
    first = finalize(first) + second & MASK64
    second = second + first & MASK64
    return first & MASK32, first >> 32, second & MASK32, second >> 32


def finalize(value: int) -> int:
    """The last mixing of 64 bits."""
    value = (value ^ value >> 33) * C3 & MASK64
    value = (value ^ value >> 33) * C4 & MASK64
    return value ^ value >> 33

"""About 2,100 names by YOLO-World: the words of the prompt, and distractors that compete with them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from onprompt.settings import Settings
from onprompt.types import Box, Detections, Name, NameMatch, Picture
from onprompt.vision.boxes import (
    Boxes,
    Floats,
    Pixels,
    box_iou,
    calibrate,
    load_curves,
    merge_tiles,
    non_max_suppression,
    with_tiles,
)
from onprompt.vision.runtime import Network, Source, network, ov, source, thread_safe_cache, with_pixel_input
from onprompt.vision.vocabulary import COCO, resolve_all
from onprompt_yolo import CODE, CURVES, PACKAGES, vocabulary, world_graph
from onprompt_yolo.letterbox import run_letterboxed
from onprompt_yolo.torchfile import Tensors, read_tensors

WEIGHTS = "yolov8s-world.pt"
SMOOTHING = 0.15  # odds added to each member of a class: where all are fainter than this, none stands out
RIVALRY = 1.0  # how much a word's log odds fall, per unit by which those of an incompatible word exceed them
MAX_CELLS = 120  # cells per name, the best
MIN_SCORE = 0.001
MIN_DISTRACTOR_SCORE = 0.05  # distractors that score less everywhere are not in the image
WORDS_TOGETHER = 16  # the number of words is a multiple of it


class Scored(NamedTuple):
    """The network's output for an image: boxes of its cells, and the log odds of each word at each cell."""

    boxes: Floats
    words: list[str]
    odds: Floats


class WorldDetector:
    """YOLO-World behind the detector protocol."""

    files, packages = (WEIGHTS, *vocabulary.FILES), PACKAGES

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.vocabulary, self.network = load_network(source([*self.files, *CODE], settings))

    def see(self, picture: Picture, names: Sequence[Name]) -> Detections:
        """The names that have a vector, beside common objects that might be mistaken for them."""
        known = self.known(names)
        candidates = self.candidates(self.score(picture, names), names, known)
        return Detections(calibrate(candidates, load_curves(CURVES)["yolo-world"], self.settings.min_confidence), known)

    def candidates(
        self, scored: Scored, names: Sequence[Name], known: Mapping[str, NameMatch]
    ) -> dict[str, list[Boxes]]:
        """The candidates of each known name, and of each distractor under its own name."""
        wanted = [(name, known[name.label].words) for name in names if name.label in known]
        taken = {word for resolved in known.values() for word in resolved.words}
        present = scored.odds.max(axis=1) >= log_odds(MIN_DISTRACTOR_SCORE)
        wanted += [
            (Name(word, (word,)), (word,))
            for word, is_present in zip(scored.words, present, strict=True)
            if is_present and word not in taken
        ]
        overlap = self.settings.duplicate_overlap
        return {name.label: [best_cells(scored, name, words, overlap)] for name, words in wanted}

    def score(self, picture: Picture, names: Sequence[Name]) -> Scored:
        """Run the network on an image and the words for some names."""
        known = self.known(names)
        wanted = [name for name in names if name.label in known]
        words = self.words(wanted, known)
        # A word more or less would be another shape of input, for which the runtime keeps memory; the first word again
        # changes nothing for the others.
        filled = words + words[:1] * (-len(words) % WORDS_TOGETHER)
        text = self.vocabulary.vectors[[self.vocabulary.rows[word] for word in filled]]

        def run(pixels: Pixels) -> Boxes:
            corners, scores = run_letterboxed(self.network, pixels, text)
            return Boxes(corners, scores, np.zeros(len(corners), dtype=int))

        tiled = any(name.fine for name in wanted)
        pixels = picture.pixels
        boxes, scores, _ = merge_tiles([run(view) for view in with_tiles(pixels)]) if tiled else run(pixels)
        return Scored(boxes, words, log_odds(np.clip(scores[:, : len(words)].T, 1e-5, 1 - 1e-5)))

    def known(self, names: Sequence[Name]) -> dict[str, NameMatch]:
        """How the names are resolved, those that can be. The curve was fitted on the COCO names alone."""
        known = resolve_all(names, self.vocabulary.rows, self.settings.subtype_score)
        return {label: replace(name, calibrated=not set(COCO).isdisjoint(name.words)) for label, name in known.items()}

    def words(self, names: Sequence[Name], known: Mapping[str, NameMatch]) -> list[str]:
        """The words of the prompt, then as distractors their rivals and the COCO names, except synonyms."""
        rows = self.vocabulary.rows
        words = [word for resolved in known.values() for word in resolved.words]
        words += [word for name in names if name.split for word in (name.split[0], *name.split[1])]
        taken = {rows[word] for word in words}
        rivals = [word for name in names for word in sorted(name.rivals) if word in rows]
        words += [
            word
            for word in (*rivals, *COCO)
            if rows[word] not in taken and not any(name.may_be(word) for name in names)
        ]
        return list(dict.fromkeys(words))


def log_odds(probability: Any) -> Any:
    """The log odds of a probability, or of an array of them."""
    return np.log(probability / (1 - probability))


@thread_safe_cache
def load_network(made_of: Source) -> tuple[vocabulary.Vocabulary, Network]:
    """Vocabulary and network, built once per process, whatever the settings."""

    def build() -> ov.Model:
        return with_pixel_input(world_graph.build(read_tensors(made_of.file)), 0, (0, 0, 0), (255, 255, 255))

    words = vocabulary.load_vocabulary(made_of.file.parent)
    return align(words, read_tensors(made_of.file)), network("yolo-world", made_of, build)


def align(words: vocabulary.Vocabulary, tensors: Tensors) -> vocabulary.Vocabulary:
    """The vocabulary shifted towards the network's own vectors of the COCO names, which replace those.

    They were made from bare names, the vocabulary's from "a cat": the mean difference brings the other names closer.
    """
    rows = [words.rows[name] for name in COCO]
    own = tensors["txt_feats"][0].astype(np.float32)
    vectors = words.vectors + (own - words.vectors[rows]).mean(axis=0)
    vectors[rows] = own
    return vocabulary.Vocabulary(words.rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def best_cells(scored: Scored, name: Name, words: Sequence[str], overlap: float) -> Boxes:
    """The best cells of a name, each object once. Where an incompatible word is likelier, it lowers the score.

    A woman may also be called a person, so these do not compete; a zebra and a horse do.
    """
    own = [index for index, word in enumerate(scored.words) if word in words]
    rivals = [index for index, word in enumerate(scored.words) if word not in words and not name.may_be(word)]
    best_own = scored.odds[own].max(axis=0)
    odds = log_odds(broader_probability(scored, name) * share(scored, name)) if name.split else best_own
    if rivals:
        odds = odds - RIVALRY * np.maximum(scored.odds[rivals].max(axis=0) - best_own, 0)
    best = np.argpartition(-odds, min(MAX_CELLS, len(odds) - 1))[:MAX_CELLS]
    cells = best[odds[best] >= log_odds(MIN_SCORE)]
    scores = (1 / (1 + np.exp(-odds[cells]))).astype(np.float32)
    likeliest = np.array(own)[scored.odds[own][:, cells].argmax(axis=0)]
    found = Boxes(scored.boxes[cells], scores, np.array(scored.words)[likeliest])
    return found.only(non_max_suppression(found.corners, scores, np.zeros(len(cells), dtype=int), overlap))


def broader_probability(scored: Scored, name: Name) -> Floats:
    """The probability at each cell of the class that a name is a part of: a person, for a woman."""
    broader, _ = name.split or ("", ())
    probability: Floats = 1 / (1 + np.exp(-scored.odds[scored.words.index(broader)]))
    return probability


def share(scored: Scored, name: Name) -> Floats:
    """A name's share among the members of its class at each cell, by their odds.

    "man" and "woman" score low and alike wherever there is a person: only their ratio is informative.
    """
    _, members = name.split or ("", ())
    odds = {member: np.exp(scored.odds[scored.words.index(member)]) + SMOOTHING for member in members}
    covered = sum(odds[member] for member in members if member in name.same or member in name.members)
    shares: Floats = covered / sum(odds.values())
    return shares


def share_at(scored: Scored, name: Name, box: Box) -> float:
    """A name's share at the cell whose box fits that of a sighting of its class best."""
    fit = box_iou(np.array(box, dtype=np.float32), scored.boxes) * broader_probability(scored, name)
    return float(share(scored, name)[int(fit.argmax())])


def load(settings: Settings) -> WorldDetector:
    """The detector, with its files fetched and its network built."""
    return WorldDetector(settings)

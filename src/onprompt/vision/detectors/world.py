"""Objects by name, from some 2,100 names, by YOLO-World: the words of the prompt and others that compete with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onprompt.settings import Settings
from onprompt.types import Box, Known, Look, Name, Picture, Seen
from onprompt.vision import vocabulary, world_graph
from onprompt.vision.boxes import Floats, distinct, overlaps
from onprompt.vision.letterbox import decoded, letterboxed
from onprompt.vision.ranking import Finds, sightings
from onprompt.vision.runtime import Network, once, taking_pixels
from onprompt.vision.tiles import Pixels, Raw, closer
from onprompt.weights.cache import paths
from onprompt.weights.torchfile import Tensors, read_tensors

WEIGHTS = "yolov8s-world.pt"
FAINT = 0.15  # odds added to each member of a kind: where all are fainter than this, none stands out
RIVALRY = 1.0  # how much a word's odds fall, for each unit by which a word that can't be meant too exceeds them
MOST = 120  # cells looked at for a name, the surest
LEAST = 0.001  # cells that score less are not looked at
NOTICED = 0.05  # distractors that score less everywhere are not in the picture


class Scored(NamedTuple):
    """What the network says of a picture: boxes of its cells, and the log odds of each word at each cell."""

    boxes: Floats
    words: list[str]
    odds: Floats


class World:
    """YOLO-World behind the detector protocol."""

    files = (WEIGHTS, *vocabulary.FILES)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.vocabulary, self.network = loaded(paths(self.files, settings)[WEIGHTS].parent)

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One picture after the other: each already keeps all cores busy."""
        return [self.see_one(look.picture, look.names) for look in looks]

    def see_one(self, picture: Picture, names: Sequence[Name]) -> Seen:
        """Look for the names that have a vector, beside common objects that might be mistaken for them."""
        return self.read(self.scored(picture, names), names)

    def read(self, scored: Scored, names: Sequence[Name]) -> Seen:
        """The sightings that the network's scores stand for."""
        known = self.known(names)
        return Seen(sightings(self.finds(scored, names, known), "yolo-world", self.settings.faintest), known)

    def finds(self, scored: Scored, names: Sequence[Name], known: Mapping[str, Known]) -> dict[str, list[Finds]]:
        """What the network found of each name that is known, and of each distractor under its own name."""
        asked = [name for name in names if name.label in known]
        taken = {word for how in known.values() for word in how.words}
        notable = scored.odds.max(axis=1) >= log_odds(NOTICED)
        others = [
            Name(word, (word,)) for word, seen in zip(scored.words, notable, strict=True) if seen and word not in taken
        ]
        claims = {name.label: claim(scored, name, known[name.label].words) for name in asked}
        claims |= {name.label: claim(scored, name, name.same) for name in others}
        return {label: [merged(finds, self.settings)] for label, finds in claims.items()}

    def scored(self, picture: Picture, names: Sequence[Name]) -> Scored:
        """Run the network on a picture and the words for some names."""
        known = self.known(names)
        asked = [name for name in names if name.label in known]
        words = self.words(asked, known)
        text = self.vocabulary.vectors[[self.vocabulary.rows[word] for word in words]]

        def run(pixels: Pixels) -> Raw:
            padded, inner = letterboxed(pixels)
            distances, scores = self.network.run([padded[None], text])
            return decoded(distances, padded.shape[:2], inner), scores.T

        boxes, scores = closer(run, picture.pixels) if any(name.fine for name in asked) else run(picture.pixels)
        return Scored(boxes, words, log_odds(np.clip(scores.T, 1e-5, 1 - 1e-5)))

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


def log_odds(chance: Any) -> Any:
    """Of a probability, or of many."""
    return np.log(chance / (1 - chance))


@once
def loaded(folder: Path) -> tuple[vocabulary.Vocabulary, Network]:
    """Built once in a process, whatever the settings."""
    tensors = read_tensors(folder / WEIGHTS)
    network = Network(taking_pixels(world_graph.build(tensors), 0, (0, 0, 0), (255, 255, 255)))
    return attuned(vocabulary.read(folder), tensors), network


def attuned(words: vocabulary.Vocabulary, tensors: Tensors) -> vocabulary.Vocabulary:
    """The vocabulary as the network knows it: it carries vectors of its own for the COCO names.

    They were made from bare names, the vocabulary's from "a cat": the mean difference brings the other names nearer.
    """
    rows = [words.rows[name] for name in vocabulary.COCO]
    own = tensors["txt_feats"][0].astype(np.float32)
    vectors = words.vectors + (own - words.vectors[rows]).mean(axis=0)
    vectors[rows] = own
    return vocabulary.Vocabulary(words.rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def claim(scored: Scored, name: Name, answers: Sequence[str]) -> Finds:
    """The cells that a name may claim. A word that can't be said of the same thing weakens it where it is stronger.

    A woman may be called a person too, so those two do not compete; a zebra and a horse do.
    """
    mine = [index for index, word in enumerate(scored.words) if word in answers]
    rivals = [index for index, word in enumerate(scored.words) if word not in answers and not name.may_be(word)]
    own = told_apart(scored, name) if name.split else scored.odds[mine].max(axis=0)
    if rivals:
        own = own - RIVALRY * np.maximum(scored.odds[rivals].max(axis=0) - scored.odds[mine].max(axis=0), 0)
    best = np.argpartition(-own, min(MOST, len(own) - 1))[:MOST]
    cells = best[own[best] >= log_odds(LEAST)]
    words = [scored.words[mine[index]] for index in scored.odds[mine][:, cells].argmax(axis=0)]
    return Finds(scored.boxes[cells], (1 / (1 + np.exp(-own[cells]))).astype(np.float32), words)


def told_apart(scored: Scored, name: Name) -> Floats:
    """The log odds of a kind times the name's share among the kind's members."""
    chance = of_kind(scored, name) * share(scored, name)
    odds: Floats = log_odds(chance)
    return odds


def of_kind(scored: Scored, name: Name) -> Floats:
    """The probability, cell by cell, of the kind that a name is a part of: a person, for a woman."""
    kind, _ = name.split or ("", ())
    chance: Floats = 1 / (1 + np.exp(-scored.odds[scored.words.index(kind)]))
    return chance


def share(scored: Scored, name: Name) -> Floats:
    """A name's share among the members of its kind, cell by cell, by their odds.

    The words "man" and "woman" score low and alike wherever there is a person: only their ratio says something.
    """
    _, parts = name.split or ("", ())
    odds = {part: np.exp(scored.odds[scored.words.index(part)]) + FAINT for part in parts}
    covered: Floats = sum(odds[part] for part in parts if part in name.same or part in name.members) / sum(
        odds.values()
    )
    return covered


def share_of_box(scored: Scored, name: Name, box: Box) -> float:
    """A name's share where a box of its kind was seen: at the cell that saw the same."""
    same = overlaps(np.array(box, dtype=np.float32), scored.boxes) * of_kind(scored, name)
    return float(share(scored, name)[int(same.argmax())])


def merged(finds: Finds, settings: Settings) -> Finds:
    """Each object once."""
    kept = distinct(finds.boxes, finds.scores, np.zeros(len(finds.scores), dtype=int), settings.duplicate_overlap)
    return Finds(finds.boxes[kept], finds.scores[kept], [finds.words[index] for index in kept])


def load(settings: Settings) -> World:
    """The detector, with its files fetched and its network built."""
    return World(settings)

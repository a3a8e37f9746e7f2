"""The names that the detectors know, and how they answer for other names.

Closed detectors know the 80 COCO names; YOLO-World those that have a text vector, from COCO, LVIS, Objects365 and
OpenImages.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onprompt.types import Known, Name

COCO_LIST = """
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign,
parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella,
handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard,
surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange,
broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv,
laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase,
scissors, teddy bear, hair drier, toothbrush
"""
COCO = tuple(" ".join(COCO_LIST.split()).split(", "))
FILES = (
    *("coco_vectors.npy", "lvis_vectors.npy", "lvis_names.json", "o365_vectors.npy", "o365_names.csv"),
    *("oid_vectors.npy", "oid_names.txt"),
)


@dataclass(frozen=True)
class Vocabulary:
    """`rows[name]` is the line of `vectors` that stands for a name; each vector has length 1."""

    rows: Mapping[str, int]
    vectors: NDArray[np.float32]


def resolve(name: Name, words: Collection[str], subtype_score: float) -> Known | None:
    """How a vocabulary can answer for a name: by itself or a synonym, by its members, or only by a broader kind."""
    own = [word for word in name.same if word in words]
    below = sorted(word for word in name.members if word in words)
    if own or below:
        return Known(tuple(own[:1] or below))
    above = [word for word in name.broader if word in words]
    return Known((above[0],), subtype_score) if above else None


def resolve_all(names: Iterable[Name], words: Collection[str], subtype_score: float) -> dict[str, Known]:
    """How a vocabulary can answer for names; those that it can't answer for are left out."""
    return {name.label: known for name in names if (known := resolve(name, words, subtype_score))}


def asked_by(word: str, known: Mapping[str, Known]) -> list[str]:
    """The names that a word answers for; its own where nobody asked."""
    return [name for name, how in known.items() if word in how.words] or [word]


def plain(name: str) -> str:
    """`crow_(bird)` → `crow`, `Infant bed` → `infant bed`."""
    return " ".join(re.sub(r"\(.*?\)", "", name.replace("_", " ")).lower().split())


def read(folder: Path) -> Vocabulary:
    """All names with their vectors. A list's own name for a thing goes before any list's synonym of it."""
    lists = {
        "coco_vectors.npy": [[name] for name in COCO],
        "lvis_vectors.npy": lvis_names(folder / "lvis_names.json"),
        "o365_vectors.npy": o365_names(folder / "o365_names.csv"),
        "oid_vectors.npy": oid_names(folder / "oid_names.txt"),
    }
    blocks = [np.load(folder / file, allow_pickle=False).astype(np.float32) for file in lists]
    names = [aliases for each in lists.values() for aliases in each]
    vectors = np.concatenate(blocks)
    if [len(block) for block in blocks] != [len(each) for each in lists.values()]:
        raise ValueError("the vectors and the names of a list are not equally many")
    rows: dict[str, int] = {}
    for row, aliases in enumerate(names):
        rows.setdefault(plain(aliases[0]), row)
    for row, aliases in enumerate(names):
        for alias in aliases[1:]:
            rows.setdefault(plain(alias), row)
    return Vocabulary(rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def lvis_names(path: Path) -> list[list[str]]:
    """Names with their synonyms, in the order of their numbers. For `person` LVIS lists kinds (man, baby) instead."""
    entries = sorted(json.loads(path.read_text(encoding="utf-8")), key=lambda entry: int(entry["id"]))
    return [[entry["name"], *(entry["synonyms"] if entry["name"] != "person" else [])] for entry in entries]


def o365_names(path: Path) -> list[list[str]]:
    """The mended name is the last column; two names are joined by a slash."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [row[-1].split("/") for row in csv.reader(stream)]


def oid_names(path: Path) -> list[list[str]]:
    """A list of dictionaries in program text; only the numbers and names are read."""
    found = re.findall(r"""'id':\s*(\d+),\s*'name':\s*(?:'([^']*)'|"([^"]*)")""", path.read_text(encoding="utf-8"))
    return [[single or double] for _, single, double in sorted(found, key=lambda entry: int(entry[0]))]

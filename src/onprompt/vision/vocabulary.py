"""The names that the open-vocabulary detector has text vectors for: COCO, LVIS, Objects365, OpenImages."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onprompt.vision.detectors.coco import NAMES

FILES = (
    *("coco_vectors.npy", "lvis_vectors.npy", "lvis_names.json", "o365_vectors.npy", "o365_names.csv"),
    *("oid_vectors.npy", "oid_names.txt"),
)


@dataclass(frozen=True)
class Vocabulary:
    """`rows[name]` is the line of `vectors` that stands for a name; each vector has length 1."""

    rows: Mapping[str, int]
    vectors: NDArray[np.float32]


def plain(name: str) -> str:
    """`crow_(bird)` → `crow`, `Infant bed` → `infant bed`."""
    return " ".join(re.sub(r"\(.*?\)", "", name.replace("_", " ")).lower().split())


def read(files: Mapping[str, Path]) -> Vocabulary:
    """All names with their vectors. A list's own name for a thing goes before any list's synonym of it."""
    lists = {
        "coco_vectors.npy": [[name] for name in NAMES],
        "lvis_vectors.npy": lvis_names(files["lvis_names.json"]),
        "o365_vectors.npy": o365_names(files["o365_names.csv"]),
        "oid_vectors.npy": oid_names(files["oid_names.txt"]),
    }
    blocks = [np.load(files[file], allow_pickle=False).astype(np.float32) for file in lists]
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

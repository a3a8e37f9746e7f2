"""The names that YOLO-World knows, with their text embeddings: those of COCO, LVIS, Objects365 and OpenImages."""

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onprompt.vision.vocabulary import COCO

FILES = (
    *("coco_vectors.npy", "lvis_vectors.npy", "lvis_names.json", "o365_vectors.npy", "o365_names.csv"),
    *("oid_vectors.npy", "oid_names.txt"),
)


@dataclass(frozen=True)
class Vocabulary:
    """`rows[name]` is the row of a name in `vectors`, which have length 1."""

    rows: Mapping[str, int]
    vectors: NDArray[np.float32]


def normalize_name(name: str) -> str:
    """`crow_(bird)` → `crow`, `Infant bed` → `infant bed`."""
    return " ".join(re.sub(r"\(.*?\)", "", name.replace("_", " ")).lower().split())


def load_vocabulary(folder: Path) -> Vocabulary:
    """All names with their vectors. A dataset's own name for a class precedes any dataset's synonym of it."""
    datasets = {
        "coco_vectors.npy": [[name] for name in COCO],
        "lvis_vectors.npy": lvis_names(folder / "lvis_names.json"),
        "o365_vectors.npy": o365_names(folder / "o365_names.csv"),
        "oid_vectors.npy": oid_names(folder / "oid_names.txt"),
    }
    blocks = [np.load(folder / file, allow_pickle=False).astype(np.float32) for file in datasets]
    if [len(block) for block in blocks] != [len(names) for names in datasets.values()]:
        raise ValueError("the vectors and the names of a dataset differ in number")
    synsets = [[normalize_name(alias) for alias in aliases] for names in datasets.values() for aliases in names]
    rows: dict[str, int] = {}
    for part in (slice(1), slice(1, None)):
        for row, aliases in enumerate(synsets):
            for alias in aliases[part]:
                rows.setdefault(alias, row)
    vectors = np.concatenate(blocks)
    return Vocabulary(rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def lvis_names(path: Path) -> list[list[str]]:
    """Names with their synonyms, by class id. For `person` LVIS lists kinds (man, baby) instead."""
    entries = sorted(json.loads(path.read_text(encoding="utf-8")), key=lambda entry: int(entry["id"]))
    return [[entry["name"], *(entry["synonyms"] if entry["name"] != "person" else [])] for entry in entries]


def o365_names(path: Path) -> list[list[str]]:
    """The corrected name is the last column; two names are joined by a slash."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [row[-1].split("/") for row in csv.reader(stream)]


def oid_names(path: Path) -> list[list[str]]:
    """A list of dictionaries in Python source; only ids and names are parsed."""
    pattern = r"""'id':\s*(\d+),\s*'name':\s*(?:'([^']*)'|"([^"]*)")"""
    entries = re.findall(pattern, path.read_text(encoding="utf-8"))
    return [[single or double] for _, single, double in sorted(entries, key=lambda entry: int(entry[0]))]

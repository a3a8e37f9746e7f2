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
    """All names with their vectors; where lists share a name, the first list's vector serves."""
    lists = {
        "coco_vectors.npy": [[name] for name in NAMES],
        "lvis_vectors.npy": lvis_names(files["lvis_names.json"]),
        "o365_vectors.npy": o365_names(files["o365_names.csv"]),
        "oid_vectors.npy": oid_names(files["oid_names.txt"]),
    }
    rows: dict[str, int] = {}
    blocks: list[NDArray[np.float32]] = []
    start = 0
    for file, names in lists.items():
        block = np.load(files[file], allow_pickle=False).astype(np.float32)
        if len(block) != len(names):
            raise ValueError(f"{file} has {len(block)} vectors for {len(names)} names")
        for offset, aliases in enumerate(names):
            for alias in aliases:
                rows.setdefault(plain(alias), start + offset)
        blocks.append(block)
        start += len(block)
    vectors = np.concatenate(blocks)
    return Vocabulary(rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def lvis_names(path: Path) -> list[list[str]]:
    """Names with their synonyms, in the order of their numbers."""
    entries = sorted(json.loads(path.read_text(encoding="utf-8")), key=lambda entry: int(entry["id"]))
    return [[entry["name"], *entry["synonyms"]] for entry in entries]


def o365_names(path: Path) -> list[list[str]]:
    """The mended name is the last column; two names are joined by a slash."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [row[-1].split("/") for row in csv.reader(stream)]


def oid_names(path: Path) -> list[list[str]]:
    """A list of dictionaries in program text; only the numbers and names are read."""
    found = re.findall(r"""'id':\s*(\d+),\s*'name':\s*(?:'([^']*)'|"([^"]*)")""", path.read_text(encoding="utf-8"))
    return [[single or double] for _, single, double in sorted(found, key=lambda entry: int(entry[0]))]

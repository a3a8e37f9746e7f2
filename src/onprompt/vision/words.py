"""A text as numbers: the vectors of its tokens (WordLlama, a table of 32,000), summed up."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import numpy as np

from onprompt.vision.boxes import Floats
from onprompt.vision.runtime import once

FILES = ("wordllama.safetensors", "wordllama-tokens.json")
TABLE = "embedding.weight"
LONGEST = 20_000  # characters of a text that are read


class Words:
    """The table of vectors, and what splits a text into its rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def table(self) -> Floats:
        """One row a token; the file is a header in JSON and plain numbers."""
        data = (self.folder / FILES[0]).read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        entry = json.loads(data[8:start])[TABLE]
        first, last = entry["data_offsets"]
        plain = np.frombuffer(data[start + first : start + last], dtype=np.float16)
        return plain.reshape(entry["shape"]).astype(np.float32)

    def tokens(self, text: str) -> list[int]:
        """The rows of a text; an empty one has the first."""
        whole = text[:LONGEST].lower().strip().encode("utf-8", "replace").decode()  # halves of characters are no text
        found: list[int] = self.splitter.encode(whole, add_special_tokens=False).ids
        return found or [0]

    @cached_property
    def splitter(self):  # type: ignore[no-untyped-def]  # its library is loaded when it is first needed
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / FILES[1]))

    def numbers(self, text: str, rarity: Floats) -> Floats:
        """The mean of the tokens, rarer ones weighing more, and the largest and smallest of each number."""
        rows = self.tokens(text)
        vectors, weights = self.table[rows], rarity[rows][:, None]
        mean = (vectors * weights).sum(axis=0) / max(float(weights.sum()), 1e-6)
        return np.concatenate([mean, vectors.max(axis=0), vectors.min(axis=0)])


@once
def words(folder: Path) -> Words:
    """One table in a process."""
    return Words(folder)

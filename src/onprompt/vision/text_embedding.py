"""Text features: token vectors from an embedding table (WordLlama, 32,000 tokens), pooled."""

import json
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onprompt.vision.boxes import Floats
from onprompt.vision.runtime import thread_safe_cache

FILES = ("wordllama.safetensors", "wordllama-tokens.json")
TENSOR = "embedding.weight"
MAX_LENGTH = 20_000  # characters of a text that are read


class EmbeddingTable:
    """The token vectors, and the tokenizer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def vectors(self) -> NDArray[np.float16]:
        """One row per token; a safetensors file is a JSON header and plain numbers."""
        data = (self.folder / FILES[0]).read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        entry = json.loads(data[8:start])[TENSOR]
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data, dtype=np.float16, count=(last - first) // 2, offset=start + first)
        return numbers.reshape(entry["shape"])

    @cached_property
    def tokenizer(self):  # type: ignore[no-untyped-def]  # its library is imported when it is first needed
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / FILES[1]))

    def tokens(self, text: str) -> list[int]:
        """The token ids of a text; an empty one has the first."""
        valid = text[:MAX_LENGTH].lower().strip().encode("utf-8", "replace").decode()  # lone surrogates are no text
        ids: list[int] = self.tokenizer.encode(valid, add_special_tokens=False).ids
        return ids or [0]

    def features(self, text: str, rarity: Floats) -> Floats:
        """The mean of the token vectors weighted by rarity, and their maximum and minimum."""
        ids = self.tokens(text)
        vectors, weights = self.vectors[ids].astype(np.float32), rarity[ids][:, None]
        mean = (vectors * weights).sum(axis=0) / max(float(weights.sum()), 1e-6)
        return np.concatenate([mean, vectors.max(axis=0), vectors.min(axis=0)])


@thread_safe_cache
def load_embeddings(folder: Path) -> EmbeddingTable:
    """The table, loaded once per process."""
    return EmbeddingTable(folder)

"""Text in the picture, read by PP-OCR when the prompt asks for text."""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onprompt.types import Box, Picture, Sighting

THINNEST = 8  # how many times as long as it is wide a picture may be for the reader


@cache
def reader() -> Any:
    """The reader, with the models that its package carries."""
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error"})


def widened(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A thin picture with its edge repeated: the reader enlarges the short side, and would fill the memory."""
    height, width = pixels.shape[:2]
    down, across = max(0, width // THINNEST - height), max(0, height // THINNEST - width)
    return np.pad(pixels, ((0, down), (0, across), (0, 0)), mode="edge")


def read_text(picture: Picture) -> tuple[Sighting, ...]:
    """Each line of text with its box."""
    pixels = widened(picture.pixels)
    found = reader()(pixels[..., ::-1])
    if found.txts is None:
        return ()
    height, width = picture.pixels.shape[:2]
    lines = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        xs, ys = corners[:, 0] / width, corners[:, 1] / height
        box = Box(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))
        lines.append(Sighting("text", "text", box, float(score), "pp-ocr", text=text))
    return tuple(lines)


def folded(text: str) -> list[str]:
    """The words, letters and digits only, without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(letter if letter.isalnum() else " " for letter in plain if not unicodedata.combining(letter))
    return kept.split()


def similarity(asked: str, read: str) -> float:
    """1 where the asked words stand in what was read, however they are spaced; less for each letter that differs."""
    want, words = folded(asked), folded(read)
    if not want or not words:
        return 0.0
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2("".join(want))
    best, step = 0.0, max(1, len(want) // 4)  # of a long text, not every place need be tried
    for size in range(max(1, len(want) - 1), len(want) + 2):  # a reader may join two words or part one
        for start in range(0, max(1, len(words) - size + 1), step):
            matcher.set_seq1("".join(words[start : start + size]))
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
                best = max(best, matcher.ratio())
    return best

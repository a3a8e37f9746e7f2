"""Text in the picture, read by PP-OCR when the prompt asks for text."""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from onprompt.types import Box, Picture, Sighting


@cache
def reader() -> Any:
    """The reader, with the models that its package carries."""
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error"})


def read_text(picture: Picture) -> tuple[Sighting, ...]:
    """Each line of text with its box."""
    found = reader()(picture.pixels[..., ::-1])
    if found.txts is None:
        return ()
    height, width = picture.pixels.shape[:2]
    lines = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        xs, ys = corners[:, 0] / width, corners[:, 1] / height
        box = Box(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))
        lines.append(Sighting("text", "text", box, float(score), "pp-ocr", text=text))
    return tuple(lines)


def folded(text: str) -> str:
    """Letters and digits only, without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def similarity(asked: str, read: str) -> float:
    """1 where the asked text stands somewhere in what was read; less for each letter that differs."""
    want, have = folded(asked), folded(read)
    if not want or not have:
        return 0.0
    if want in have:
        return 1.0
    size = len(want)
    windows = {have[start : start + size] for start in range(max(1, len(have) - size + 1))}
    return max(SequenceMatcher(None, want, window, autojunk=False).ratio() for window in windows)

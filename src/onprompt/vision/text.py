"""Text in the image, read by PP-OCR when the prompt asks for text."""

import unicodedata
from difflib import SequenceMatcher

import numpy as np

from onprompt.settings import Settings
from onprompt.types import Box, Picture, Sighting
from onprompt.vision.boxes import Pixels
from onprompt.vision.ocr import load_ocr

MAX_ASPECT_RATIO = 8


def pad_thin_image(pixels: Pixels) -> Pixels:
    """A thin image with its edge repeated: PP-OCR enlarges the short side, which would fill the memory."""
    height, width = pixels.shape[:2]
    down, across = max(0, width // MAX_ASPECT_RATIO - height), max(0, height // MAX_ASPECT_RATIO - width)
    return np.pad(pixels, ((0, down), (0, across), (0, 0)), mode="edge")


def read_text(picture: Picture, settings: Settings) -> tuple[Sighting, ...]:
    """Each line of text with its box."""
    result = load_ocr(settings)(pad_thin_image(picture.pixels)[..., ::-1])
    if result.txts is None:
        return ()
    height, width = picture.pixels.shape[:2]
    lines = []
    for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
        xs, ys = corners[:, 0] / width, corners[:, 1] / height
        box = Box(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))
        lines.append(Sighting("text", "text", box, float(score), "pp-ocr", text=text))
    return tuple(lines)


def normalized_words(text: str) -> list[str]:
    """The words, letters and digits only, without case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char if char.isalnum() else " " for char in folded if not unicodedata.combining(char)).split()


def similarity(asked: str, read: str) -> float:
    """1 where the asked words are among those that were read, however spaced; less for each letter that differs."""
    wanted, words = normalized_words(asked), normalized_words(read)
    if not wanted or not words:
        return 0.0
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2("".join(wanted))
    best, step = 0.0, max(1, len(wanted) // 4)  # a long text need not be tried at every position
    for size in range(max(1, len(wanted) - 1), len(wanted) + 2):  # OCR may join two words or split one
        for start in range(0, max(1, len(words) - size + 1), step):
            matcher.set_seq1("".join(words[start : start + size]))
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
                best = max(best, matcher.ratio())
    return best

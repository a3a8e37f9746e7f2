"""Bytes, texts and JSON that something went wrong with, and a limit on the time that reading them takes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

ODD = (
    *("\x00", "\x1b[2J", "\u202e", "\u200d", "\ufeff", "\ud83d", "\U0001f469\u200d\U0001f467", "\u0301" * 30),
    *("é", "ß", "İ", "\ufdfd", "漢字", "\u05e9\u05dc", "，", "。", "\n", "\r\n", "\t", " " * 50, "x" * 3000),
    *("<script>alert(1)</script>", "{{7*7}}", "${HOME}", "%s%n", "../../etc/passwd", "';--", "\\", '"', "`"),
    *("9" * 40, "-1", "1e308", "NaN", "(4)", "(0)", "[[", "]]", "((((", "~" * 20),
)
ODD_JSON: tuple[Any, ...] = (
    *(None, True, 0, -1, 7, 2**40, 2**70, 0.5, -0.5, 1e308, math.inf, math.nan, "", "x", "matched", "\ud800"),
    *([], {}, [[]], [None], {"a": 1}, ["x", 1], {"type": "x"}, "x" * 10_000, json.loads("[" * 300 + "]" * 300)),
)


def damaged_bytes(chance: Random, data: bytes) -> bytes:
    """Bytes with one to five changes: cuts, gaps, noise, repeats, extreme numbers, flipped bits."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        start = chance.randrange(len(made) + 1)
        end = min(len(made), start + int(2 ** chance.uniform(0, 12)))
        flipped = bytes(byte ^ 1 << chance.randrange(8) for byte in made[start : start + 1])
        changes = (
            (start, len(made), b""),
            (start, end, b""),
            (start, start, chance.randbytes(end - start)),
            (end, end, bytes(made[start:end])),
            (start, start + 4, chance.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"))),
            *[(start, start + 1, flipped)] * 2,
        )
        first, last, new = chance.choice(changes)
        made[first:last] = new
    return bytes(made)


def damaged_text(chance: Random, text: str) -> str:
    """A text with one to six changes: gaps, repeats, odd characters, other letters, shuffled words, swapped case."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randint(1, 30))
        letter = chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x3000))))
        words = text.split(" ")
        changes = (
            text[:start] + text[end:],
            text[:end] + text[start:end] * chance.randint(1, 4) + text[end:],
            text[:start] + chance.choice(ODD) + text[start:],
            text[:start] + letter + text[start + 1 :],
            " ".join(chance.sample(words, len(words))),
            text[:start] + text[start:].swapcase(),
        )
        text = chance.choice(changes)
    return text


def damaged_json(chance: Random, value: Any) -> Any:
    """JSON with one odd or missing place."""
    if not value or not isinstance(value, dict | list) or chance.random() < 0.1:
        return chance.choice(ODD_JSON)
    made = value.copy()
    key = chance.choice(list(made)) if isinstance(made, dict) else chance.randrange(len(made))
    if chance.random() < 0.1:
        del made[key]
    else:
        made[key] = damaged_json(chance, made[key])
    return made


@contextmanager
def limited(seconds: float, what: str) -> Iterator[None]:
    """A block that may take some seconds of processor time, not more."""
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds, f"too slow: {what}"

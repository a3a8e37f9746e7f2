"""Bytes and texts that something went wrong with."""

from __future__ import annotations

from random import Random

ODD = (
    *("\x00", "\x1b[2J", "\u202e", "\u200d", "\ufeff", "\ud83d", "\U0001f469\u200d\U0001f467", "\u0301" * 30),
    *("é", "ß", "İ", "\ufdfd", "漢字", "\u05e9\u05dc", "，", "。", "\n", "\r\n", "\t", " " * 50, "x" * 3000),
    *("<script>alert(1)</script>", "{{7*7}}", "${HOME}", "%s%n", "../../etc/passwd", "';--", "\\", '"', "`"),
    *("9" * 40, "-1", "1e308", "NaN", "(4)", "(0)", "[[", "]]", "((((", "~" * 20),
)


def damaged_bytes(chance: Random, data: bytes) -> bytes:
    """Bytes with one to five changes: flips, cuts, gaps, repeats, extreme numbers."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        start = chance.randrange(len(made) + 1)
        end = min(len(made), start + int(2 ** chance.uniform(0, 12)))
        match chance.randrange(7):
            case 0:
                del made[start:]
            case 1:
                del made[start:end]
            case 2:
                made[start:start] = chance.randbytes(end - start)
            case 3:
                made[end:end] = made[start:end]
            case 4:
                made[start : start + 4] = chance.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"))
            case _:
                if start < len(made):
                    made[start] ^= 1 << chance.randrange(8)
    return bytes(made)


def damaged_text(chance: Random, text: str) -> str:
    """A text with one to six changes: letters, odd characters, words that come twice or go."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randint(1, 30))
        match chance.randrange(6):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + text[start:end] * chance.randint(1, 4) + text[end:]
            case 2:
                text = text[:start] + chance.choice(ODD) + text[start:]
            case 3:
                letter = chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x3000))))
                text = text[:start] + letter + text[start + 1 :]
            case 4:
                words = text.split(" ")
                chance.shuffle(words)
                text = " ".join(words)
            case _:
                text = text[:start] + text[start:].swapcase()
    return text

"""Texts as people can see them: in quotation marks, by their ends where they are long, with nothing invisible."""

from __future__ import annotations

import hashlib


def visible(words: str) -> str:
    r"""A text on one line; what can't be seen, other than a plain space, is written out: \n, \xa0, \u200b."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in words)


def quoted(words: str, most: int = 80) -> str:
    """A text in quotation marks."""
    short = words if len(words) <= most else f"{words[: most // 2]}…{words[-most // 3 :]}"
    return f'"{visible(short)}"'


def named(option: str) -> str:
    """An option as it stands in a list, in quotation marks where its ends could not be told otherwise."""
    return quoted(option) if not option or option != option.strip() or "," in option else visible(option)


def digest(text: str) -> str:
    """The sha256 by which a text is known."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

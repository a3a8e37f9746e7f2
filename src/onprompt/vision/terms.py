"""Words for sizes, colours, shapes, postures, expressions and classes, from terms.toml."""

import tomllib
from pathlib import Path

TERMS = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))


def values_by_word(kind: str) -> dict[str, str]:
    """The value that each word stands for: `seated` → `sitting`."""
    return {word: value for value, words in TERMS[kind].items() for word in words.split()}

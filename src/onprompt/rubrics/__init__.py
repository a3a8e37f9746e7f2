"""The protocols, one file each; the judge's texts, word for word, are in `texts`."""

from pathlib import Path

TEXTS = Path(__file__).with_name("texts")


def text(name: str) -> str:
    """A judge's text as it was given to us."""
    return (TEXTS / f"{name}.txt").read_bytes().decode()

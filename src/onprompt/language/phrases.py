"""Known phrases, found at a place in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Phrases:
    """A set of phrases; `sizes` are the numbers of words that those have which begin with a word, longest first."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self.all = frozenset(phrases)
        sizes: dict[str, set[int]] = {}
        for phrase in self.all:
            first, *_ = words = phrase.split()
            sizes.setdefault(first, set()).add(len(words))
        self.sizes = {first: sorted(found, reverse=True) for first, found in sizes.items()}


def phrase_at(words: Sequence[str], at: int, known: Phrases) -> str:
    """The longest known phrase that begins here, or nothing."""
    for size in known.sizes.get(words[at], ()) if at < len(words) else ():
        if (phrase := " ".join(words[at : at + size])) in known.all:
            return phrase
    return ""

"""Step 1: what kind of property a word names, and in which words it is kept."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.types import Attribute

DOUBLED = ("b", "d", "g", "m", "n", "p", "r", "t")
SUPERLATIVES = {"largest": "largest", "biggest": "largest", "bigger": "larger", "littlest": "smallest"}


AMERICAN = {
    "colourful": "colorful",
    "multicoloured": "multicolored",
    "multi-coloured": "multi-colored",
    "coloured": "colored",
}


def attribute(word: str, tag: str = "JJ", lemma: str = "", degree: str = "", alive: bool = True) -> Attribute | None:
    """The property that a word names: None where it points or counts and describes nothing."""
    if word in lex.NOT_DESCRIBING:
        return None
    word = AMERICAN.get(word, word)
    kind = lex.kind_of(word.split()[-1])  # the colour of "dark blue"
    if kind == "material":
        return Attribute("material", lex.MATERIALS[word])
    if kind == "state" and tag == "VBG" and lemma and alive:
        return Attribute("action", lemma)
    if kind == "position":
        return Attribute("position", word.removesuffix("-hand"))
    if kind:
        return Attribute(kind, f"{degree} {word}" if degree and kind in {"state", "lighting", "orientation"} else word)
    if compared := comparison(word):
        return compared
    if tag == "VBG" or (word.endswith("ing") and lemma and lemma != word):
        return Attribute("action", lemma or word) if alive else Attribute("state", word)
    if tag in {"VBN", "VBD"} or word.endswith("ed"):
        return Attribute("state", f"{degree} {word}" if degree else word)
    if word.endswith("-shaped"):
        return Attribute("shape", word)
    if "-colored" in word or "-coloured" in word:
        return Attribute("color", word.partition("-")[0])
    return Attribute("other", word)


def comparison(word: str) -> Attribute | None:
    """A comparative or superlative, by the kind of its plain form: larger → size, tallest → shape."""
    word = SUPERLATIVES.get(word, word)
    for ending in ("est", "er"):
        if not word.endswith(ending) or len(word) < 5:
            continue
        stem = word.removesuffix(ending)
        plain = (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem, stem.removesuffix("i") + "y")
        for form in plain:
            if kind := lex.kind_of(form):
                return Attribute(kind, word)
    return None


def progressive(lemma: str) -> str:
    """Hold → holding, ride → riding, sit → sitting."""
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")) and lemma != "be":
        return lemma[:-1] + "ing"
    short = len(lemma) >= 3 and lemma[-1] in DOUBLED and lemma[-2] in "aeiou" and lemma[-3] not in "aeiou"
    if short and (len(lemma) <= 4 or lemma in {"unplug", "admit", "begin"}) and not lemma.endswith("en"):
        return lemma + lemma[-1] + "ing"
    return lemma + "ing"

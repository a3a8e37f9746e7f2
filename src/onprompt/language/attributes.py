"""What kind of attribute a word names, and in which words it is kept."""

from onprompt.language import lexicon as lex
from onprompt.types import Attribute

WITH_DEGREE = frozenset(("state", "lighting", "orientation"))  # "slightly bent"; a colour is kept without


def attribute_of(word: str, tag: str = "JJ", lemma: str = "", degree: str = "", alive: bool = True) -> Attribute | None:
    """The attribute that a word names; None if it only points or counts."""
    if word in lex.NON_DESCRIPTIVE:
        return None
    word = lex.AMERICAN_SPELLINGS.get(word, word)
    kind = lex.kind_of(word.split()[-1])  # the colour of "dark blue"
    if kind == "material":
        return Attribute(kind, lex.MATERIALS[word])
    if kind == "state" and tag == "VBG" and lemma and alive:
        return Attribute("action", lemma)
    if kind == "position":
        return Attribute(kind, word.removesuffix("-hand"))
    with_degree = f"{degree} {word}" if degree else word
    if kind:
        return Attribute(kind, with_degree if kind in WITH_DEGREE else word)
    return comparison(word) or attribute_by_form(word, tag, lemma, with_degree, alive)


def attribute_by_form(word: str, tag: str, lemma: str, with_degree: str, alive: bool) -> Attribute:
    """The attribute that an unlisted word names, by its tag and ending."""
    if tag == "VBG" or (word.endswith("ing") and lemma and lemma != word):
        return Attribute("action", lemma or word) if alive else Attribute("state", word)
    if tag in {"VBN", "VBD"} or word.endswith("ed"):
        return Attribute("state", with_degree)
    return Attribute("other", word)


def comparison(word: str) -> Attribute | None:
    """A comparative or superlative, by the kind of its positive form: larger → size, tallest → shape."""
    word = lex.COMPARISON_SYNONYMS.get(word, word)
    for ending in ("est", "er"):
        if not word.endswith(ending) or len(word) < 5:
            continue
        stem = word.removesuffix(ending)
        undoubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        for form in (stem, stem + "e", undoubled, stem.removesuffix("i") + "y"):
            if kind := lex.kind_of(form):
                return Attribute(kind, word)
    return None

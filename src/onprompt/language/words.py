"""English words: which are known, which are nouns, and their forms.

words.txt is written by training/words, wordnet.txt by training/ontology (WordNet's licence: WORDNET-LICENSE).
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.language import lexicon as lex
from onprompt.types import Attribute

VOWELS = "aeiou"
NO_TREE = (1 << 32) - 1  # where an edit tree has no branch
# Plural endings with those of the singular, the likeliest for an unknown word first; no plural ends in -xs or -ys.
PLURALS = {
    **{"men": ("man",), "ies": ("y", "ie"), "ves": ("ve", "f", "fe"), "oes": ("o", "oe"), "sses": ("ss", "sse")},
    **{"ses": ("se", "s", "sis"), "ches": ("ch", "che"), "shes": ("sh", "she"), "xes": ("x", "xe"), "zes": ("ze", "z")},
    "s": ("",),
}


@dataclass(frozen=True)
class Vocabulary:
    """English words: the frequency of common ones, and lemmas by the endings that they take."""

    common: Mapping[str, int]
    nouns: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    others: frozenset[str]

    def has(self, word: str) -> bool:
        """Whether a word in lower case is a lemma or a regular form of one."""
        as_noun = (self.nouns, self.common, self.others)
        return (
            any(word in words for words in (*as_noun, self.verbs, self.adjectives))
            or any(lemma in words for lemma in noun_lemmas(word) for words in as_noun)
            or any(lemma in self.verbs for lemma in verb_lemmas(word))
            or any(lemma in self.adjectives for lemma in adjective_lemmas(word))
        )


@cache
def vocabulary() -> Vocabulary:
    """All words of words.txt."""
    text = Path(__file__).with_name("words.txt").read_text(encoding="utf-8")
    lines = {name: rest.split() for name, _, rest in (line.partition(" ") for line in text.splitlines())}
    counts = dict(zip(lines["common"][::2], map(int, lines["common"][1::2]), strict=True))
    return Vocabulary(counts, *(frozenset(lines[name]) for name in ("noun", "verb", "adjective", "word")))


class WordNet(NamedTuple):
    """A line for each sense, not yet parsed; the senses of each noun; and the nouns for invisible things."""

    lines: Sequence[str]
    nouns: Mapping[str, str]
    abstract: frozenset[str]


class Sense(NamedTuple):
    """A sense of WordNet: its safe synonyms, all its nouns, and the numbers of its kinds and members."""

    synonyms: tuple[str, ...]
    nouns: tuple[str, ...]
    kinds: tuple[int, ...]
    members: tuple[int, ...]


@cache
def wordnet() -> WordNet:
    """WordNet's nouns, read at first use."""
    text = Path(__file__).with_name("wordnet.txt").read_text(encoding="utf-8")
    lines, nouns, abstract = (block.split("\n") for block in text.rstrip().split("\n\n"))
    return WordNet(lines, dict(line.split(";") for line in nouns), frozenset(abstract))


@cache
def sense(number: int) -> Sense:
    """The sense of that number."""
    words, *links = wordnet().lines[number].split(";")
    synonyms, others = (tuple(filter(None, part.split(","))) for part in words.split("|"))
    kinds, members = (tuple(map(int, part.split())) for part in links[:2])  # the third are its parts
    return Sense(synonyms, synonyms + others, kinds, members)


def senses(noun: str) -> tuple[int, ...]:
    """The visible senses of a noun, the usual one first."""
    return tuple(map(int, wordnet().nouns.get(noun, "").split()))


def normalize(word: str) -> str:
    """A word in lower case, without accents and without what follows an apostrophe."""
    lower = word.lower().replace("’", "'").partition("'")[0]
    if lower.isascii():
        return lower
    return "".join(letter for letter in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(letter))


@lru_cache(maxsize=65536)
def is_known_word(word: str) -> bool:
    """Whether a word, or each part of a hyphenated one, is an English word in any of its forms."""
    return all(vocabulary().has(part) for part in re.split(r"[-–]", normalize(word)) if part)


@lru_cache(maxsize=65536)
def is_common_word(word: str) -> bool:
    """Whether a word or its lemma is met often in prompts and captions, so that a model trained on them knows it."""
    known, lower = vocabulary().common, normalize(word)
    return lower in known or any(lemma in known for lemma in (*verb_lemmas(lower), *adjective_lemmas(lower)))


def is_noun(word: str) -> bool:
    """Whether a word, or several, are a noun."""
    return word in wordnet().nouns or word in wordnet().abstract


def is_ing_verb(word: str) -> bool:
    """Whether a word in -ing is a verb form and not a noun such as "building"."""
    return word.endswith("ing") and word not in lex.ING_NOUNS


@lru_cache(maxsize=65536)
def singular(name: str) -> str:
    """The singular: `dogs` → `dog`, `fire trucks` → `fire truck`; `wine glasses` are no `glasses`."""
    before, space, word = name.rpartition(" ")
    if space and word in lex.SINGULAR_IN_COMPOUNDS:
        return f"{before} {lex.SINGULAR_IN_COMPOUNDS[word]}"
    if word in lex.SINGULAR:
        return before + space + lex.SINGULAR[word]
    forms = list(noun_lemmas(word))  # visible things first
    nouns = [form for form in forms if senses(form)] or [form for form in forms if is_noun(form)]
    if not nouns and (not forms or is_noun(word) or word.endswith(("us", "is", "men"))):
        return name
    return before + space + (nouns or forms)[0]


def noun_lemmas(word: str) -> Iterator[str]:
    """The words that `word` may be the plural of."""
    ending = next((ending for ending in PLURALS if word.endswith(ending)), "")
    if ending and len(word) > 3 and not re.search(r"(s|[xz]|[cs]h|[^aeiou]y)s$", word):
        yield from (word.removesuffix(ending) + instead for instead in PLURALS[ending])


def verb_lemmas(word: str) -> Iterator[str]:
    """The verbs that `word` may be a regular form of: `runs`, `stopped`, `carried`, `making`."""
    yield from noun_lemmas(word)
    if word.endswith("ied"):
        yield word[:-3] + "y"
    for ending in ("ed", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            yield from stem_lemmas(word.removesuffix(ending))


def adjective_lemmas(word: str) -> Iterator[str]:
    """The adjectives that `word` may be a form of: `redder`, `happiest`, `brightly`."""
    for ending in ("er", "est"):
        if word.endswith("i" + ending):
            yield word[: -len(ending) - 1] + "y"
        elif word.endswith(ending):
            yield from stem_lemmas(word.removesuffix(ending))
    if word.endswith("ly"):
        yield word[:-2]
        yield word[:-3] + "y" if word.endswith("ily") else word[:-1] + "e"


def stem_lemmas(stem: str) -> Iterator[str]:
    """The lemmas whose last letter an ending may double or drop: `stopp`, `mak`, `walk`; `stop` would have doubled."""
    if len(stem) > 2 and stem[-1] == stem[-2]:
        yield stem[:-1]
    if not re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", stem):
        yield stem
    yield stem + "e"


def progressive(verb: str) -> str:
    """Hold → holding, ride → riding, sit → sitting."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return verb[:-1] + "ing"
    short = len(verb) >= 3 and verb[-1] in "bdgmnprt" and verb[-2] in VOWELS and verb[-3] not in VOWELS
    doubled = (len(verb) <= 4 or verb in lex.DOUBLING_VERBS) and not verb.endswith("en")
    return verb + verb[-1] * (short and doubled) + "ing"


def edited(text: str, tree: int, trees: Sequence[Sequence[Any]]) -> str | None:
    """A learned lemma: a word with its ends edited, or replaced as a whole; None where the edit tree does not fit."""
    match trees[tree]:
        case [str(found), str(made)]:
            return made if text == found else None
        case [before, after, left, right]:
            if before + after > len(text):
                return None
            stop = len(text) - after
            head = "" if left == NO_TREE else edited(text[:before], left, trees)
            tail = "" if right == NO_TREE else edited(text[stop:], right, trees)
            return None if head is None or tail is None else head + text[before:stop] + tail
    raise ValueError("an edit tree has two or four parts")


def attribute_of(word: str, tag: str = "JJ", lemma: str = "", degree: str = "", alive: bool = True) -> Attribute | None:
    """The attribute that a word names, in the words in which it is kept; None if it only points or counts."""
    if word in lex.NON_DESCRIPTIVE:
        return None
    if (denied := word.removeprefix("non-")) != word and lex.kind_of(denied):
        return Attribute(lex.kind_of(denied) or "", denied, negated=True)
    word = lex.PREFERRED.get(word, word)
    kind = lex.kind_of(word.split()[-1])  # the color of "dark blue"
    with_degree = f"{degree} {word}" if degree else word  # "slightly bent"; a color is kept without
    if kind == "material":
        return Attribute(kind, lex.MATERIALS[word])
    if kind == "state" and tag == "VBG" and lemma and alive:
        return Attribute("action", lemma)
    if kind == "position":
        return Attribute(kind, word.removesuffix("-hand"))
    if kind:
        return Attribute(kind, with_degree if kind in {"state", "lighting", "orientation"} else word)
    if compared := comparison(word):
        return compared
    if tag == "VBG" or (word.endswith("ing") and lemma and lemma != word):  # unlisted words go by their form
        return Attribute("action", lemma or word) if alive else Attribute("state", word)
    return Attribute("state", with_degree) if tag in {"VBN", "VBD"} or word.endswith("ed") else Attribute("other", word)


def comparison(word: str) -> Attribute | None:
    """A comparative or superlative, by the kind of its positive form: larger → size, tallest → shape."""
    word = lex.PREFERRED.get(word, word)
    if not word.endswith(("er", "est")) or len(word) < 5:
        return None
    kinds = (kind for form in adjective_lemmas(word) if (kind := lex.kind_of(form)))
    return next((Attribute(kind, word) for kind in kinds), None)

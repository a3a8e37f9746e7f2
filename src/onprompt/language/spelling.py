"""Slips of the keyboard and what was meant; a word that may be right is left alone."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_lowercase

SHORTEST, TWO_SLIPS = 3, 6  # letters from which on one slip, and two, are looked for
VOWELS = "aeiou"


@dataclass(frozen=True)
class Words:
    """What is known: how often common words are met, and lemmas by the endings that they take."""

    common: Mapping[str, int]
    nouns: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    others: frozenset[str]


@cache
def words() -> Words:
    """All words, as training/words/build.py wrote them."""
    text = Path(__file__).with_name("words.txt").read_text(encoding="utf-8")
    lines = {name: rest.split() for name, _, rest in (line.partition(" ") for line in text.splitlines())}
    counts = dict(zip(lines["common"][::2], map(int, lines["common"][1::2]), strict=True))
    return Words(counts, *(frozenset(lines[name]) for name in ("noun", "verb", "adjective", "word")))


# ---- known words ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def known_word(word: str) -> bool:
    """Whether a word, or all parts of a hyphenated one, are English words in any of their forms."""
    return all(is_word(part, words()) for part in re.split(r"[-–]", plain(word)) if part)


def plain(word: str) -> str:
    """In lower case, without accents and what follows an apostrophe."""
    small = word.lower().replace("’", "'").partition("'")[0]
    if small.isascii():
        return small
    return "".join(letter for letter in unicodedata.normalize("NFKD", small) if not unicodedata.combining(letter))


def is_word(word: str, known: Words) -> bool:
    """Whether a word in lower case is a lemma or a regular form of one."""
    lists = (known.nouns, known.verbs, known.adjectives)
    if word in known.common or word in known.others or any(word in each for each in lists):
        return True
    if any(root in known.common or root in known.others for root in plurals(word)) or is_compound(word, known):
        return True
    forms = zip(lists, (plurals, tenses, degrees), strict=True)
    return any(root in lemmas for lemmas, roots in forms for root in roots(word))


def is_compound(word: str, known: Words) -> bool:
    """Whether a word is a known one with something before it: `wishlist`, `superwoman`, `unpainted`."""
    for at in range(2, len(word) - PIECE + 1):
        before, after = word[:at], word[at:]
        if before in PREFIXES and after in known.common:
            return True
        if at >= PIECE and before in known.common and after in known.common and after in known.nouns:  # no sand-which
            return True
    return False


PIECE = 4  # letters that a word in a compound has at least: `thecat` is a slip
PREFIX_LIST = """
anti bio cyber de dis fore hyper inter mega meta micro mid mini mis mono multi neo non out over photo poly post pre
proto pseudo re retro semi steam sub super tele trans tri ultra un under uni
"""
PREFIXES = frozenset(PREFIX_LIST.split())


def plurals(word: str) -> Iterator[str]:
    """What `word` may be the plural of."""
    if word.endswith("men"):
        yield word[:-2] + "an"
    if word.endswith("s") and not word.endswith(("ss", "us")):
        if word.endswith("ies"):
            yield word[:-3] + "y"
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            yield word[:-2]
        if not re.search(r"([xz]|[cs]h|[^aeiou]y)s$", word):
            yield word[:-1]


def tenses(word: str) -> Iterator[str]:
    """What `word` may be a form of, if a verb: `runs`, `ran` not, `stopped`, `carried`, `making`."""
    yield from plurals(word)
    if word.endswith("ied"):
        yield word[:-3] + "y"
    for ending in ("ed", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            yield from uncut(word.removesuffix(ending))


def degrees(word: str) -> Iterator[str]:
    """What `word` may be a form of, if an adjective: `redder`, `happiest`, `brightly`."""
    for ending in ("er", "est"):
        if word.endswith("i" + ending):
            yield word[: -len(ending) - 1] + "y"
        elif word.endswith(ending):
            yield from uncut(word.removesuffix(ending))
    if word.endswith("ly"):
        yield word[:-2]
        yield word[:-3] + "y" if word.endswith("ily") else word[:-1] + "e"


def uncut(stem: str) -> Iterator[str]:
    """The lemmas whose last letter an ending may double or drop: `stopp`, `mak`, `walk`; `stop` would have doubled."""
    if len(stem) > 2 and stem[-1] == stem[-2]:
        yield stem[:-1]
    if not re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", stem):
        yield stem
    yield stem + "e"


# ---- repairs -------------------------------------------------------------------------------------------------------


def repaired(word: str, maybe_name: bool = False) -> str | None:
    """What was meant, where a word is unknown and a common one is near; `maybe_name` spares what has a capital."""
    if not word.isascii() or not word.isalpha() or not SHORTEST <= len(word) <= LONGEST or word.isupper():
        return None
    if word != word.lower() and (maybe_name or word[1:] != word[1:].lower()):
        return None
    found = None if known_word(word) else meant(word.lower())
    return found.capitalize() if found and word[0].isupper() else found


def mended(text: str) -> str:
    """A text with its misspelt words repaired, those at least of which it is clear what was meant."""
    return re.sub(r"[A-Za-z]+", lambda word: repaired(word[0], maybe_name=word.start() > 0) or word[0], text)


@lru_cache(maxsize=8192)
def meant(word: str) -> str | None:
    """The likeliest common word that sounds alike, or that one slip, in a long word two, turn into `word`."""
    ranked = sorted(((likelihood(word, each), each) for each in candidates(word)), reverse=True)
    if not ranked or ranked[0][0] < SURE - PER_LETTER * min(len(word) - SHORTEST, 5):
        return None
    return None if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < CLEAR else ranked[0][1]


def candidates(word: str) -> set[str]:
    """The common words that are one slip away, else those two away, but never shorter than a slip is looked for."""
    found = {each for each in slips(word) if len(each) >= SHORTEST} & words().common.keys()
    if len(word) >= TWO_SLIPS:
        found |= {each for each in by_sound().get(sound(word), ()) if abs(len(each) - len(word)) <= 2}
    if found or len(word) < TWO_SLIPS:
        return found
    return {each for each in akin(word) if cost(word, each) <= TWO_COST}


def sound(word: str) -> str:
    """A word as it sounds, roughly: elefant and elephant, bycicle and bicycle are one."""
    for pattern, letter in SOUNDS:
        word = pattern.sub(letter, word)
    return word


SOUNDS = tuple(
    (re.compile(pattern), letter)
    for pattern, letter in (
        ("ph", "f"),
        ("wh", "w"),
        ("gh", "g"),
        ("[ckq]+", "k"),
        ("[sz]+", "s"),
        ("[aeiouy]+", "a"),
        (r"(.)\1+", r"\1"),
    )
)
LONGEST = 30  # letters of a word that anybody would write
HEARD = 10  # times that a word is met in the corpus before others are heard as it
SOUND = 0.9  # what a slip costs less that nobody would hear


@cache
def by_sound() -> Mapping[str, list[str]]:
    """The common words, by their sound."""
    found: dict[str, list[str]] = {}
    for word, times in words().common.items():
        if len(word) >= TWO_SLIPS - 1 and times >= HEARD:
            found.setdefault(sound(word), []).append(word)
    return found


def slips(word: str) -> Iterator[str]:
    """All that is one slip away: a letter less, more or other, or two letters swapped."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]


@cache
def by_first_letter() -> Mapping[str, list[tuple[str, frozenset[str]]]]:
    """The common words of some length, with their letters."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {letter: [] for letter in ascii_lowercase}
    for word in words().common:
        if len(word) >= TWO_SLIPS - 1:
            found[word[0]].append((word, frozenset(word)))
    return found


def akin(word: str) -> Iterator[str]:
    """Common words that begin alike and may be two slips away."""
    letters = set(word)
    for other, has in by_first_letter()[word[0]]:
        if abs(len(other) - len(word)) <= 2 and len(letters - has) <= 2 and len(has - letters) <= 2:
            yield other


def likelihood(word: str, other: str) -> float:
    """How likely `word` was to be `other`: the more frequent and the cheaper the slips, the likelier."""
    alike = SOUND if len(word) >= TWO_SLIPS and sound(word) == sound(other) else 0.0
    return math.log10(min(words().common[other], 2000)) / 2 - cost(word, other) + alike


# What slips cost; measured on made-up slips of caption words, and on names.
SWAPPED, DOUBLED, VOWEL, LETTER, NEAR, OTHER = 0.3, 0.3, 0.5, 0.7, 0.8, 1.2
FIRST, LAST = 0.8, 0.8  # more, where a word's first or last letter is wrong: names and foreign words differ there
TWO_COST = 0.9  # what two slips may cost
SURE, PER_LETTER, CLEAR = 1.0, 0.35, 0.2  # what a word of three letters needs, less per letter; and before the next


def cost(one: str, other: str) -> float:
    """What it takes to turn `other` into `one` by letters missed, added, mistaken, or swapped with the next."""
    before: list[float] = []
    last = [0.0]
    for j in range(len(other)):
        last.append(last[-1] + missed(other, j))
    for i, letter in enumerate(one):
        row = [last[0] + missed(one, i)]
        for j, theirs in enumerate(other):
            mistaken = 0.0 if letter == theirs else (NEAR if near(letter, theirs) else OTHER) + edge(other, j)
            best = min(last[j + 1] + missed(one, i), row[-1] + missed(other, j), last[j] + mistaken)
            if i and j and letter == other[j - 1] and one[i - 1] == theirs:
                best = min(best, before[j - 1] + SWAPPED)
            row.append(best)
        before, last = last, row
    return last[-1]


def missed(word: str, at: int) -> float:
    """What it costs to leave a letter out of a word, or to put it in."""
    letter = word[at]
    if letter in (word[at - 1 : at], word[at + 1 : at + 2]) and at != len(word) - 1:
        return DOUBLED
    return (VOWEL if letter in VOWELS else LETTER) + edge(word, at)


def edge(word: str, at: int) -> float:
    """What a slip at either end of a word costs more."""
    return FIRST if at == 0 else LAST if at == len(word) - 1 else 0.0


ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@cache
def near(one: str, other: str) -> bool:
    """Whether two letters are neighbours on the keyboard, or both vowels."""
    at = {letter: (row, column + row / 2) for row, keys in enumerate(ROWS) for column, letter in enumerate(keys)}
    (row, column), (other_row, other_column) = at[one], at[other]
    beside = abs(row - other_row) <= 1 and abs(column - other_column) <= 1
    return beside or (one in VOWELS and other in VOWELS)

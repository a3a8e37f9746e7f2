"""Known words, and typing errors corrected to them; a word that may be right is left alone."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_lowercase

MIN_LETTERS, MIN_LETTERS_SOUND, MAX_LETTERS = 3, 6, 30  # of words that are corrected, and that are by their sound
VOWELS = "aeiou"


@dataclass(frozen=True)
class Vocabulary:
    """English words: the frequency of common ones, and lemmas by the endings that they take."""

    common: Mapping[str, int]
    nouns: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    others: frozenset[str]


@cache
def vocabulary() -> Vocabulary:
    """All words, as training/words/build.py wrote them."""
    text = Path(__file__).with_name("words.txt").read_text(encoding="utf-8")
    lines = {name: rest.split() for name, _, rest in (line.partition(" ") for line in text.splitlines())}
    counts = dict(zip(lines["common"][::2], map(int, lines["common"][1::2]), strict=True))
    return Vocabulary(counts, *(frozenset(lines[name]) for name in ("noun", "verb", "adjective", "word")))


# ---- known words -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def is_known_word(word: str) -> bool:
    """Whether a word, or each part of a hyphenated one, is an English word in any of its forms."""
    return all(is_word(part, vocabulary()) for part in re.split(r"[-–]", normalize(word)) if part)


@lru_cache(maxsize=65536)
def is_common_word(word: str) -> bool:
    """Whether a word or its lemma is met often in prompts and captions, so that a model trained on them knows it."""
    known, lower = vocabulary().common, normalize(word)
    lemmas = (lemma for forms in (noun_lemmas, verb_lemmas, adjective_lemmas) for lemma in forms(lower))
    return lower in known or any(lemma in known for lemma in lemmas)


def normalize(word: str) -> str:
    """A word in lower case, without accents and without what follows an apostrophe."""
    lower = word.lower().replace("’", "'").partition("'")[0]
    if lower.isascii():
        return lower
    return "".join(letter for letter in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(letter))


def is_word(word: str, known: Vocabulary) -> bool:
    """Whether a word in lower case is a lemma or a regular form of one."""
    lists = (known.nouns, known.verbs, known.adjectives)
    if any(word in words for words in (known.common, known.others, *lists)):
        return True
    if any(lemma in known.common or lemma in known.others for lemma in noun_lemmas(word)):
        return True
    forms = zip(lists, (noun_lemmas, verb_lemmas, adjective_lemmas), strict=True)
    return any(lemma in words for words, lemmas in forms for lemma in lemmas(word))


def noun_lemmas(word: str) -> Iterator[str]:
    """The words that `word` may be the plural of."""
    if word.endswith("men"):
        yield word[:-2] + "an"
    if word.endswith("s") and not word.endswith(("ss", "us")):
        if word.endswith("ies"):
            yield word[:-3] + "y"
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            yield word[:-2]
        if not re.search(r"([xz]|[cs]h|[^aeiou]y)s$", word):
            yield word[:-1]


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


# ---- corrections -----------------------------------------------------------------------------------------------------


def correct_spelling(text: str) -> str:
    """A text with its misspelt words corrected where the intended word is clear."""
    return re.sub(r"[A-Za-z]+", lambda word: correct_word(word[0], maybe_name=word.start() > 0) or word[0], text)


def correct_word(word: str, maybe_name: bool = False) -> str | None:
    """The intended word, if a word is unknown and a common one is near; `maybe_name` spares capitalized words."""
    if not word.isascii() or not word.isalpha() or not MIN_LETTERS <= len(word) <= MAX_LETTERS or word.isupper():
        return None
    if word != word.lower() and (maybe_name or word[1:] != word[1:].lower()):
        return None
    correction = None if is_known_word(word) else best_correction(word.lower())
    return correction.capitalize() if correction and word[0].isupper() else correction


@lru_cache(maxsize=8192)
def best_correction(word: str) -> str | None:
    """The likeliest common word that sounds like `word` or is one error away."""
    ranked = sorted(((likelihood(word, other), other) for other in candidates(word)), reverse=True)
    if not ranked or ranked[0][0] < MIN_LIKELIHOOD - PER_LETTER * min(len(word) - MIN_LETTERS, 5):
        return None
    return None if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < MIN_LEAD else ranked[0][1]


def candidates(word: str) -> set[str]:
    """The common words that are one error away or sound alike."""
    near = {other for other in one_error_away(word) if len(other) >= MIN_LETTERS} & vocabulary().common.keys()
    if len(word) >= MIN_LETTERS_SOUND:
        near |= {other for other in by_sound().get(sound(word), ()) if abs(len(other) - len(word)) <= 2}
    return near


def one_error_away(word: str) -> Iterator[str]:
    """All strings with a letter less, more or replaced, or two letters swapped."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]


def sound(word: str) -> str:
    """Roughly how a word sounds: elefant and elephant, bycicle and bicycle are the same."""
    for pattern, letter in SOUNDS:
        word = pattern.sub(letter, word)
    return word


PHONEMES = {"ph": "f", "wh": "w", "gh": "g", "[ckq]+": "k", "[sz]+": "s", "[aeiouy]+": "a", r"(.)\1+": r"\1"}
SOUNDS = tuple((re.compile(pattern), letter) for pattern, letter in PHONEMES.items())
MIN_FREQUENCY_SOUND = 10  # of a word in the corpus, for others to be taken for it


@cache
def by_sound() -> Mapping[str, list[str]]:
    """The common words, by their sound."""
    words: dict[str, list[str]] = defaultdict(list)
    for word, frequency in vocabulary().common.items():
        if len(word) >= MIN_LETTERS_SOUND - 1 and frequency >= MIN_FREQUENCY_SOUND:
            words[sound(word)].append(word)
    return words


def likelihood(word: str, other: str) -> float:
    """How likely `other` was intended: the more frequent it is and the cheaper the errors, the likelier."""
    alike = SAME_SOUND if len(word) >= MIN_LETTERS_SOUND and sound(word) == sound(other) else 0.0
    return math.log10(min(vocabulary().common[other], 2000)) / 2 - cost(word, other) + alike


# What errors cost; tuned on simulated errors in words of captions, and on names.
SWAPPED, DOUBLED, VOWEL, LETTER, NEIGHBOUR, OTHER = 0.3, 0.2, 0.5, 0.7, 0.8, 1.2
SAME_SOUND = 0.9  # how much cheaper an inaudible error is
EDGE = 0.8  # added for a word's first and last letter, where names and foreign words differ
MIN_LIKELIHOOD, PER_LETTER, MIN_LEAD = 1.0, 0.35, 0.2  # for three letters, less per letter; and over the next best


def cost(word: str, other: str) -> float:
    """The weighted Damerau-Levenshtein distance from `other` to `word`."""
    before: list[float] = []
    last = [0.0]
    for j in range(len(other)):
        last.append(last[-1] + gap_cost(other, j))
    for i, letter in enumerate(word):
        row = [last[0] + gap_cost(word, i)]
        for j, intended in enumerate(other):
            replaced = last[j] + (0.0 if letter == intended else replacement_cost(letter, other, j))
            best = min(last[j + 1] + gap_cost(word, i), row[-1] + gap_cost(other, j), replaced)
            if i and j and letter == other[j - 1] and word[i - 1] == intended:
                best = min(best, before[j - 1] + SWAPPED)
            row.append(best)
        before, last = last, row
    return last[-1]


def gap_cost(word: str, at: int) -> float:
    """What it costs to leave a letter out of a word, or to insert it."""
    letter = word[at]
    if letter in (word[at - 1 : at], word[at + 1 : at + 2]) and at != len(word) - 1:
        return DOUBLED
    return (VOWEL if letter in VOWELS else LETTER) + edge_cost(word, at)


def replacement_cost(letter: str, word: str, at: int) -> float:
    """What it costs to type a letter in place of that in a word."""
    return (NEIGHBOUR if are_neighbours(letter, word[at]) else OTHER) + edge_cost(word, at)


def edge_cost(word: str, at: int) -> float:
    """What an error at either end of a word costs more."""
    return EDGE if at in (0, len(word) - 1) else 0.0


KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
VOICED = frozenset(map(frozenset, ("bp", "dt", "gk")))  # heard as each other: labtop
KEYS = {letter: (row, column + row / 2) for row, keys in enumerate(KEYBOARD) for column, letter in enumerate(keys)}


@cache
def are_neighbours(letter: str, other: str) -> bool:
    """Whether two letters are neighbours on the keyboard, sound alike, or are both vowels."""
    (row, column), (other_row, other_column) = KEYS[letter], KEYS[other]
    adjacent = abs(row - other_row) <= 1 and abs(column - other_column) <= 1
    return adjacent or {letter, other} in VOICED or (letter in VOWELS and other in VOWELS)

"""Typing errors corrected, where a common word is near and the word is unknown; and prompts that are not English."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from string import ascii_lowercase

from onprompt.language import lexicon as lex
from onprompt.language.words import VOWELS, is_known_word, vocabulary

MIN_LETTERS, MIN_LETTERS_SOUND, MAX_LETTERS = 3, 6, 30  # of words that are corrected, and that are by their sound
MIN_FREQUENCY_SOUND = 10  # of a word in the corpus, for others to be taken for it
PHONEMES = {"ph": "f", "wh": "w", "gh": "g", "[ckq]+": "k", "[sz]+": "s", "[aeiouy]+": "a", r"(.)\1+": r"\1"}
SOUNDS = tuple((re.compile(pattern), letter) for pattern, letter in PHONEMES.items())
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
KEYS = {letter: (row, column + row / 2) for row, keys in enumerate(KEYBOARD) for column, letter in enumerate(keys)}
VOICED = frozenset(map(frozenset, ("bp", "dt", "gk")))  # heard as each other: labtop

# What errors cost; tuned on simulated errors in words of captions, and on names.
SWAPPED, DOUBLED, VOWEL, LETTER, NEIGHBOUR, OTHER = 0.3, 0.2, 0.5, 0.7, 0.8, 1.2
SAME_SOUND, INAUDIBLE = 0.9, 1.0  # how much cheaper an inaudible error is, and what several cost
EDGE = 0.8  # added for a word's first and last letter, where names and foreign words differ
MIN_LIKELIHOOD, PER_LETTER, MIN_LEAD = 1.0, 0.35, 0.2  # for three letters, less per letter; and over the next best


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
    """The likeliest common word that sounds like `word` or is one error away: frequent, and by a cheap error."""
    common, costs = vocabulary().common, dict[str, float]()
    for other, cost in one_error_away(word):
        if len(other) >= MIN_LETTERS:
            costs[other] = min(cost, costs.get(other, cost))
    if len(word) >= MIN_LETTERS_SOUND:
        alike = [other for other in by_sound().get(sound(word), ()) if abs(len(other) - len(word)) <= 2]
        costs = {other: cost - SAME_SOUND * (sound(other) == sound(word)) for other, cost in costs.items()}
        costs = {**dict.fromkeys(alike, INAUDIBLE), **costs}
    ranked = sorted(
        ((math.log10(min(common[other], 2000)) / 2 - cost, other) for other, cost in costs.items()), reverse=True
    )
    if not ranked or ranked[0][0] < MIN_LIKELIHOOD - PER_LETTER * min(len(word) - MIN_LETTERS, 5):
        return None
    return None if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < MIN_LEAD else ranked[0][1]


def one_error_away(word: str) -> Iterator[tuple[str, float]]:
    """The common words with a letter less, more or replaced, or two letters swapped, and what the error costs."""
    common = vocabulary().common
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after and (shorter := before + after[1:]) in common:
            yield shorter, gap_cost(word, at)
        if (swapped := before + after[1:2] + after[:1] + after[2:]) in common:
            yield swapped, SWAPPED
        for letter in ascii_lowercase:
            if (longer := before + letter + after) in common:
                yield longer, gap_cost(longer, at)
            if after and (other := before + letter + after[1:]) in common:
                yield other, replacement_cost(after[0], other, at)


def sound(word: str) -> str:
    """Roughly how a word sounds: elefant and elephant, bycicle and bicycle are the same."""
    for pattern, letter in SOUNDS:
        word = pattern.sub(letter, word)
    return word


@cache
def by_sound() -> Mapping[str, list[str]]:
    """The common words, by their sound."""
    words: dict[str, list[str]] = defaultdict(list)
    for word, frequency in vocabulary().common.items():
        if len(word) >= MIN_LETTERS_SOUND - 1 and frequency >= MIN_FREQUENCY_SOUND:
            words[sound(word)].append(word)
    return words


def gap_cost(word: str, at: int) -> float:
    """What it costs to leave a letter out of a word, or to insert it."""
    letter = word[at]
    if letter in (word[at - 1 : at], word[at + 1 : at + 2]) and at != len(word) - 1:
        return DOUBLED
    return (VOWEL if letter in VOWELS else LETTER) + EDGE * (at in (0, len(word) - 1))


def replacement_cost(letter: str, word: str, at: int) -> float:
    """What it costs to type a letter in place of that in a word: less for one nearby, of similar sound, or a vowel."""
    other = word[at]
    (row, column), (other_row, other_column) = KEYS[letter], KEYS[other]
    adjacent = abs(row - other_row) <= 1 and abs(column - other_column) <= 1
    near = adjacent or {letter, other} in VOICED or (letter in VOWELS and other in VOWELS)
    return (NEIGHBOUR if near else OTHER) + EDGE * (at in (0, len(word) - 1))


MIN_KNOWN_SHARE = 0.34  # of the longer words; below it hardly a word is English
MAX_FOREIGN_LETTERS = 0.5  # share in another script


def is_english(words: Sequence[str]) -> bool:
    """Whether a prompt's words are or may be English: names, brands and very short prompts pass."""
    lower = [word.lower() for word in words if any(letter.isalpha() for letter in word)]
    letters = [letter for word in lower for letter in word if letter.isalpha()]
    latin = sum(letter.isascii() or unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    long = [word for word in lower if word.isalpha() and len(word) > 2]
    gibberish = len(long) > 2 and sum(map(is_known_word, long)) <= MIN_KNOWN_SHARE * len(long)
    if gibberish or latin < len(letters) * (1 - MAX_FOREIGN_LETTERS):  # so is one of 52,000 prompts in English
        return False
    return not any(is_in_language(lower, common) for common in languages())


@cache
def languages() -> list[frozenset[str]]:
    """The common words of each language."""
    return [frozenset(words) for _, words in lex.entries("languages.txt")]


def is_in_language(words: Sequence[str], common: frozenset[str]) -> bool:
    """Whether words are in the language with these common words; names and rare words count for neither side."""
    english = vocabulary().common
    distinctive = common - lex.FOREIGN_NAME_PARTICLES
    foreign = [word for word in words if len(word) > 1 and word in distinctive and word not in english]
    foreign += [word for word in words if not word.isascii() and word not in common and not is_known_word(word)]
    native = [word for word in words if word not in common and word in english]
    return len(foreign) > 1 and len(foreign) >= len(native)

"""Whether a prompt is English; prompts in other languages are flagged, since only English is parsed."""

import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from onprompt.language import lexicon as lex
from onprompt.language.spelling import is_known_word, vocabulary

MIN_KNOWN_SHARE = 0.34  # of the longer words; below it hardly a word is English
MAX_FOREIGN_LETTERS = 0.5  # share in another script
MAX_KNOWN_SHARE = 0.25  # of the words that may be English where few are clearly of another language


@cache
def languages() -> Mapping[str, frozenset[str]]:
    """Each language with its common words, as written in languages.toml."""
    data = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return {name: frozenset(text.split()) for name, text in data.items()}


def is_english(words: Sequence[str]) -> bool:
    """Whether a prompt's words are or may be English: names, brands and very short prompts pass."""
    lower = [word.lower() for word in words if any(letter.isalpha() for letter in word)]
    if not lower:
        return True
    foreign = any(is_in_language(lower, common) for common in languages().values())
    return not (foreign or is_foreign_script(lower) or is_gibberish(lower))


def is_gibberish(words: Sequence[str]) -> bool:
    """Whether hardly a word is known; so is one of 52,000 prompts and captions in English."""
    long = [word for word in words if word.isalpha() and len(word) > 2]
    return len(long) > 2 and sum(map(is_known_word, long)) <= MIN_KNOWN_SHARE * len(long)


def is_foreign_script(words: Sequence[str]) -> bool:
    """Whether most letters are not Latin."""
    letters = [letter for word in words for letter in word if letter.isalpha()]
    latin = sum(letter.isascii() or unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin < len(letters) * (1 - MAX_FOREIGN_LETTERS)


def is_in_language(words: Sequence[str], common: frozenset[str]) -> bool:
    """Whether words are in the language with these common words; names and rare words count for neither side."""
    english = vocabulary().common
    accented = [word for word in words if not word.isascii() and word not in common and not is_known_word(word)]
    foreign = [word for word in words if word in common and word not in lex.PLAIN_ENGLISH] + accented
    distinctive = [
        word for word in foreign if len(word) > 1 and word not in english and word not in lex.FOREIGN_NAME_PARTICLES
    ]
    native = [word for word in words if word not in common and word in english]
    if len(words) < 2 + bool(accented) or len(distinctive) <= sum(word in lex.PLAIN_ENGLISH for word in native):
        return False
    known = [word for word in words if word not in common and is_known_word(word)]
    outnumbered = len(foreign) >= len(native) if len(distinctive) > 1 else len(foreign) > max(2, len(native))
    return outnumbered or (len(words) > 3 and len(known) <= len(words) * MAX_KNOWN_SHARE)

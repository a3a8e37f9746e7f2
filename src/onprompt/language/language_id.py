"""Whether a prompt is English; no other language is parsed, so a prompt in one must be told, not guessed at."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from onprompt.language import spelling

STRANGE_SHARE = 0.34  # of words that are known
FOREIGN_SHARE = 0.5  # of the letters, in another script
LONE_SHARE = 0.25  # of the words that may be English where few tell of another language
PLAIN_LIST = "a an the and of in on with is are this that their his from by at"
PLAIN_ENGLISH = frozenset(PLAIN_LIST.split())
PARTICLE_LIST = "da das de del della den der di do dos du el la las le los san santa van von au al"
PARTICLES = frozenset(PARTICLE_LIST.split())  # they stand in names, so they tell nothing alone: robert de niro


@cache
def tongues() -> Mapping[str, frozenset[str]]:
    """Each language with its common words, as written in languages.toml."""
    data = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return {name: frozenset(text.split()) for name, text in data.items()}


def is_english(words: Sequence[str]) -> bool:
    """Whether a prompt's words are English, or may be: names, brands and what is too short to tell pass."""
    small = [word.lower() for word in words if any(letter.isalpha() for letter in word)]
    if not small:
        return True
    foreign = any(is_foreign(small, common) for common in tongues().values())
    return not (foreign_script(small) or foreign or is_strange(small))


def is_strange(words: Sequence[str]) -> bool:
    """Whether hardly a word is known; so is one of 52,000 prompts and captions in English."""
    long = [word for word in words if word.isalpha() and len(word) > 2]
    return len(long) > 2 and sum(map(spelling.known_word, long)) <= STRANGE_SHARE * len(long)


def foreign_script(words: Sequence[str]) -> bool:
    """Whether most letters are not Latin."""
    letters = [letter for word in words for letter in word if letter.isalpha()]
    latin = sum(letter.isascii() or unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin < len(letters) * (1 - FOREIGN_SHARE)


def is_foreign(words: Sequence[str], listed: frozenset[str]) -> bool:
    """Whether words are of the language that has those listed; what may be a name or a rare word counts for neither."""
    english = spelling.words().common
    accented = [word for word in words if not word.isascii() and word not in listed and not spelling.known_word(word)]
    theirs = [word for word in words if word in listed and word not in PLAIN_ENGLISH] + accented
    telling = [word for word in theirs if len(word) > 1 and word not in english and word not in PARTICLES]
    ours = [word for word in words if word not in listed and word in english]
    if len(words) < 2 + bool(accented) or len(telling) <= sum(word in PLAIN_ENGLISH for word in ours):
        return False
    known = [word for word in words if word not in listed and spelling.known_word(word)]
    sure = len(theirs) >= len(ours) if len(telling) > 1 else len(theirs) > max(2, len(ours))
    return sure or (len(words) > 3 and len(known) <= len(words) * LONE_SHARE)

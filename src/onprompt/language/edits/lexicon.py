"""The words, verb classes and patterns of edit instructions, loaded once from lexicon.toml."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from onprompt.language import lexicon as lex


def phrases(text: str) -> frozenset[str]:
    """The phrases between commas or line breaks; `(a|b)` stands for either."""
    alternatives = ([part.split("|") for part in re.split(r"[()]", item)] for item in re.split(r"[,\n]", text))
    return frozenset(" ".join("".join(way).split()) for parts in alternatives for way in product(*parts)) - {""}


def verb_classes(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The verbs of each class."""
    classes: dict[str, set[str]] = defaultdict(set)
    for verbs, names in table.items():
        for name in names.split():
            classes[name] |= phrases(verbs)
    return {name: frozenset(verbs) for name, verbs in classes.items()}


DATA: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))
WORDS = {name: phrases(text) for name, text in {**DATA["words"], **DATA["openings"]}.items()}
VERBS = phrases("\n".join(DATA["verbs"]))
FIRST_WORDS = frozenset(verb.split()[0] for verb in VERBS)
CLASSES = verb_classes(DATA["verbs"]) | {name: phrases(text) for name, text in DATA["connectives"].items()}

CONJUNCTIONS = frozenset(("and", ",", "or"))
DETERMINERS = lex.ARTICLES | lex.DEFINITE | lex.SOME | lex.NUMBERS.keys() | {"several", "many", "few", "no"}
DEFINITE_OR_ARTICLE = lex.ARTICLES | lex.DEFINITE
POSSESSIVES = lex.DEFINITE - WORDS["demonstrative"] - {"the", "whose"}
PRONOUNS = WORDS["personal"] | WORDS["demonstrative"] | WORDS["ones"] | {"her"}
COLOUR_NOUNS = CLASSES["COLOR"] | {"tone"}
PLACES = frozenset({*lex.RELATIONS, *lex.POSITIONS}) - WORDS["not_places"] - WORDS["instead"]


def longest_at(words: Sequence[str], start: int, known: Container[str]) -> str:
    """The longest known phrase that begins at a word, or nothing."""
    candidates = (" ".join(words[start:end]) for end in range(min(start + LONGEST, len(words)), start, -1))
    return next((phrase for phrase in candidates if phrase in known), "")


LONGEST = lex.longest((*WORDS["polite"], *WORDS["wishes"], *PLACES))  # words of a phrase that longest_at looks up

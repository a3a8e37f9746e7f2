"""The parser's word lists, from lexicon.toml: `lex.COLOURS` is its list `colours`, and tables are mappings."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

DATA: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def __getattr__(name: str) -> frozenset[str]:
    """A word list, read at first use."""
    if not name.isupper() or not isinstance(DATA.get(name.lower()), str):
        raise AttributeError(f"lexicon.toml has no list {name.lower()!r}")
    word_list = globals()[name] = words(DATA[name.lower()])
    return word_list


def words(text: str) -> frozenset[str]:
    """The words of a list; its notation is described in lexicon.toml."""
    return frozenset(phrase for word in text.split() for phrase in expand(word))


def expand(word: str) -> Iterable[str]:
    """What an entry stands for: a word, several alternatives, or another list."""
    if word[0] == "@":
        return words(DATA[word[1:]])
    word = word.replace("_", " ")
    if "(" not in word:
        return (word,)
    parts = re.split("[()]", word)  # every second one was in brackets
    return map("".join, product(*(part.split("|") if at % 2 else [part] for at, part in enumerate(parts))))


def by_word(table: str) -> dict[str, str]:
    """A table of `name = words`, as a mapping from word to name."""
    return {word: name for name, text in DATA[table].items() for word in words(text)}


def steps(span: str) -> tuple[int | None, int | None]:
    """The least and the most of `0..`, `..-1`; None is no bound."""
    least, most = (int(step) if step else None for step in span.split(".."))
    return least, most


ORDINALS_IN_ORDER: Sequence[str] = DATA["nth"].split()
NUMBERS: Mapping[str, int] = {
    **{name: number for number, name in enumerate(DATA["ones"].split())},
    **{name: 10 * number for number, name in enumerate(DATA["tens"].split(), 2)},
    "single": 1,
}
MULTIPLES: Mapping[str, int] = DATA["multiples"]
GROUP_SIZES: Mapping[str, int] = DATA["group_sizes"]
COMPARISONS = {words: steps(span) for words, span in by_word("comparisons").items()}
COUNTED_NAMES = by_word("counted_names")

MATERIALS = {word: word if name == "nouns" else name for word, name in by_word("materials").items()}
KIND_OF_ATTRIBUTE = {**by_word("attributes"), **dict.fromkeys(MATERIALS, "material")}
COLOURS, ORIENTATIONS = (words(DATA["attributes"][kind]) for kind in ("color", "orientation"))
COMPOUND_ATTRIBUTES = by_word("compound_attributes")
COMPARISON_SYNONYMS, AMERICAN_SPELLINGS = by_word("comparison_synonyms"), by_word("american_spellings")
COMPARATIVES = {word: f"{COMPARISON_SYNONYMS.get(word, word)} than" for word in words("@comparatives")}

RELATIONS = {**{word: word for word in words("@plain_prepositions")}, **by_word("relations")}
STAND_INS, POSITIONS, POSITION_KINDS = by_word("stand_ins"), by_word("positions"), by_word("position_kinds")
UNNAMED_PEOPLE = by_word("unnamed_people")
IMAGE_PROPERTIES = {**by_word("image_properties"), **dict.fromkeys(words("@compound_media"), "medium")}
PROPERTY_HEADS, PROPERTY_SYNONYMS = by_word("property_heads"), by_word("property_synonyms")


def kind_of(word: str) -> str | None:
    """The kind of attribute that a word names, if it is a known one."""
    return KIND_OF_ATTRIBUTE.get(word)


class Phrases:
    """A set of phrases; `sizes` are the numbers of words that those have which begin with a word, longest first."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self.all = frozenset(phrases)
        sizes: dict[str, set[int]] = {}
        for phrase in self.all:
            first, *_ = words = phrase.split()
            sizes.setdefault(first, set()).add(len(words))
        self.sizes = {first: sorted(numbers, reverse=True) for first, numbers in sizes.items()}

    def at(self, words: Sequence[str], at: int) -> str:
        """The longest of the phrases that begins at a word, or nothing."""
        for size in self.sizes.get(words[at], ()) if at < len(words) else ():
            if (phrase := " ".join(words[at : at + size])) in self.all:
                return phrase
        return ""


def longest(phrases: Iterable[str]) -> int:
    """The number of words in the longest phrase."""
    return max(len(phrase.split()) for phrase in phrases)

"""The words of lexicon.txt: `lex.CLOTHES` is the set of those with the tag `clothes`; tags with values are mappings."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path


def entries(file: str) -> Iterator[tuple[list[str], list[str]]]:
    """The lines of a file of words, each as its tags and its words; lexicon.txt describes the notation."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    for line in text.replace("\n ", " ").splitlines():
        if line and line[0] != "#":
            tags, _, words = line.partition(": ")
            yield tags.split(), [phrase for word in words.split() for phrase in expand(word)]


def expand(word: str) -> Iterable[str]:
    """What an entry stands for: a word, or several alternatives."""
    word = word.replace("_", " ")
    if "(" not in word:
        return (word,)
    parts = re.split("[()]", word)  # every second one was in brackets
    return map("".join, product(*(part.split("|") if at % 2 else [part] for at, part in enumerate(parts))))


def load() -> Mapping[str, dict[str, str]]:
    """The words with each tag, and the values that it has for them."""
    tagged, unions = defaultdict[str, dict[str, str]](dict), list[tuple[str, list[str]]]()
    for tags, words in entries("lexicon.txt"):
        for tag in tags:
            name, _, value = tag.partition("=")
            if name[0] == "@":
                unions.append((name[1:], words))
            else:
                tagged[name] |= {word: word if value == "*" else value.replace("_", " ") for word in words}
    for name, parts in unions:
        for part in parts:
            tagged[name] |= dict.fromkeys(tagged[part.replace(" ", "_")], "")
    return tagged


TAGGED = load()
RELATIONS, STAND_INS, COMPARATIVES = TAGGED["relations"], TAGGED["stand_ins"], TAGGED["comparatives"]
DEGREES, OCCUPANCY, POSITIONS, POSITION_KINDS, UNNAMED_PEOPLE = (
    TAGGED[name] for name in ("degrees", "occupancy", "positions", "position_kinds", "unnamed_people")
)
PREFERRED, MATERIALS, COMPOUND_ATTRIBUTES = TAGGED["preferred"], TAGGED["materials"], TAGGED["compound_attributes"]
PROPERTIES, PROPERTY_HEADS = TAGGED["properties"], TAGGED["property_heads"]
PROPERTY_SYNONYMS, COUNTED_NAMES = TAGGED["property_synonyms"], TAGGED["counted_names"]
SINGULAR, SINGULAR_IN_COMPOUNDS = TAGGED["singular"], TAGGED["singular_in_compounds"]
KIND_OF_ATTRIBUTE = {**TAGGED["attributes"], **dict.fromkeys(TAGGED["materials"], "material")}
COLORS, ORIENTATIONS = (
    frozenset(word for word, kind in TAGGED["attributes"].items() if kind == name) for name in ("color", "orientation")
)
NUMBERS, MULTIPLES, GROUP_SIZES, ORDINALS = (
    {word: int(value) for word, value in TAGGED[name].items()}
    for name in ("numbers", "multiples", "group_sizes", "ordinals")
)
COMPARISONS = {  # the least and the most, as steps from the number after it; None is no bound
    words: tuple(int(step) if step else None for step in span.split(".."))
    for words, span in TAGGED["comparisons"].items()
}


def __getattr__(name: str) -> frozenset[str]:
    """The words with a tag."""
    if not name.isupper() or name.lower() not in TAGGED:
        raise AttributeError(f"lexicon.txt has no tag {name.lower()!r}")
    words = globals()[name] = frozenset(TAGGED[name.lower()])
    return words


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

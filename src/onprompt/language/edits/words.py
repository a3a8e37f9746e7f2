"""Some words of an instruction, and what they are like: a colour, a size, a style, a deed, a text."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from onprompt.language import lexicon as lex
from onprompt.language.attributes import attribute_of, comparison
from onprompt.language.dependency_tree import progressive
from onprompt.language.edits import patterns as lists
from onprompt.language.image_properties import image_properties
from onprompt.language.ontology import singular
from onprompt.language.quantities import number
from onprompt.language.segmentation import Token
from onprompt.language.spelling import adjective_lemmas
from onprompt.language.spelling import vocabulary as known
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute

QUOTED = '"'
HOUR = re.compile(r"\d{1,2}:\d\d( ?[ap]\.?m\.?)?")
JOINTS = frozenset(("and", ",", "or"))
DETERMINERS = lex.ARTICLES | lex.DEFINITE | lex.SOME | lex.NUMBERS.keys() | {"several", "many", "few", "no"}


@dataclass(frozen=True, slots=True)
class Words:
    """Some words of an instruction, and the text that they stand in."""

    text: str
    units: tuple[Token, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Each word in lower case, misspellings repaired, a mark for quoted text."""
        return tuple(QUOTED if unit.text is not None else unit.lower for unit in self.units)

    @property
    def said(self) -> str:
        """The words as written."""
        return self.text[self.units[0].start : self.units[-1].end] if self.units else ""

    @property
    def line(self) -> str:
        """The words with a blank between them."""
        return " ".join(self.all)

    @property
    def quoted(self) -> str:
        """The text in quotes, if there is any."""
        return next((unit.text for unit in self.units if unit.text is not None), "")

    def __len__(self) -> int:
        return len(self.units)

    def part(self, start: int, end: int | None = None) -> Words:
        """Some of the words, without commas at the ends."""
        units = list(self.units[start:end])
        while units and units[0].word == ",":
            del units[0]
        while units and units[-1].word == ",":
            del units[-1]
        return Words(self.text, tuple(units))

    def plus(self, other: Words) -> Words:
        """These words and others."""
        return Words(self.text, (*self.units, *other.units))


def longest_at(words: Sequence[str], at: int, known_phrases: Container[str], longest: int) -> str:
    """The longest known phrase that begins at a word, or nothing."""
    phrases = (" ".join(words[at : at + size]) for size in range(min(longest, len(words) - at), 0, -1))
    return next((phrase for phrase in phrases if phrase in known_phrases), "")


# ---- how many ------------------------------------------------------------------------------------------------------


def numeral(words: Sequence[str]) -> int | None:
    """The number that words are, if they are nothing else."""
    found = number(words, 0)
    return found.low if found and len(found.words.split()) == len(words) else None


def more_at(words: Words) -> int | None:
    """Where "more" stands: `more birds`, `two more birds`, `an extra cup`."""
    for at, word in enumerate(words.all[:3]):
        if word in lists.MORE and (at == 0 or counts(words.all[at - 1])):
            return at
    return None


def counts(word: str) -> bool:
    """Whether a word counts."""
    return numeral([word]) is not None or word in lex.ARTICLES | lex.SOME | lists.VAGUELY_MANY


def is_many(words: Words) -> bool:
    """Whether the last word is a plural."""
    return singular(words.all[-1]) != words.all[-1]


# ---- what something is like ----------------------------------------------------------------------------------------


def describes(word: str) -> bool:
    """Whether a word says only what something is like."""
    if (
        lex.kind_of(word) not in {None, "position"}
        or comparison(word)
        or word in lists.SHADES | lists.SIZES | lists.FACES
    ):
        return True
    if is_noun(word):
        return False
    roots = [word, *(adjective_lemmas(word) if word.endswith(("er", "est")) else ())]
    return any(root in known().adjectives for root in roots) or word.endswith(("ed", "ish"))


def ageless(words: Words) -> Words:
    """`20 years older` → `older`."""
    return words.part(2) if words.all[1:2] == ("years",) and len(words) > 2 else words


def describe(words: Words) -> bool:
    """Whether words only describe."""
    return bool(words) and all(describes(word) or word in JOINTS for word in ageless(words).all)


def adjectives(words: Words) -> list[Attribute]:
    """What adjectives say."""
    found = [attribute_of(word) for word in ageless(words).all if word not in JOINTS]
    return [each for each in found if each]


def unhedged(words: Words) -> Words:
    """Without "all", "much", "look" before what matters."""
    at = 0
    while at < len(words) - 1 and (
        words.all[at] in lists.HEDGES or (words.all[at] == "a" and words.all[at + 1] in {"bit", "lot", "little"})
    ):
        if words.all[at] in lists.BECOMING and words.all[at + 1] in lists.PLACE_WORDS | lists.PARTICLES:
            break  # "look at the camera", "turned on"
        if words.all[at] in lists.FACING and " ".join(words.all[at + 1 :]) in lex.POSITIONS:
            break  # "turn to the left"
        if words.all[at : at + 3] == ("look", "to", "the"):
            break
        at += 1
    return words.part(at)


def hues(words: Words) -> list[str]:
    """The words less those that only say that a colour follows."""
    return [word for word in words.all if word not in lists.COLOUR_NOUNS | lists.AROUND_COLOURS]


def is_colour(words: Words) -> bool:
    """Whether words are a colour: `dark blue`, `black and white`, `the color red`, `a different color`."""
    left, named = hues(words), bool(set(words.all) & lists.COLOUR_NOUNS)
    if named and len(left) == 1 and left[0] in lists.ANY_COLOUR:
        return True
    if words.all[0] in lex.ARTICLES and not named:
        return False  # an orange
    bright = [word for word in left if word in lex.COLOURS | lists.SHADES or is_hue(word)]
    return bool(bright) and all(word in bright or word in lex.TONES for word in left)


def is_hue(word: str) -> bool:
    """`greener`."""
    found = comparison(word)
    return found is not None and found.kind == "color"


def colours(words: Words) -> list[Attribute]:
    """The colours that words name; "a different color" is some other."""
    left = [word for word in words.all if word == "and" or word in hues(words)]
    found = (
        [each.strip() for each in " ".join(left).split("and") if each.strip()] if "and" in left else [" ".join(left)]
    )
    return [Attribute("color", "other" if each in lists.ANY_COLOUR else each) for each in found]


def is_size(words: Words) -> bool:
    """Whether words are a size: `bigger`, `twice as tall`, `the size of a car`."""
    if "size" in words.all[:4] or (set(words.all[:2]) & lists.TIMES and set(words.all) & lists.SIZES):
        return True
    if "than" in words.all:
        return words.all[0] in lists.SIZES
    return all(word in lists.SIZES or word in JOINTS for word in words.all)


def whole_picture(words: Words) -> list[Attribute]:
    """What words say of the picture as a whole: a style, a season, an hour, the weather."""
    bare = [word for word in words.all if word not in lex.ARTICLES | lex.DEFINITE | lists.AROUND_TIMES]
    if bare and all(word in lists.SEASONS for word in bare):
        return [Attribute("season", " ".join(bare))]
    if len(bare) == 1 and bare[0] in lists.WEATHER:
        return [Attribute("weather", bare[0])]
    units = [unit for unit in words.units if unit.lower not in {"as", "like"}]
    timeless = [unit for unit in units if unit.lower != "time"]  # night time
    return (image_properties(units) or image_properties(timeless)) if timeless else []


# ---- what something does, what is written --------------------------------------------------------------------------


def is_deed(words: Words, plain: bool = True) -> bool:
    """Whether words say what something does: `running`, `turned on`; with `plain` verbs also `hold a cup`."""
    first = words.all[0]
    if first in DETERMINERS or lex.kind_of(first) == "color":
        return False
    if first.endswith("ing") and first not in lex.ING_NOUNS:
        return True
    return (plain and first in known().verbs) or (first.endswith("ed") and not first.endswith("eed"))


def past(verb: str) -> str:
    """A verb as a state: `filled`, `covered`, `split`."""
    if verb in lists.STATES:
        return lists.STATES[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "d" if verb.endswith("e") else progressive(verb).removesuffix("ing") + "ed"


def shown_as(words: Words, deed: bool) -> bool:
    """Whether words say how a text looks, not what it reads: `make the text bold`."""
    faces = bool(set(words.all) & lists.FACES)
    return faces or is_colour(words) or is_size(words) or (deed and describe(words))


def is_hour(words: Words) -> bool:
    """`3:00`, `10:15 pm`."""
    return bool(HOUR.fullmatch(words.line))


def is_text(words: Words) -> bool:
    """Whether words are a text to be written, not a thing that bears one: `the word "SALE"`, not `a "SALE" sign`."""
    if QUOTED not in words.all:
        return False
    at = words.all.index(QUOTED)
    plain = all(word in lex.DEFINITE | lex.ARTICLES | lex.TEXT_NOUNS or describes(word) for word in words.all[:at])
    after = words.all[at + 1] if at + 1 < len(words) else ""
    return plain and (not after or after in lex.RELATIONS or after in lex.TEXT_NOUNS)


def text_of(words: Words) -> str:
    """The words to be written: in quotes, else after "the words", else all."""
    mark = next((at for at, word in enumerate(words.all[:3]) if word in {"word", "words", "text"}), -1)
    return words.quoted or (words.part(mark + 1) if mark + 1 < len(words) else words).said


def is_pronoun(words: Words, at: int) -> bool:
    """Whether a word stands for something named before; `her` before a noun is the woman's."""
    after = words.all[at + 1] if at + 1 < len(words) else ""
    if words.all[at] == "her":
        return not after or after in lex.ARTICLES or after in lex.RELATIONS
    return words.all[at] in {"it", "them", "him"}


def is_known(words: Words) -> bool:
    """Whether words name something that is in the picture already: `the dog`, `all dogs`, `it`."""
    return words.all[0] in lex.DEFINITE | lists.EVERY | lists.PRONOUNS - {"one", "ones"}

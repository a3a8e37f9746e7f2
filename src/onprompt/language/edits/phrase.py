"""A phrase of an instruction, and what kind of phrase it is: a colour, a size, a style, an action, a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from onprompt.language import lexicon as lex
from onprompt.language.edits.lexicon import COLOUR_NOUNS, CONJUNCTIONS, DEFINITE_OR_ARTICLE, DETERMINERS, WORDS
from onprompt.language.edits.word_types import is_adjective, is_hedge, numeral
from onprompt.language.image_properties import image_properties
from onprompt.language.tokens import Token
from onprompt.language.words import attribute_of, vocabulary
from onprompt.types import Attribute

QUOTED = '"'  # stands for a quoted text
CLOCK_TIME = re.compile(r"\d{1,2}:\d\d( ?[ap]\.?m\.?)?")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words of an instruction."""

    instruction: str
    units: tuple[Token, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Each word in lower case, spelling corrected, with a mark for quoted text."""
        return tuple(QUOTED if unit.text is not None else unit.lower for unit in self.units)

    @property
    def text(self) -> str:
        """The words as written."""
        return self.instruction[self.units[0].start : self.units[-1].end] if self.units else ""

    @property
    def line(self) -> str:
        """The words in lower case, joined by blanks."""
        return " ".join(self.words)

    @property
    def quoted(self) -> str:
        """The first quoted text, if any."""
        return next((unit.text for unit in self.units if unit.text is not None), "")

    def __len__(self) -> int:
        return len(self.units)

    def part(self, start: int, end: int | None = None) -> Phrase:
        """Some of the words, without commas at the ends."""
        units = list(self.units[start:end])
        while units and units[0].word == ",":
            del units[0]
        while units and units[-1].word == ",":
            del units[-1]
        return Phrase(self.instruction, tuple(units))

    def plus(self, other: Phrase) -> Phrase:
        """These words and others."""
        return Phrase(self.instruction, (*self.units, *other.units))

    def after(self, other: Phrase) -> Phrase:
        """The words that follow those of another phrase."""
        return Phrase(self.instruction, tuple(unit for unit in self.units if unit.start >= other.units[-1].end))

    def word_at(self, index: int) -> str:
        """A word, or nothing past the end."""
        return self.words[index] if index < len(self) else ""

    @property
    def more_at(self) -> int | None:
        """The index of "more": `more birds`, `two more birds`, `an extra cup`."""
        quantifiers = lex.ARTICLES | lex.SOME | WORDS["vaguely_many"]
        for at, word in enumerate(self.words[:3]):
            before = self.words[max(at - 1, 0)]
            if word in WORDS["more"] and (at == 0 or before in quantifiers or numeral([before]) is not None):
                return at
        return None

    @property
    def adjectives(self) -> list[str]:
        """The words without conjunctions, and without the years of `20 years older`."""
        years = self.words[1:2] == ("years",) and len(self) > 2
        return [word for word in self.words[2 if years else 0 :] if word not in CONJUNCTIONS]

    @property
    def is_description(self) -> bool:
        """Whether all words are adjectives."""
        return len(self) > 0 and all(map(is_adjective, self.adjectives))

    @property
    def attributes(self) -> list[Attribute]:
        """The attributes that adjectives name."""
        return [named for word in self.adjectives if (named := attribute_of(word))]

    def without_hedges(self) -> Phrase:
        """Without "all", "much", "look" in front; but "look at the camera", "turned on", "turn to the left" stay."""
        words, at = self.words, 0
        while at < len(self) - 1 and is_hedge(words, at):
            particle = words[at + 1] in WORDS["place_adverbs"] | WORDS["particles"]
            aside = " ".join(words[at + 1 :]) in lex.POSITIONS or words[at + 1 : at + 3] == ("to", "the")
            if (words[at] in WORDS["copulas"] and particle) or (words[at] in WORDS["facing"] and aside):
                break
            at += 1
        return self.part(at)

    @property
    def hues(self) -> list[str]:
        """The words less those that only announce a colour."""
        return [word for word in self.words if word not in COLOUR_NOUNS | CONJUNCTIONS | {"a", "an", "the", "in", "of"}]

    @property
    def is_colour(self) -> bool:
        """Whether words name a colour: `dark blue`, `black and white`, `the color red`, `a different color`."""
        words, announced = self.hues, bool(set(self.words) & COLOUR_NOUNS)
        if announced and len(words) == 1 and words[0] in WORDS["any_colour"]:
            return True
        if self.words[0] in lex.ARTICLES and not announced:
            return False  # an orange
        kinds = {word: named.kind for word in words if (named := attribute_of(word))}
        colours = {word for word in words if word in WORDS["shades"] or kinds.get(word) == "color"}
        return bool(colours) and set(words) <= colours | lex.TONES

    @property
    def colours(self) -> list[Attribute]:
        """The colours that words name; "a different color" is any other."""
        words = self.hues
        line = " ".join(word for word in self.words if word == "and" or word in words)
        names = [name.strip() for name in line.split("and") if name.strip()] if "and" in self.words else [line]
        return [Attribute("color", "other" if name in WORDS["any_colour"] else name) for name in names]

    @property
    def is_size(self) -> bool:
        """Whether words name a size: `bigger`, `twice as tall`, `the size of a car`."""
        words, sizes = set(self.words), WORDS["sizes"]
        if "size" in self.words[:4] or (set(self.words[:2]) & WORDS["times"] and words & sizes):
            return True
        return self.words[0] in sizes if "than" in words else words <= sizes | CONJUNCTIONS

    @property
    def picture_properties(self) -> tuple[Attribute, ...]:
        """What words say of the picture as a whole: a style, a season, a time of day, the weather."""
        bare = [word for word in self.words if word not in DEFINITE_OR_ARTICLE | WORDS["time_words"]]
        if bare and WORDS["seasons"].issuperset(bare):
            return (Attribute("season", " ".join(bare)),)
        if len(bare) == 1 and bare[0] in WORDS["weather"]:
            return (Attribute("weather", bare[0]),)
        units = [unit for unit in self.units if unit.lower not in {"as", "like"}]
        timeless = [unit for unit in units if unit.lower != "time"]  # night time
        return tuple(image_properties(units) or image_properties(timeless)) if timeless else ()

    def is_action(self, plain: bool = True) -> bool:
        """Whether words say what something does: `running`, `turned on`; with `plain` verbs also `hold a cup`."""
        first = self.words[0]
        if first in DETERMINERS or lex.kind_of(first) == "color":
            return False
        gerund = first.endswith("ing") and first not in lex.ING_NOUNS
        return gerund or (plain and first in vocabulary().verbs) or (first.endswith("ed") and first[-3:] != "eed")

    @property
    def is_text(self) -> bool:
        """Whether words are a text to write, not a thing that bears one: `the word "SALE"`, not `a "SALE" sign`."""
        if QUOTED not in self.words:
            return False
        at = self.words.index(QUOTED)
        following, introduction = self.word_at(at + 1), DEFINITE_OR_ARTICLE | lex.TEXT_NOUNS
        announced = all(word in introduction or is_adjective(word) for word in self.words[:at])
        return announced and (not following or following in lex.RELATIONS or following in lex.TEXT_NOUNS)

    @property
    def wording(self) -> str:
        """The words to write: in quotes, else after "the words", else all."""
        start = next((at for at, word in enumerate(self.words[:3]) if word in {"word", "words", "text"}), -1) + 1
        return self.quoted or (self.part(start) if start < len(self) else self).text

    @property
    def pronouns(self) -> list[int]:
        """Where words stand for something named before; `her` before a noun is the woman's."""
        her = [not word or word in lex.ARTICLES or word in lex.RELATIONS for word in (*self.words[1:], "")]
        return [
            at for at, word in enumerate(self.words) if word in {"it", "them", "him"} or (word == "her" and her[at])
        ]

    @property
    def is_definite(self) -> bool:
        """Whether words name something that is in the picture already: `the dog`, `all dogs`, `it`."""
        return self.words[0] in lex.DEFINITE | WORDS["every"] | WORDS["personal"]

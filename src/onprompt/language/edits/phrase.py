"""Some words of an instruction: what they describe, and where one phrase ends and the next begins without a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.image_properties import image_properties
from onprompt.language.tokens import Token
from onprompt.language.words import attribute_of, comparison, is_ing_verb, is_noun, singular, vocabulary
from onprompt.types import Attribute

QUOTED = '"'  # stands for a quoted text
CLOCK_TIME = re.compile(r"\d{1,2}:\d\d( ?[ap]\.?m\.?)?")
CLEAR, VERB, ARTICLE, ADJECTIVES, GERUND, PERHAPS = range(1, 7)  # signs of a predicate, the clearest first


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
        """The words as written; what stands for a pronoun has a name."""
        parts, end = [], self.units[0].start if self.units else 0
        for unit in self.units:
            parts += [
                self.instruction[end : unit.start],
                (unit.name and f" {unit.name} ") or self.instruction[unit.start : unit.end],
            ]
            end = unit.end
        return " ".join("".join(parts).split())

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

    def word_at(self, index: int) -> str:
        """A word, or nothing past the end."""
        return self.words[index] if index < len(self) else ""

    @property
    def more_at(self) -> int | None:
        """The index of "more": `more birds`, `two more birds`, `an extra cup`."""
        quantifiers = lex.ARTICLES | lex.SOME | ed.VAGUELY_MANY
        for at, word in enumerate(self.words[:3]):
            before = self.words[max(at - 1, 0)]
            if word in ed.MORE and (at == 0 or before in quantifiers or ed.numeral([before]) is not None):
                return at
        return None

    def without_hedges(self) -> Phrase:
        """Without "all", "much", "look" in front; but "look at the camera", "turned on", "turn to the left" stay."""
        words, at = self.words, 0
        while at < len(self) - 1 and ed.is_hedge(words, at):
            particle = words[at + 1] in ed.PLACE_ADVERBS | ed.PARTICLES
            aside = " ".join(words[at + 1 :]) in lex.POSITIONS or words[at + 1 : at + 3] == ("to", "the")
            if (words[at] in ed.COPULAS and particle) or (words[at] in ed.FACING and aside):
                break
            at += 1
        return self.part(at)

    @property
    def described(self) -> dict[str, list[Attribute]]:
        """The operations that adjectives ask for, with their attributes: `dark blue and bigger`; else nothing."""
        words = [word for word in self.words if word not in ed.CONJUNCTIONS]
        if ed.COLOR_NOUNS.intersection(words):  # the color red, a different color
            words = [word for word in words if word not in ed.COLOR_NOUNS | {"a", "an", "the", "in", "of"}]
            if len(words) == 1 and words[0] in ed.ANY_COLOR:
                return {"recolor": [Attribute("color", "other")]}
        words = words[2:] if words[1:2] == ["years"] and len(words) > 2 else words[words[:1] == ["in"] :]
        if words and is_ing_verb(words[0]):
            return {}
        operations: dict[str, list[Attribute]] = {}
        for at, word in enumerate(words):
            if word in lex.TONES and lex.kind_of("".join(words[at + 1 : at + 2])) == "color":
                continue  # dark blue
            toned = at and words[at - 1] in lex.TONES and lex.kind_of(word) == "color"
            named = attribute_of(f"{words[at - 1]} {word}" if toned else word)
            if not ed.is_adjective(word):
                return {}
            if named:
                named = Attribute("color", word) if word in ed.SHADES else named
                usual = ed.DATA["kinds"].get(named.kind, "restyle" if word in ed.TYPEFACES else "action")
                operations.setdefault("resize" if word in ed.SIZES else usual, []).append(named)
        return operations

    @property
    def is_size(self) -> bool:
        """Whether words compare a size: `twice as tall`, `the size of a car`, `bigger than the dog`."""
        words = set(self.words)
        times = bool(set(self.words[:2]) & ed.TIMES and words & ed.SIZES)
        return "size" in self.words[:4] or times or self.is_comparison

    @property
    def is_comparison(self) -> bool:
        """Whether words compare a size with that of something else: `bigger than the dog`, `as big as a house`."""
        return bool({"than", "as"} & set(self.words[1:])) and bool(ed.SIZES & set(self.words[:2]))

    @property
    def picture_properties(self) -> tuple[Attribute, ...]:
        """What words say of the picture as a whole: a style, a season, a time of day, the weather."""
        bare = [word for word in self.words if word not in ed.DEFINITE_OR_ARTICLE | ed.TIME_WORDS]
        if bare and ed.SEASONS.issuperset(bare):
            return (Attribute("season", " ".join(bare)),)
        if len(bare) == 1 and bare[0] in ed.WEATHER:
            return (Attribute("weather", bare[0]),)
        units = [unit for unit in self.units if unit.lower not in {"as", "like"}]
        timeless = [unit for unit in units if unit.lower != "time"]  # night time
        return tuple(image_properties(units) or image_properties(timeless)) if timeless else ()

    def is_action(self, plain: bool = True) -> bool:
        """Whether words say what something does: `running`, `turned on`; with `plain` verbs also `hold a cup`."""
        first = self.words[0]
        if first in ed.DETERMINERS or lex.kind_of(first) == "color":
            return False
        done = first.endswith("ed") and not first.endswith("eed")
        return is_ing_verb(first) or done or (plain and first in vocabulary().verbs)

    @property
    def is_text(self) -> bool:
        """Whether words are a text to write, not a thing that bears one: `the word "SALE"`, not `a "SALE" sign`."""
        if QUOTED not in self.words:
            return False
        at = self.words.index(QUOTED)
        following, introduction = self.word_at(at + 1), ed.DEFINITE_OR_ARTICLE | lex.TEXT_NOUNS
        announced = all(word in introduction or ed.is_adjective(word) for word in self.words[:at])
        return announced and (not following or following in lex.RELATIONS or following in lex.TEXT_NOUNS)

    @property
    def wording(self) -> str:
        """The words to write: in quotes, else after "the words", else all."""
        start = next((at for at, word in enumerate(self.words[:3]) if word in {"word", "words", "text"}), -1) + 1
        return self.quoted or (self.part(start) if start < len(self) else self).text

    @property
    def is_definite(self) -> bool:
        """Whether words name something that is in the picture already: `the dog`, `all dogs`, `it`."""
        return self.words[0] in lex.DEFINITE | ed.EVERY | ed.PERSONAL


# -- where a phrase ends ----------------------------------------------------------------------------------------------


def starts_place(words: Sequence[str], at: int) -> bool:
    """Whether a place is named from here on."""
    place = ed.PLACES.at(words, at)
    if place and (place in lex.POSITIONS or len(words) > at + len(place.split())):
        return True
    return words[at] in ed.PLACE_ADVERBS and words[at - 1] not in {"the", "to", "from", "on", "'s"}


def place_start(words: Sequence[str]) -> int | None:
    """Where a place begins: `a cup | on the table`."""
    return next((at for at in range(1, len(words)) if starts_place(words, at)), None)


def recipient_end(words: Sequence[str]) -> int | None:
    """Where what is given begins: `her | a cap`, `the old man | long white hair`."""
    if words[0] in ed.PRONOUNS and (words[0] != "her" or words[1] in ed.DETERMINERS or len(words) == 2):
        return 1
    for at in range(2, len(words)):
        if words[at] in ed.DETERMINERS and words[at - 1] not in lex.RELATIONS and words[at - 1] not in ed.DETERMINERS:
            return at
    noun = ""
    for at, word in enumerate(words):
        if word in ed.DETERMINERS or word in {"'s", "of"} or (lex.kind_of(word) and not noun):
            noun = ""
        elif noun and not ed.is_compound(noun, word):
            return at
        elif is_noun(singular(word)):
            noun = word
    return 1 if words[0] == "her" else None  # her | curly hair


def predicate_start(words: Sequence[str]) -> int | None:
    """Where what a thing should be or do begins: `all the flowers | yellow`, `the woman | hold a cup`."""
    if len(words) < 2:
        return None
    if words[0] in ed.PERSONAL or (words[0] == "her" and is_clear_verb(words[1])):
        return 1
    described = words[1] in ed.VAGUE_ADJECTIVES or (ed.is_adjective(words[1]) and len(words) == 2)
    one_word = described or not (may_be_noun(words, 1) or words[1] in ed.ONES | {"of"})
    if words[0] in ed.PRONOUNS - {"one"} and one_word:
        return 1  # this | red, but: this red car | black
    if tuple(words[-2:]) == ("upside", "down") and len(words) > 2:
        return len(words) - 2
    signs = [(sign, at) for at in range(1, len(words)) if (sign := predicate_sign(words, at))]
    articles = [at for sign, at in signs if sign == ARTICLE] or [len(words)]
    return min(((sign, at) for sign, at in signs if sign != VERB or at < articles[0]), default=(0, None))[1]


def predicate_sign(words: Sequence[str], at: int) -> int:
    """By what a predicate begins at a word, or 0."""
    before, word, following = words[at - 1], words[at], words[at + 1] if at + 1 < len(words) else ""
    signs = (
        word in {"be", "not"} and before != ",",
        word == "to" and following in vocabulary().verbs,  # the car | to be red
        word == "as" and following in ed.SIZES,
        word in ed.TIMES and following in {"as", "the", "its"},  # the tree | twice as tall
        word in ed.GONE and not following,
        CLOCK_TIME.fullmatch(word) is not None,
    )
    if any(signs):
        return CLEAR
    if not may_be_noun(words, at - 1):
        return 0
    rest = words[at + 1 :] if word == "in" else words[at:]  # the car | in red
    than = next((n for n, pair in enumerate(pairwise(rest)) if comparison(pair[0]) and pair[1] == "than"), -1)
    compared = than >= 0 and all(map(qualifies, rest[:than]))  # the dog | much bigger than the cat
    if compared or word == "look" or (word == "more" and len(rest) == 2):
        return CLEAR
    if rest and all(map(qualifies, rest)) and not ed.is_compound(before, word) and rest[-1] not in ed.CONJUNCTIONS:
        return ADJECTIVES
    if word in lex.ARTICLES | {"some"} and not (is_ing_verb(before) or before in lex.WEARING):
        return ARTICLE
    if is_ing_verb(word) and word not in vocabulary().verbs:
        return GERUND
    describes = lex.kind_of(word) and following not in lex.DEFINITE  # but: the woman | open her mouth
    if word not in vocabulary().verbs or describes or before == "'s" or ed.is_compound(before, word):
        return 0
    if lex.kind_of(before) in {"size", "color"} and is_noun(word):
        return 0  # the small dog
    complement = following in ed.DETERMINERS or following.endswith("ly") or following in lex.RELATIONS
    return VERB if not following or complement or is_clear_verb(word) else PERHAPS


def qualifies(word: str) -> bool:
    """Whether a word is an adjective, or stands with one: `much`, `and`, `light blue`, `20 years older`."""
    joins = word in ed.CONJUNCTIONS | lex.TONES | {"years", "not"} or ed.is_hedge([word], 0)
    return joins or ed.is_adjective(word) or (ed.numeral([word]) or 0) > 1


def is_clear_verb(word: str) -> bool:
    """Whether a word is a verb rather than a noun."""
    listed = word in ed.SURE_VERBS | ed.COPULAS
    return listed or (word in vocabulary().verbs and not is_noun(word))


def may_be_noun(words: Sequence[str], at: int) -> bool:
    """Whether a word may be a noun here."""
    word = words[at]
    if word in ed.DETERMINERS or word in lex.RELATIONS or word in {"'s", "and", ",", "of"}:
        return word == "one"
    return is_noun(singular(word)) or word not in vocabulary().adjectives

"""What kind of phrase some words are: a number, a colour, a size, a style, an action, a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.attributes import attribute, comparison, progressive
from onprompt.language.edits.lexicon import (
    COLOUR_NOUNS,
    CONJUNCTIONS,
    DATA,
    DEFINITE_OR_ARTICLE,
    DETERMINERS,
    WORDS,
)
from onprompt.language.edits.span import QUOTED, Span
from onprompt.language.image_properties import property_of
from onprompt.language.quantities import number
from onprompt.language.spelling import degrees
from onprompt.language.spelling import words as known_words
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute

CLOCK_TIME = re.compile(r"\d{1,2}:\d\d( ?[ap]\.?m\.?)?")


def numeral(words: Sequence[str]) -> int | None:
    """The number that the words spell, if they say nothing else."""
    count = number(words, 0)
    return count.low if count and len(count.words.split()) == len(words) else None


def more_at(span: Span) -> int | None:
    """The index of "more": `more birds`, `two more birds`, `an extra cup`."""
    quantifiers = lex.ARTICLES | lex.SOME | WORDS["vaguely_many"]
    for at, word in enumerate(span.words[:3]):
        before = span.words[max(at - 1, 0)]
        if word in WORDS["more"] and (at == 0 or before in quantifiers or numeral([before]) is not None):
            return at
    return None


def is_adjective(word: str) -> bool:
    """Whether a word only describes."""
    listed = word in WORDS["shades"] | WORDS["sizes"] | WORDS["typefaces"]
    if listed or lex.kind_of(word) not in {None, "position"} or comparison(word):
        return True
    roots = [word, *(degrees(word) if word.endswith(("er", "est")) else ())]
    adjective = any(root in known_words().adjectives for root in roots) or word.endswith(("ed", "ish"))
    return adjective and not is_noun(word)


def bare_adjectives(span: Span) -> list[str]:
    """The words without conjunctions, and without the years of `20 years older`."""
    years = span.words[1:2] == ("years",) and len(span) > 2
    return [word for word in span.words[2 if years else 0 :] if word not in CONJUNCTIONS]


def is_description(span: Span) -> bool:
    """Whether all words are adjectives."""
    return len(span) > 0 and all(map(is_adjective, bare_adjectives(span)))


def adjective_attributes(span: Span) -> list[Attribute]:
    """The attributes that adjectives name."""
    return [found for word in bare_adjectives(span) if (found := attribute(word))]


def is_hedge(words: Sequence[str], at: int) -> bool:
    """Whether a word only qualifies what follows: `much`, `look`, the article of `a bit`."""
    article = words[at] == "a" and words[at + 1 : at + 2] and words[at + 1] in {"bit", "lot", "little"}
    return words[at] in WORDS["hedges"] | WORDS["copulas"] or bool(article)


def without_hedges(span: Span) -> Span:
    """Without "all", "much", "look" in front; but "look at the camera", "turned on", "turn to the left" stay."""
    at = 0
    while at < len(span) - 1 and is_hedge(span.words, at):
        particle = span.words[at + 1] in WORDS["place_adverbs"] | WORDS["particles"]
        aside = " ".join(span.words[at + 1 :]) in links.POSITIONS or span.words[at + 1 : at + 3] == ("to", "the")
        if (span.words[at] in WORDS["copulas"] and particle) or (span.words[at] in WORDS["facing"] and aside):
            break
        at += 1
    return span.part(at)


def hues(span: Span) -> list[str]:
    """The words less those that only announce a colour."""
    return [word for word in span.words if word not in COLOUR_NOUNS | CONJUNCTIONS | {"a", "an", "the", "in", "of"}]


def is_colour(span: Span) -> bool:
    """Whether words name a colour: `dark blue`, `black and white`, `the color red`, `a different color`."""
    words, announced = hues(span), bool(set(span.words) & COLOUR_NOUNS)
    if announced and len(words) == 1 and words[0] in WORDS["any_colour"]:
        return True
    if span.words[0] in lex.ARTICLES and not announced:
        return False  # an orange
    kinds = {word: found.kind for word in words if (found := attribute(word))}
    colours = {word for word in words if word in WORDS["shades"] or kinds.get(word) == "color"}
    return bool(colours) and set(words) <= colours | lex.TONES


def colour_attributes(span: Span) -> list[Attribute]:
    """The colours that words name; "a different color" is any other."""
    words = hues(span)
    line = " ".join(word for word in span.words if word == "and" or word in words)
    names = [name.strip() for name in line.split("and") if name.strip()] if "and" in span.words else [line]
    return [Attribute("color", "other" if name in WORDS["any_colour"] else name) for name in names]


def is_size(span: Span) -> bool:
    """Whether words name a size: `bigger`, `twice as tall`, `the size of a car`."""
    words, sizes = set(span.words), WORDS["sizes"]
    if "size" in span.words[:4] or (set(span.words[:2]) & WORDS["times"] and words & sizes):
        return True
    return span.words[0] in sizes if "than" in words else words <= sizes | CONJUNCTIONS


def picture_properties(span: Span) -> list[Attribute]:
    """What words say of the picture as a whole: a style, a season, a time of day, the weather."""
    bare = [word for word in span.words if word not in DEFINITE_OR_ARTICLE | WORDS["time_words"]]
    if bare and WORDS["seasons"].issuperset(bare):
        return [Attribute("season", " ".join(bare))]
    if len(bare) == 1 and bare[0] in WORDS["weather"]:
        return [Attribute("weather", bare[0])]
    units = [unit for unit in span.units if unit.lower not in {"as", "like"}]
    timeless = [unit for unit in units if unit.lower != "time"]  # night time
    return (property_of(units) or property_of(timeless)) if timeless else []


def is_action(span: Span, plain: bool = True) -> bool:
    """Whether words say what something does: `running`, `turned on`; with `plain` verbs also `hold a cup`."""
    first = span.words[0]
    if first in DETERMINERS or lex.kind_of(first) == "color":
        return False
    participle = first.endswith("ing") and first not in links.ING_NOUNS
    return participle or (plain and first in known_words().verbs) or (first.endswith("ed") and first[-3:] != "eed")


def participle(verb: str) -> str:
    """The state that a verb brings about: `filled`, `covered`, `split`."""
    if verb in DATA["states"]:
        return str(DATA["states"][verb])
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "d" if verb.endswith("e") else progressive(verb).removesuffix("ing") + "ed"


def is_text(span: Span) -> bool:
    """Whether words are a text to write, not a thing that bears one: `the word "SALE"`, not `a "SALE" sign`."""
    if QUOTED not in span.words:
        return False
    at = span.words.index(QUOTED)
    introduction = DEFINITE_OR_ARTICLE | links.TEXT_NOUNS
    following = span.word_at(at + 1)
    announced = all(word in introduction or is_adjective(word) for word in span.words[:at])
    return announced and (not following or following in links.RELATIONS or following in links.TEXT_NOUNS)


def text_of(span: Span) -> str:
    """The words to write: in quotes, else after "the words", else all."""
    start = next((at for at, word in enumerate(span.words[:3]) if word in {"word", "words", "text"}), -1) + 1
    return span.quoted or (span.part(start) if start < len(span) else span).text


def is_pronoun(span: Span, at: int) -> bool:
    """Whether a word stands for something named before; `her` before a noun is the woman's."""
    following = span.word_at(at + 1)
    if span.words[at] == "her":
        return not following or following in lex.ARTICLES or following in links.RELATIONS
    return span.words[at] in {"it", "them", "him"}


def has_pronoun(span: Span) -> bool:
    """Whether any word stands for something named before."""
    return any(is_pronoun(span, at) for at in range(len(span)))


def is_definite(span: Span) -> bool:
    """Whether words name something that is in the picture already: `the dog`, `all dogs`, `it`."""
    return span.words[0] in lex.DEFINITE | WORDS["every"] | WORDS["personal"]

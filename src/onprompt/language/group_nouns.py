"""Nouns that only count or measure: `a herd of`, `a slice of`, `a type of`; and things named by their use."""

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.ontology import singular
from onprompt.language.quantities import figure
from onprompt.language.segmentation import Token, lower_words
from onprompt.settings import Settings
from onprompt.types import Attribute, Count


def collapse_quantifier(tokens: list[Token], following: str, settings: Settings) -> None:
    """Make one token of the last ones: `a herd of` counts, `slice of` describes, `type of` says nothing."""
    if len(tokens) > 1 and tokens[-2].lower == "many":
        multiply_group(tokens)
    if len(tokens) < 2 or tokens[-1].lower != "of" or tokens[-1].relation or not following:
        return
    noun = singular(tokens[-2].lower)
    start, end = tokens[-2].start, tokens[-1].end
    says_nothing = noun in lex.SORT_NOUNS or (noun == "piece" and following in lex.COUNTED_IN_PIECES)
    if noun in lex.GROUP_NOUNS and tokens[-2].count is None:
        collapse_group(tokens, noun)
    elif noun in lex.MEASURE_NOUNS and following not in lex.DEFINITE and not says_nothing:
        tokens[-2:] = [Token("old", start, end, attributes=(Attribute("shape", noun),))]
    elif noun == "pair" and len(tokens) > 2 and following not in lex.PLURALIA_TANTUM:
        tokens[-3:] = [multiplied(tokens[-3], settings.pair, end)]
    elif says_nothing and len(tokens) > 2:
        tokens[-2:] = [Token("old", start, end, attributes=(Attribute("", ""),))]


def collapse_group(tokens: list[Token], noun: str) -> None:
    """`two rows of`: at least two, and each of unknown size; `a trio of`: three."""
    first = phrase_start(tokens, len(tokens) - 2)
    phrase = " ".join(lower_words(tokens[first:]))
    exact = lex.GROUP_SIZES.get(noun)
    least = max(2, (tokens[first].count or Count(1, 1)).low)
    count = Count(exact, exact, phrase, explicit=True) if exact else Count(least, None, phrase, confidence=0.5)
    tokens[first:] = [Token("many", tokens[first].start, tokens[-1].end, count=count)]


def multiply_group(tokens: list[Token]) -> None:
    """`a group of three boys` are three, `two rows of four chairs` eight."""
    group, number = tokens[-2:]
    if group.count is None or number.count is None or " of" not in group.count.words:
        return
    if number.count.words not in lex.ARTICLES:
        factor = figure(group.count.words.split()[0]) or 1
        tokens[-2:] = [multiplied(replace(number, start=group.start), factor, number.end)]


def multiplied(token: Token, factor: int, end: int) -> Token:
    """A counting token, so many times over."""
    if token.count is None or not token.count.explicit:
        return replace(token, end=end)
    low, high = token.count.low, token.count.high
    count = replace(token.count, low=low * factor, high=high if high is None else high * factor)
    return replace(token, count=count, end=end)


def phrase_start(tokens: Sequence[Token], noun: int) -> int:
    """Where the noun phrase begins that a noun ends: before its adjectives and its determiner or number."""
    at = noun
    while at and (tokens[at - 1].lower in lex.KIND_OF_ATTRIBUTE or tokens[at - 1].lower in lex.NON_DESCRIPTIVE):
        at -= 1
    return at - 1 if at and (tokens[at - 1].count is not None or tokens[at - 1].lower in lex.DEFINITE) else at

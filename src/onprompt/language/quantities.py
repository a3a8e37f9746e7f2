"""Step 1: how many, in words and figures, by the seed's quantifier rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.phrases import Phrases, phrase_at
from onprompt.settings import Settings
from onprompt.types import Count

RANGE = re.compile(r"(\d{1,4})[-–](\d{1,4})")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
AFTER_ARTICLE = {"few", "single", *lex.PAIRS, *lex.MULTIPLES, *lex.MANY_OF}  # but "a 1957 car" is one
COMPARISONS = Phrases(lex.COMPARISONS)


def quantity(words: Sequence[str], at: int, settings: Settings) -> Count | None:
    """The quantity that begins at a word; its `words` say how far it goes."""
    comparison = phrase_at(words, at, COMPARISONS)
    if comparison and (exact := number(words, at + len(comparison.split()))):
        low, high = (None if step is None else exact.low + step for step in lex.COMPARISONS[comparison])
        least, most = low or 0, None if high is None else max(0, high)
        return Count(least, most, f"{comparison} {exact.words}", explicit=True)
    word = words[at]
    if word == "between" and (span := between(words, at)):
        return span
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in lex.ABOUT and (exact := number(words, at + 1)) and exact.low > 1:
        return replace(exact, words=f"{word} {exact.words}", confidence=0.5)
    if word in lex.ARTICLES and following in AFTER_ARTICLE and (inner := quantity(words, at + 1, settings)):
        return replace(inner, words=f"{word} {inner.words}")
    if exact := number(words, at):
        return alternative(words, at, exact)
    return vague(word, following, settings)


def between(words: Sequence[str], at: int) -> Count | None:
    """`between 3 and 5`."""
    low = number(words, at + 1)
    after = at + 1 + len(low.words.split()) if low else 0
    high = number(words, after + 1) if low and words[after : after + 1] == ["and"] else None
    if not low or not high or low.low >= high.low:
        return None
    return Count(low.low, high.low, f"between {low.words} and {high.words}", explicit=True)


def vague(word: str, following: str, settings: Settings) -> Count | None:
    """A quantity without a number: few, several, some; and the article."""
    partitive = " of" * (following == "of")
    if word in lex.PAIRS and following in lex.MULTIPLES:
        return Count(
            settings.pair * lex.MULTIPLES[following], settings.pair * lex.MULTIPLES[following], f"{word} {following}"
        )
    if word in lex.PAIRS and partitive:
        return Count(settings.pair, settings.pair, f"{word} of", explicit=True)
    if word in lex.MANY_OF and partitive:
        return Count(2, None, f"{word} of", confidence=0.5)
    ranges = {
        "few": (settings.few_low, settings.few_high),
        "several": (settings.several_low, settings.several_high),
        **dict.fromkeys(lex.SOME, (1, None)),
        **dict.fromkeys(lex.MANY, (2, None)),
    }
    if word in ranges:
        low, high = ranges[word]
        times = lex.MULTIPLES.get(following, 1)  # several hundred
        said = f"{word} {following}" if times > 1 else word + partitive
        return Count(low * times, high if high is None else high * times, said, confidence=0.5)
    if word == "couple":
        return Count(settings.pair, settings.pair, word, explicit=True)
    if word == "both":
        return Count(2, 2, word + partitive, explicit=True)
    if word in {"each", "every"}:
        return Count(2, None, word, confidence=0.5)
    return Count(1, 1, word) if word in lex.ARTICLES else None


def alternative(words: Sequence[str], at: int, first: Count) -> Count:
    """`one or two`, `two or more`, `five to ten`; else the number alone."""
    after = at + len(first.words.split())
    link = words[after] if after < len(words) else ""
    if link not in {"or", "to"}:
        return first
    if link == "or" and words[after + 1 : after + 2] == ["more"]:
        return replace(first, high=None, words=f"{first.words} or more")
    second = number(words, after + 1) if after + 1 < len(words) else None
    if second is None or second.low <= first.low:
        return first
    return replace(first, high=second.high, words=f"{first.words} {link} {second.words}")


def number(words: Sequence[str], at: int) -> Count | None:
    """A number in words or figures: `two`, `2`, `1,000`, `two dozen`, `two hundred and fifty`, `half a dozen`."""
    if at >= len(words):
        return None
    if list(words[at : at + 3]) == ["half", "a", "dozen"]:
        return Count(6, 6, "half a dozen", explicit=True)
    if ranged := RANGE.fullmatch(words[at]):
        low, high = sorted(map(int, ranged.groups()))
        return Count(low, high, words[at], explicit=True)
    total, part, size = 0, None, 0
    while at + size < len(words):
        word = words[at + size]
        value = figure(word)
        if value is not None and (part is None or (word_below(part, value) and not word[0].isdigit())):
            part = (part or 0) + value
        elif word in lex.MULTIPLES and (part is not None or size == 0):
            part = (part or 1) * lex.MULTIPLES[word]
            if word in {"thousand", "million"}:
                total, part = total + part, None
        elif word == "and" and size and words[at + size - 1] in lex.MULTIPLES and figure(at_or(words, at + size + 1)):
            pass
        else:
            break
        size += 1
    if not size:
        return None
    total += part or 0
    return Count(total, total, " ".join(words[at : at + size]), explicit=True)


def at_or(words: Sequence[str], at: int) -> str:
    """The word at a place, or none."""
    return words[at] if at < len(words) else ""


def word_below(before: int, value: int) -> bool:
    """Whether a number goes on with this one: twenty-one, two hundred and five; but not two three."""
    step = 100 if before % 100 == 0 and before else 10 if before % 10 == 0 and before > 10 else 0
    return 0 < value < step


def figure(word: str) -> int | None:
    """A number of one word."""
    tens, hyphen, ones = word.partition("-")
    if hyphen and tens in lex.TENS.split() and 0 < lex.NUMBERS.get(ones, 0) < 10:
        return lex.NUMBERS[tens] + lex.NUMBERS[ones]
    figures = word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    if figures.isdecimal():
        return int(figures) if len(figures) <= 9 else None
    return lex.NUMBERS.get(word)

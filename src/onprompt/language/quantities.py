"""How many: quantities in words and figures, by the seed's quantifier rules."""

import re
from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.settings import Settings
from onprompt.types import Count

RANGE = re.compile(r"(\d{1,4})[-–](\d{1,4})")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
AFTER_ARTICLE = {"few", "single", *lex.PAIRS, *lex.MULTIPLES, *lex.MANY_OF}  # but "a 1957 car" is one
COMPARISONS = lex.Phrases(lex.COMPARISONS)


def quantity(words: Sequence[str], at: int, settings: Settings) -> Count | None:
    """The quantity that begins at a word; its `words` say how far it goes."""
    comparison = COMPARISONS.at(words, at)
    if comparison and (exact := number(words, at + len(comparison.split()))):
        low, high = (None if step is None else exact.low + step for step in lex.COMPARISONS[comparison])
        least, most = low or 0, None if high is None else max(0, high)
        return Count(least, most, f"{comparison} {exact.words}", explicit=True)
    word, following = words[at], word_at(words, at + 1)
    if word == "between" and (span := between(words, at)):
        return span
    if word in lex.APPROXIMATORS and (exact := number(words, at + 1)) and exact.low > 1:
        return replace(exact, words=f"{word} {exact.words}", confidence=0.5)
    if word in lex.ARTICLES and following in AFTER_ARTICLE and (inner := quantity(words, at + 1, settings)):
        return replace(inner, words=f"{word} {inner.words}")
    if exact := number(words, at):
        return with_alternative(words, at, exact)
    return vague(word, following, settings)


def word_at(words: Sequence[str], at: int) -> str:
    """The word at a position, or nothing after the end."""
    return words[at] if at < len(words) else ""


def between(words: Sequence[str], at: int) -> Count | None:
    """`between 3 and 5`."""
    low = number(words, at + 1)
    after = at + 1 + len(low.words.split()) if low else 0
    high = number(words, after + 1) if low and word_at(words, after) == "and" else None
    if not low or not high or low.low >= high.low:
        return None
    return Count(low.low, high.low, f"between {low.words} and {high.words}", explicit=True)


def vague(word: str, following: str, settings: Settings) -> Count | None:
    """A quantity without a number: few, several, some; and the article."""
    times = lex.MULTIPLES.get(following, 1)  # several hundred
    of = " of" * (following == "of")
    phrase = f"{word} {following}" if times > 1 else word + of
    if word in lex.PAIRS and (times > 1 or of or word == "couple"):
        return Count(settings.pair * times, settings.pair * times, phrase, explicit=times == 1)
    if word in lex.MANY_OF and of:
        return Count(2, None, phrase, confidence=0.5)
    ranges = {
        "few": (settings.few_low, settings.few_high),
        "several": (settings.several_low, settings.several_high),
        **dict.fromkeys(lex.SOME, (1, None)),
        **dict.fromkeys(lex.MANY, (2, None)),
    }
    if word in ranges:
        low, high = ranges[word]
        return Count(low * times, high if high is None else high * times, phrase, confidence=0.5)
    if word == "both":
        return Count(2, 2, word + of, explicit=True)
    if word in {"each", "every"}:
        return Count(2, None, word, confidence=0.5)
    return Count(1, 1, word) if word in lex.ARTICLES else None


def with_alternative(words: Sequence[str], at: int, first: Count) -> Count:
    """`two or three`, `2 to 4`, `two or more`; else the number alone."""
    after = at + len(first.words.split())
    link = word_at(words, after)
    if link not in {"or", "to"}:
        return first
    if link == "or" and word_at(words, after + 1) == "more":
        return replace(first, high=None, words=f"{first.words} or more")
    second = number(words, after + 1)
    if second is None or second.low <= first.low:
        return first
    return replace(first, high=second.high, words=f"{first.words} {link} {second.words}")


def number(words: Sequence[str], at: int) -> Count | None:
    """A number in words or figures: `two`, `2`, `1,000`, `two dozen`, `two hundred and fifty`, `half a dozen`."""
    if at >= len(words):
        return None
    if list(words[at : at + 3]) == ["half", "a", "dozen"]:
        return Count(6, 6, "half a dozen", explicit=True)
    if span := RANGE.fullmatch(words[at]):
        low, high = sorted(map(int, span.groups()))
        return Count(low, high, words[at], explicit=True)
    total, part, end = 0, None, at
    while end < len(words):
        word, value = words[end], figure(words[end])
        if value is not None and (part is None or (continues(part, value) and not word[0].isdigit())):
            part = (part or 0) + value
        elif word in lex.MULTIPLES and (part is not None or end == at):
            part = (part or 1) * lex.MULTIPLES[word]
            if word in {"thousand", "million"}:
                total, part = total + part, None
        elif not (word == "and" and end > at and words[end - 1] in lex.MULTIPLES and figure(word_at(words, end + 1))):
            break
        end += 1
    if end == at:
        return None
    total += part or 0
    return Count(total, total, " ".join(words[at:end]), explicit=True)


def continues(before: int, value: int) -> bool:
    """Whether a number goes on with this one: twenty one, two hundred and five; but not two three."""
    step = 100 if before % 100 == 0 and before else 10 if before % 10 == 0 and before > 10 else 0
    return 0 < value < step


def figure(word: str) -> int | None:
    """A number of one word."""
    tens, hyphen, ones = word.partition("-")
    if hyphen and tens in lex.TENS and 0 < lex.NUMBERS.get(ones, 0) < 10:
        return lex.NUMBERS[tens] + lex.NUMBERS[ones]
    figures = word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    if figures.isdecimal():
        return int(figures) if len(figures) <= 9 else None
    return lex.NUMBERS.get(word)


def ordinal(word: str) -> str:
    """`second`, also for `2nd`; nothing for other words."""
    number, ending = word[:-2], word[-2:]
    if number.isdigit() and ending in {"st", "nd", "rd", "th"} and 0 < int(number) <= len(lex.ORDINALS_IN_ORDER):
        return lex.ORDINALS_IN_ORDER[int(number) - 1]
    return word if word in lex.ORDINALS else ""

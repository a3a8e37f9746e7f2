"""How many: quantities in words and figures, by the protocol's rules; and nouns that only count: `a herd of`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.tokens import Token, lower_words
from onprompt.language.words import singular
from onprompt.settings import Settings
from onprompt.types import Attribute, Count

RANGE = re.compile(r"(\d{1,4})[-–](\d{1,4})")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
AFTER_ARTICLE = {"few", "single", *lex.PAIRS, *lex.MULTIPLES, *lex.MANY_OF}  # but "a 1957 car" is one
COMPARISONS = lex.Phrases(lex.COMPARISONS)


def quantity(words: Sequence[str], at: int, settings: Settings) -> Count | None:
    """The quantity that begins at a word; its `words` say how far it goes."""
    comparison = COMPARISONS.at(words, at)
    if comparison and (exact := number(words, at + len(comparison.split()))):
        low, high = (None if step is None else max(0, exact.low + step) for step in lex.COMPARISONS[comparison])
        return Count(low or 0, high, f"{comparison} {exact.words}", explicit=True)
    word, following = words[at], word_at(words, at + 1)
    if word in lex.APPROXIMATORS and (exact := number(words, at + 1)) and exact.low > 1:
        return replace(exact, words=f"{word} {exact.words}", confidence=0.5)
    if word in lex.ARTICLES and following in AFTER_ARTICLE and (inner := quantity(words, at + 1, settings)):
        return replace(inner, words=f"{word} {inner.words}")
    between = word == "between"
    if (exact := number(words, at + between)) is None:
        return vague(word, following, settings)
    after = at + between + len(exact.words.split())
    link = word_at(words, after)
    if link == "or" and word_at(words, after + 1) == "more":
        return replace(exact, high=None, words=f"{exact.words} or more")
    other = number(words, after + 1) if link in ({"and"} if between else {"or", "to"}) else None
    if other and other.low > exact.low:
        phrase = " ".join(words[at : after + 1 + len(other.words.split())])
        return replace(exact, high=other.high, words=phrase)
    return None if between else exact


def word_at(words: Sequence[str], at: int) -> str:
    """The word at a position, or nothing after the end."""
    return words[at] if at < len(words) else ""


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
        return Count(low * times, high and high * times, phrase, confidence=0.5)
    if word == "both":
        return Count(2, 2, word + of, explicit=True)
    if word in {"each", "every"}:
        return Count(2, None, word, confidence=0.5)
    return Count(1, 1, word) if word in lex.ARTICLES else None


def number(words: Sequence[str], at: int) -> Count | None:
    """A number in words or figures: `two`, `2`, `1,000`, `two dozen`, `two hundred and fifty`, `half a dozen`."""
    if at >= len(words):
        return None
    if list(words[at : at + 3]) == ["half", "a", "dozen"]:
        return Count(6, 6, "half a dozen", explicit=True)
    if span := RANGE.fullmatch(words[at]):
        low, high = sorted(map(int, span.groups()))
        return Count(low, high, words[at], explicit=True)
    total, end = None, at
    while end < len(words):
        word, value = words[end], figure(words[end])
        if value is not None and (total is None or (continues(total, value) and not word[0].isdigit())):
            total = (total or 0) + value
        elif word in lex.MULTIPLES and (total is not None or end == at):
            total = (total or 1) * lex.MULTIPLES[word]
        elif not (word == "and" and end > at and words[end - 1] in lex.MULTIPLES and figure(word_at(words, end + 1))):
            break
        end += 1
    return None if total is None else Count(total, total, " ".join(words[at:end]), explicit=True)


def continues(before: int, value: int) -> bool:
    """Whether a number goes on with this one: twenty one, two hundred and five; but not two three."""
    step = 100 if before % 100 == 0 and before else 10 if before % 10 == 0 and before > 10 else 0
    return 0 < value < step


def figure(word: str) -> int | None:
    """A number of one word."""
    tens, hyphen, ones = (lex.NUMBERS.get(part, 0) if part != "-" else 1 for part in word.partition("-"))
    if hyphen and tens >= 20 and 0 < ones < 10:
        return tens + ones
    figures = word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    if figures.isdecimal():
        return int(figures) if len(figures) <= 9 else None
    return lex.NUMBERS.get(word)


def ordinal(word: str) -> str:
    """`second`, also for `2nd`; nothing for other words."""
    if word[:-2].isdigit() and word[-2:] in {"st", "nd", "rd", "th"}:
        return next((name for name, nth in lex.ORDINALS.items() if 0 < nth == int(word[:-2])), "")
    return word if word in lex.ORDINALS else ""


def collapse_quantifier(tokens: list[Token], following: str, settings: Settings) -> None:
    """Make one token of the last ones: `a herd of` counts, `slice of` describes, `type of` says nothing."""
    if len(tokens) > 1 and tokens[-2].lower == "many" and (group := tokens[-2].count) and " of" in group.words:
        number = tokens[-1]  # `a group of three boys` are three, `two rows of four chairs` eight
        if number.count is not None and number.count.words not in lex.ARTICLES:
            number = replace(number, start=tokens[-2].start)
            tokens[-2:] = [multiplied(number, figure(group.words.split()[0]) or 1, number.end)]
    if len(tokens) < 2 or tokens[-1].lower != "of" or tokens[-1].relation or not following:
        return
    noun, start, end = singular(tokens[-2].lower), tokens[-2].start, tokens[-1].end
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
    """`two large rows of`: at least two, and each of unknown size; `a trio of`: three."""
    first = len(tokens) - 2
    while first and (
        tokens[first - 1].lower in lex.KIND_OF_ATTRIBUTE or tokens[first - 1].lower in lex.NON_DESCRIPTIVE
    ):
        first -= 1
    if first and (tokens[first - 1].count is not None or tokens[first - 1].lower in lex.DEFINITE):
        first -= 1
    phrase, exact = " ".join(lower_words(tokens[first:])), lex.GROUP_SIZES.get(noun)
    least = max(2, (tokens[first].count or Count(1, 1)).low)
    count = Count(exact, exact, phrase, explicit=True) if exact else Count(least, None, phrase, confidence=0.5)
    tokens[first:] = [Token("many", tokens[first].start, tokens[-1].end, count=count)]


def multiplied(token: Token, factor: int, end: int) -> Token:
    """A counting token, so many times over."""
    if token.count is None or not token.count.explicit:
        return replace(token, end=end)
    high = token.count.high and token.count.high * factor
    return replace(token, count=replace(token.count, low=token.count.low * factor, high=high), end=end)

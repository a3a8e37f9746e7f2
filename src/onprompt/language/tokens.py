"""Step 0 and the first half of step 1: a prompt made uniform and cut into tagged tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from onprompt.errors import PromptError
from onprompt.language import lexicon as lex
from onprompt.settings import Settings
from onprompt.types import Attribute, Count


class Tag(Enum):
    """What a token does."""

    QUANTITY = auto()
    DETERMINER = auto()
    ATTRIBUTE = auto()
    NOUN = auto()
    RELATION = auto()
    POSITION = auto()
    ABSENCE = auto()
    TEXT = auto()
    VERB = auto()
    JOIN = auto()
    PAUSE = auto()
    STOP = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A word or phrase, what it does, and what it stands for."""

    tag: Tag
    text: str
    count: Count | None = None
    attribute: Attribute | None = None


QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "´": "'", "`": "'"})
SINGLE_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,80})'(?!\w)")
PIECE = re.compile(
    r""""(?P<quoted>[^"]*)"|(?P<word>\d+(?:[.,]\d+)+|[^\W_]+(?:['-][^\W_]+)*)|(?P<stop>[.;:!?])|(?P<pause>[,()])"""
)
RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
LONGEST = 7  # words in the longest phrase of the lexicon
AFTER_ARTICLE = {"few", "lot", "single", *lex.PAIRS, *lex.MULTIPLES}  # but "a 1957 car" is one


def normalised(prompt: str, settings: Settings) -> str:
    """One kind of quotes and blanks. Case and punctuation stay: quoted text is to be read as it is."""
    if not isinstance(prompt, str):
        raise PromptError(f"the prompt is a {type(prompt).__name__}, not a text")
    if len(prompt) > settings.max_prompt_characters:
        limit = f"the limit is {settings.max_prompt_characters:,} (setting max_prompt_characters)"
        raise PromptError(f"the prompt has {len(prompt):,} characters; {limit}")
    text = unicodedata.normalize("NFC", prompt).translate(QUOTES)
    text = SINGLE_QUOTED.sub(r'"\1"', " ".join(text.split()))
    if not text:
        raise PromptError("the prompt is empty")
    if not any(letter.isalnum() or unicodedata.category(letter) == "So" for letter in text):
        raise PromptError(f"the prompt {text[:40]!r} holds no word")
    return text


def tokenised(text: str, settings: Settings) -> list[Token]:
    """The prompt as tagged tokens; phrases of the lexicon are one token."""
    pieces = [(match.lastgroup or "", match[match.lastgroup or 0]) for match in PIECE.finditer(text)]
    words = [piece.lower().removesuffix("'s") if kind == "word" else "" for kind, piece in pieces]
    found: list[Token] = []
    at = 0
    while at < len(pieces):
        kind, piece = pieces[at]
        if kind == "word":
            token, size = read_word(words, at, settings)
            if token.tag is Tag.VERB and token.text in lex.TEXT_MARKS and followed_by_quote(pieces, at + size):
                token = Token(Tag.PAUSE, token.text)
        else:
            token, size = Token({"quoted": Tag.TEXT, "stop": Tag.STOP, "pause": Tag.PAUSE}[kind], piece), 1
        found.append(token)
        at += size
    return found


def followed_by_quote(pieces: list[tuple[str, str]], at: int) -> bool:
    """Whether quoted text comes next."""
    return at < len(pieces) and pieces[at][0] == "quoted"


def phrase_at(words: list[str], at: int, known: Collection[str]) -> str:
    """The longest known phrase that begins here, or nothing."""
    for size in range(min(LONGEST, len(words) - at), 0, -1):
        phrase = " ".join(words[at : at + size])
        if phrase in known:
            return phrase
    return ""


def read_word(words: list[str], at: int, settings: Settings) -> tuple[Token, int]:
    """The token that begins at a word, and how many words it takes."""
    for token in candidates(words, at, settings):
        return token, len(token.text.split())
    return Token(Tag.NOUN, words[at]), 1


def candidates(words: list[str], at: int, settings: Settings) -> Iterator[Token]:
    """What the words here may be, the likeliest first."""
    word = words[at]
    place, relation = phrase_at(words, at, lex.POSITIONS), phrase_at(words, at, lex.RELATIONS)
    if len(place) > len(relation) and words[at + len(place.split()) :][:1] != ["of"]:
        yield Token(Tag.POSITION, place, attribute=Attribute("position", lex.POSITIONS[place]))
    if mark := phrase_at(words, at, lex.TEXT_MARKS):
        yield Token(Tag.VERB, mark)
    if mark := phrase_at(words, at, lex.NOT_ABSENCES):
        yield Token(Tag.VERB, mark)
    if compound := phrase_at(words, at, lex.COMPOUNDS):
        yield Token(Tag.NOUN, compound)
    if (count := quantity(words, at, settings)) is not None:
        after = at + len(count.words.split())
        partitive = words[after : after + 1] == ["of"]  # "a couple of", "two of"
        yield Token(Tag.QUANTITY, count.words + " of" * partitive, count=count)
    if absence := phrase_at(words, at, lex.ABSENCES) or (word if word.endswith("n't") else ""):
        yield Token(Tag.ABSENCE, absence)
    if relation:
        yield Token(Tag.RELATION, relation)
    if word == "and":
        yield Token(Tag.JOIN, word)
    if word in lex.DETERMINERS:
        yield Token(Tag.DETERMINER, word)
    if attribute := attribute_at(words, at):
        toned = attribute.kind == "color" and " " in attribute.value
        yield Token(Tag.ATTRIBUTE, attribute.value if toned else word, attribute=attribute)
    if word in lex.FUNCTION_WORDS:
        yield Token(Tag.VERB, word)
    if word in lex.VERBS or (word.endswith("ing") and len(word) > 4 and word not in lex.ING_NOUNS):
        yield Token(Tag.VERB, word)


def quantity(words: list[str], at: int, settings: Settings) -> Count | None:
    """How many, by the seed's quantifier rules (seed 000, step 1)."""
    comparison = phrase_at(words, at, lex.COMPARISONS)
    if comparison and (exact := number(words, at + len(comparison.split()))):
        low, high = (None if step is None else exact.low + step for step in lex.COMPARISONS[comparison])
        least, most = low or 0, None if high is None else max(0, high)
        return Count(least, most, f"{comparison} {exact.words}", explicit=True)
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word in lex.ARTICLES and following in AFTER_ARTICLE and (inner := quantity(words, at + 1, settings)):
        return replace(inner, words=f"{word} {inner.words}")
    if exact := number(words, at):
        return alternative(words, at, exact)
    if word in lex.PAIRS:
        return Count(settings.pair, settings.pair, word, explicit=True)
    ranges = {
        "few": (settings.few_low, settings.few_high),
        "several": (settings.several_low, settings.several_high),
        **dict.fromkeys(lex.SOME, (1, None)),
        **dict.fromkeys((*lex.MANY, "lot"), (2, None)),
    }
    if word in ranges:
        return Count(*ranges[word], word, confidence=0.5)
    return Count(1, 1, word) if word in lex.ARTICLES else None


def alternative(words: list[str], at: int, first: Count) -> Count:
    """`one or two`, `two or more`; else the number alone."""
    after = at + len(first.words.split())
    if words[after : after + 1] != ["or"]:
        return first
    if words[after + 1 : after + 2] == ["more"]:
        return replace(first, high=None, words=f"{first.words} or more")
    second = number(words, after + 1) if after + 1 < len(words) else None
    if second is None or second.low <= first.low:
        return first
    return replace(first, high=second.high, words=f"{first.words} or {second.words}")


def number(words: list[str], at: int) -> Count | None:
    """A number in words or figures: `two`, `2`, `1,000`, `two dozen`, `half a dozen`."""
    if words[at : at + 3] == ["half", "a", "dozen"]:
        return Count(6, 6, "half a dozen", explicit=True)
    word, following = [*words[at : at + 2], "", ""][:2]
    if ranged := RANGE.fullmatch(word):
        low, high = sorted(map(int, ranged.groups()))
        return Count(low, high, word, explicit=True)
    tens, _, ones = word.partition("-") if "-" in word else (word, "", following)
    if tens in lex.TENS.split() and 0 < lex.NUMBERS.get(ones, 0) < 10:
        total = lex.NUMBERS[tens] + lex.NUMBERS[ones]
        return Count(total, total, word if "-" in word else f"{word} {following}", explicit=True)
    figures = word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    plain = lex.NUMBERS.get(word, int(figures) if figures.isdecimal() and len(figures) <= 9 else None)
    if plain is None and word not in lex.MULTIPLES:
        return None
    if plain is None:
        return Count(lex.MULTIPLES[word], lex.MULTIPLES[word], word, explicit=True)
    times = lex.MULTIPLES.get(following, 1)
    return Count(plain * times, plain * times, f"{word} {following}" if times > 1 else word, explicit=True)


def attribute_at(words: list[str], at: int) -> Attribute | None:
    """The property that a word names; a tone belongs to the colour after it."""
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word in lex.TONES:
        return Attribute("color", f"{word} {following}") if following in lex.COLOURS else Attribute("lighting", word)
    if word in lex.COLOURS:
        return Attribute("color", word)
    if word in lex.SIZES:
        return Attribute("size", lex.SIZES[word])
    if word in lex.KIND_OF_ATTRIBUTE:
        return Attribute(lex.KIND_OF_ATTRIBUTE[word], word)
    return Attribute("other", word) if word.endswith(lex.ADJECTIVE_ENDINGS) and len(word) > 6 else None

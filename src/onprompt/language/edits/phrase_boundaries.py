"""Where one phrase of an instruction ends and the next begins, though no word stands between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from onprompt.language import lexicon as lex
from onprompt.language.edits.lexicon import CLASSES, CONJUNCTIONS, DETERMINERS, PLACES, PRONOUNS, WORDS, longest_at
from onprompt.language.edits.phrase import CLOCK_TIME, Phrase
from onprompt.language.edits.word_types import is_adjective, is_hedge
from onprompt.language.words import comparison, is_noun, singular, vocabulary


def starts_place(words: Sequence[str], at: int) -> bool:
    """Whether a place is named from here on."""
    place = longest_at(words, at, PLACES)
    if place and (place in lex.POSITIONS or len(words) > at + len(place.split())):
        return True
    return words[at] in WORDS["place_adverbs"] and words[at - 1] not in {"the", "to", "from", "on"}


def destination(phrase: Phrase) -> Phrase:
    """`from the table to the floor`: the floor."""
    starts = (
        at for at in range(2, len(phrase)) if phrase.words[at] in CLASSES["ON"] and starts_place(phrase.words, at)
    )
    return phrase.part(next(starts, 0) if phrase.words[0] == "from" else 0)


def recipient_end(words: Sequence[str]) -> int | None:
    """Where what is given begins: `her | a cap`, `the old man | long white hair`."""
    if words[0] in PRONOUNS and (words[0] != "her" or words[1] in DETERMINERS or len(words) == 2):
        return 1
    for at in range(2, len(words)):
        if words[at] in DETERMINERS and words[at - 1] not in lex.RELATIONS and words[at - 1] not in DETERMINERS:
            return at
    noun = ""
    for at, word in enumerate(words):
        if word in DETERMINERS or word in {"'s", "of"} or (lex.kind_of(word) and not noun):
            noun = ""
        elif noun and not is_noun(f"{noun} {singular(word)}") and not is_noun(f"{noun} {word}"):
            return at
        elif is_noun(singular(word)):
            noun = word
    return 1 if words[0] == "her" else None  # her | curly hair


def predicate_start(words: Sequence[str]) -> int | None:
    """Where what a thing should be or do begins: `all the flowers | yellow`, `the woman | hold a cup`."""
    if len(words) < 2:
        return None
    if words[0] in WORDS["personal"] or (words[0] == "her" and is_clear_verb(words[1])):
        return 1
    if words[0] in PRONOUNS and words[1] not in WORDS["ones"] | {"of"} and not may_be_noun(words, 1):
        return 1
    if tuple(words[-2:]) == ("upside", "down") and len(words) > 2:
        return len(words) - 2
    inner = range(1, len(words))
    starts = chain(
        *(comparisons(words), auxiliaries(words), clear_verbs(words)),
        (at for at in inner if CLOCK_TIME.fullmatch(words[at])),  # the time on the clock | 3:00
        *(articles(words), final_adjectives(words)),
        (at for at in inner if is_gerund(words[at]) and may_be_noun(words, at - 1)),  # the man | running
        (at for at in inner if may_be_verb(words, at)),  # the children | play football
    )
    return next(starts, None)


def pairs(words: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The index of each word but the first, the word, and the one after it."""
    return zip(range(1, len(words)), words[1:], [*words[2:], ""], strict=True)


def comparisons(words: Sequence[str]) -> Iterator[int]:
    """`the dog | bigger than the cat`, `the tree | twice as tall`, `the photo | more professional`."""
    for at, word, following in pairs(words):
        last = word == "more" and at == len(words) - 2
        if last or (word in WORDS["times"] and following in {"as", "the", "its", "their"}):
            yield at
        elif comparison(word) and following == "than":
            yield before_hedges(words, at)


def auxiliaries(words: Sequence[str]) -> Iterator[int]:
    """`the man | be wearing a kilt`, `the car | to be red`, `the hat | removed`."""
    for at, word, following in pairs(words):
        gone = word in WORDS["gone"] and not following
        infinitive = word == "to" and following in vocabulary().verbs
        if word in {"be", "not"} or gone or infinitive or (word == "look" and words[at - 1] not in DETERMINERS):
            yield at


def clear_verbs(words: Sequence[str]) -> Iterator[int]:
    """The plain form of a verb after a noun: `the cat | lick its nose`; not `the dog house on the left`."""
    end = next(articles(words), len(words))
    for at, word, following in pairs(words):
        if at < end and may_be_verb(words, at):
            complement = following in DETERMINERS or following.endswith("ly") or following in lex.RELATIONS
            if not following or complement or is_clear_verb(word):
                yield at


def articles(words: Sequence[str]) -> Iterator[int]:
    """`the dog | a cat`, `the piece of paper hanging on the wall | a mirror`."""
    for at, word, _ in pairs(words):
        before = words[at - 1]
        verb = is_gerund(before) or before in lex.WEARING
        if word in lex.ARTICLES | {"some"} and may_be_noun(words, at - 1) and not verb:
            yield at


def final_adjectives(words: Sequence[str]) -> Iterator[int]:
    """Adjectives at the end, with "and" between them and "very" before them."""
    at = len(words)
    while at > 1 and (is_adjective(words[at - 1]) or (at < len(words) and qualifies(words[at - 1], words[at]))):
        at -= 1
    while at < len(words) and words[at] in CONJUNCTIONS:
        at += 1
    if at == len(words):
        return
    light = words[at] == "light" and words[at - 1] in WORDS["lights"]  # the traffic light | green
    if light or (words[at - 1] in lex.DEFINITE | {"'s"} and is_noun(words[at])):  # the glass | red
        at += 1
    if at < len(words) and words[at - 1] not in DETERMINERS - {"one"}:
        yield before_hedges(words, at)


def qualifies(word: str, following: str) -> bool:
    """Whether a word joins or tones an adjective: `and`, `light blue`."""
    return word in CONJUNCTIONS or (word in lex.TONES and lex.kind_of(following) == "color")


def before_hedges(words: Sequence[str], at: int) -> int:
    """Where "all" and "much" before an adjective begin."""
    while at > 1 and is_hedge(words, at - 1):
        at -= 1
    return at - 2 if at > 2 and words[at - 1] == "years" else at  # 20 years older


def is_gerund(word: str) -> bool:
    """Whether a word ends in -ing and is no noun."""
    return word.endswith("ing") and word not in lex.ING_NOUNS


def is_clear_verb(word: str) -> bool:
    """Whether a word is a verb rather than a noun."""
    listed = word in WORDS["sure_verbs"] | WORDS["copulas"]
    return listed or (word in vocabulary().verbs and not is_noun(word))


def may_be_verb(words: Sequence[str], at: int) -> bool:
    """Whether a word may be a verb in its plain form: after a noun with which it makes no compound."""
    word, before = words[at], words[at - 1]
    if word not in vocabulary().verbs or lex.kind_of(word) or before == "'s":
        return False
    return may_be_noun(words, at - 1) and not is_noun(f"{before} {word}")


def may_be_noun(words: Sequence[str], at: int) -> bool:
    """Whether a word may be a noun here."""
    word = words[at]
    if word in DETERMINERS or word in lex.RELATIONS or word in {"'s", "and", ",", "of"}:
        return word == "one"
    return is_noun(singular(word)) or word not in vocabulary().adjectives

"""Where one phrase of an instruction ends and the next begins, though no word stands between them."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.language import lexicon as lex
from onprompt.language.attributes import comparison
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.words import DETERMINERS, HOUR, Words, describes, longest_at
from onprompt.language.ontology import singular
from onprompt.language.spelling import vocabulary as known
from onprompt.language.wordnet import is_noun

PLACE_LONGEST = lex.longest(lists.PLACES)


def is_place(words: Sequence[str], at: int) -> bool:
    """Whether a place is named from here on."""
    place = longest_at(words, at, lists.PLACES, PLACE_LONGEST)
    return bool(place and (place in lex.POSITIONS or len(words) > at + len(place.split()))) or (
        words[at] in lists.PLACE_WORDS and words[at - 1] not in {"the", "to", "from", "on"}
    )


def new_place(words: Words) -> Words:
    """`from the table to the floor`: where it goes."""
    ends = (at for at in range(2, len(words)) if words.all[at] in lists.VERBS["ON"] and is_place(words.all, at))
    return words.part(next(ends, 0) if words.all[0] == "from" else 0)


def parting(words: Sequence[str]) -> int | None:
    """Where what is to become of a thing begins: `all the flowers | yellow`, `the woman | hold a cup`."""
    if len(words) < 2:
        return None
    if words[0] in lists.ALONE or (words[0] == "her" and words[1] in lists.SURE_VERBS):
        return 1
    if words[0] in lists.PRONOUNS and words[1] not in {"one", "ones", "of"} and not noun_at(words, 1):
        return 1
    if tuple(words[-2:]) == ("upside", "down") and len(words) > 2:
        return len(words) - 2
    for find in (compared_at, be_at, verb_at, hour_at, article_at, adjectives_at, participle_at, any_verb_at):
        if at := find(words):
            return at
    return None


def hour_at(words: Sequence[str]) -> int | None:
    """`the time on the clock | 3:00`."""
    return next((at for at in range(1, len(words)) if HOUR.fullmatch(words[at])), None)


def compared_at(words: Sequence[str]) -> int | None:
    """`the dog | bigger than the cat`, `the tree | twice as tall`."""
    for at in range(1, len(words)):
        after = words[at + 1] if at + 1 < len(words) else ""
        if words[at] in lists.TIMES and after in {"as", "the", "its", "their"}:
            return at
        if comparison(words[at]) and after == "than":
            return back_over_hedges(words, at)
    return None


def be_at(words: Sequence[str]) -> int | None:
    """`the man | be wearing a kilt`, `the car | to be red`, `the hat | removed`."""
    for at in range(1, len(words)):
        after = words[at + 1] if at + 1 < len(words) else ""
        gone = words[at] in lists.GONE and not after
        if words[at] in {"be", "not"} or gone or (words[at] == "to" and after in known().verbs):
            return at
        if words[at] == "look" and words[at - 1] not in DETERMINERS:
            return at
    return None


def verb_at(words: Sequence[str]) -> int | None:
    """The plain form of a verb after a noun: `the cat | lick its nose`; not `the dog house on the left`."""
    second = article_at(words) or len(words)
    for at in range(1, second):
        if may_be_verb(words, at):
            after = words[at + 1] if at + 1 < len(words) else ""
            verb_like = not after or after in DETERMINERS or after.endswith("ly") or after in lex.RELATIONS
            if verb_like or words[at] in lists.SURE_VERBS or not is_noun(words[at]):
                return at
    return None


def any_verb_at(words: Sequence[str]) -> int | None:
    """Any verb, where nothing better parts the words: `the children | play football`."""
    return next((at for at in range(1, len(words)) if may_be_verb(words, at)), None)


def may_be_verb(words: Sequence[str], at: int) -> bool:
    """Whether a word may be a verb in its plain form: after a noun with which it makes no name."""
    word, before = words[at], words[at - 1]
    if word not in known().verbs or lex.kind_of(word) or before == "'s":
        return False
    return noun_at(words, at - 1) and not is_noun(f"{before} {word}")


def noun_at(words: Sequence[str], at: int) -> bool:
    """Whether a word may be a noun here."""
    word = words[at]
    if word in DETERMINERS or word in lex.RELATIONS or word in {"'s", "and", ",", "of"}:
        return word == "one"
    return is_noun(singular(word)) or word not in known().adjectives


def article_at(words: Sequence[str]) -> int | None:
    """`the dog | a cat`, `the piece of paper hanging on the wall | a mirror`."""
    for at in range(1, len(words)):
        if words[at] in {"a", "an", "some", "another"} and noun_at(words, at - 1):
            ing = words[at - 1].endswith("ing") and words[at - 1] not in lex.ING_NOUNS
            if not ing and words[at - 1] not in lex.WEARING:
                return at
    return None


def adjectives_at(words: Sequence[str]) -> int | None:
    """Adjectives at the end, with "and" between them and "very" before them."""
    at = len(words)
    while at > 1 and (
        describes(words[at - 1])
        or (at < len(words) and (words[at - 1] in {"and", ",", "or"} or tones(words[at - 1], words[at])))
    ):
        at -= 1
    while at < len(words) and words[at] in {"and", ",", "or"}:
        at += 1
    if at == len(words):
        return None
    if words[at] == "light" and words[at - 1] in lists.LIGHTS:
        at += 1  # the traffic light | green
    elif words[at - 1] in lex.DEFINITE | {"'s"} and is_noun(words[at]):
        at += 1  # the glass | red
    return back_over_hedges(words, at) if at < len(words) and words[at - 1] not in DETERMINERS - {"one"} else None


def tones(word: str, colour: str) -> bool:
    """`light blue`."""
    return word in lex.TONES and lex.kind_of(colour) == "color"


def back_over_hedges(words: Sequence[str], at: int) -> int:
    """Where "all" and "much" before an adjective begin."""
    while at > 1 and (
        words[at - 1] in lists.HEDGES or (words[at - 1] == "a" and words[at] in {"bit", "lot", "little"})
    ):
        at -= 1
    return at - 2 if at > 2 and words[at - 1] == "years" else at  # 20 years older


def participle_at(words: Sequence[str]) -> int | None:
    """`the man | running`."""
    for at in range(1, len(words)):
        if words[at].endswith("ing") and words[at] not in lex.ING_NOUNS and noun_at(words, at - 1):
            return at
    return None


def gift(words: Sequence[str]) -> int | None:
    """Where what is given begins: `her | a cap`, `the old man | long white hair`."""
    if words[0] in lists.PRONOUNS and (words[0] != "her" or words[1] in DETERMINERS or len(words) == 2):
        return 1
    second = (at for at in range(2, len(words)) if words[at] in DETERMINERS and words[at - 1] not in lex.RELATIONS)
    if at := next((at for at in second if words[at - 1] not in DETERMINERS), None):
        return at
    seen = ""
    for at, word in enumerate(words):
        if word in DETERMINERS or word in {"'s", "of"} or (lex.kind_of(word) and not seen):
            seen = ""
        elif seen and not is_noun(f"{seen} {singular(word)}") and not is_noun(f"{seen} {word}"):
            return at
        elif is_noun(singular(word)):
            seen = word
    return 1 if words[0] == "her" else None  # her | curly hair

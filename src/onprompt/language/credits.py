"""By whom and with what an image was made: the names of artists, cameras and programs."""

from collections.abc import Sequence

from onprompt.language import lexicon as lex
from onprompt.language.ontology import singular
from onprompt.language.segmentation import Token, joined_by_comma, lower_words
from onprompt.language.spelling import vocabulary
from onprompt.language.wordnet import is_noun

STYLE_INTRODUCERS = lex.Phrases(lex.STYLE_INTRODUCERS)
DETERMINERS = lex.ARTICLES | lex.DEFINITE


def is_artist(words: Sequence[str]) -> bool:
    """Whether words name a well-known artist."""
    return lex.IMAGE_PROPERTIES.get(" ".join(words)) == "artist"


def is_name(words: Sequence[str]) -> bool:
    """Whether words after an artist's name are another name: a known one, or two or three with a surname."""
    plain = not any(word in lex.RELATIONS or word in DETERMINERS or lex.kind_of(word) for word in words)
    surname = not is_noun(singular(words[-1])) and words[-1] not in vocabulary().common
    return is_artist(words) or (1 < len(words) < 4 and plain and surname)


def split_names(words: Sequence[str]) -> list[str]:
    """The names of a list."""
    text = " ".join(words).replace(" & ", " and ").replace(" ,", " and ")
    return [name.strip() for name in text.split(" and ") if name.strip()]


def join_names(parts: Sequence[list[Token]]) -> list[list[Token]]:
    """The pieces between commas, with the names after an artist's joined to that."""
    joined: list[list[Token]] = []
    credited = False
    for part in parts:
        words = lower_words(part)
        if joined and credited and all(is_name(name.split()) for name in split_names(words)):
            joined[-1] = joined_by_comma(joined[-1], part)
            continue
        joined.append(part)
        credited = "by" in words or any(STYLE_INTRODUCERS.at(words, at) for at in range(len(words)))
    return joined

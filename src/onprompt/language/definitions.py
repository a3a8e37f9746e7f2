"""Prompts that define a word instead of describing a scene: "A tool for cutting paper, made of two blades …"."""

from collections.abc import Sequence
from itertools import compress

from onprompt.language import lexicon as lex
from onprompt.language.ontology import singular
from onprompt.language.segmentation import Token, is_ing_verb, lower_words
from onprompt.language.wordnet import is_noun

MARKERS = lex.Phrases(lex.DEFINITION_MARKERS)
MAX_HEAD_WORDS = 8


def defined(tokens: list[Token]) -> list[Token]:
    """The head of a definition with its plain adjectives, such as "A long fruit"; nothing for other sentences.

    A definition opens with a generic noun, and goes on with what such things are used for or usually have.
    """
    words = lower_words(tokens)
    if not words or words[0] not in lex.ARTICLES:
        return []
    head = next((at for at, word in enumerate(words[:MAX_HEAD_WORDS]) if singular(word) in lex.GENERIC_NOUNS), 0)
    inner = {*words[1:head]}
    if not head or inner & (lex.ARTICLES | lex.BE | {","}) or inner & (lex.RELATIONS.keys() - {"of"}):
        return []
    if not any(is_marker(words, at) for at in range(head + 1, len(words))):
        return []
    sort = words[head] in lex.SORT_NOUNS and words[head + 1 : head + 2] == ["of"]
    end = noun_phrase_end(words, head + 1) if sort else head + 1
    kept = [word not in lex.PHRASE_ENDS and bool(lex.kind_of(word) or is_noun(word)) for word in words[1:head]]
    return [tokens[0], *compress(tokens[1:head], kept), *tokens[head:end]]


def noun_phrase_end(words: Sequence[str], of: int) -> int:
    """Where the noun phrase after "of" ends."""
    after = range(of + 1, len(words))
    return next((at for at in after if words[at] in lex.RELATIONS or words[at] in lex.PHRASE_ENDS), len(words))


def is_marker(words: Sequence[str], at: int) -> bool:
    """Whether words that only definitions have begin here: `typically`, `used for`; `for cutting`, but at no place."""
    purpose = words[at] == "for" and at + 1 < len(words) and is_ing_verb(words[at + 1])
    placed = any(lex.RELATIONS.get(word) in lex.SPATIAL and word != "by" for word in words[at:])
    return (purpose and not placed) or bool(MARKERS.at(words, at))

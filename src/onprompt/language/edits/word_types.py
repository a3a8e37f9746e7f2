"""What kind of word a word is: a number, an adjective, a hedge; and the participle of a verb."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.language import lexicon as lex
from onprompt.language.edits.lexicon import DATA, WORDS
from onprompt.language.quantities import number
from onprompt.language.words import adjective_lemmas, comparison, is_noun, progressive, vocabulary


def numeral(words: Sequence[str]) -> int | None:
    """The number that the words spell, if they say nothing else."""
    count = number(words, 0)
    return count.low if count and len(count.words.split()) == len(words) else None


def is_adjective(word: str) -> bool:
    """Whether a word only describes."""
    listed = word in WORDS["shades"] | WORDS["sizes"] | WORDS["typefaces"]
    if listed or lex.kind_of(word) not in {None, "position"} or comparison(word):
        return True
    roots = [word, *(adjective_lemmas(word) if word.endswith(("er", "est")) else ())]
    adjective = any(root in vocabulary().adjectives for root in roots) or word.endswith(("ed", "ish"))
    return adjective and not is_noun(word)


def is_hedge(words: Sequence[str], at: int) -> bool:
    """Whether a word only qualifies what follows: `much`, `look`, the article of `a bit`."""
    article = words[at] == "a" and {"bit", "lot", "little"}.intersection(words[at + 1 : at + 2])
    return words[at] in WORDS["hedges"] | WORDS["copulas"] or bool(article)


def participle(verb: str) -> str:
    """The state that a verb brings about: `filled`, `covered`, `split`."""
    if verb in DATA["states"]:
        return str(DATA["states"][verb])
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "d" if verb.endswith("e") else progressive(verb).removesuffix("ing") + "ed"

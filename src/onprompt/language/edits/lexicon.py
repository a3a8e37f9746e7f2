"""The words of edit instructions: `ed.HEDGES` is the list `hedges` of lexicon.toml; kinds of words, forms of verbs."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onprompt.language import lexicon as lex
from onprompt.language import words as forms
from onprompt.language.quantities import number


def phrases(text: str) -> frozenset[str]:
    """The phrases between commas or line breaks, in the notation of lexicon.txt."""
    found = (form for item in re.split(r"[,\n]", text) for form in lex.expand(item))
    return frozenset(" ".join(form.split()) for form in found) - {""}


DATA: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))
WORDS = {name: phrases(text) for name, text in {**DATA["words"], **DATA["openings"]}.items()}
IRREGULAR = {form: verb for verb, forms in DATA["irregular"].items() for form in forms.split()}
VERBS = phrases("\n".join(DATA["verbs"]))
FIRST_WORDS = frozenset(verb.split()[0] for verb in VERBS)
CLASSES = defaultdict(frozenset[str], {name: phrases(text) for name, text in DATA["connectives"].items()})
KINDS: Mapping[str, str] = DATA["kinds"]
LOOKS = {word: operation for operation, words in DATA["looks"].items() for word in phrases(words)}
CLASSES |= {"HUE": lex.COLORS, "ORIENTATION": lex.ORIENTATIONS, "SIZE": frozenset(LOOKS), "TEXT": lex.TEXT_NOUNS}
CLASSES["NUMBER"] = WORDS["vaguely_many"] | lex.NUMBERS.keys() | set(map(str, range(100)))
for verbs, names in DATA["verbs"].items():
    for name in names.split():
        CLASSES[name] |= phrases(verbs)

KEEPING = tuple(f"{verb} " for verb in CLASSES["KEEP"])
CONJUNCTIONS = frozenset(("and", ",", "or"))
DETERMINERS = lex.ARTICLES | lex.DEFINITE | lex.SOME | lex.NUMBERS.keys() | {"several", "many", "few", "no"}
DEFINITE_OR_ARTICLE = lex.ARTICLES | lex.DEFINITE
COLOR_NOUNS = CLASSES["COLOR"] | {"tone"}
OPENINGS = {name: lex.Phrases(WORDS[name]) for name in ("polite", "wishes", "questions")}
CLASSES["RELATION"] = frozenset(lex.RELATIONS) - WORDS["not_places"] - CLASSES["INSTEAD"]
CLASSES["PLACE"] = frozenset(lex.POSITIONS) | WORDS["place_adverbs"]


def __getattr__(name: str) -> frozenset[str]:
    """The words of a list."""
    if not name.isupper() or name.lower() not in WORDS:
        raise AttributeError(f"lexicon.toml has no list {name.lower()!r}")
    return WORDS[name.lower()]


def numeral(words: Sequence[str]) -> int | None:
    """The number that the words spell, if they say nothing else."""
    count = number(words, 0)
    return count.low if count and len(count.words.split()) == len(words) else None


def is_adjective(word: str) -> bool:
    """Whether a word only describes."""
    if word in LOOKS or lex.kind_of(word) not in {None, "position"} or forms.comparison(word):
        return True
    adjective = any(root in forms.vocabulary().adjectives for root in (word, *forms.adjective_lemmas(word)))
    return (adjective or word.endswith(("ed", "ish"))) and not forms.is_noun(word)


def is_compound(noun: str, word: str) -> bool:
    """Whether a word goes on with the noun before it: `wine glass`, `traffic lights`."""
    compounds = {f"{noun} {word}", f"{noun} {forms.singular(word)}"}
    return bool(compounds & lex.COMPOUNDS) or any(map(forms.is_noun, compounds))


def is_hedge(words: Sequence[str], at: int) -> bool:
    """Whether a word only qualifies what follows: `much`, `look`, the article of `a bit`."""
    article = words[at] == "a" and {"bit", "lot", "little"}.intersection(words[at + 1 : at + 2])
    return words[at] in WORDS["hedges"] | WORDS["copulas"] or bool(article)


def plain_verb(word: str) -> str:
    """The verb of editing that a word is a form of: `removed`, `adding`, `shrank`; else the word."""
    plain = forms.verb_lemmas(word) if word.endswith(("ing", "ed")) else ()
    return next((form for form in (word, IRREGULAR.get(word, ""), *plain) if form in FIRST_WORDS), word)


def participle(verb: str) -> str:
    """The state that a verb brings about: `filled`, `covered`, `split`."""
    if known := DATA["states"].get(verb) or DATA["irregular"].get(verb):
        return str(known).split()[-1]
    return verb + "d" if verb.endswith("e") else forms.progressive(verb).removesuffix("ing") + "ed"


CLASSES["DONE"] = frozenset(map(participle, CLASSES["COVER"]))

"""Synonyms, hypernyms and parts of names, and which names can be seen in an image.

What ontology.toml says takes precedence over WordNet.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from onprompt.language import wordnet
from onprompt.types import Name


@cache
def data() -> Mapping[str, Any]:
    """The facts in ontology.toml."""
    return tomllib.loads(Path(__file__).with_name("ontology.toml").read_text(encoding="utf-8"))


@cache
def synonym_groups() -> Mapping[str, tuple[str, ...]]:
    """Each name of the file with its synonyms and itself, the canonical one first."""
    return {name: tuple(names) for names in data()["same"] for name in names}


# ---- singular forms --------------------------------------------------------------------------------------------------

# Plural endings with those of the singular, the likeliest for an unknown word first.
PLURALS = {
    **{"men": ("man",), "ies": ("y", "ie"), "ves": ("ve", "f", "fe"), "oes": ("o", "oe"), "sses": ("ss", "sse")},
    **{"ses": ("se", "s", "sis"), "ches": ("ch", "che"), "shes": ("sh", "she"), "xes": ("x", "xe"), "zes": ("ze", "z")},
    "s": ("",),
}


@lru_cache(maxsize=65536)
def singular(name: str) -> str:
    """The singular: `dogs` → `dog`, `fire trucks` → `fire truck`; `wine glasses` are no `glasses`."""
    before, space, last = name.rpartition(" ")
    compound: Mapping[str, str] = data()["singular_in_compounds"] if space else {}
    return before + space + (compound.get(last) or singular_word(last))


def singular_word(word: str) -> str:
    """By the list of exceptions, then by an ending that gives a noun, visible ones first, then by the usual ending."""
    irregular: Mapping[str, str] = data()["singular"]
    if word in irregular:
        return irregular[word]
    forms = list(possible_singulars(word))
    nouns = [form for form in forms if wordnet.senses(form)] or [form for form in forms if wordnet.is_noun(form)]
    if nouns or not forms or wordnet.is_noun(word):
        return (nouns or [word])[0]
    return word if word.endswith(("us", "is", "men")) else forms[0]


def possible_singulars(word: str) -> Iterator[str]:
    """The words that a word may be the plural of."""
    ending = next((ending for ending in PLURALS if word.endswith(ending)), "")
    if ending and len(word) > 3 and not word.endswith("ss"):
        yield from (word.removesuffix(ending) + instead for instead in PLURALS[ending])


# ---- synonyms --------------------------------------------------------------------------------------------------------


def synonyms(name: str) -> tuple[str, ...]:
    """All names of the same meaning, the given one first; WordNet's only if the file has none."""
    name, groups = singular(name.lower()), synonym_groups()
    from_wordnet = (other for other in wordnet.synonyms(name) if other not in groups and singular(other) == other)
    return (name, *(other for other in groups.get(name) or from_wordnet if other != name))


def canonical(name: str) -> str:
    """The name that an object is called by: `couches` → `sofa`. WordNet's synonyms never replace a name."""
    name = singular(name.lower())
    return synonym_groups().get(name, (name,))[0]


# ---- hypernyms and hyponyms ------------------------------------------------------------------------------------------

Concept = int | str  # the number of one of WordNet's senses, or a name that WordNet lacks


@lru_cache(maxsize=65536)
def concepts(name: str) -> tuple[Concept, ...]:
    """What a name means, the usual sense first."""
    usual = (canonical(name), *synonyms(name))
    return next((senses for other in usual if (senses := wordnet.senses(other))), usual[:1])


def names(concept: Concept) -> tuple[str, ...]:
    """The names of a concept."""
    own = wordnet.sense(concept).nouns if isinstance(concept, int) else (concept,)
    groups = synonym_groups()
    ours = [other for name in own if name in groups and concepts(name)[0] == concept for other in groups[name]]
    return tuple(dict.fromkeys([*ours, *own]))


def is_usual(name: str, concept: Concept) -> bool:
    """Whether a concept is what one of its names usually means."""
    if name in synonym_groups():
        return concepts(name)[0] == concept
    return concept == name or wordnet.senses(name)[:1] == (concept,)


@cache
def listed_kinds() -> tuple[Mapping[Concept, list[Concept]], Mapping[Concept, list[Concept]]]:
    """The file's kinds by member, and its members by kind."""
    kinds, members = defaultdict[Concept, list[Concept]](list), defaultdict[Concept, list[Concept]](list)
    for kind, kind_members in data()["kinds"].items():
        for member in kind_members:
            kinds[concepts(member)[0]].append(concepts(kind)[0])
            members[concepts(kind)[0]].append(concepts(member)[0])
    return kinds, members


@cache
def hypernyms(concept: Concept) -> frozenset[Concept]:
    """All that a concept is a kind of."""
    return frozenset(closure(concept, listed_kinds()[0], "kinds"))


@cache
def hyponyms(concept: Concept) -> frozenset[Concept]:
    """All that is a kind of a concept."""
    return frozenset(closure(concept, listed_kinds()[1], "members"))


def closure(start: Concept, listed: Mapping[Concept, list[Concept]], link: str) -> set[Concept]:
    """All that is reached from a concept by the file's links and WordNet's."""
    reached: set[Concept] = set()
    waiting = [start]
    while waiting:
        concept = waiting.pop()
        linked = getattr(wordnet.sense(concept), link) if isinstance(concept, int) else head_of(concept, link)
        fresh = {*listed.get(concept, ()), *linked} - reached - {start}
        reached |= fresh
        waiting += fresh
    return reached


def head_of(name: str, link: str) -> tuple[Concept, ...]:
    """A compound is a kind of what is left without its first word: a red sports car is a sports car."""
    whole, of, _ = name.partition(" of ")
    head = whole if of else name.partition(" ")[2]
    return concepts(head)[:1] if head and link == "kinds" else ()


@cache
def members(name: str) -> frozenset[str]:
    """All names of the kinds of a thing: for `animal`, dogs and cats and their synonyms."""
    named = ((kind, other) for concept in concepts(name) for kind in hyponyms(concept) for other in names(kind))
    return frozenset(other for kind, other in named if is_usual(other, kind)) - {*synonyms(name), *rivals(name)}


@cache
def broader(name: str) -> tuple[str, ...]:
    """What a thing is a kind of, the narrowest first: a `puppy` is a dog, then an animal."""
    kinds = (sorted(hypernyms(node), key=lambda kind: (-len(hypernyms(kind)), str(kind))) for node in concepts(name))
    ranked = (kind for ranking in kinds for kind in ranking)
    named = dict.fromkeys(other for kind in ranked for other in names(kind) if is_usual(other, kind))
    return tuple(other for other in named if other not in synonyms(name) and other not in rivals(name))


def rivals(name: str) -> frozenset[str]:
    """Names of other things that a detector might confuse with this one."""
    same = synonyms(name)
    groups = (group for group in data()["rivals"] if set(same) & set(group))
    return frozenset(other for group in groups for other in group if other not in same)


@cache
def parts(name: str) -> frozenset[str]:
    """Names of the parts of a thing, or of what it is a kind of: the wheels of a car."""
    kinds = [kind for concept in concepts(name) for kind in (concept, *hypernyms(concept)) if isinstance(kind, int)]
    direct = [part for kind in kinds for part in wordnet.sense(kind).parts]
    nested = [inner for part in direct for inner in (part, *wordnet.sense(part).parts)]
    listed = (part for other in (*synonyms(name), *broader(name)) for part in data()["parts"].get(other, ()))
    return frozenset({*listed, *(other for part in nested for other in names(part))})


# ---- distance --------------------------------------------------------------------------------------------------------

WIDER, OTHER = 0.3, 0.5  # seed 000, step 7: a kind found for its subtype keeps 0.7; another thing keeps less than half


@lru_cache(maxsize=65536)
def distance(asked: str, found: str) -> float:
    """0 for the same name or a kind of it, from 0.3 for a wider kind, from 0.5 for others, 1 if unrelated."""
    if canonical(asked) == canonical(found) or canonical(asked) in broader(found):
        return 0.0
    apart = 1 - max(similarity(concept, other) for concept in concepts(asked) for other in concepts(found))
    if canonical(found) in broader(asked):
        return WIDER + (OTHER - WIDER) * apart
    return OTHER + (1 - OTHER) * apart


def similarity(concept: Concept, other: Concept) -> float:
    """The Dice coefficient of two concepts' hypernyms, themselves included."""
    own, others = {concept, *hypernyms(concept)}, {other, *hypernyms(other)}
    return 2 * len(own & others) / (len(own) + len(others))


# ---- what is known of a noun -----------------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def is_concrete(noun: str) -> bool | None:
    """Whether a noun names what one can point at in an image; None if it is unknown."""
    name = singular(noun.lower())
    for word in (noun.lower(), name):
        for answer, nouns in listed_nouns().items():
            if word in nouns:
                return answer
    if name in wordnet.data().abstract:
        return False
    if wordnet.senses(name) or name in synonym_groups():
        return True
    _, space, head = name.partition(" of ")[0].rpartition(" ")
    return is_concrete(head) if space or " of " in name else None


@cache
def listed_nouns() -> Mapping[bool, frozenset[str]]:
    """The nouns that the file calls concrete (True) or abstract (False)."""
    kinds = data()["kinds"]
    named = {*kinds, *(member for members in kinds.values() for member in members)}
    return {True: frozenset({*data()["concrete"], *named}), False: frozenset(data()["abstract"])}


@cache
def name_of(label: str) -> Name:
    """All that is known of a name."""
    splits = ((kind, tuple(kinds)) for kind, kinds in data()["splits"].items())
    split = next((split for split in splits if set(synonyms(label)) & set(split[1])), None)
    return Name(label, synonyms(label), accepted_kinds(label), broader(label), rivals(label), split)


def accepted_kinds(name: str) -> frozenset[str]:
    """The kinds that satisfy a request for a thing: all of an animal, none of WordNet's kinds of grass."""
    same = synonyms(name)
    if not {*same}.isdisjoint(data()["general"]):
        return members(name)
    listed: Mapping[str, list[str]] = data()["kinds"]
    kinds = (kind for other in same for kind in listed.get(other, ()))
    accepted = {other for kind in kinds for other in (*synonyms(kind), *accepted_kinds(kind))}
    return frozenset(accepted - {*same, *rivals(name)})

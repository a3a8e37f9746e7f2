"""Which names mean the same, which are kinds of which, and how a name is found in a detector's vocabulary.

What ontology.toml says goes before what WordNet says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from onprompt.language import wordnet
from onprompt.types import Name


@cache
def data() -> Mapping[str, Any]:
    """The facts, as written in ontology.toml."""
    return tomllib.loads(Path(__file__).with_name("ontology.toml").read_text(encoding="utf-8"))


@cache
def meanings() -> Mapping[str, tuple[str, ...]]:
    """Each name of the file with all names of its meaning, the canonical one first."""
    return {name: tuple(names) for names in data()["same"] for name in names}


# ---- one and many --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def singular(name: str) -> str:
    """One of them: `dogs` → `dog`, `fire trucks` → `fire truck`; `wine glasses` are no `glasses`."""
    before, space, last = name.rpartition(" ")
    if space and last == "glasses":
        return f"{before} glass"
    return before + space + singular_word(last)


def singular_word(word: str) -> str:
    """A list for the exceptions, then an ending that gives a noun, what can be seen first, then the usual ending."""
    irregular: Mapping[str, str] = data()["singular"]
    if word in irregular:
        return irregular[word]
    ones = list(singulars(word))
    nouns = [one for one in ones if wordnet.senses(one)] or [one for one in ones if wordnet.is_noun(one)]
    if nouns or not ones or wordnet.is_noun(word):
        return (nouns or [word])[0]
    return word if word.endswith(("us", "is", "men")) else ones[0]


# Plural endings with what stands instead, the likeliest for an unknown word first.
PLURALS = (
    *(("men", ("man",)), ("ies", ("y", "ie")), ("ves", ("ve", "f", "fe")), ("oes", ("o", "oe"))),
    *(("sses", ("ss", "sse")), ("ses", ("se", "s", "sis"))),
    *(("ches", ("ch", "che")), ("shes", ("sh", "she")), ("xes", ("x", "xe")), ("zes", ("ze", "z")), ("s", ("",))),
)


def singulars(word: str) -> Iterator[str]:
    """What a word may be the plural of."""
    ending, instead = next((each for each in PLURALS if word.endswith(each[0])), ("", ()))
    if len(word) > 3 and not word.endswith("ss"):
        yield from (word.removesuffix(ending) + each for each in instead)


# ---- the same --------------------------------------------------------------------------------------


def same(name: str) -> tuple[str, ...]:
    """All names of the same meaning, the given one first."""
    one = singular(name.lower())
    return (one, *(other for other in synonyms(one) if other != one))


def synonyms(one: str) -> tuple[str, ...]:
    """The names of one meaning, the canonical one first; WordNet's only where the file has none of them."""
    theirs = (name for name in wordnet.synonyms(one) if name not in meanings() and singular(name) == name)
    return meanings().get(one) or tuple(theirs)


def canonical(name: str) -> str:
    """The name by which an object goes: `couches` → `sofa`. WordNet's synonyms help to find it, not to call it."""
    one = singular(name.lower())
    return meanings().get(one, (one,))[0]


# ---- what is a kind of what ----------------------------------------------------------------------------------------
# A node is one of WordNet's senses, by its number, or a name that WordNet lacks.

Node = int | str


@lru_cache(maxsize=65536)
def nodes(name: str) -> tuple[Node, ...]:
    """What a name means, the usual meaning first; what WordNet lacks is its own node."""
    usual = (canonical(name), *same(name))
    return next((found for each in usual if (found := wordnet.senses(each))), usual[:1])


def names(node: Node) -> tuple[str, ...]:
    """The names that a node goes by."""
    own = wordnet.sense(node).nouns if isinstance(node, int) else (node,)
    ours = [name for name in own if name in meanings() and nodes(name)[0] == node]
    return tuple(dict.fromkeys([*(other for name in ours for other in meanings()[name]), *own])) if ours else own


def is_usual(name: str, node: Node) -> bool:
    """Whether a node is what one of its names usually means."""
    if name in meanings():
        return nodes(name)[0] == node
    return node == name or wordnet.senses(name)[:1] == (node,)


@cache
def listed() -> tuple[Mapping[Node, list[Node]], Mapping[Node, list[Node]]]:
    """The kinds of the file by member, and the members by kind."""
    above: dict[Node, list[Node]] = {}
    below: dict[Node, list[Node]] = {}
    for kind, members in data()["kinds"].items():
        for member in members:
            above.setdefault(nodes(member)[0], []).append(nodes(kind)[0])
            below.setdefault(nodes(kind)[0], []).append(nodes(member)[0])
    return above, below


@cache
def above(node: Node) -> frozenset[Node]:
    """All that a node is a kind of."""
    return frozenset(reached(node, listed()[0], "kinds"))


@cache
def below(node: Node) -> frozenset[Node]:
    """All that is a kind of a node."""
    return frozenset(reached(node, listed()[1], "members"))


def reached(start: Node, ours: Mapping[Node, list[Node]], theirs: str) -> set[Node]:
    """All that is reached from a node by the file's links and WordNet's."""
    found: set[Node] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        links = getattr(wordnet.sense(node), theirs) if isinstance(node, int) else heads(node, theirs)
        fresh = {*ours.get(node, ()), *links} - found - {start}
        found |= fresh
        waiting += fresh
    return found


def heads(name: str, theirs: str) -> tuple[Node, ...]:
    """A compound is a kind of what is left without its first word: a red sports car is a sports car."""
    whole, of, _ = name.partition(" of ")
    head = whole if of else name.partition(" ")[2]
    return nodes(head)[:1] if head and theirs == "kinds" else ()


@cache
def members(name: str) -> frozenset[str]:
    """All names that usually stand for a `name` too: for `animal`, dogs and cats and their synonyms."""
    found = ((deep, other) for node in nodes(name) for deep in below(node) for other in names(deep))
    return frozenset(other for deep, other in found if is_usual(other, deep)) - {*same(name), *rivals(name)}


@cache
def broader(name: str) -> tuple[str, ...]:
    """What a thing is a kind of, the narrowest first: `puppy` of dog, then animal. A compound is a kind of its head."""
    kinds = (sorted(above(node), key=lambda kind: (-len(above(kind)), str(kind))) for node in nodes(name))
    ranked = (kind for each in kinds for kind in each)
    found = dict.fromkeys(other for kind in ranked for other in names(kind) if is_usual(other, kind))
    return tuple(other for other in found if other not in same(name) and other not in rivals(name))


def rivals(name: str) -> frozenset[str]:
    """Names of other things that a detector might take for this one."""
    groups = (group for group in data()["rivals"] if set(same(name)) & set(group))
    return frozenset(other for group in groups for other in group if other not in same(name))


@cache
def parts(name: str) -> frozenset[str]:
    """Names of what belongs to a thing, or to what it is a kind of: the wheels of a car."""
    whole = [each for node in nodes(name) for each in (node, *above(node)) if isinstance(each, int)]
    direct = [part for number in whole for part in wordnet.sense(number).parts]
    deep = [each for part in direct for each in (part, *wordnet.sense(part).parts)]
    ours = (part for each in (*same(name), *broader(name)) for part in data()["parts"].get(each, ()))
    return frozenset({*ours, *(other for part in deep for other in names(part))})


# ---- how far apart -------------------------------------------------------------------------------------------------

WIDER, OTHER = 0.3, 0.5  # seed 000, step 7: a kind found for its subtype keeps 0.7; another thing keeps less than half


@lru_cache(maxsize=65536)
def distance(asked: str, found: str) -> float:
    """From 0, the same or a kind of what was asked, over 0.3 to 0.5, a wider kind of it, and up to 1, unrelated."""
    if canonical(asked) == canonical(found) or canonical(asked) in broader(found):
        return 0.0
    apart = 1 - max(shared(one, other) for one in nodes(asked) for other in nodes(found))
    if canonical(found) in broader(asked):
        return WIDER + (OTHER - WIDER) * apart
    return OTHER + (1 - OTHER) * apart


def shared(one: Node, other: Node) -> float:
    """The share of two nodes' kinds, themselves among them, that are the same (Dice)."""
    mine, theirs = {one, *above(one)}, {other, *above(other)}
    return 2 * len(mine & theirs) / (len(mine) + len(theirs))


# ---- what is known of a noun ---------------------------------------------------------------------------------------


def known(noun: str) -> bool:
    """Whether a noun, or the head of a compound, is known."""
    return is_concrete(noun) is not None


@lru_cache(maxsize=65536)
def is_concrete(noun: str) -> bool | None:
    """Whether a noun stands for what one can point at in a picture; None where it is not known."""
    one = singular(noun.lower())
    for word, answer in ((word, answer) for word in (noun.lower(), one) for answer in (True, False)):
        if word in listed_nouns()[answer]:
            return answer
    if one in wordnet.facts().hidden:
        return False
    if wordnet.senses(one) or one in meanings():
        return True
    _, space, head = one.partition(" of ")[0].rpartition(" ")
    return is_concrete(head) if space or " of " in one else None


@cache
def listed_nouns() -> Mapping[bool, frozenset[str]]:
    """The nouns that the file calls concrete (True) or abstract (False)."""
    kinds = data()["kinds"]
    named = {*kinds, *(member for members in kinds.values() for member in members)}
    return {True: frozenset({*data()["concrete"], *named}), False: frozenset(data()["abstract"])}


@cache
def name_of(label: str) -> Name:
    """All that is known of a name."""
    splits = ((kind, tuple(parts)) for kind, parts in data()["splits"].items())
    split = next((each for each in splits if set(same(label)) & set(each[1])), None)
    return Name(label, same(label), sought(label), broader(label), rivals(label), split)


def sought(name: str) -> frozenset[str]:
    """The kinds of a thing that who asks for it is content with: all of an animal, none of WordNet's kinds of grass."""
    kinds: Mapping[str, list[str]] = data()["kinds"]
    if not {*same(name)}.isdisjoint(data()["general"]):
        return members(name)
    deep = (other for each in same(name) for kind in kinds.get(each, ()) for other in (*same(kind), *sought(kind)))
    return frozenset(deep) - {*same(name), *rivals(name)}

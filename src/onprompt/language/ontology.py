"""Synonyms and hypernyms of names, and which names can be seen in an image.

What ontology.txt says takes precedence over WordNet.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache

from onprompt.language import lexicon as lex
from onprompt.language.words import sense, senses, singular, wordnet
from onprompt.types import Name

Concept = int | str  # the number of one of WordNet's senses, or a name that WordNet lacks
QUALITIES = ("ness", "dom", "ity", "ism", "tude")
WIDER, OTHER = 0.3, 0.5  # a kind found for its subtype keeps 0.7; another thing keeps less than half


@cache
def facts() -> Mapping[str, list[list[str]]]:
    """The groups of names with each tag in ontology.txt."""
    found = defaultdict[str, list[list[str]]](list)
    for (tag,), names in lex.entries("ontology.txt"):
        found[tag.replace("_", " ")].append(names)
    return found


@cache
def tables(tag: str) -> Mapping[str, list[str]]:
    """The names for each value of a tag in ontology.txt: the members of each kind."""
    return {name.removeprefix(f"{tag}="): groups[0] for name, groups in facts().items() if name.startswith(f"{tag}=")}


@cache
def synonym_groups() -> Mapping[str, tuple[str, ...]]:
    """Each name of the file with its synonyms and itself, the canonical one first."""
    return {name: tuple(names) for names in facts()["same"] for name in names}


def synonyms(name: str) -> tuple[str, ...]:
    """All names of the same meaning, the given one first; WordNet's only if the file has none."""
    name, groups = singular(name.lower()), synonym_groups()
    safe = next((nouns for number in senses(name)[:1] if name in (nouns := sense(number).synonyms)), ())
    from_wordnet = (other for other in safe if other not in groups and singular(other) == other)
    return (name, *(other for other in groups.get(name) or from_wordnet if other != name))


def canonical(name: str) -> str:
    """The name that an object is called by: `couches` → `sofa`. WordNet's synonyms never replace a name."""
    name = singular(name.lower())
    return synonym_groups().get(name, (name,))[0]


@lru_cache(maxsize=65536)
def concepts(name: str) -> tuple[Concept, ...]:
    """What a name means, the usual sense first."""
    usual = (canonical(name), *synonyms(name))
    return next((found for other in usual if (found := senses(other))), usual[:1])


def names(concept: Concept) -> tuple[str, ...]:
    """The names of a concept."""
    own = sense(concept).nouns if isinstance(concept, int) else (concept,)
    groups = synonym_groups()
    ours = [other for name in own if name in groups and concepts(name)[0] == concept for other in groups[name]]
    return tuple(dict.fromkeys([*ours, *own]))


def usual_names(concept: Concept) -> list[str]:
    """The names of a concept of which it is the usual meaning."""
    groups = synonym_groups()
    return [
        name
        for name in names(concept)
        if (concepts(name)[0] == concept if name in groups else concept == name or senses(name)[:1] == (concept,))
    ]


@cache
def links() -> Mapping[str, Mapping[Concept, list[Concept]]]:
    """The `kinds` of each member in ontology.txt, and the `members` of each kind."""
    kinds, members = defaultdict[Concept, list[Concept]](list), defaultdict[Concept, list[Concept]](list)
    for kind, kind_members in tables("kinds").items():
        for member in kind_members:
            kinds[concepts(member)[0]].append(concepts(kind)[0])
            members[concepts(kind)[0]].append(concepts(member)[0])
    return {"kinds": kinds, "members": members}


@cache
def closure(start: Concept, link: str = "kinds") -> frozenset[Concept]:
    """All that a concept is a kind of (`kinds`), or that is a kind of it (`members`), by ontology.txt and WordNet."""
    reached, waiting = set[Concept](), [start]
    while waiting:
        concept = waiting.pop()
        linked: tuple[Concept, ...] = ()
        if isinstance(concept, int):
            linked = getattr(sense(concept), link)
        elif link == "kinds":  # a red sports car is a sports car
            whole, of, _ = concept.partition(" of ")
            head = whole if of else concept.partition(" ")[2]
            linked = concepts(head)[:1] if head else ()
        fresh = {*links()[link].get(concept, ()), *linked} - reached - {start}
        reached |= fresh
        waiting += fresh
    return frozenset(reached)


@cache
def members(name: str) -> frozenset[str]:
    """All names of the kinds of a thing: for `animal`, dogs and cats and their synonyms."""
    named = {other for concept in concepts(name) for kind in closure(concept, "members") for other in usual_names(kind)}
    return frozenset(named - {*synonyms(name), *rivals(name)})


@cache
def broader(name: str) -> tuple[str, ...]:
    """What a thing is a kind of, the narrowest first: a `puppy` is a dog, then an animal."""
    kinds = (sorted(closure(node), key=lambda kind: (-len(closure(kind)), str(kind))) for node in concepts(name))
    named = dict.fromkeys(other for ranking in kinds for kind in ranking for other in usual_names(kind))
    return tuple(other for other in named if other not in synonyms(name) and other not in rivals(name))


def rivals(name: str) -> frozenset[str]:
    """Names of other things that a detector might confuse with this one."""
    same = synonyms(name)
    groups = (group for group in facts()["rivals"] if set(same) & set(group))
    return frozenset(other for group in groups for other in group if other not in same)


def is_a(name: str, *kinds: str) -> bool:
    """Whether a thing is of one of some kinds, such as `person`."""
    return name in kinds or not set(kinds).isdisjoint(broader(name))


@lru_cache(maxsize=65536)
def distance(asked: str, found: str) -> float:
    """0 for the same name or a kind of it, from 0.3 for a wider kind, from 0.5 for others, 1 if unrelated."""
    if canonical(asked) == canonical(found) or canonical(asked) in broader(found):
        return 0.0
    pairs = [({one, *closure(one)}, {other, *closure(other)}) for one in concepts(asked) for other in concepts(found)]
    apart = 1 - max(2 * len(own & others) / (len(own) + len(others)) for own, others in pairs)  # by Dice's coefficient
    if canonical(found) in broader(asked):
        return WIDER + (OTHER - WIDER) * apart
    return OTHER + (1 - OTHER) * apart


@lru_cache(maxsize=65536)
def is_concrete(noun: str) -> bool | None:
    """Whether a noun names what one can point at in an image; None if it is unknown."""
    name = singular(noun.lower())
    for word in (noun.lower(), name):
        if word in concrete_names():
            return True
        if word in facts()["abstract"][0]:
            return False
    if name in wordnet().abstract:
        return False
    if senses(name) or name in synonym_groups():
        return True
    _, space, head = name.partition(" of ")[0].rpartition(" ")
    return is_concrete(head) if space or " of " in name else None


def is_concept(noun: str) -> bool:
    """Whether a noun names an idea, a feeling or a quality, of which there is nothing to see: freedom, hope."""
    quality = noun.endswith(QUALITIES) and noun in wordnet().abstract and noun not in concrete_names()
    return quality or noun in facts()["concept"][0]


def is_place(name: str) -> bool:
    """Whether people can be in a thing: a street, not a box."""
    return is_a(name, *facts()["place"][0]) and name not in lex.CONTAINERS


@cache
def concrete_names() -> frozenset[str]:
    """The names that can be seen by ontology.txt, those with kinds or members among them."""
    kinds = tables("kinds")
    return frozenset({*facts()["concrete"][0], *kinds, *(member for names in kinds.values() for member in names)})


@cache
def name_of(label: str) -> Name:
    """All that is known of a name."""
    same = synonyms(label)
    splits = ((kind, tuple(kinds)) for kind, kinds in tables("splits").items())
    split = next((split for split in splits if set(same) & set(split[1])), None)
    return Name(label, same, accepted_kinds(label), broader(label), rivals(label), split)


def accepted_kinds(name: str) -> frozenset[str]:
    """The kinds that satisfy a request for a thing: all of an animal, none of WordNet's kinds of grass."""
    same = synonyms(name)
    if not {*same}.isdisjoint(facts()["general"][0]):
        return members(name)
    kinds = (kind for other in same for kind in tables("kinds").get(other, ()))
    accepted = {other for kind in kinds for other in (*synonyms(kind), *accepted_kinds(kind))}
    return frozenset(accepted - {*same, *rivals(name)})

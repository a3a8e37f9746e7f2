"""Which names mean the same, which are kinds of which, and how a name is found in a detector's vocabulary."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from onprompt.types import Name


@cache
def data() -> Mapping[str, Any]:
    """The facts, as written in ontology.toml."""
    return tomllib.loads(Path(__file__).with_name("ontology.toml").read_text(encoding="utf-8"))


@cache
def meanings() -> Mapping[str, tuple[str, ...]]:
    """Each name with all names of its meaning, the canonical one first."""
    return {name: tuple(names) for names in data()["same"] for name in names}


@cache
def kinds() -> Mapping[str, frozenset[str]]:
    """Each kind with all that belongs to it, at any depth."""
    direct: Mapping[str, list[str]] = data()["kinds"]

    def below(kind: str) -> set[str]:
        members = direct.get(kind, [])
        return {*members, *(deep for member in members for deep in below(member))}

    return {kind: frozenset(below(kind)) for kind in direct}


PLURALS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"))


def singular(name: str) -> str:
    """One of them: `dogs` → `dog`, `fire trucks` → `fire truck`; `wine glasses` are no `glasses`."""
    before, space, last = name.rpartition(" ")
    if space and last == "glasses":
        return f"{before} glass"
    return before + space + singular_word(last)


def singular_word(word: str) -> str:
    """A list for the exceptions, then the usual endings."""
    irregular: Mapping[str, str] = data()["singular"]
    if word in irregular:
        return irregular[word]
    for ending, instead in PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def same(name: str) -> tuple[str, ...]:
    """All names of the same meaning, the given one first."""
    one = singular(name.lower())
    return (one, *(other for other in meanings().get(one, ()) if other != one))


def canonical(name: str) -> str:
    """The name by which an object goes: `couches` → `sofa`."""
    one = singular(name.lower())
    return meanings().get(one, (one,))[0]


@cache
def members(name: str) -> frozenset[str]:
    """All names of things that are a `name` too: of `animal`, dogs and cats and their synonyms."""
    below = {member for each in same(name) for member in kinds().get(each, ())}
    return frozenset(other for member in below for other in same(member))


@cache
def broader(name: str) -> tuple[str, ...]:
    """What a thing is a kind of, the narrowest first: `puppy` of dog, then animal. A compound is a kind of its head."""
    own = set(same(name))
    above = sorted((kind for kind in kinds() if members(kind) & own), key=lambda kind: len(members(kind)))
    _, space, head = name.rpartition(" ")
    heads = [head, *same(head), *broader(head)] if space else []
    return tuple(dict.fromkeys([*(other for kind in above for other in same(kind)), *heads]))


def rivals(name: str) -> frozenset[str]:
    """Names of other things that a detector might take for this one."""
    groups = (group for group in data()["rivals"] if set(same(name)) & set(group))
    return frozenset(other for group in groups for other in group if other not in same(name))


@cache
def name_of(label: str) -> Name:
    """All that is known of a name."""
    splits = ((kind, tuple(parts)) for kind, parts in data()["splits"].items())
    split = next((each for each in splits if set(same(label)) & set(each[1])), None)
    return Name(label, same(label), members(label), broader(singular(label.lower())), rivals(label), split)

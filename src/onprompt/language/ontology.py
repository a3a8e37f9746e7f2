"""Which names mean the same, which are kinds of which, and how a name is found in a detector's vocabulary."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from onprompt.types import Known


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


PLURALS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z"))


def singular(name: str) -> str:
    """One of them: `dogs` → `dog`, `fire trucks` → `fire truck`."""
    before, space, last = name.rpartition(" ")
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
def related(a: str, b: str) -> bool:
    """Whether two names may be said of one object: the same meaning, or one a kind of the other."""
    first, second = set(same(a)), set(same(b))
    return bool(first & (second | members(b)) or second & members(a))


def rivals(name: str) -> set[str]:
    """Names of other things that a detector might take for this one."""
    return {
        other
        for group in data()["rivals"]
        if set(same(name)) & set(group)
        for other in group
        if not related(name, other)
    }


def split_of(name: str) -> tuple[str, tuple[str, ...]] | None:
    """The kind that a name is told apart in, and all the members that it is told from: woman → person, (man, …)."""
    for kind, parts in data()["splits"].items():
        if set(same(name)) & set(parts):
            return kind, tuple(parts)
    return None


def resolve_all(names: Iterable[str], vocabulary: Collection[str], subtype_score: float) -> dict[str, Known]:
    """How a vocabulary can answer for names; those that it can't answer for are left out."""
    return {name: known for name in names if (known := resolve(name, vocabulary, subtype_score))}


def resolve(name: str, vocabulary: Collection[str], subtype_score: float) -> Known | None:
    """How a vocabulary can answer for `name`: itself or a synonym, its members, or only a broader kind of it."""
    own = [each for each in same(name) if each in vocabulary]
    below = sorted(member for member in members(name) if member in vocabulary)
    if own or below:
        return Known(tuple(own[:1] or below))
    for kind in kinds():
        if kind in vocabulary and members(kind) & set(same(name)):
            return Known((kind,), subtype_score)
    _, space, head = name.rpartition(" ")
    broader = resolve(head, vocabulary, subtype_score) if space else None
    return Known(broader.words, subtype_score) if broader else None

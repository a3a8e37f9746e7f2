"""Scenes as graphs of things: picking, merging and changing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onprompt.language import lexicon as lex
from onprompt.language.edits.lexicon import DEFINITE_OR_ARTICLE, WORDS
from onprompt.types import Attribute, Count, Relation, Scene, Thing

EMPTY = Scene("")
ONE = Count(1, 1)


@dataclass(frozen=True, slots=True)
class Referent:
    """What words refer to in the picture: a scene, which of its things are meant, and the scope."""

    scene: Scene = EMPTY
    heads: tuple[int, ...] = ()
    scope: str = ""
    flags: tuple[str, ...] = ()
    whole: bool = False  # the picture itself

    @property
    def thing(self) -> Thing | None:
        """The first thing that is meant."""
        return self.scene.things[self.heads[0]] if self.heads else None

    @property
    def things(self) -> tuple[Thing, ...]:
        """The things that are meant."""
        return tuple(self.scene.things[head] for head in self.heads)

    @property
    def is_background(self) -> bool:
        """Whether the background is meant."""
        return self.thing is not None and self.thing.canonical in WORDS["background"]

    @property
    def missing(self) -> list[str]:
        """The flag for a target that is not named."""
        return [] if self.heads or self.flags or self.whole else ["no target"]

    def split(self) -> list[Referent]:
        """One referent for each thing that is meant, first in its scene; itself where there is none."""
        return [replace(self, scene=subgraph(self.scene, head), heads=(0,)) for head in self.heads] or [self]


def single(text: str, name: str, count: Count = ONE, attributes: Sequence[Attribute] = ()) -> Referent:
    """A referent of one thing that the parser need not see."""
    return Referent(Scene(text, (Thing(text, name, count, tuple(attributes)),)), (0,))


def head_indices(scene: Scene) -> tuple[int, ...]:
    """The things that a phrase is about: those that no other refers to, but "its owner" leaves the dog a head."""
    targets = {
        relation.target
        for thing in scene.things
        for relation in thing.relations
        if not (relation.name == "of" and thing.phrase.lower().split()[0] in WORDS["third_person"])
    }
    free = [at for at, thing in enumerate(scene.things) if at not in targets and thing.part_of is None]
    return tuple(free or range(min(1, len(scene.things))))


def subgraph(scene: Scene, root: int) -> Scene:
    """A thing and, after it, all that it refers to."""
    order = [root]
    for at in order:
        order += [relation.target for relation in scene.things[at].relations if relation.target not in order]
    index = {old: new for new, old in enumerate(order)}
    return replace(scene, things=tuple(reindexed(scene.things[old], index) for old in order))


def reindexed(thing: Thing, index: Mapping[int, int]) -> Thing:
    """A thing whose references follow the others to their new places."""
    relations = tuple(Relation(link.name, index[link.target]) for link in thing.relations if link.target in index)
    return replace(thing, relations=relations, part_of=None if thing.part_of is None else index.get(thing.part_of))


def with_head(scene: Scene, **changes: Any) -> Scene:
    """A scene whose first thing is changed."""
    return replace(scene, things=(replace(scene.things[0], **changes), *scene.things[1:]))


def with_attributes(scene: Scene, attributes: Sequence[Attribute]) -> Scene:
    """A scene whose first thing has these attributes, and no others of the same kinds."""
    kinds = {attribute.kind for attribute in attributes}
    kept = [attribute for attribute in scene.things[0].attributes if attribute.kind not in kinds]
    return with_head(scene, attributes=(*kept, *attributes))


def merged(scene: Scene, other: Scene) -> Scene:
    """A scene and what another says of its first thing; what both name is one."""
    things = list(scene.things)
    names = [(thing.phrase, thing.canonical) for thing in things]
    index = {0: 0}
    for at, thing in enumerate(other.things[1:], 1):
        name = thing.phrase, thing.canonical
        index[at] = names.index(name) if name in names else len(things)
        things += [] if name in names else [thing]
    for at, thing in enumerate(other.things):
        here = index[at]
        fresh = reindexed(thing, {old: new for old, new in index.items() if new != here}).relations
        known = scene.things[here].relations if here < len(scene.things) else ()
        things[here] = replace(things[here], relations=tuple(dict.fromkeys((*known, *fresh))))
    return with_attributes(replace(scene, prompt=other.prompt, things=tuple(things)), other.things[0].attributes)


def with_absent(scene: Scene, other: Scene, absent: Sequence[int]) -> Scene:
    """A scene, and the things of another, some of them absent."""
    index = {at: at + len(scene.things) for at in range(len(other.things))}
    things = [replace(reindexed(thing, index), absent=at in absent) for at, thing in enumerate(other.things)]
    return replace(scene, things=(*scene.things, *things))


def definite_phrase(thing: Thing) -> str:
    """What a thing is called once it is known: `a red car` → `the red car`."""
    words = thing.phrase.split()
    while words and words[0].lower() in DEFINITE_OR_ARTICLE | WORDS["every"] | {"some"}:
        del words[0]
    return f"the {' '.join(words) or thing.canonical}"


def is_given(thing: Thing) -> bool:
    """Whether a thing is named as one that is there: `the table`."""
    return thing.phrase.lower().split()[0] in lex.DEFINITE


def anchor(scene: Scene) -> Referent:
    """What of a scene is there already: the first thing with "the" that a new one refers to."""
    for at in head_indices(scene):
        for relation in scene.things[at].relations:
            if is_given(scene.things[relation.target]):
                return Referent(subgraph(scene, relation.target), (0,))
    return Referent()

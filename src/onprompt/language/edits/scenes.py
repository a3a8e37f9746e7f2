"""Scenes taken apart and put together: what an instruction speaks of, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from onprompt.language import lexicon as lex
from onprompt.types import Attribute, Relation, Scene, Thing

NOTHING = Scene("")


@dataclass(frozen=True, slots=True)
class Named:
    """What words name in the picture: things of a scene, which of them are meant, and the scope."""

    scene: Scene = NOTHING
    heads: tuple[int, ...] = ()
    scope: str = ""
    flags: tuple[str, ...] = ()
    whole: bool = False  # the picture itself

    @property
    def thing(self) -> Thing | None:
        """The first thing that is meant."""
        return self.scene.things[self.heads[0]] if self.heads else None

    def each(self) -> list[Named]:
        """One for each thing that is meant, which comes first in its scene; one without a thing where none is."""
        alone = [replace(self, scene=picked(self.scene, at), heads=(0,)) for at in self.heads]
        return alone or [self]


def heads(scene: Scene) -> tuple[int, ...]:
    """The things that a phrase is about: those that no other refers to, but "its owner" leaves the dog a head."""
    own = ("its ", "his ", "her ", "their ")
    named = {
        each.target
        for thing in scene.things
        for each in thing.relations
        if not (each.name == "of" and thing.phrase.lower().startswith(own))
    }
    free = [at for at, thing in enumerate(scene.things) if at not in named and thing.part_of is None]
    return tuple(free or range(min(1, len(scene.things))))


def owned(scene: Scene) -> Scene:
    """`the man's left arm` is the man's, where the parser names both and says nothing of it."""
    things = list(scene.things)
    for at, thing in enumerate(things):
        owner = next((n for n, each in enumerate(things) if thing.phrase.startswith(f"{each.phrase}'s ")), None)
        if owner is not None and not thing.relations:
            things[at] = replace(thing, relations=(Relation("of", owner),))
    return replace(scene, things=tuple(things))


def picked(scene: Scene, index: int) -> Scene:
    """A thing first and, after it, all that it refers to."""
    order = [index]
    for at in order:
        order += [each.target for each in scene.things[at].relations if each.target not in order]
    place = {old: new for new, old in enumerate(order)}
    return replace(scene, things=tuple(moved(scene.things[old], place) for old in order))


def moved(thing: Thing, place: Mapping[int, int]) -> Thing:
    """A thing whose references follow the others to their new places."""
    relations = tuple(Relation(each.name, place[each.target]) for each in thing.relations if each.target in place)
    return replace(thing, relations=relations, part_of=None if thing.part_of is None else place.get(thing.part_of))


def with_head(scene: Scene, head: Thing) -> Scene:
    """A scene with another first thing."""
    return replace(scene, things=(head, *scene.things[1:]))


def without_head(scene: Scene) -> Scene:
    """A scene whose first thing must be gone."""
    return with_head(scene, replace(scene.things[0], absent=True)) if scene.things else scene


def described(scene: Scene, attributes: Sequence[Attribute]) -> Scene:
    """A scene whose first thing has these attributes, and no others of the same kinds."""
    kinds = {each.kind for each in attributes}
    head = scene.things[0]
    kept = [each for each in head.attributes if each.kind not in kinds]
    return with_head(scene, replace(head, attributes=(*kept, *attributes)))


def joined(scene: Scene, said: Scene) -> Scene:
    """A scene, and what another says of its first thing; what both name is one."""
    place, things = {0: 0}, list(scene.things)
    for at, thing in enumerate(said.things[1:], 1):
        again = [
            n for n, each in enumerate(scene.things) if (each.phrase, each.canonical) == (thing.phrase, thing.canonical)
        ]
        place[at] = again[0] if again else len(things)
        things += [] if again else [thing]
    for at, thing in enumerate(said.things):
        new = moved(thing, {old: here for old, here in place.items() if here != place[at]})
        old = things[place[at]]
        relations = tuple(dict.fromkeys((*(old.relations if place[at] < len(scene.things) else ()), *new.relations)))
        things[place[at]] = replace(old, relations=relations)
    whole = replace(scene, prompt=said.prompt, things=tuple(things))
    return described(whole, said.things[0].attributes) if said.things[0].attributes else whole


def definite(thing: Thing) -> str:
    """What a thing is called once it is known: `a red car` → `the red car`."""
    words = thing.phrase.split()
    while words and words[0].lower() in lex.ARTICLES | lex.DEFINITE | {"some", "all", "every", "each", "both"}:
        del words[0]
    return f"the {' '.join(words) or thing.canonical}"


def without(new: Scene, old: Scene, gone: Sequence[int]) -> Scene:
    """The things of one scene, and some of another gone."""
    place = {at: at + len(new.things) for at in range(len(old.things))}
    things = [replace(moved(thing, place), absent=at in gone) for at, thing in enumerate(old.things)]
    return replace(new, things=(*new.things, *things))


def is_definite(thing: Thing) -> bool:
    """Whether a thing is named as one that is there: `the table`."""
    return thing.phrase.lower().split()[0] in lex.DEFINITE


def receiver(scene: Scene) -> Named:
    """What of a scene is there already: the first thing that is named with "the" and that a new one refers to."""
    for at in heads(scene):
        for each in scene.things[at].relations:
            if is_definite(scene.things[each.target]):
                return Named(picked(scene, each.target), (0,))
    return Named()

"""What words refer to in the picture: things of the prompt parser's scenes, which are picked, joined and changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits.phrase import Phrase
from onprompt.language.ontology import canonical
from onprompt.language.parser import parse
from onprompt.language.words import comparison, is_noun
from onprompt.settings import Settings
from onprompt.types import Attribute, Count, Relation, Scene, Thing

EMPTY = Scene("")
ONE = Count(1, 1)


@dataclass(frozen=True, slots=True)
class Target:
    """What an operation is done to: a scene whose first thing is meant, if any, and which of its kind."""

    scene: Scene = EMPTY
    scope: str = ""
    whole: bool = False  # the picture itself

    @property
    def thing(self) -> Thing | None:
        """The thing that is meant."""
        return self.scene.things[0] if self.scene.things else None

    @property
    def is_background(self) -> bool:
        """Whether the background is meant."""
        return self.thing is not None and self.thing.canonical in ed.BACKGROUND


# -- scenes as graphs of things ---------------------------------------------------------------------------------------


def single(text: str, name: str, count: Count = ONE, attributes: Sequence[Attribute] = ()) -> Scene:
    """A scene of one thing that the parser need not see."""
    return Scene(text, (Thing(text, name, count, tuple(attributes)),))


def head_indices(scene: Scene) -> tuple[int, ...]:
    """The things that a phrase is about: those that no other refers to, but "its owner" leaves the dog a head."""
    targets = {
        relation.target
        for thing in scene.things
        for relation in thing.relations
        if not (relation.name == "of" and thing.phrase.lower().split()[0] in ed.THIRD_PERSON)
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


def joined(scene: Scene, other: Scene, same: bool = False) -> Scene:
    """A scene and the things of another; where the first of both are the `same`, it gets what the other says of it."""
    index, things = {0: 0} if same else {}, list(scene.things)
    names = [(thing.phrase, thing.canonical) if same else None for thing in things]
    for at, thing in enumerate(other.things[same:], int(same)):
        name = thing.phrase, thing.canonical
        index[at] = names.index(name) if name in names else len(things)
        things += [] if name in names else [thing]
    for at, thing in enumerate(other.things):
        known = scene.things[index[at]].relations if index[at] < len(scene.things) else ()
        fresh = [link for link in reindexed(thing, index).relations if link.target != index[at]]
        things[index[at]] = replace(things[index[at]], relations=tuple(dict.fromkeys((*known, *fresh))))
    whole = replace(scene, prompt=other.prompt, things=tuple(things))
    return with_attributes(whole, other.things[0].attributes) if same else whole


def definite_phrase(thing: Thing) -> str:
    """What a thing is called once it is known: `a red car` → `the red car`."""
    words = thing.phrase.split()
    while words and words[0].lower() in ed.DEFINITE_OR_ARTICLE | ed.EVERY | {"some"}:
        del words[0]
    return f"the {' '.join(words) or thing.canonical}"


def is_given(thing: Thing) -> bool:
    """Whether a thing is named as one that is there: `the table`."""
    return thing.phrase.lower().split()[0] in lex.DEFINITE


def anchor(scene: Scene) -> Target:
    """What of a scene is there already: the first thing with "the" that a new one refers to."""
    for at in head_indices(scene):
        for relation in scene.things[at].relations:
            if is_given(scene.things[relation.target]):
                return Target(subgraph(scene, relation.target))
    return Target()


# -- from words to things ---------------------------------------------------------------------------------------------


def resolve(phrase: Phrase, settings: Settings, text: str = "") -> list[Target]:
    """What words refer to, a target for each thing; `text` says more of it."""
    if phrase.words[0] in {"only", "just"} and len(phrase) > 1:
        return resolve(phrase.part(1), settings)
    share, rest = split_share(phrase)
    if share and rest:
        return [replace(each, scope=f"{share} {each.scope}".strip()) for each in resolve(rest, settings)]
    bare = [word for word in phrase.words if word not in lex.DEFINITE | {"whole", "entire", "of", "all"}]
    if bare[-1:] in (["one"], ["ones"]) and len(phrase) > 1:  # the left one, of a kind that nothing names
        return [Target(scope=phrase.part(1 if phrase.is_definite else 0, len(phrase) - 1).text)]
    if len(phrase) == 1 and phrase.words[0] in ed.PRONOUNS:
        person = ed.DATA["persons"].get(phrase.words[0], "")  # make her smile
        return [Target(single(phrase.text, person) if person else EMPTY, whole=phrase.words[0] in {"it", "this"})]
    if (len(bare) == 1 and bare[0] in ed.PICTURE | ed.CLASSES["QUALITY"]) or phrase.line.endswith("time of day"):
        return [Target(whole=True)]
    if len(bare) == 1 and bare[0] in ed.BACKGROUND:
        return [Target(single(phrase.text, "background"))]
    scene = parse(text or phrase.text, settings)
    if not scene.things and phrase.words[0] in lex.DEFINITE and is_noun(phrase.words[-1]):
        pair = phrase.words[-2:]  # what the parser takes for a style is a thing after "the"
        scene = single(phrase.text, canonical(" ".join(pair if ed.is_compound(*pair) else pair[1:])))
    targets = []
    for head in (subgraph(scene, at) for at in head_indices(scene)):
        scope = scope_of(phrase, head.things[0])
        number = ed.numeral(scope.split()[:1])
        counted = Count(number, number, scope.split()[0], explicit=True) if number else head.things[0].count
        targets.append(Target(with_head(head, count=counted), scope))  # one of the dogs
    return targets or [Target(scene)]


def scope_of(phrase: Phrase, head: Thing) -> str:
    """Which of the things of a kind: all, one, the left one, the woman's."""
    first, owner = phrase.words[0], next((at for at, word in enumerate(phrase.words) if word in {"'s", "'"}), 0)
    scope: list[str] = []
    if first in ed.EVERY:
        scope.append("all")
    elif phrase.words[1:2] == ("of",) and (first == "any" or ed.numeral([first]) is not None):
        scope.append("one" if first == "any" else first)
    if owner:
        start = next((at for at in range(owner) if phrase.words[at] in lex.DEFINITE), 0)
        scope.append(phrase.part(start, owner + 1).text)
    elif first in lex.DEFINITE - ed.DEMONSTRATIVE - {"the", "whose"}:
        scope.append(first)
    scope += [attribute.value for attribute in head.attributes if attribute.kind == "position"]
    scope += [word for word in phrase.words if word.endswith("est") and comparison(word)]
    return " ".join(dict.fromkeys(scope))


def split_share(phrase: Phrase) -> tuple[str, Phrase]:
    """The share in `half of the people`, `a third of them`, `half the people`, and what it is of."""
    at = 1 if phrase.words[0] in lex.ARTICLES else 0
    share, following = phrase.word_at(at), phrase.word_at(at + 1)
    is_share = share in ed.SHARES and following in {"of", "the"}
    return (share, phrase.part(at + 2 if following == "of" else at + 1)) if is_share else ("", phrase)

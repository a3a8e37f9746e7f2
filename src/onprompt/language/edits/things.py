"""What an operation refers to: things of the prompt parser's scenes, picked, joined and changed; and the edits made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits.phrases import SHARES, Phrase, matches
from onprompt.language.ontology import canonical
from onprompt.language.parser import parse
from onprompt.language.words import comparison, is_noun
from onprompt.settings import Settings
from onprompt.types import Attribute, Count, Edit, Relation, Scene, Thing

EMPTY = Scene("")
Change = Callable[[Scene], Scene]
# Confidence in a reading: a verb of editing, a wish, a description of the result, a mere phrase, nothing to go by.
COMMAND, WISH, DESCRIPTION, PHRASE, UNCLEAR = 1.0, 0.9, 0.7, 0.5, 0.2
MISSPELT = 0.8  # as in the prompt parser
NO_RESULT = 0.6  # at most, where nothing says what should be seen
NOTHING_TO_DO = "nothing to do"
NEEDS_TARGET = frozenset(("remove", "replace", "recolor", "resize", "move", "action"))


@dataclass(frozen=True, slots=True)
class Target:
    """What an operation is done to: a scene whose first thing is meant, if any, and which of its kind."""

    scene: Scene = EMPTY
    scope: str = ""
    whole: bool = False  # the picture itself
    share: str = ""  # how much of it, if not all: half, most

    @property
    def thing(self) -> Thing | None:
        """The thing that is meant."""
        return self.scene.things[0] if self.scene.things else None


NOTHING = Target()


def single(text: str, name: str) -> Scene:
    """A scene of one thing that the parser need not see."""
    return Scene(text, (Thing(text, name, Count(1, 1)),))


def heads(scene: Scene) -> list[Scene]:
    """A scene for each thing that a phrase is about: those that no other refers to, but "its owner" is no other."""
    targets = {
        relation.target
        for thing in scene.things
        for relation in thing.relations
        if not (relation.name == "of" and thing.phrase.lower().split()[0] in ed.THIRD_PERSON)
    }
    free = [at for at, thing in enumerate(scene.things) if at not in targets and thing.part_of is None]
    return [subgraph(scene, at) for at in free or range(min(1, len(scene.things)))]


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


def joined(scene: Scene, other: Scene) -> Scene:
    """The things of two scenes."""
    index = {at: at + len(scene.things) for at in range(len(other.things))}
    moved = tuple(reindexed(thing, index) for thing in other.things)
    return replace(scene, prompt=other.prompt, things=scene.things + moved)


def definite_phrase(thing: Thing) -> str:
    """What a thing is called once it is known: `a red car` → `the red car`."""
    words = thing.phrase.split()
    while words and words[0].lower() in ed.DEFINITE_OR_ARTICLE | ed.EVERY | {"some"}:
        del words[0]
    return f"the {' '.join(words) or thing.canonical}"


def given(scene: Scene) -> Scene:
    """What of a scene is there already: the first thing with "the" that a new one refers to."""
    related = (subgraph(head, link.target) for head in heads(scene) for link in head.things[0].relations)
    return next((each for each in related if each.things[0].phrase.lower().split()[0] in lex.DEFINITE), EMPTY)


def scope_of(phrase: Phrase, head: Thing) -> str:
    """Which of the things of a kind: all, one, the left one, the woman's."""
    first, owner = phrase.words[0], next((at for at, word in enumerate(phrase.words) if word in {"'s", "'"}), 0)
    scope: list[str] = []
    if first in ed.EVERY:
        scope.append("all")
    elif phrase.words[1:2] == ("of",) and ed.numeral([first]) is not None:
        scope.append(first)
    if owner:
        start = next((at for at in range(owner) if phrase.words[at] in lex.DEFINITE), 0)
        scope.append(phrase.part(start, owner + 1).text)
    elif first in lex.DEFINITE - ed.DEMONSTRATIVE - {"the", "whose"}:
        scope.append(first)
    scope += [attribute.value for attribute in head.attributes if attribute.kind == "position"]
    scope += [word for word in phrase.words if word.endswith("est") and comparison(word)]
    return " ".join(dict.fromkeys(scope))


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of an instruction."""

    settings: Settings
    written: str
    command: Phrase  # without its politeness and pronouns
    confidence: float
    flags: tuple[str, ...] = ()

    def resolve(self, phrase: Phrase, text: str = "") -> list[Target]:
        """What words refer to, a target for each thing; `text` says more of it."""
        for _, captures in matches(phrase, SHARES):
            share, of = captures["value"].line, self.resolve(captures["target"])
            return [replace(each, scope=f"{share} {each.scope}".strip(), share=share) for each in of]
        bare = [word for word in phrase.words if word not in lex.DEFINITE | {"whole", "entire", "of", "all"}]
        if bare[-1:] in (["one"], ["ones"]) and len(phrase) > 1:  # the left one, of a kind that nothing names
            return [Target(scope=phrase.part(1 if phrase.is_definite else 0, len(phrase) - 1).text)]
        if len(phrase) == 1 and phrase.words[0] in ed.PERSONAL | ed.DEMONSTRATIVE | ed.ONES | {"her"}:
            person = ed.DATA["persons"].get(phrase.words[0], "")  # make her smile
            return [Target(single(phrase.text, person) if person else EMPTY, whole=phrase.words[0] in {"it", "this"})]
        if not phrase or (bare and ed.PICTURE.union(ed.CLASSES["QUALITY"]).issuperset(bare)):
            return [Target(whole=True)]
        scene = parse(text or phrase.text, self.settings)
        if not scene.things and phrase.words[0] in lex.DEFINITE and is_noun(phrase.words[-1]):
            pair = phrase.words[-2:]  # what the parser takes for a style is a thing after "the"
            scene = single(phrase.text, canonical(" ".join(pair if ed.is_compound(*pair) else pair[1:])))
        targets = []
        for head in heads(scene):
            scope = scope_of(phrase, head.things[0])
            number = ed.numeral(scope.split()[:1])
            counted = Count(number, number, scope.split()[0], explicit=True) if number else head.things[0].count
            targets.append(Target(with_head(head, count=counted), scope))  # one of the dogs
        return targets or [Target(scene)]

    def at_most(self, confidence: float) -> Operation:
        """The same operation, with less confidence."""
        return replace(self, confidence=min(self.confidence, confidence))

    def edit(
        self, operation: str, target: Target, result: Scene = EMPTY, value: str = "", flags: Iterable[str] = ()
    ) -> Edit:
        """One edit, with the confidence and the flags of its parts."""
        if target.thing and target.thing.canonical in ed.BACKGROUND and operation not in {"move", "add"}:
            operation = "background"
        pronoun = ("pronoun",) if target.scene.prompt == "her" else self.flags
        pronoun = () if operation == "restyle" and target.whole else pronoun  # "make it night": the picture
        named = target.thing or target.whole or target.scope or pronoun
        targetless, placeless = operation in NEEDS_TARGET and not named, operation == "move" and not result.things
        misspelt = any(unit.misspelt for unit in self.command.units)
        raised = ["no target"] * targetless + ["misspelling repaired"] * misspelt + ["no result"] * placeless
        factors = [1.0, *(thing.confidence for thing in (*target.scene.things, *result.things))]
        factors += [MISSPELT] * misspelt + [NO_RESULT] * (placeless or bool(target.share))
        said = sorted({*target.scene.flags, *result.flags} - {"no objects"})
        return Edit(
            *(operation, self.written, target.thing, target.scene, target.scope, value, result),
            confidence=round(self.confidence * min(factors), 2),
            flags=tuple(dict.fromkeys((*pronoun, *flags, *said, *raised))),
        )

    def edits(self, operation: str, target: Phrase | list[Target], change: Change, *about: Any) -> list[Edit]:
        """An edit for each thing with the scene that it becomes; `about` are the value and the flags."""
        targets = self.resolve(target) if isinstance(target, Phrase) else target
        scenes = [change(each.scene) if each.thing else EMPTY for each in targets]
        return [self.edit(operation, *pair, *about) for pair in zip(targets, scenes, strict=True)]

    def look(self, operation: str, targets: list[Target], attributes: list[Attribute], value: str) -> list[Edit]:
        """An edit for each thing, with other attributes."""
        return self.edits(operation, targets, lambda scene: with_attributes(scene, attributes), value)

    def said(self, scene: Scene, predicate: str, otherwise: Attribute | None = None) -> Scene:
        """A scene and what a sentence says of its first thing, or `otherwise` where the parser loses that."""
        head = scene.things[0]
        subject = scene.prompt if len(scene.things) > 1 else definite_phrase(head)
        said = parse(f"{subject} {predicate}", self.settings)
        for at, thing in enumerate(said.things if predicate else ()):
            attributes = with_attributes(scene, thing.attributes).things[0].attributes
            result = with_head(subgraph(said, at), phrase=head.phrase, count=head.count, attributes=attributes)
            if thing.canonical == head.canonical and (result.things[0] != head or not otherwise):
                return result
        return with_attributes(scene, [otherwise]) if otherwise else scene

    def unclear(self, text: str, target: Target = NOTHING, flag: str = "") -> list[Edit]:
        """An operation that no rule understands."""
        return [self.at_most(UNCLEAR).edit("other", target, value=text, flags=[flag or "not understood"])]

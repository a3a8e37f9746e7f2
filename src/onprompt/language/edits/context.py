"""What an instruction speaks of: things in the picture, by name or by pronoun, and the edits made of them so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.attributes import comparison
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.scenes import NOTHING, Named, definite, heads, joined, owned, picked
from onprompt.language.edits.words import Words, is_pronoun, numeral
from onprompt.language.ontology import broader, canonical
from onprompt.language.parser import parse
from onprompt.language.wordnet import is_noun
from onprompt.settings import Settings
from onprompt.types import Count, Edit, Scene, Thing

# How sure a reading is: a verb of editing, a wish, a description of the result, a mere phrase, nothing to go by.
SAID, WISHED, TOLD, BARE, UNSURE = 1.0, 0.9, 0.7, 0.5, 0.2
MISSPELT = 0.8  # as in the prompt parser
UNSEEN = 0.6  # at most, where the result says nothing


class Spoken:
    """The edits so far, and what was spoken of last."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.edits: list[Edit] = []
        self.keep: list[Thing] = []
        self.last = ""  # "the dog": what "it" means
        self.thing: Thing | None = None  # the same
        self.clause = self.inner = Words("")  # the operation in hand, as written and without its politeness
        self.sure = SAID

    @property
    def verb(self) -> str:
        """The first word of the operation."""
        return self.inner.all[0]

    # -- edits

    def add(self, operation: str, named: Named, result: Scene, value: str = "", flags: Sequence[str] = ()) -> None:
        """One more edit."""
        if operation == "restyle" and named.whole:  # "make it night": the picture is meant
            named = replace(named, flags=tuple(flag for flag in named.flags if flag != "pronoun"))
        unseen = operation == "move" and not result.things  # nothing tells where it should be seen
        slips = any(unit.misspelt for unit in self.inner.units)
        unsure = (
            [thing.confidence for thing in (*named.scene.things, *result.things)]
            + [MISSPELT] * slips
            + [UNSEEN] * unseen
        )
        told = {flag for scene in (named.scene, result) for flag in scene.flags if flag != "no objects"}
        told |= {"misspelling repaired"} if slips else set()
        told |= {"no result"} if unseen else set()
        self.edits.append(
            Edit(
                *(operation, self.clause.said, named.thing, named.scene, named.scope, value, result),
                confidence=round(self.sure * min([1.0, *unsure]), 2),
                flags=tuple(dict.fromkeys((*named.flags, *flags, *sorted(told)))),
            )
        )
        spoken = result.things[0] if operation in {"add", "replace"} and result.things else named.thing
        if spoken is not None:
            self.last, self.thing = definite(spoken), spoken

    def other(self, named: Named, words: Words) -> None:
        """What can't be told."""
        self.sure = UNSURE
        self.add("other", named, NOTHING, words.said, ["not understood"])

    def placed(self) -> None:
        """`a cat on the sofa and a dog under it`: "it" is where the cat is."""
        target = self.edits[-1].target if self.edits and self.edits[-1].operation == "add" else None
        if target and "person" not in (target.canonical, *broader(target.canonical)):
            self.last, self.thing = definite(target), target

    # -- what words name

    def scene(self, text: str) -> Scene:
        """What a phrase names."""
        return parse(text, self.settings)

    def phrase(self, words: Words) -> str:
        """The words as written, with what was spoken of last in place of "it"; else "her" is a woman."""
        said = []
        for at, word in enumerate(words.all):
            person = f"the {lists.PEOPLE[word]}" if word in lists.PEOPLE else ""
            meant = (self.last if not person or self.last.endswith(person[4:]) else "") or person
            if is_pronoun(words, at) and meant:
                said.append(meant)
            elif word != ",":
                said.append(words.part(at, at + 1).said)
        return " ".join(said) if any(is_pronoun(words, at) for at in range(len(words))) else words.said

    def named(self, words: Words, text: str = "") -> Named:
        """What words name in the picture; `text` says more of it."""
        flags: tuple[str, ...] = ()
        if words.all[0] in {"only", "just"} and len(words) > 1:
            words, flags = words.part(1), ("only",)
        if rest := after_share(words):
            meant = self.named(rest)
            return replace(meant, scope=f"{share_of(words)} {meant.scope}".strip(), flags=(*flags, *meant.flags))
        bare = [word for word in words.all if word not in lex.DEFINITE | {"whole", "entire", "of", "all"}]
        if len(words) == 1 and words.all[0] in lists.PRONOUNS:
            return self.pronoun(words.all[0], flags)
        if bare and bare[-1] in {"one", "ones"}:
            return self.one(words, flags)
        if (len(bare) == 1 and bare[0] in lists.PICTURE) or words.line.endswith("time of day"):
            return Named(flags=flags, whole=True)
        if len(bare) == 1 and bare[0] in lists.GROUND:
            return Named(Scene(words.said, (Thing(words.said, "background", Count(1, 1)),)), (0,), flags=flags)
        return replace(self.things(words, text or self.phrase(words)), flags=flags)

    def things(self, words: Words, text: str) -> Named:
        """The things of a phrase; what the parser takes for a style is a thing after "the"."""
        scene = self.scene(text)
        if not scene.things and words.all[0] in lex.DEFINITE and is_noun(words.all[-1]):
            name = words.line.split(maxsplit=1)[-1] if set(words.all[-2:-1]) & lists.LIGHTS else words.all[-1]
            scene = Scene(text, (Thing(words.said, canonical(name), Count(1, 1)),))
        scene = owned(scene)
        found = heads(scene)
        if not found:
            return Named(scene)
        scope = scope_of(words, scene.things[found[0]])
        return Named(some_of(scene, found[0], scope), found, scope)

    def pronoun(self, word: str, flags: tuple[str, ...]) -> Named:
        """`it`: what was spoken of last, else the picture; `her`: else a woman."""
        person = lists.PEOPLE.get(word, "")
        if self.last and (not person or self.last.endswith(person)):
            scene = self.scene(self.last)
            alone = (replace(self.thing, relations=(), part_of=None),) if self.thing else ()
            scene = scene if scene.things else Scene(self.last, alone)
            return Named(scene, heads(scene), flags=(*flags, "pronoun"))
        if person:
            return Named(Scene(word, (Thing(word, person, Count(1, 1)),)), (0,), flags=(*flags, "pronoun"))
        return Named(flags=(*flags, "pronoun"), whole=word in lists.PICTURE)

    def one(self, words: Words, flags: tuple[str, ...]) -> Named:
        """`the left one`: of the kind named last, if any was."""
        kind = self.last.split()[-1] if self.last else ""
        before = words.part(0, len(words) - 1)
        scene = self.scene(f"{before.said} {kind or 'object'}")
        scope = scope_of(words, scene.things[0]) if scene.things else ""
        found = Named(scene, heads(scene)) if kind else Named()
        return replace(found, scope=scope or before.said, flags=(*flags, "pronoun"))

    # -- what is said of things

    def saying(self, thing: Thing, rest: str) -> Scene:
        """What a sentence says of a thing, which comes first; nothing where the parser loses it."""
        scene = self.scene(f"{definite(thing)} {rest}")
        at = next((at for at, each in enumerate(scene.things) if each.canonical == thing.canonical), None)
        return NOTHING if at is None else picked(scene, at)

    def told(self, named: Named, rest: str) -> Scene:
        """A scene and what a sentence says of its first thing."""
        said = self.saying(named.scene.things[0], rest)
        return joined(named.scene, said) if said.things else named.scene


def scope_of(words: Words, head: Thing) -> str:
    """Which of the things of a kind: all, one, the left one, the woman's."""
    found: list[str] = []
    first = words.all[0]
    if first in lists.EVERY:
        found.append("all")
    elif words.all[1:2] == ("of",) and (first == "any" or numeral([first]) is not None):
        found.append("one" if first == "any" else first)
    owner = next((at for at, word in enumerate(words.all) if word in {"'s", "'"}), None)
    if owner:
        start = next((at for at in range(owner) if words.all[at] in lex.DEFINITE), 0)
        found.append(words.part(start, owner + 1).said)
    elif first in lists.OWNERS:
        found.append(first)
    found += [each.value for each in head.attributes if each.kind == "position"]
    found += [word for word in words.all if word.endswith("est") and comparison(word)]
    return " ".join(dict.fromkeys(found))


def share_of(words: Words) -> str:
    """`half of the people`, `a third of them`, `half the people`: which share is meant."""
    at = 1 if words.all[0] in lex.ARTICLES else 0
    after = words.all[at + 1 : at + 2]
    return words.all[at] if at < len(words) and words.all[at] in lists.SHARES and after in {("of",), ("the",)} else ""


def after_share(words: Words) -> Words:
    """What a share is of; nothing where no share is meant."""
    at = words.all.index(share_of(words)) + 1 if share_of(words) else len(words)
    return words.part(at + 1 if words.all[at : at + 1] == ("of",) else at)


def some_of(scene: Scene, at: int, scope: str) -> Scene:
    """`one of the dogs` is one dog."""
    number = numeral(scope.split()[:1]) if scope else None
    if number is None:
        return scene
    some = replace(scene.things[at], count=Count(number, number, scope.split()[0], explicit=True))
    return replace(scene, things=(*scene.things[:at], some, *scene.things[at + 1 :]))

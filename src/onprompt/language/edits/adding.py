"""Acts that change what is there: removing, adding, counting; and what must stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.context import UNSEEN, UNSURE, share_of
from onprompt.language.edits.pictures import Pictures, ground_before, style_of
from onprompt.language.edits.scenes import (
    NOTHING,
    Named,
    heads,
    is_definite,
    picked,
    receiver,
    with_head,
    without_head,
)
from onprompt.language.edits.words import Words, is_many, is_pronoun, is_text, more_at, numeral, past
from onprompt.language.quantities import quantity
from onprompt.types import Count, Scene, Thing

SOME = Count(1, None, confidence=0.5)


class Adding(Pictures):
    """Remove, keep, add, count."""

    # -- removing and keeping

    def on_remove(self, x: Words) -> None:
        """`remove the car`; `remove one of the cars` leaves some."""
        self.sure = min(self.sure, UNSEEN) if share_of(x) else self.sure
        for named in self.named(x).each():
            thing = named.thing
            if thing is None:
                self.add("remove", named, NOTHING, flags=[] if named.flags or named.whole else ["no target"])
            elif thing.canonical in lists.GROUND:
                self.add("background", named, without_head(named.scene), "removed")
            elif share := share_of(x):
                self.shared(named, thing, share)
            elif number := how_many(named, thing, x):
                self.taken(named, thing, number, x)
            else:
                self.add("remove", named, without_head(named.scene))

    def shared(self, named: Named, thing: Thing, share: str) -> None:
        """`remove half of the people`; half of one thing can't be counted."""
        if thing.count.exact == 1:
            self.add("remove", named, NOTHING, share, ["in part"])
        else:
            left = replace(thing, count=Count(1, None, confidence=0.5))
            self.add("count", named, with_head(named.scene, left), share, ["relative count"])

    def taken(self, named: Named, thing: Thing, number: int, x: Words) -> None:
        """`remove two of the chairs`; of "the four chairs" two are left."""
        there = numeral(x.all[3:4]) if x.all[1:3] == ("of", "the") else None
        if there and there >= number:
            before = replace(thing, count=Count(there, there, x.all[3], explicit=True))
            left = replace(thing, count=Count(there - number, there - number, explicit=True))
            named = replace(named, scene=with_head(named.scene, before))
            self.add("count", named, with_head(named.scene, left), str(there - number))
        else:
            left = replace(thing, count=Count(0, None, confidence=0.5))
            self.add("count", named, with_head(named.scene, left), f"-{number}", ["relative count"])

    def on_remove_from(self, x: Words, y: Words) -> None:
        """`take the hat off the man`."""
        for named in self.named(x, f"{self.phrase(x)} on {self.phrase(y)}").each():
            self.add("remove", named, without_head(named.scene))

    def on_absent(self, x: Words | None = None, y: Words | None = None) -> None:
        """`there should be no cars`, `I don't want to see any cars`."""
        gone = x or y
        while gone and gone.all[0] in {"any", "a", "an", "more", "longer", "see"} and len(gone) > 1:
            gone = gone.part(1)
        if gone:
            self.on_remove(gone)

    def on_only(self, x: Words) -> None:
        """`keep only the dog`: all else goes; `leave only two dogs` counts."""
        named = self.named(x)
        if named.thing and named.thing.count.explicit:
            self.on_count(x, x)
        elif named.thing:
            self.keep += [named.scene.things[at] for at in named.heads]
            self.add("remove", Named(scope="all others"), named.scene)

    def on_keep(self, x: Words) -> None:
        """`without changing the sky`."""
        named = Named() if {"everything", "rest"} & set(x.all) else self.named(x)
        self.keep += [named.scene.things[at] for at in named.heads] or [Thing(x.said, x.line)]

    def on_denied(self, y: Words) -> None:
        """`don't add a dog`: nothing is to be done, and nothing says what is there."""
        self.sure = UNSURE
        self.add("other", Named(), NOTHING, y.said, ["nothing to do"])

    # -- adding

    def on_add(self, y: Words) -> None:
        """`add a dog`; also a text, a style, a background, and more of the same."""
        if is_text(y):
            self.on_write(y)
        elif style_of(y):
            self.on_picture(y)
        elif ground := ground_before(y):
            self.grounded(y.said, ground)
        elif more_at(y) is not None:
            self.on_more(y)
        else:
            scene = self.scene(self.phrase(y))
            flags = ["pronoun"] * any(is_pronoun(y, at) for at in range(len(y)))
            if scene.things and scene.things[0].canonical not in lists.ANYTHING:
                self.shown(scene, flags)
            elif scene.properties:
                self.add("restyle", Named(), scene, y.said)

    def shown(self, scene: Scene, flags: Sequence[str] = ()) -> None:
        """The things of a scene are to be seen; where all others are there already, those that are absent are to go."""
        absent = [at for at, thing in enumerate(scene.things) if thing.absent]
        fresh = [thing for thing in scene.things if not thing.absent and not is_definite(thing)]
        if not absent or fresh:
            self.add("add", receiver(scene), scene, flags=flags)
            return
        present = replace(scene, things=tuple(replace(thing, absent=False) for thing in scene.things))
        for at in absent:
            self.add("remove", Named(picked(present, at), (0,)), picked(scene, at), flags=flags)

    def on_add_to(self, y: Words, x: Words) -> None:
        """`add a hat to the man`; but "to the left of the man" and "next to the man" are places."""
        side = x.all[0] == "the" and x.all[1:2] and x.all[1] in lex.SIDES | {"side", "upper", "lower", "far"}
        if not side and f"{y.all[-1]} to" not in lex.RELATIONS:
            self.on_give(x, y)

    def on_give(self, x: Words, y: Words) -> None:
        """Something is added to something, or a part of it changes: `blonde hair`."""
        named = self.named(x)
        if is_text(y):
            self.on_write(y, x)
        elif more_at(y) is not None:
            self.on_more(y)
        elif not named.heads:
            scene = self.scene(self.phrase(y))
            if scene.things:
                self.add("add", named, scene, flags=[] if named.whole or named.flags else ["no target"])
        else:
            for each in named.each():
                self.given(each, self.told(each, f"with {self.phrase(y)}"), y)

    def given(self, named: Named, result: Scene, y: Words) -> None:
        """A part of the body that is only coloured is not new."""
        part = next((thing for thing in result.things[1:] if thing.canonical in lex.BODY_PARTS), None)
        kinds = {each.kind: each.value for each in part.attributes} if part else {}
        operation = "recolour" if "color" in kinds else "add"
        self.add(operation, named, result, kinds.get("color", y.said if kinds else ""))

    def on_with(self, y: Words) -> None:
        """`with a red hat`: nothing says who."""
        scene = self.scene(self.phrase(y))
        if scene.things:
            self.add("add", receiver(scene), scene)

    def on_cover(self, x: Words, y: Words) -> None:
        """`fill the glass with wine`."""
        for named in self.named(x).each():
            if named.thing is not None:
                self.add("add", named, self.told(named, f"{past(self.verb)} with {self.phrase(y)}"))

    def on_exist(self, y: Words) -> None:
        """`there should be three dogs`, `there should be no dog`."""
        if y.all[0] in {"no", "not", "n't"}:
            self.on_absent(y.part(1))
            return
        wanted = quantity(y.all, 0, self.settings)
        only = bool({"only", "just", "exactly", "precisely"} & set(self.inner.all))
        if wanted and wanted.explicit and (only or wanted.exact != 1) and more_at(y) is None:
            self.on_count(y, y)
        else:
            self.on_add(y)

    # -- how many

    def on_count(self, x: Words, y: Words) -> None:
        """So many of something; where both are the same words, some of it is there already."""
        wanted = quantity(y.all, 0, self.settings)
        for named in self.named(x).each():
            thing = named.thing
            if thing is not None and wanted is not None:
                bare = thing.phrase.removeprefix(wanted.words).strip() or thing.phrase
                there = replace(thing, count=SOME, phrase=bare) if x is y else thing
                value = wanted.words if wanted.exact is None else str(wanted.exact)
                result = with_head(named.scene, replace(thing, count=wanted))
                self.add("count", replace(named, scene=with_head(named.scene, there)), result, value)

    def on_more(self, y: Words | None = None, x: Words | None = None) -> None:
        """`two more birds`, `another cup`, `double the number of birds`."""
        words = y or x
        at = more_at(words) if words else None
        rest = words if words is None or at is None else words.part(at + 1)
        if words is None or rest is None:
            return
        number = numeral(words.all[:at]) if at else None
        single = at is not None and not (rest and is_many(rest))
        scene = self.scene(self.last if rest.line in {"one", "ones", ""} else f"{'a ' * single}{self.phrase(rest)}")
        if not scene.things:
            self.on_picture(words)
            return
        step = number or (1 if single else None)
        found = picked(scene, heads(scene)[0])
        more = Count(step or 2, None, words.part(0, at + 1).said if at is not None else "", confidence=0.5)
        named = Named(with_head(found, replace(found.things[0], count=SOME)), (0,))
        result = with_head(found, replace(found.things[0], count=more))
        self.add("count", named, result, f"+{step}" if step else "more", ["relative count"])

    def on_fewer(self, x: Words) -> None:
        """`fewer birds`."""
        for named in self.named(x).each():
            if named.thing is not None:
                fewer = replace(named.thing, count=Count(0, None, confidence=0.5))
                self.add("count", named, with_head(named.scene, fewer), "fewer", ["relative count"])


def how_many(named: Named, thing: Thing, x: Words) -> int | None:
    """How many are to go where some may stay: `one of the dogs`, `two dogs`."""
    if named.scope and (number := numeral(named.scope.split()[:1])):
        return number
    return thing.count.exact if thing.count.explicit and numeral(x.all[:1]) else None

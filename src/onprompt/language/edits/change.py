"""Acts that change what is there into something else: colour, size, place, state, deed, or another thing."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.dependency_tree import progressive
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.adding import Adding
from onprompt.language.edits.parting import is_place, new_place
from onprompt.language.edits.pictures import is_ground
from onprompt.language.edits.scenes import NOTHING, Named, described, joined, picked, receiver, with_head
from onprompt.language.edits.words import (
    DETERMINERS,
    Words,
    adjectives,
    colours,
    describe,
    is_colour,
    is_deed,
    is_hour,
    is_known,
    is_size,
    is_text,
    numeral,
    past,
    shown_as,
    unhedged,
    whole_picture,
)
from onprompt.language.ontology import canonical, singular
from onprompt.language.quantities import quantity
from onprompt.language.spelling import vocabulary as known
from onprompt.types import Attribute, Scene


class Becoming(Adding):
    """Make, change, move, resize."""

    # -- which change

    def on_replace(self, x: Words, y: Words) -> None:
        """`replace the dog with a cat`."""
        self.on_become(x, y)

    def on_make(self, x: Words, y: Words) -> None:
        """`make the car red`, `have the woman hold a cup`."""
        first, rest = y.all[0], y.part(1)
        if first == "not" and rest:
            self.on_unlike(x, rest)
        elif first in {"have", "has", "with"} and rest:
            self.on_give(x, rest)
        elif first in lists.SAYING and rest and (is_text(rest) or first != "show"):
            self.on_write(rest, x)
        else:
            self.become(x, y, deed=True)

    def on_act(self, x: Words, y: Words) -> None:
        """`the woman should hold a cup`."""
        if y.all[0] in known().verbs:
            self.on_make(x, y)

    def on_become(self, x: Words, y: Words) -> None:
        """`change the dog to a cat`."""
        self.become(x, y)

    def become(self, x: Words, y: Words, deed: bool = False) -> None:
        """What a thing should be or, with `deed`, do: by what is said of it, the operation."""
        denied = next((at for at, word in enumerate(y.all) if word == "not" and at), len(y))
        y = unhedged(y.part(0, denied))  # red, not blue
        if y.quoted or (singular(x.all[-1]) in lex.TEXT_NOUNS - {"logo"} and not shown_as(y, deed)) or is_hour(y):
            self.on_write(y, x)
        elif y.line in lists.GONE:
            self.on_remove(x)
        elif is_ground(x) or (x.all[-1] == "scene" and y.all[0] in lex.ARTICLES and not whole_picture(y)):
            self.grounded(x.said, y)
        elif is_colour(y):
            self.on_colour(x, y)
        elif f"to {y.line}" in lex.POSITIONS:
            self.moved(self.named(x), self.inner.part(len(self.inner) - len(y) - 1))
        elif is_size(y):
            self.sized(self.named(x), y)
        elif y.line in lists.SWITCHED:
            self.brought(self.named(x), lists.SWITCHED[y.line])
        elif y.line in lists.BETTER:
            self.other(self.named(x), y)
        else:
            self.turned(self.named(x), x, y, deed)

    def turned(self, named: Named, x: Words, y: Words, deed: bool) -> None:
        """What is neither text nor colour nor size."""
        style, placed = whole_picture(y), is_place(["", *y.all], 1)
        if style and not (named.heads and describe(y)):
            for each in named.each():
                self.add("restyle", each, replace(each.scene, prompt=y.said, properties=tuple(style)), y.said)
        elif numeral(y.all) is not None or self.same_kind(named, y):
            self.on_count(x, y)
        elif y.all[0] in {"like", "as"} and len(y) > 1:
            self.on_restyle(y, x)
        elif y.line in lex.ORIENTATIONS:
            for each in named.each():
                result = described(each.scene, [Attribute("orientation", y.line)]) if each.thing else NOTHING
                self.add("move", each, result, y.said)
        elif y.all[0] in lists.BUILT:
            self.built(named, y)
        elif placed:
            self.moved(named, y)
        elif named.whole and not is_deed(y, deed):
            self.on_picture(y)
        elif describe(y) and named.heads and not y.all[0].endswith("ing"):
            self.looks(named, y)
        elif is_deed(y, deed):
            self.acts(named, x, y)
        else:
            self.replaced(named, y)

    def same_kind(self, named: Named, y: Words) -> bool:
        """Whether a number of the same things is asked for: `turn the two dogs into three dogs`."""
        wanted = quantity(y.all, 0, self.settings)
        same = named.thing is not None and canonical(y.all[-1]) == named.thing.canonical
        return same and wanted is not None and wanted.explicit and len(y) == len(wanted.words.split()) + 1

    # -- how it looks

    def on_colour(self, x: Words, y: Words | None = None) -> None:
        """`change the color of the car to red`; of a picture it is the style."""
        for named in self.named(x).each():
            if y is None:
                self.add("recolour", named, named.scene, flags=["no value"])
            elif named.whole and x.line in {"it", "this", "that"} and not whole_picture(y):
                self.add("recolour", named, NOTHING, y.said, ["pronoun"])  # what, the words before do not say
            elif named.whole:
                self.add("restyle", named, Scene(y.said, properties=(Attribute("style", y.line),)), y.said)
            elif named.thing is None:
                self.add("recolour", named, NOTHING, y.said, [] if named.flags else ["no target"])
            else:
                operation = "background" if named.thing.canonical in lists.GROUND else "recolour"
                self.add(operation, named, described(named.scene, colours(y)), y.said)

    def on_paint(self, x: Words, y: Words) -> None:
        """`paint the door red`; with anything else it looks otherwise."""
        if is_colour(y):
            self.on_colour(x, y)
        else:
            self.on_restyle(y, x)

    def looks(self, named: Named, y: Words) -> None:
        """Adjectives: `wooden` is how a thing looks, `open` its state."""
        found = adjectives(y)
        kinds = {each.kind for each in found}
        operation = (
            "restyle"
            if kinds <= lists.LOOKS or set(y.all) & lists.FACES
            else "move"
            if kinds == {"orientation"}
            else "action"
        )
        for each in named.each():
            self.add(operation, each, described(each.scene, found), y.said)

    def on_built(self, y: Words, x: Words) -> None:
        """`make the bench out of stone`, `make a bench out of the tree`."""
        if x.all[0] in DETERMINERS or x.all[-1] not in lex.MATERIALS:
            self.become(x, y)
        else:
            for named in self.named(y).each():
                self.add("restyle", named, self.told(named, f"is made of {x.said}"), x.said)

    def built(self, named: Named, y: Words) -> None:
        """`made of stone`, `covered with snow`."""
        for each in named.each():
            if each.thing is not None:
                operation = "restyle" if y.all[0] == "made" else "add"
                self.add(operation, each, self.told(each, f"is {self.phrase(y)}"), y.said)

    # -- what it does

    def acts(self, named: Named, x: Words, y: Words) -> None:
        """A deed; something new that does it is added."""
        doing = y.all[0] if is_deed(y, plain=False) else progressive(y.all[0])
        rest = self.phrase(y.part(1)) if len(y) > 1 else ""
        for each in named.each():
            if each.thing is None:
                self.add("action", each, NOTHING, y.said, [] if each.flags else ["no target"])
                continue
            result = self.told(each, f"{'is' if each.thing.count.exact == 1 else 'are'} {doing} {rest}")
            aside = y.all[0] in lists.FACING and y.part(1).line in lex.POSITIONS  # where it looks, not where it is
            result = each.scene if aside else result
            if result.things[0] == each.thing:  # the parser did not see the deed
                result = described(result, [Attribute("action", y.line)])
            if is_known(x) or x.all[1:2] == ("of",):
                self.add("action", each, result, y.said)
            else:
                self.add("add", receiver(result), result)

    def on_unlike(self, x: Words, y: Words) -> None:
        """`the car should not be red`."""
        y = unhedged(y)
        found = [replace(each, kind=f"not {each.kind}") for each in adjectives(y)] if describe(y) else []
        for named in self.named(x).each():
            if named.thing is not None:
                operation = "recolour" if is_colour(y) else "resize" if is_size(y) else "action"
                denied = found or [Attribute("not action", y.line)]
                self.add(operation, named, described(named.scene, denied), f"not {y.said}")

    def on_dress(self, x: Words, y: Words) -> None:
        """`dress the man in a suit`."""
        for named in self.named(x).each():
            if named.thing is not None:
                self.add("action", named, self.told(named, f"is wearing {self.phrase(y)}"), f"wearing {y.said}")

    def on_done(self, x: Words, y: Words | None = None) -> None:
        """`open the door`: the door is to be seen open; `age the woman by 20 years`."""
        self.brought(self.named(x), past(self.verb), y.said if y else "")

    def on_switch(self, x: Words) -> None:
        """`turn on the lamp`."""
        self.brought(self.named(x), "turned on" if "on" in self.inner.all else "turned off")

    def brought(self, named: Named, state: str, value: str = "") -> None:
        """Something in a state."""
        for each in named.each():
            if each.whole:
                self.add("restyle", each, Scene(state, properties=(Attribute("style", state),)), value or state)
            elif each.thing is not None:
                ground = each.thing.canonical in lists.GROUND
                operation = "background" if ground else lists.DEEDS.get(self.verb, "action")
                self.add(operation, each, described(each.scene, [Attribute("state", state)]), value or state)

    # -- where it is, how large

    def on_move(self, x: Words, p: Words | None = None) -> None:
        """`move the cup to the left`."""
        self.moved(self.named(x), p)

    def on_where(self, x: Words, y: Words) -> None:
        """`put a dog where the cat is` replaces the cat, `put the dog where the cat is` moves the dog."""
        if is_known(y):
            self.add("move", self.named(y), NOTHING, f"in place of {x.said}")
        else:
            self.on_replace(x, y)

    def on_put(self, y: Words, p: Words) -> None:
        """`put the cup on the table` moves it, `put a cup on the table` adds it."""
        if is_text(y):
            self.on_write(y, p.part(1) or None)
        elif not is_known(y):
            self.on_add(y.plus(p))
        elif y.all[-1] in lists.PICTURE - lists.PRONOUNS and len(p) > 1:
            self.grounded(y.said, p.part(1))
        else:
            self.moved(self.named(y), p)

    def moved(self, named: Named, p: Words | None) -> None:
        """A thing at another place: what was said of its old one no longer holds."""
        p = new_place(p) if p else p
        for each in named.each():
            if each.thing is None or p is None:
                self.add("move", each, NOTHING, p.said if p else "", [] if p and each.flags else ["no target"])
                continue
            kept = tuple(one for one in each.thing.attributes if one.kind != "position")
            stays = tuple(one for one in each.thing.relations if one.name not in lex.SPATIAL)
            bare = picked(with_head(each.scene, replace(each.thing, attributes=kept, relations=stays)), 0)
            said = self.saying(each.thing, self.phrase(p)) if len(p) > 1 else NOTHING
            place = [Attribute("position", p.line)]
            self.add("move", each, joined(bare, said) if said.things else described(bare, place), p.said)

    def on_swap(self, x: Words, y: Words) -> None:
        """`swap the dog and the cat`: each goes where the other was."""
        for here, there in ((x, y), (y, x)):
            self.add("move", self.named(here), NOTHING, f"in place of {there.said}")

    def on_turn(self, x: Words, y: Words | None = None) -> None:
        """`flip the cup upside down`."""
        after = self.inner.part(
            next(at for at in range(len(self.inner)) if self.inner.part(at, at + len(x)) == x) + len(x)
        )
        value = (y or after).said or past(self.verb)
        for named in self.named(x).each():
            result = described(named.scene, [Attribute("orientation", value)]) if named.thing else NOTHING
            self.add("move", named, result, value)

    def on_scale(self, x: Words, y: Words | None = None) -> None:
        """`enlarge the dog`, `scale up the dog`, `resize the dog to half its size`."""
        if x.all[-1] in lists.QUALITIES:
            self.on_restyle(self.inner)
            return
        named = self.named(x)
        said = {self.verb, " ".join(self.inner.all[:2]), f"{self.verb} {self.inner.all[-1]}"}
        up, down = said & lists.GROWING, said & lists.SHRINKING
        size = "larger" if up else "smaller" if down else ""
        for each in named.each():
            if each.thing is None or not size:
                self.add("resize", each, each.scene, y.said if y else size, [] if y or size else ["no value"])
            else:
                self.add("resize", each, described(each.scene, [Attribute("size", size)]), y.said if y else size)

    def sized(self, named: Named, y: Words) -> None:
        """A thing larger or smaller."""
        smaller = {"half", "small", "smaller", "tiny", "little"} & set(y.all)
        for each in named.each():
            if each.thing is None:
                self.add("resize", each, NOTHING, y.said, [] if each.flags or each.whole else ["no target"])
            elif "than" in y.all:
                self.add("resize", each, self.told(each, f"is {self.phrase(y)}"), y.said)
            elif {"as", "size"} & set(y.all):
                size = Attribute("size", "smaller" if smaller else "larger")
                self.add("resize", each, described(each.scene, [size]), y.said)
            else:
                self.add("resize", each, described(each.scene, adjectives(y)), y.said)

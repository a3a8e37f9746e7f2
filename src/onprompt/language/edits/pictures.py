"""Acts on the picture as a whole, on its background, and on what is written in it."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.context import Spoken
from onprompt.language.edits.scenes import NOTHING, Named, described, without
from onprompt.language.edits.words import (
    Words,
    adjectives,
    colours,
    describe,
    is_colour,
    is_text,
    numeral,
    text_of,
    unhedged,
    whole_picture,
)
from onprompt.language.ontology import broader
from onprompt.types import Attribute, Count, Scene, Thing


class Pictures(Spoken):
    """Style, background, text; and a thing in place of another."""

    def on_picture(self, y: Words) -> None:
        """The whole picture as something else: a style, a season, an hour; else a thing in its place."""
        y = unhedged(y.part(1) if y.all[0] in {"as", "like"} and len(y) > 1 else y)
        if properties := style_of(y) or (named_style(y) if y.all[-1] in lists.MEDIA else []):
            self.add("restyle", Named(), Scene(y.said, properties=tuple(properties)), y.said)
        else:
            self.replaced(Named(flags=("pronoun",)), y)

    def on_restyle(self, y: Words, x: Words | None = None) -> None:
        """A thing or the picture in some style."""
        named = self.named(x) if x else Named(whole=True)
        for each in named.each():
            if each.thing is None:
                bare = y.part(1) if y.all[0] in {"like", "as"} and len(y) > 1 else y
                properties = style_of(y) or named_style(bare)
                self.add("restyle", each, Scene(y.said, properties=tuple(properties)), y.said)
            else:
                self.add("restyle", each, described(each.scene, [Attribute("style", y.line)]), y.said)

    def grounded(self, words: str, y: Words) -> None:
        """The background."""
        named = Named(Scene(words, (Thing(words, "background", Count(1, 1)),)), (0,))
        if is_colour(y):
            result = described(named.scene, colours(y))
        elif describe(y):
            result = described(named.scene, adjectives(y))
        else:
            result = self.scene(f"{y.said} in the background")
        self.add("background", named, result, y.said)

    def on_unknown(self, x: Words) -> None:
        """`change the background`: to what is not said."""
        named = self.named(x)
        if named.thing and named.thing.canonical in lists.GROUND:
            self.add("background", named, NOTHING, flags=["no value"])
        else:
            self.other(named, x)

    def on_zoom(self, x: Words | None = None) -> None:
        """`zoom in on the dog`."""
        named = self.named(x) if x else Named(whole=True)
        self.add("resize", named, named.scene, "zoomed in" if "in" in self.inner.all else "zoomed out")

    def replaced(self, named: Named, y: Words) -> None:
        """Things in place of others, which must be gone; not if more of a kind stay, or the new ones are of it."""
        named = named if len(named.heads) > 1 else named.each()[0]
        old, text = named.thing, self.phrase(y)
        if old and y.all[-1] in {"one", "ones"}:  # the blue car with a red one
            text = f"{y.part(0, len(y) - 1).said} {old.canonical}"
        new = self.scene(text)
        some = bool(named.scope) and numeral(named.scope.split()[:1]) is not None
        kinds = {kind for thing in new.things for kind in (thing.canonical, *broader(thing.canonical))}
        things = named.scene.things
        gone = [at for at in named.heads if things[at].attributes or things[at].canonical not in kinds]
        if not new.things:
            self.other(named, y)
        elif some or not gone:
            self.add("replace", named, new, y.said, [] if old or named.flags else ["no target"])
        else:
            self.add("replace", named, without(new, named.scene, gone), y.said)

    def on_write(self, y: Words, x: Words | None = None) -> None:
        """Words to be read, on something or anywhere."""
        place = Attribute("position", lex.POSITIONS.get(f"at {x.line}", "")) if x else None
        text, named = text_of(y), self.named(x) if x and not (place and place.value) else Named()
        if x and x.quoted and is_text(x):  # replace "A" with "B"
            named = Named(Scene(x.said, (Thing(x.said, "text", Count(1, None), (Attribute("text", x.quoted),)),)), (0,))
        for each in named.each():
            bearer = each.scene if each.thing else Scene(y.said, (Thing("text", "text", Count(1, None)),))
            told = [Attribute("text", text), *([place] if place and place.value else [])]
            self.add("text", each, described(bearer, told), text)

    def on_text_on(self, y: Words, x: Words) -> None:
        """`put the word "SALE" on the sign`."""
        if is_text(y):
            self.on_write(y, x)


def style_of(words: Words) -> list[Attribute]:
    """What words say of the picture as a whole, where they say nothing else."""
    if found := whole_picture(words):
        return found
    effect = words.all[-1] in lists.EFFECTS and len(words) > 1
    return [Attribute("style", words.line)] if effect or describe(words) else []


def named_style(words: Words) -> list[Attribute]:
    """A style by its name: `a Van Gogh painting`."""
    bare = words.part(1) if words.all[0] in lex.ARTICLES and len(words) > 1 else words
    return [Attribute("style", bare.line)]


def is_ground(words: Words) -> bool:
    """Whether words name the background, or its colour."""
    last = words.all[-1]
    before = words.all[-2] if len(words) > 1 else ""
    return last in lists.GROUND or (before in lists.GROUND and last in lists.COLOUR_NOUNS)


def ground_before(words: Words) -> Words | None:
    """What a background is of: `a beach background` → `a beach`."""
    before = words.all[-2] if len(words) > 1 else ""
    named = words.all[-1] in lists.GROUND and before and before not in lex.DEFINITE | lex.ARTICLES
    return words.part(0, len(words) - 1) if named and before not in lex.RELATIONS else None

"""Rules for where a thing is, which way it is turned, and how large it is."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon_links as links
from onprompt.language.edits import phrase_types as phrase
from onprompt.language.edits.appearance import restyle, set_background, write
from onprompt.language.edits.context import Context
from onprompt.language.edits.lexicon import WORDS
from onprompt.language.edits.phrase_boundaries import destination
from onprompt.language.edits.presence import add
from onprompt.language.edits.reference import resolve, statement, substitute_pronouns, with_statement
from onprompt.language.edits.scene_graph import EMPTY, Referent, merged, subgraph, with_attributes, with_head
from onprompt.language.edits.span import Span
from onprompt.types import Attribute, Edit, Scene

# ---- place ---------------------------------------------------------------------------------------------------------


def move(context: Context, target: Span, place: Span | None = None) -> list[Edit]:
    """`move the cup to the left`."""
    place = destination(place) if place else None
    return [move_one(context, part, place) for part in resolve(context, target).split()]


def move_one(context: Context, referent: Referent, place: Span | None) -> Edit:
    """A thing at another place: what was said of its old one no longer holds."""
    thing = referent.thing
    if thing is None or place is None:
        flags = [] if place and referent.flags else ["no target"]
        return context.edit("move", referent, EMPTY, place.text if place else "", flags)
    attributes = tuple(attribute for attribute in thing.attributes if attribute.kind != "position")
    relations = tuple(relation for relation in thing.relations if relation.name not in links.SPATIAL)
    bare = subgraph(with_head(referent.scene, replace(thing, attributes=attributes, relations=relations)), 0)
    said = statement(context, thing, substitute_pronouns(context, place)) if len(place) > 1 else EMPTY
    result = merged(bare, said) if said.things else with_attributes(bare, Attribute("position", place.line))
    return context.edit("move", referent, result, place.text)


def put(context: Context, value: Span, place: Span) -> list[Edit]:
    """`put the cup on the table` moves it, `put a cup on the table` adds it."""
    if phrase.is_text(value):
        return write(context, value, place.part(1) or None)
    if not phrase.is_definite(value):
        return add(context, value.plus(place))
    if value.words[-1] in WORDS["picture"] and len(place) > 1:
        return set_background(context, value.text, place.part(1))
    return move(context, value, place)


def take_place(context: Context, target: Span, value: Span) -> list[Edit]:
    """`put the dog where the cat is`."""
    return [context.edit("move", resolve(context, value), EMPTY, f"in place of {target.text}")]


def swap(context: Context, target: Span, value: Span) -> list[Edit]:
    """`swap the dog and the cat`: each goes where the other was."""
    return [*take_place(context, value, target), *take_place(context, target, value)]


def rotate(context: Context, target: Span, value: Span | None = None) -> list[Edit]:
    """`flip the cup upside down`."""
    text = (value or context.command.after(target)).text or phrase.participle(context.verb)
    return orient(context, resolve(context, target), text)


def orient(context: Context, referent: Referent, orientation: str) -> list[Edit]:
    """A thing in another orientation."""
    turned = Attribute("orientation", orientation)
    return [
        context.edit("move", part, with_attributes(part.scene, turned) if part.thing else EMPTY, orientation)
        for part in referent.split()
    ]


# ---- size ----------------------------------------------------------------------------------------------------------


def resize(context: Context, target: Span, value: Span | None = None, size: str = "") -> list[Edit]:
    """`enlarge the dog`, `scale up the dog`, `resize the dog to half its size`."""
    if target.words[-1] in WORDS["qualities"]:
        return restyle(context, context.command)
    text = value.text if value else size
    edits = []
    for part in resolve(context, target).split():
        result = with_attributes(part.scene, Attribute("size", size)) if part.thing and size else part.scene
        edits.append(context.edit("resize", part, result, text, [] if text else ["no value"]))
    return edits


def set_size(context: Context, referent: Referent, value: Span) -> list[Edit]:
    """Things larger or smaller."""
    return [
        context.edit("resize", part, sized(context, part, value), value.text, part.missing) for part in referent.split()
    ]


def sized(context: Context, referent: Referent, value: Span) -> Scene:
    """A thing larger or smaller: `bigger`, `bigger than the dog`, `twice as big`."""
    words = set(value.words)
    if referent.thing is None:
        return EMPTY
    if "than" in words:
        return with_statement(context, referent, f"is {substitute_pronouns(context, value)}")
    if {"as", "size"} & words:
        return with_attributes(referent.scene, Attribute("size", "smaller" if words & WORDS["smaller"] else "larger"))
    return with_attributes(referent.scene, *phrase.adjective_attributes(value))


def zoom(context: Context, value: str, target: Span | None = None) -> list[Edit]:
    """`zoom in on the dog`."""
    referent = resolve(context, target) if target else Referent(whole=True)
    return [context.edit("resize", referent, referent.scene, value)]

"""Rules for where a thing is, which way it is turned, and how large it is."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language.edits import appearance
from onprompt.language.edits.context import Context
from onprompt.language.edits.lexicon import WORDS
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.phrase_boundaries import destination
from onprompt.language.edits.presence import add
from onprompt.language.edits.reference import resolve
from onprompt.language.edits.scene_graph import EMPTY, Referent, subgraph, with_attributes, with_head
from onprompt.language.edits.word_types import participle
from onprompt.types import Attribute, Edit


def move(context: Context, target: Phrase, place: Phrase | None = None) -> list[Edit]:
    """`move the cup to the left`: what was said of its old place no longer holds."""
    place, referent, edits = destination(place) if place else Phrase(""), resolve(context, target), []
    if not referent.heads or not place:
        flags = [] if place and referent.flags else ["no target"]
        return [context.edit("move", part, EMPTY, place.text, flags) for part in referent.split()]
    for part in referent.split():
        thing = part.scene.things[0]
        attributes = tuple(attribute for attribute in thing.attributes if attribute.kind != "position")
        relations = tuple(relation for relation in thing.relations if relation.name not in lex.SPATIAL)
        bare = subgraph(with_head(part.scene, attributes=attributes, relations=relations), 0)
        there = context.with_statement(bare, context.resolved(place)) if len(place) > 1 else bare
        result = with_attributes(bare, [Attribute("position", place.line)]) if there is bare else there
        edits.append(context.edit("move", part, result, place.text))
    return edits


def put(context: Context, value: Phrase, place: Phrase) -> list[Edit]:
    """`put the cup on the table` moves it, `put a cup on the table` adds it."""
    if value.is_text:
        return appearance.write(context, value, place.part(1) or None)
    if not value.is_definite:
        return add(context, value.plus(place))
    if value.words[-1] in WORDS["picture"] and len(place) > 1:
        return appearance.set_background(context, value.text, place.part(1))
    return move(context, value, place)


def take_place(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`put the dog where the cat is`."""
    return [context.edit("move", resolve(context, value), EMPTY, f"in place of {target.text}")]


def swap(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`swap the dog and the cat`: each goes where the other was."""
    return [*take_place(context, value, target), *take_place(context, target, value)]


def rotate(context: Context, target: Phrase, value: Phrase | None = None) -> list[Edit]:
    """`flip the cup upside down`."""
    text = (value or context.command.after(target)).text or participle(context.verb)
    return context.edit_attributes("move", resolve(context, target), [Attribute("orientation", text)], text)


def face(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`turn the dog to face left`."""
    text = f"facing {value.text}"
    return context.edit_attributes("move", resolve(context, target), [Attribute("orientation", text)], text)


def resize(context: Context, size: str = "", *, target: Phrase, value: Phrase | None = None) -> list[Edit]:
    """`enlarge the dog`, `scale up the dog`, `resize the dog to half its size`."""
    if target.words[-1] in WORDS["qualities"]:
        return appearance.restyle(context, context.command)
    referent, text = resolve(context, target), value.text if value else size
    if size and referent.heads:
        return context.edit_attributes("resize", referent, [Attribute("size", size)], text)
    flags = [] if text else ["no value"]
    return [context.edit("resize", part, part.scene, text, flags) for part in referent.split()]


def set_size(context: Context, referent: Referent, value: Phrase) -> list[Edit]:
    """Things larger or smaller: `bigger`, `bigger than the dog`, `twice as big`."""
    words, attributes = set(value.words), value.attributes
    if "than" in words and referent.heads:
        predicate = f"is {context.resolved(value)}"
        return context.edit_statement("resize", referent, predicate, value.text)
    if {"as", "size"} & words:
        attributes = [Attribute("size", "smaller" if words & WORDS["smaller"] else "larger")]
    return context.edit_attributes("resize", referent, attributes, value.text, referent.missing)


def zoom(context: Context, value: str, *, target: Phrase | None = None) -> list[Edit]:
    """`zoom in on the dog`."""
    referent = resolve(context, target) if target else Referent(whole=True)
    return [context.edit("resize", referent, referent.scene, value)]

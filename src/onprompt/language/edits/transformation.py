"""Rules for what a thing should be or do: a predicate decides which operation is meant."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import appearance, placement
from onprompt.language.edits.context import Context
from onprompt.language.edits.counting import count
from onprompt.language.edits.lexicon import COLOUR_NOUNS, DATA, DETERMINERS, WORDS
from onprompt.language.edits.phrase import CLOCK_TIME, Phrase
from onprompt.language.edits.phrase_boundaries import starts_place
from onprompt.language.edits.presence import give, remove
from onprompt.language.edits.reference import resolve
from onprompt.language.edits.scene_graph import EMPTY, Referent, anchor, with_attributes
from onprompt.language.edits.word_types import numeral, participle
from onprompt.language.ontology import canonical
from onprompt.language.quantities import quantity
from onprompt.language.words import progressive, singular, vocabulary
from onprompt.types import Attribute, Edit, Scene

LOOKS = frozenset(("style", "material", "pattern", "shape", "lighting"))  # kinds of attribute


def make(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`make the car red`, `have the woman hold a cup`."""
    first, rest = value.words[0], value.part(1)
    if first == "not" and rest:
        return deny(context, target, rest)
    if first in {"have", "has", "with"} and rest:
        return give(context, target, rest)
    if rest and (first in WORDS["saying"] or (first in WORDS["displaying"] and rest.is_text)):
        return appearance.write(context, rest, target)
    return become(context, target, value, plain_verbs=True)


def act(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`the woman should hold a cup`."""
    return make(context, target, value) if value.words[0] in vocabulary().verbs else []


def become(context: Context, target: Phrase, value: Phrase, plain_verbs: bool = False) -> list[Edit]:
    """What a thing should be or, with `plain_verbs`, do."""
    denied = next((at for at, word in enumerate(value.words) if word == "not" and at), len(value))
    value = value.part(0, denied).without_hedges()  # red, not blue
    if is_wording(target, value, plain_verbs):
        return appearance.write(context, value, target)
    if value.line in WORDS["gone"]:
        return remove(context, target)
    if is_scenery(target, value):
        return appearance.set_background(context, target.text, value)
    if value.is_colour:
        return appearance.recolour(context, target, value)
    if f"to {value.line}" in lex.POSITIONS:
        return placement.move(context, target, context.command.part(len(context.command) - len(value) - 1))
    referent = resolve(context, target)
    if value.is_size:
        return placement.set_size(context, referent, value)
    if value.line in WORDS["switched"]:
        return set_state(context, referent, f"turned {value.words[-1]}")
    if value.line in WORDS["vague_adjectives"]:
        return context.unclear(referent, value)
    return transform(context, referent, target, value, plain_verbs)


def is_wording(target: Phrase, value: Phrase, adjectives: bool) -> bool:
    """Whether a value is to be read: in quotes, of a text, on a clock; but `make the text bold` is how it looks."""
    looks = bool(set(value.words) & WORDS["typefaces"]) or (adjectives and value.is_description)
    looks = looks or value.is_colour or value.is_size
    text = singular(target.words[-1]) in lex.TEXT_NOUNS - {"logo"} and not looks
    return bool(value.quoted or text or CLOCK_TIME.fullmatch(value.line))


def is_scenery(target: Phrase, value: Phrase) -> bool:
    """Whether the background is to change, or its colour; `change the scene to a beach` changes it too."""
    *before, last = target.words
    coloured = last in COLOUR_NOUNS and WORDS["background"].issuperset(before[-1:])
    scene = last == "scene" and value.words[0] in lex.ARTICLES and not value.picture_properties
    return last in WORDS["background"] or (coloured and bool(before)) or scene


def transform(context: Context, referent: Referent, target: Phrase, value: Phrase, plain_verbs: bool) -> list[Edit]:
    """What is neither text nor colour nor size."""
    style = tuple(value.picture_properties)
    action, description = value.is_action(plain_verbs), value.is_description
    if style and not (referent.heads and description):
        return [
            context.edit("restyle", part, replace(part.scene, prompt=value.text, properties=style), value.text)
            for part in referent.split()
        ]
    if numeral(value.words) is not None or is_recount(context, referent, value):
        return count(context, target, value)
    if value.words[0] in {"like", "as"} and len(value) > 1:
        return appearance.restyle(context, value, target)
    if value.line in lex.ORIENTATIONS:
        return context.edit_attributes("move", referent, [Attribute("orientation", value.line)], value.text)
    if value.words[0] in WORDS["built"]:
        operation = "restyle" if value.words[0] == "made" else "add"
        return context.edit_statement(operation, referent, f"is {context.resolved(value)}", value.text)
    if starts_place(["", *value.words], 1):
        return placement.move(context, target, value)
    if referent.whole and not action:
        return appearance.restyle_picture(context, value)
    if description and referent.heads and not value.words[0].endswith("ing"):
        return describe(context, referent, value)
    if action:
        return [set_action(context, part, target, value) for part in referent.split()]
    return appearance.replace_things(context, referent, value)


def is_recount(context: Context, referent: Referent, value: Phrase) -> bool:
    """Whether a number of the same things is asked for: `turn the two dogs into three dogs`."""
    wanted = quantity(value.words, 0, context.settings)
    same = referent.thing is not None and canonical(value.words[-1]) == referent.thing.canonical
    return same and wanted is not None and wanted.explicit and len(value) == len(wanted.words.split()) + 1


def put_in_place(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`put a dog where the cat is` replaces the cat, `put the dog where the cat is` moves the dog."""
    return (placement.take_place if value.is_definite else become)(context, target, value)


def describe(context: Context, referent: Referent, value: Phrase) -> list[Edit]:
    """Adjectives: `wooden` is how a thing looks, `open` its state."""
    attributes = value.attributes
    kinds = {attribute.kind for attribute in attributes}
    looks = kinds <= LOOKS or set(value.words) & WORDS["typefaces"]
    operation = "restyle" if looks else "move" if kinds == {"orientation"} else "action"
    return context.edit_attributes(operation, referent, attributes, value.text)


def deny(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`the car should not be red`."""
    value, referent = value.without_hedges(), resolve(context, target)
    adjectives = value.attributes if value.is_description else []
    denied = [replace(attribute, kind=f"not {attribute.kind}") for attribute in adjectives]
    denied = denied or [Attribute("not action", value.line)]
    operation = "recolour" if value.is_colour else "resize" if value.is_size else "action"
    return context.edit_attributes(operation, referent, denied, f"not {value.text}") if referent.heads else []


def make_of(context: Context, value: Phrase, target: Phrase) -> list[Edit]:
    """`make the bench out of stone`, `make a bench out of the tree`."""
    if target.words[0] in DETERMINERS or target.words[-1] not in lex.MATERIALS:
        return become(context, target, value)
    return context.edit_statement("restyle", resolve(context, value), f"is made of {target.text}", target.text)


def set_state(context: Context, referent: Referent, state: str, value: str = "") -> list[Edit]:
    """Things, or the picture, in a state."""
    if referent.whole:
        style = Scene(state, properties=(Attribute("style", state),))
        return [context.edit("restyle", referent, style, value or state)]
    operation, states = DATA["operations"].get(context.verb, "action"), [Attribute("state", state)]
    return context.edit_attributes(operation, referent, states, value or state) if referent.heads else []


def bring_about(context: Context, state: str = "", *, target: Phrase, value: Phrase | None = None) -> list[Edit]:
    """`open the door`: the door is to be seen open; `turn on the lamp`; `age the woman by 20 years`."""
    state = state or participle(context.verb)
    return set_state(context, resolve(context, target), state, value.text if value else "")


def set_action(context: Context, referent: Referent, target: Phrase, value: Phrase) -> Edit:
    """A thing that does something; one that is not there yet is added."""
    thing, verb = referent.thing, value.words[0]
    if thing is None:
        return context.edit("action", referent, EMPTY, value.text, [] if referent.flags else ["no target"])
    doing = verb if value.is_action(plain=False) else progressive(verb)
    rest = context.resolved(value.part(1)) if len(value) > 1 else ""
    predicate = f"{'is' if thing.count.exact == 1 else 'are'} {doing} {rest}"
    aside = verb in WORDS["facing"] and value.part(1).line in lex.POSITIONS  # where it looks, not where it is
    result = referent.scene if aside else context.with_statement(referent.scene, predicate)
    if result.things[0] == thing:  # the parser did not see the action
        result = with_attributes(result, [Attribute("action", value.line)])
    if target.is_definite or target.words[1:2] == ("of",):
        return context.edit("action", referent, result, value.text)
    return context.edit("add", anchor(result), result)


def dress(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`dress the man in a suit`."""
    predicate = f"is wearing {context.resolved(value)}"
    return context.edit_statement("action", resolve(context, target), predicate, f"wearing {value.text}")

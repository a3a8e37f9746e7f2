"""Rules for style, colour, background and text, and for one thing in place of another."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language.edits import scene_graph as graph
from onprompt.language.edits.context import Context
from onprompt.language.edits.lexicon import DEFINITE_OR_ARTICLE, WORDS
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.reference import resolve
from onprompt.language.edits.scene_graph import Referent
from onprompt.language.edits.word_types import numeral
from onprompt.language.ontology import broader
from onprompt.types import Attribute, Count, Edit, Scene, Thing

ANY_NUMBER = Count(1, None)


def restyle_picture(context: Context, value: Phrase) -> list[Edit]:
    """The whole picture in a style, season or time of day; else a thing in its place."""
    value = without_like(value).without_hedges()
    if style := style_of(value) or (named_style(value) if value.words[-1] in WORDS["media"] else ()):
        return [context.edit("restyle", Referent(), Scene(value.text, properties=style), value.text)]
    return replace_things(context, Referent(flags=("pronoun",)), value)


def restyle(context: Context, value: Phrase, target: Phrase | None = None) -> list[Edit]:
    """A thing or the picture in some style."""
    referent = resolve(context, target) if target else Referent(whole=True)
    if referent.heads:
        return context.edit_attributes("restyle", referent, [Attribute("style", value.line)], value.text)
    style = style_of(value) or named_style(without_like(value))
    return [context.edit("restyle", referent, Scene(value.text, properties=style), value.text)]


def without_like(phrase: Phrase) -> Phrase:
    """`like a painting` → `a painting`."""
    return phrase.part(1) if phrase.words[0] in {"as", "like"} and len(phrase) > 1 else phrase


def style_of(phrase: Phrase) -> tuple[Attribute, ...]:
    """What words say of the picture as a whole, where they say nothing else."""
    effect = phrase.words[-1] in WORDS["effects"] and len(phrase) > 1
    looks = effect or any(attribute.kind not in {"other", "state"} for attribute in phrase.attributes)
    style = (Attribute("style" if looks else "mood", phrase.line),) if effect or phrase.is_description else ()
    return phrase.picture_properties or style


def named_style(phrase: Phrase) -> tuple[Attribute, ...]:
    """A style by its name: `a Van Gogh painting`."""
    article = phrase.words[0] in lex.ARTICLES and len(phrase) > 1
    return (Attribute("style", phrase.part(1 if article else 0).line),)


def recolour(context: Context, target: Phrase, value: Phrase | None = None) -> list[Edit]:
    """`change the color of the car to red`; of a picture, the colour is the style."""
    referent = resolve(context, target)
    if value is None:
        return [context.edit("recolour", part, part.scene, flags=["no value"]) for part in referent.split()]
    if referent.whole and target.line in {"it", "this", "that"} and not value.picture_properties:
        return [context.edit("recolour", referent, graph.EMPTY, value.text, ["pronoun"])]  # nothing says what
    if referent.whole:
        style = Scene(value.text, properties=(Attribute("style", value.line),))
        return [context.edit("restyle", referent, style, value.text)]
    colours = value.colours
    return context.edit_attributes("recolour", referent, colours, value.text, referent.missing)


def paint(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`paint the door red`; with anything else it is a style."""
    return (recolour if value.is_colour else restyle)(context, target=target, value=value)


def set_background(context: Context, text: str, value: Phrase) -> list[Edit]:
    """The background as something else."""
    referent = graph.single(text, "background")
    if value.is_colour or value.is_description:
        attributes = value.colours if value.is_colour else value.attributes
        return context.edit_attributes("background", referent, attributes, value.text)
    return [context.edit("background", referent, context.parse(f"{value.text} in the background"), value.text)]


def before_background(phrase: Phrase) -> Phrase | None:
    """What a background shows: `a beach background` → `a beach`."""
    before = phrase.words[-2] if len(phrase) > 1 else "the"
    named = phrase.words[-1] in WORDS["background"] and before not in DEFINITE_OR_ARTICLE
    return phrase.part(0, len(phrase) - 1) if named and before not in lex.RELATIONS else None


def change(context: Context, target: Phrase) -> list[Edit]:
    """`change the background`: to what is not said."""
    referent = resolve(context, target)
    if referent.is_background:
        return [context.edit("background", referent, flags=["no value"])]
    return context.unclear(referent, target)


def replace_things(context: Context, referent: Referent, value: Phrase) -> list[Edit]:
    """Things in place of others, which must be gone; not if more of a kind stay, or the new ones are of that kind."""
    referent = referent if len(referent.heads) > 1 else referent.split()[0]
    text = context.resolved(value)
    if referent.thing and value.words[-1] in WORDS["ones"]:  # the blue car with a red one
        text = f"{value.part(0, len(value) - 1).text} {referent.thing.canonical}"
    new = context.parse(text)
    if not new.things:
        return context.unclear(referent, value)
    kinds = {kind for thing in new.things for kind in (thing.canonical, *broader(thing.canonical))}
    old = referent.scene.things
    gone = [head for head in referent.heads if old[head].attributes or old[head].canonical not in kinds]
    partial = bool(referent.scope) and numeral(referent.scope.split()[:1]) is not None
    result = new if partial or not gone else graph.with_absent(new, referent.scene, gone)
    return [context.edit("replace", referent, result, value.text, referent.missing)]


def write(context: Context, value: Phrase, target: Phrase | None = None) -> list[Edit]:
    """Words to read, on something or anywhere."""
    text, referent = value.wording, Referent()
    position = lex.POSITIONS.get(f"at {target.line}") if target else None
    if target and target.is_text:  # replace "A" with "B"
        referent = graph.single(target.text, "text", ANY_NUMBER, [Attribute("text", target.quoted)])
    elif target and not position:
        referent = resolve(context, target)
    attributes = [Attribute("text", text), *([Attribute("position", position)] if position else [])]
    blank = Scene(value.text, (Thing("text", "text", ANY_NUMBER),))
    return [
        context.edit("text", part, graph.with_attributes(part.scene if part.thing else blank, attributes), text)
        for part in referent.split()
    ]


def write_on(context: Context, value: Phrase, target: Phrase) -> list[Edit]:
    """`put the word "SALE" on the sign`."""
    return write(context, value, target) if value.is_text else []

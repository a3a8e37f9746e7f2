"""Rules for what is there: adding, removing, keeping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import appearance, counting
from onprompt.language.edits.context import NO_RESULT, NOTHING_TO_DO, UNCLEAR, Context
from onprompt.language.edits.lexicon import WORDS
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.reference import resolve, split_share
from onprompt.language.edits.scene_graph import Referent, anchor, is_given, subgraph, with_head
from onprompt.language.edits.word_types import participle
from onprompt.language.quantities import quantity
from onprompt.types import Edit, Scene, Thing


def remove(context: Context, target: Phrase) -> list[Edit]:
    """`remove the car`; `remove one of the cars` leaves some."""
    referent, (share, _) = resolve(context, target), split_share(target)
    context = context.at_most(NO_RESULT) if share else context
    if not referent.heads:
        return [context.edit("remove", referent, flags=referent.missing)]
    edits = []
    for part in referent.split():
        gone, some = with_head(part.scene, absent=True), counting.remove_some(context, part, target, share)
        whole = context.edit("remove", part, gone)
        edits.append(context.edit("background", part, gone, "removed") if part.is_background else some or whole)
    return edits


def remove_from(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`take the hat off the man`."""
    text = f"{context.resolved(target)} on {context.resolved(value)}"
    referent = resolve(context, target, text)
    return [
        context.edit("remove", part, with_head(part.scene, absent=True) if part.heads else part.scene)
        for part in referent.split()
    ]


def absent(context: Context, target: Phrase | None = None, value: Phrase | None = None) -> list[Edit]:
    """`there should be no cars`, `I don't want to see any cars`."""
    gone = target or value
    while gone and gone.words[0] in {"any", "a", "an", "more", "longer", "see"} and len(gone) > 1:
        gone = gone.part(1)
    return remove(context, gone) if gone else []


def keep_only(context: Context, target: Phrase) -> list[Edit]:
    """`keep only the dog`: all else goes; `leave only two dogs` counts."""
    referent = resolve(context, target)
    if referent.thing is None:
        return []
    if referent.thing.count.explicit:
        return counting.count(context, target, target)
    return [replace(context.edit("remove", Referent(scope="all others"), referent.scene), keep=referent.things)]


def keep_some(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`remove all cups except the red one`: the others of the kind go."""
    referent, kept = resolve(context, target), resolve(context, value)
    if referent.thing and value.words[-1] in WORDS["ones"]:
        scene = context.parse(f"{value.part(0, len(value) - 1).text} {referent.thing.canonical}")
        kept = Referent(scene, (0,) if scene.things else ())
    if not referent.heads or not kept.heads:
        return []
    part = replace(referent.split()[0], scope="all others")
    return [replace(context.edit("remove", part, kept.scene), keep=kept.things)]


def keep(context: Context, target: Phrase) -> list[Edit]:
    """`without changing the sky`: an edit of its own, which ends in the `keep` of the others."""
    referent = Referent() if {"everything", "rest"} & set(target.words) else resolve(context, target)
    return [Edit("keep", context.clause.text, keep=referent.things or (Thing(target.text, target.line),))]


def forbid(context: Context, value: Phrase) -> list[Edit]:
    """`don't add a dog`: nothing to do, and nothing says what is there."""
    return [context.at_most(UNCLEAR).edit("other", Referent(), value=value.text, flags=[NOTHING_TO_DO])]


def add(context: Context, value: Phrase) -> list[Edit]:
    """`add a dog`; also a text, a style, a background, and more of the same."""
    if value.is_text:
        return appearance.write(context, value)
    if set(value.words) <= WORDS["picture"] | lex.DEFINITE:
        return context.unclear(Referent(), value)
    if appearance.style_of(value):
        return appearance.restyle_picture(context, value)
    if background := appearance.before_background(value):
        return appearance.set_background(context, value.text, background)
    if value.more_at is not None:
        return counting.count_more(context, value)
    scene = context.parse(context.resolved(value))
    if scene.things and scene.things[0].canonical not in WORDS["anything"]:
        return show(context, scene, ["pronoun"] * bool(value.pronouns))
    return [context.edit("restyle", Referent(), scene, value.text)] if scene.properties else []


def show(context: Context, scene: Scene, flags: Sequence[str] = ()) -> list[Edit]:
    """The things of a scene; where all others are there already, those that are absent are to go."""
    absences = [at for at, thing in enumerate(scene.things) if thing.absent]
    if not absences or any(not thing.absent and not is_given(thing) for thing in scene.things):
        return [context.edit("add", anchor(scene), scene, flags=flags)]
    present = replace(scene, things=tuple(replace(thing, absent=False) for thing in scene.things))
    return [
        context.edit("remove", Referent(subgraph(present, at), (0,)), subgraph(scene, at), flags=flags)
        for at in absences
    ]


def add_to(context: Context, value: Phrase, target: Phrase) -> list[Edit]:
    """`add a hat to the man`; but "to the left of the man" and "next to the man" are places."""
    side = target.words[0] == "the" and target.word_at(1) in lex.SIDES | {"side", "upper", "lower", "far"}
    return [] if side or f"{value.words[-1]} to" in lex.RELATIONS else give(context, target, value)


def give(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """Something is added to something, or a part of it changes: `blonde hair`."""
    if value.is_text:
        return appearance.write(context, value, target)
    if value.more_at is not None:
        return counting.count_more(context, value)
    referent, text = resolve(context, target), context.resolved(value)
    if not referent.heads:
        scene = context.parse(text)
        return [context.edit("add", referent, scene, flags=referent.missing)] if scene.things else []
    edits = []
    for part in referent.split():
        result = context.with_statement(part.scene, f"with {text}")
        body = next((thing for thing in result.things[1:] if thing.canonical in lex.BODY_PARTS), None)
        kinds = {attribute.kind: attribute.value for attribute in body.attributes} if body else {}
        operation = "recolour" if "color" in kinds else "add"  # a part of the body that is only coloured is not new
        edits.append(context.edit(operation, part, result, kinds.get("color", value.text if kinds else "")))
    return edits


def add_with(context: Context, value: Phrase) -> list[Edit]:
    """`with a red hat`: nothing says who."""
    scene = context.parse(context.resolved(value))
    return [context.edit("add", anchor(scene), scene)] if scene.things else []


def cover(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """`fill the glass with wine`."""
    predicate = f"{participle(context.verb)} with {context.resolved(value)}"
    return context.edit_statement("add", resolve(context, target), predicate)


def exist(context: Context, value: Phrase) -> list[Edit]:
    """`there should be three dogs`, `there should be no dog`."""
    if value.words[0] in {"no", "not", "n't"}:
        return absent(context, value.part(1))
    wanted = quantity(value.words, 0, context.settings)
    exactly = bool(WORDS["only"] & set(context.command.words)) or (wanted and wanted.exact != 1)
    if wanted and wanted.explicit and exactly and value.more_at is None:
        return counting.count(context, value, value)
    return add(context, value)

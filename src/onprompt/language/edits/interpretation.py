"""One operation read as edits: by a pattern of commands, of descriptions, else as a phrase."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits import rules
from onprompt.language.edits.clauses import LONGEST, is_command
from onprompt.language.edits.patterns import COMMANDS, DESCRIPTIONS, matches
from onprompt.language.edits.phrase import predicate_start
from onprompt.language.edits.rules import DESCRIPTION, PHRASE, WISH, Operation, apply
from onprompt.language.edits.things import Target
from onprompt.language.ontology import is_concrete
from onprompt.language.words import is_known_word, vocabulary
from onprompt.types import Edit

SUBJECT_AND_PREDICATE, KNOWN_THING = 0.6, 0.3  # confidence in "the man wearing a hat", "the moon"


def interpret(context: Operation, opening: str) -> list[Edit]:
    """The edits that an operation asks for; `opening` is a question with which it begins."""
    if not context.command or len(context.command) > LONGEST:
        return context.unclear(context.command) if context.command else []
    if opening and context.command.line.startswith(opening):
        return context.unclear(context.command)
    commanded = context.confidence != WISH or is_command(context.command)
    for match in matches(context.command, COMMANDS if commanded else ()):
        if edits := apply(context, match):
            return edits
    modal = bool(set(context.command.words) & ed.MODALS)
    for match in matches(context.command, DESCRIPTIONS):
        wish = context.confidence == WISH or match.rule == "exist" or modal
        if edits := apply(replace(context, confidence=WISH if wish else DESCRIPTION), match):
            return edits
    return read_phrase(context)


def read_phrase(context: Operation) -> list[Edit]:
    """A style, an action, a background; else a thing to add."""
    phrase, wish = context.command, context.confidence == WISH
    context = context if wish else context.at_most(PHRASE)
    plain, definite = phrase.without_hedges(), phrase.is_definite
    if not set(phrase.words) - ed.FIRST_WORDS - ed.VAGUE_VERBS - lex.RELATIONS.keys():
        return context.unclear(phrase)
    if plain.picture_properties:
        return rules.restyle(context, plain)
    if {"recolor", "resize", "restyle"} & plain.described.keys():
        return context.with_attributes(next(iter(plain.described)), [Target()], [], plain.text)
    if background := rules.before_background(phrase):
        return rules.set_background(context, phrase, background)
    cut = predicate_start(phrase.words) if definite or wish else None
    if cut and (definite or phrase.part(cut).is_action()):
        context = replace(context, confidence=max(context.confidence, SUBJECT_AND_PREDICATE))
        return rules.make(context, phrase.part(0, cut), phrase.part(cut))
    if phrase.words[0] in vocabulary().verbs and phrase.word_at(1) in lex.DEFINITE:  # a verb that no rule knows
        return context.unclear(phrase, context.resolve(phrase.part(1))[0])
    scene = context.parse(phrase.text)
    vague = scene.things[:1] and scene.things[0].canonical in ed.ANYTHING | ed.PICTURE
    names = (thing.canonical for thing in scene.things[:1])
    if vague or not any(is_concrete(name) and all(map(is_known_word, name.split())) for name in names):
        return context.unclear(phrase, Target(replace(scene, things=())))
    return rules.show(context.at_most(KNOWN_THING) if definite and not wish else context, scene)

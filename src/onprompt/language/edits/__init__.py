"""From an instruction to edits of a picture: operations with target, scope and expected result.

clauses     an instruction split into operations, without politeness, and with what pronouns stand for
phrases     some words: what they describe, which pattern of lexicon.toml they match, where a phrase ends
rules       what the pattern names: a sentence for the prompt parser, or things that are there, gone, counted, elsewhere
things      what a phrase refers to, in scenes of the prompt parser
lexicon     the lists of lexicon.toml, and forms of verbs
"""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits import rules
from onprompt.language.edits import things as graph
from onprompt.language.edits.clauses import LONGEST, is_command, split_clauses, strip_politeness, with_referents
from onprompt.language.edits.phrases import COMMANDS, DESCRIPTIONS, Phrase, matches, predicate_start
from onprompt.language.edits.things import Operation, Target, definite_phrase
from onprompt.language.ontology import is_concrete
from onprompt.language.tokens import normalize_prompt, sentences
from onprompt.language.words import is_known_word, vocabulary
from onprompt.settings import Settings
from onprompt.types import Edit

SUBJECT_AND_PREDICATE, KNOWN_THING = 0.6, 0.3  # confidence in "the man wearing a hat", "the moon"


def parse_edit(instruction: str, settings: Settings) -> tuple[Edit, ...]:
    """The edits that an instruction asks for, in its order."""
    cleaned = normalize_prompt(instruction, settings)
    edits: list[Edit] = []
    antecedent = ""
    for units in sentences(cleaned):
        wish = False
        for clause in split_clauses(Phrase(cleaned.text, tuple(units))):
            if clause.words[0] in ed.SPARING and edits and edits[-1].target:
                antecedent = definite_phrase(edits[-1].target)  # turn all apples into pears except the big one
            command, opened = strip_politeness(clause)
            wish |= opened
            command, pronouns = with_referents(command, antecedent)
            confidence = graph.WISH if wish else graph.COMMAND
            new = interpret(Operation(settings, clause.text, command, confidence, ("pronoun",) * pronouns))
            antecedent = next(filter(None, map(mentioned, reversed(new))), antecedent)
            edits += new
    keep = tuple(thing for edit in edits for thing in edit.keep)
    edits = [edit for edit in edits if edit.operation != "keep"]
    edits = [edit for edit in edits if graph.NOTHING_TO_DO not in edit.flags] or edits
    nothing = Edit("other", cleaned.text, confidence=graph.UNCLEAR, flags=(graph.NOTHING_TO_DO,))
    return tuple(replace(edit, keep=keep) for edit in edits or [nothing])


def mentioned(edit: Edit) -> str:
    """What "it" refers to after an edit: what it brought or changed."""
    new = edit.result.things[:1] if edit.operation in {"add", "replace"} else ()
    thing = new[0] if new else edit.target
    return definite_phrase(thing) if thing else ""


def interpret(context: Operation) -> list[Edit]:
    """The edits that an operation asks for: by a pattern of commands, of descriptions, else as a phrase."""
    command = context.command
    if len(command) > LONGEST or ed.OPENINGS["questions"].at(command.words, 0):
        return context.unclear(command)
    if context.confidence != graph.WISH or is_command(command):
        for match in matches(command, COMMANDS):
            if edits := rules.apply(context, match):
                return edits
    modal = bool(set(command.words) & ed.MODALS)
    for match in matches(command, DESCRIPTIONS):
        wish = context.confidence == graph.WISH or match.rule == "exist" or modal
        if edits := rules.apply(replace(context, confidence=graph.WISH if wish else graph.DESCRIPTION), match):
            return edits
    return read_phrase(context) if command else []


def read_phrase(context: Operation) -> list[Edit]:
    """A style, an action, a background; else a thing to add."""
    phrase, wish = context.command, context.confidence == graph.WISH
    context = context if wish else context.at_most(graph.PHRASE)
    plain, definite = phrase.without_hedges(), phrase.is_definite
    if not set(phrase.words) - ed.FIRST_WORDS - ed.VAGUE_VERBS - lex.RELATIONS.keys():
        return context.unclear(phrase)
    if plain.picture_properties:
        return rules.restyle(context, plain)
    if {"recolor", "resize", "restyle"} & plain.described.keys():
        return context.look(next(iter(plain.described)), [Target()], [], plain.text)
    cut = predicate_start(phrase) if definite or wish else None
    if cut and (definite or phrase.part(cut).is_action()):
        context = replace(context, confidence=max(context.confidence, SUBJECT_AND_PREDICATE))
        return rules.become(context, "acting", target=phrase.part(0, cut), value=phrase.part(cut))
    if phrase.words[0] in vocabulary().verbs and phrase.word_at(1) in lex.DEFINITE:  # a verb that no rule knows
        return context.unclear(phrase, context.resolve(phrase.part(1))[0])
    scene = context.parse(phrase.text)
    names = [thing.canonical for thing in scene.things[:1]]
    concrete = any(is_concrete(name) and all(map(is_known_word, name.split())) for name in names)
    if not concrete and phrase.words[-1] not in ed.BACKGROUND:
        return context.unclear(phrase, Target(replace(scene, things=())))
    return rules.add(context.at_most(KNOWN_THING) if definite and not wish else context, phrase)

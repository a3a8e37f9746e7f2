"""One operation read as edits: the first rule that fits, else the phrase as a thing to add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import appearance, counting, placement, presence, transformation
from onprompt.language.edits.clauses import LONGEST, is_command
from onprompt.language.edits.context import DESCRIPTION, PHRASE, WISH, Context
from onprompt.language.edits.lexicon import FIRST_WORDS, WORDS, longest_at
from onprompt.language.edits.pattern_matching import COMMANDS, DESCRIPTIONS, Match, matches
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.phrase_boundaries import predicate_start
from onprompt.language.edits.reference import resolve
from onprompt.language.edits.scene_graph import EMPTY, Referent
from onprompt.language.edits.word_types import is_adjective, numeral
from onprompt.language.words import vocabulary
from onprompt.types import Edit

SUBJECT_AND_PREDICATE, KNOWN_THING = 0.6, 0.3  # confidence in "the man wearing a hat", "the moon"
MODULES = (appearance, counting, placement, presence, transformation)
RULES: Mapping[str, Callable[..., list[Edit]]] = {
    name: rule for module in MODULES for name, rule in vars(module).items()
}


def interpret(context: Context) -> list[Edit]:
    """The edits that an operation asks for."""
    if not context.command or len(context.command) > LONGEST:
        return context.unclear(Referent(), context.command) if context.command else []
    if longest_at(context.clause.words, 0, WORDS["questions"]) and context.command.words[0] == context.clause.words[0]:
        return context.unclear(Referent(), context.command)
    replaced = read_instead(context)
    if replaced is not None:
        return replaced
    return read_command(context) or read_description(context) or read_phrase(context)


def apply(context: Context, match: Match) -> list[Edit]:
    """The edits of a match; none where its rule does not fit after all."""
    return RULES[match.rule](context, *filter(None, [match.argument]), **match.captures)


def read_command(context: Context) -> list[Edit]:
    """By the patterns of verbs of editing."""
    if context.confidence == WISH and not is_command(context.command):
        return []
    return next(filter(None, (apply(context, match) for match in matches(context.command, COMMANDS))), [])


def read_description(context: Context) -> list[Edit]:
    """By the patterns of descriptions of the result."""
    modal = bool(set(context.command.words) & WORDS["modals"])
    for match in matches(context.command, DESCRIPTIONS):
        wish = context.confidence == WISH or match.rule == "exist" or modal
        if edits := apply(replace(context, confidence=WISH if wish else DESCRIPTION), match):
            return edits
    return []


def read_instead(context: Context) -> list[Edit] | None:
    """`a cat instead of the dog`, `put a cat in place of the dog`, `instead of the dog, a cat`."""
    command = context.command
    for at in range(len(command)):
        if mark := longest_at(command.words, at, WORDS["instead"]):
            new, old = command.part(0, at), command.part(at + len(mark.split()))
            if not new:
                comma = next((n for n, word in enumerate(old.words) if word == ","), len(old))
                new, old = old.part(comma), old.part(0, comma)
            if new and old:
                return put_instead(context, new, old)
    return None


def put_instead(context: Context, new: Phrase, old: Phrase) -> list[Edit]:
    """Something in place of something else; what is done with it is read as usual."""
    candidates = matches(new, COMMANDS if is_command(new) else DESCRIPTIONS)
    match = next((match for match in candidates if match.rule != "write_on" or match.captures["value"].is_text), None)
    if match:
        value = match.captures.get("value", new)
        picture = match.rule == "make" and match.captures["target"].line in WORDS["picture"] | {"it", "this"}
        if match.rule in {"add", "exist", "add_with"} or (picture and not is_adjective(value.words[0])):
            new = value
        elif match.rule == "put" and not value.is_definite:
            new = value.plus(match.captures["place"])
        else:
            return apply(context, match)
    elif context.confidence != WISH:
        context = context.at_most(DESCRIPTION)
    if numeral(old.words) is not None:
        return presence.exist(context, new)
    return transformation.become(context, old, new)


def read_phrase(context: Context) -> list[Edit]:
    """A style, an action, a background; else a thing to add."""
    phrase, wish = context.command, context.confidence == WISH
    context = context if wish else context.at_most(PHRASE)
    plain, definite = phrase.without_hedges(), phrase.is_definite
    if len(phrase) == 1 and phrase.words[0] in FIRST_WORDS | WORDS["vague_verbs"]:
        return context.unclear(Referent(), phrase)
    if plain.picture_properties:
        return appearance.restyle_picture(context, plain)
    if plain.is_description:
        doing = "action" if plain.words[0].endswith("ing") else "restyle"
        operation = "recolour" if plain.is_colour else "resize" if plain.is_size else doing
        return [context.edit(operation, Referent(), EMPTY, plain.text, ["no target"])]
    if background := appearance.before_background(phrase):
        return appearance.set_background(context, phrase.text, background)
    cut = predicate_start(phrase.words) if definite or wish else None
    if cut and (definite or phrase.part(cut).is_action()):
        context = replace(context, confidence=max(context.confidence, SUBJECT_AND_PREDICATE))
        return transformation.make(context, phrase.part(0, cut), phrase.part(cut))
    if phrase.words[0] in vocabulary().verbs and phrase.word_at(1) in lex.DEFINITE:  # a verb that no rule knows
        return context.unclear(resolve(context, phrase.part(1)), phrase)
    scene = context.parse(context.resolved(phrase))
    if not scene.things or scene.things[0].canonical in WORDS["anything"] | WORDS["picture"]:
        return context.unclear(Referent(), phrase)
    return presence.show(context.at_most(KNOWN_THING) if definite and not wish else context, scene)

"""From an instruction to edits of a picture: operations with target, scope and expected result.

clauses     an instruction split into operations, without politeness, and with what pronouns stand for
patterns    which pattern of lexicon.toml an operation matches
rules       what the pattern names: a sentence for the prompt parser, or things that are there, gone, counted, elsewhere
things      what a phrase refers to, in scenes of the prompt parser
interpretation  which of them reads an operation
phrase      some words, what they describe, and where they end; lexicon: the lists of lexicon.toml, and forms of verbs
"""

from __future__ import annotations

from dataclasses import replace

from onprompt.language.edits import lexicon as ed
from onprompt.language.edits.clauses import is_command, split_clauses, strip_politeness, with_referents
from onprompt.language.edits.interpretation import interpret
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.rules import COMMAND, NOTHING_TO_DO, UNCLEAR, WISH, Operation
from onprompt.language.edits.things import definite_phrase
from onprompt.language.ontology import broader
from onprompt.language.tokens import normalize_prompt, sentences
from onprompt.settings import Settings
from onprompt.types import Edit, Thing


def parse_edit(instruction: str, settings: Settings) -> tuple[Edit, ...]:
    """The edits that an instruction asks for, in its order."""
    cleaned = normalize_prompt(instruction, settings)
    edits: list[Edit] = []
    antecedent = ""
    for units in sentences(cleaned):
        wish = False
        for clause in split_clauses(Phrase(cleaned.text, tuple(units))):
            borrowed = clause.units[0].start == clause.units[0].end and "them" not in clause.words  # has no verb
            antecedent = (place_of(edits) if borrowed else "") or antecedent
            if clause.words[0] in ed.SPARING and edits and edits[-1].target:
                antecedent = definite_phrase(edits[-1].target)  # turn all apples into pears except the big one
            command, opened = strip_politeness(clause)
            wish = opened or (wish and not is_command(command))
            command, pronouns = with_referents(command, antecedent)
            confidence = WISH if wish else COMMAND
            operation = Operation(settings, clause.text, command, confidence, ("pronoun",) * pronouns)
            new = interpret(operation, ed.OPENINGS["questions"].at(clause.words, 0))
            antecedent = next(filter(None, map(mentioned, reversed(new))), antecedent)
            edits += new
    keep = tuple(thing for edit in edits for thing in edit.keep)
    edits = [edit for edit in edits if edit.operation != "keep"]
    edits = [edit for edit in edits if NOTHING_TO_DO not in edit.flags] or edits
    nothing = Edit("other", cleaned.text, confidence=UNCLEAR, flags=(NOTHING_TO_DO,))
    return tuple(replace(edit, keep=keep) for edit in edits or [nothing])


def mentioned(edit: Edit) -> str:
    """What "it" refers to after an edit: what it brought or changed."""
    new = edit.operation in {"add", "replace"} and edit.result.things
    thing: Thing | None = edit.result.things[0] if new else edit.target
    return definite_phrase(thing) if thing else ""


def place_of(edits: list[Edit]) -> str:
    """`a cat on the sofa and a dog under it`: "it" is where the cat is, if no person."""
    place = edits[-1].target if edits and edits[-1].operation == "add" else None
    return definite_phrase(place) if place and "person" not in (place.canonical, *broader(place.canonical)) else ""

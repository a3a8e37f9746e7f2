"""From an instruction to edits of a picture: operations with target, scope and expected result.

clauses             an instruction split into operations, politeness stripped
pattern_matching    which pattern of lexicon.toml an operation matches; phrase_boundaries: where its phrases end
interpretation      the rule of the pattern applied: presence, counting, appearance, placement, transformation
reference           what a phrase or a pronoun refers to; scene_graph: scenes picked apart and merged
phrase              some words, and whether they are a colour, a size, an action; word_types: one word; lexicon: lists
"""

from __future__ import annotations

from dataclasses import replace

from onprompt.language.edits.clauses import is_command, split_clauses, strip_politeness
from onprompt.language.edits.context import COMMAND, NOTHING_TO_DO, UNCLEAR, WISH, Context, mentioned
from onprompt.language.edits.interpretation import interpret
from onprompt.language.edits.phrase import Phrase
from onprompt.language.ontology import broader
from onprompt.language.tokens import normalize_prompt, sentences
from onprompt.settings import Settings
from onprompt.types import Edit, Thing


def parse_edit(instruction: str, settings: Settings) -> tuple[Edit, ...]:
    """The edits that an instruction asks for, in its order."""
    cleaned = normalize_prompt(instruction, settings)
    edits: list[Edit] = []
    antecedent: Thing | None = None
    for units in sentences(cleaned):
        wish = False
        for clause in split_clauses(Phrase(cleaned.text, tuple(units))):
            borrowed = clause.units[0].start == clause.units[0].end  # the verb of the clause before
            antecedent = (place_of(edits) if borrowed else None) or antecedent
            command, opened = strip_politeness(clause)
            wish = opened or (wish and not is_command(command))
            new = interpret(Context(settings, clause, command, WISH if wish else COMMAND, antecedent))
            antecedent = mentioned(new) or antecedent
            edits += new
    keep = tuple(thing for edit in edits for thing in edit.keep)
    edits = [edit for edit in edits if edit.operation != "keep"]
    edits = [edit for edit in edits if NOTHING_TO_DO not in edit.flags] or edits
    nothing = Edit("other", cleaned.text, confidence=UNCLEAR, flags=(NOTHING_TO_DO,))
    return tuple(replace(edit, keep=keep) for edit in edits or [nothing])


def place_of(edits: list[Edit]) -> Thing | None:
    """`a cat on the sofa and a dog under it`: "it" is where the cat is, if no person."""
    place = edits[-1].target if edits and edits[-1].operation == "add" else None
    return place if place and "person" not in (place.canonical, *broader(place.canonical)) else None

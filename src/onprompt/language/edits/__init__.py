"""From an instruction to edits of a picture: operations with target, scope and expected result.

clauses     an instruction split into operations, without politeness, and with what pronouns stand for
phrases     some words: what they describe, which pattern of lexicon.toml they match, where a phrase ends
rules       what the pattern names: a sentence for the prompt parser, or things that are there, gone, counted, elsewhere
things      what a phrase refers to, in scenes of the prompt parser
lexicon     the lists of lexicon.toml, and forms of verbs
"""

from __future__ import annotations

from dataclasses import replace

from onprompt.language.edits import lexicon as ed
from onprompt.language.edits import rules
from onprompt.language.edits import things as graph
from onprompt.language.edits.clauses import split_clauses, strip_politeness, with_referents
from onprompt.language.edits.phrases import Phrase
from onprompt.language.edits.things import Operation, definite_phrase
from onprompt.language.tokens import normalize_prompt, sentences
from onprompt.settings import Settings
from onprompt.types import Edit


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
            new = rules.interpret(Operation(settings, clause.text, command, confidence, ("pronoun",) * pronouns))
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

"""What an operation is read against: its words, and what was named before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onprompt.language.edits.scene_graph import EMPTY, Referent, definite_phrase
from onprompt.language.edits.span import Span
from onprompt.language.parser import parse
from onprompt.settings import Settings
from onprompt.types import Edit, Scene, Thing

# Confidence in a reading: a verb of editing, a wish, a description of the result, a mere phrase, nothing to go by.
COMMAND, WISH, DESCRIPTION, PHRASE, UNCLEAR = 1.0, 0.9, 0.7, 0.5, 0.2
MISSPELT = 0.8  # as in the prompt parser
NO_RESULT = 0.6  # at most, where nothing says what should be seen
NOTHING_TO_DO = "nothing to do"


@dataclass(frozen=True, slots=True)
class Context:
    """One operation of an instruction."""

    settings: Settings
    clause: Span  # as written
    command: Span  # without its politeness
    confidence: float
    antecedent: Thing | None = None  # what "it" refers to

    @property
    def verb(self) -> str:
        """The first word of the operation."""
        return self.command.words[0]

    @property
    def antecedent_phrase(self) -> str:
        """What "it" refers to, in words: `the dog`."""
        return definite_phrase(self.antecedent) if self.antecedent else ""

    def parse(self, text: str) -> Scene:
        """The scene that a phrase describes."""
        return parse(text, self.settings)

    def at_most(self, confidence: float) -> Context:
        """The same operation, with less confidence."""
        return replace(self, confidence=min(self.confidence, confidence))

    def edit(
        self, operation: str, referent: Referent, result: Scene = EMPTY, value: str = "", flags: Sequence[str] = ()
    ) -> Edit:
        """One edit, with the confidence and the flags of its parts."""
        if operation == "restyle" and referent.whole:  # "make it night": the picture is meant
            referent = replace(referent, flags=tuple(flag for flag in referent.flags if flag != "pronoun"))
        placeless = operation == "move" and not result.things
        misspelt = any(unit.misspelt for unit in self.command.units)
        factors = [1.0, *(thing.confidence for thing in (*referent.scene.things, *result.things))]
        factors += [MISSPELT] * misspelt + [NO_RESULT] * placeless
        found = {*referent.scene.flags, *result.flags} - {"no objects"}
        found |= {flag for flag, holds in (("misspelling repaired", misspelt), ("no result", placeless)) if holds}
        return Edit(
            *(operation, self.clause.text, referent.thing, referent.scene, referent.scope, value, result),
            confidence=round(self.confidence * min(factors), 2),
            flags=tuple(dict.fromkeys((*referent.flags, *flags, *sorted(found)))),
        )

    def unclear(self, referent: Referent, span: Span) -> list[Edit]:
        """An operation that no rule understands."""
        return [self.at_most(UNCLEAR).edit("other", referent, value=span.text, flags=["not understood"])]


def mentioned(edits: Sequence[Edit]) -> Thing | None:
    """What "it" refers to after some edits: what the last of them brought or changed."""
    for edit in reversed(edits):
        new = edit.operation in {"add", "replace"} and edit.result.things
        if thing := edit.result.things[0] if new else edit.target:
            return thing
    return None

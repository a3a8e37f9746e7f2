"""What an operation is read against: its words, and what was named before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onprompt.language.edits import scene_graph as graph
from onprompt.language.edits.lexicon import DATA
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.scene_graph import EMPTY, Referent
from onprompt.language.parser import parse
from onprompt.settings import Settings
from onprompt.types import Attribute, Edit, Scene, Thing

# Confidence in a reading: a verb of editing, a wish, a description of the result, a mere phrase, nothing to go by.
COMMAND, WISH, DESCRIPTION, PHRASE, UNCLEAR = 1.0, 0.9, 0.7, 0.5, 0.2
MISSPELT = 0.8  # as in the prompt parser
NO_RESULT = 0.6  # at most, where nothing says what should be seen
NOTHING_TO_DO = "nothing to do"


@dataclass(frozen=True, slots=True)
class Context:
    """One operation of an instruction."""

    settings: Settings
    clause: Phrase  # as written
    command: Phrase  # without its politeness
    confidence: float
    antecedent: Thing | None = None  # what "it" refers to

    @property
    def verb(self) -> str:
        """The first word of the operation."""
        return self.command.words[0]

    @property
    def antecedent_phrase(self) -> str:
        """What "it" refers to, in words: `the dog`."""
        return graph.definite_phrase(self.antecedent) if self.antecedent else ""

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
        scene_flags = {*referent.scene.flags, *result.flags} - {"no objects"}
        scene_flags |= {flag for flag, holds in (("misspelling repaired", misspelt), ("no result", placeless)) if holds}
        return Edit(
            *(operation, self.clause.text, referent.thing, referent.scene, referent.scope, value, result),
            confidence=round(self.confidence * min(factors), 2),
            flags=tuple(dict.fromkeys((*referent.flags, *flags, *sorted(scene_flags)))),
        )

    def edit_attributes(
        self, operation: str, referent: Referent, attributes: Sequence[Attribute], value: str, flags: Sequence[str] = ()
    ) -> list[Edit]:
        """An edit for each thing, with other attributes."""
        edits = []
        for part in referent.split():
            result = graph.with_attributes(part.scene, attributes) if part.thing else EMPTY
            kind = "background" if part.is_background and operation != "move" else operation
            edits.append(self.edit(kind, part, result, value, flags))
        return edits

    def edit_statement(self, operation: str, referent: Referent, predicate: str, value: str = "") -> list[Edit]:
        """An edit for each thing, with what a sentence says of it."""
        parts = referent.split() if referent.heads else []
        return [self.edit(operation, part, self.with_statement(part.scene, predicate), value) for part in parts]

    def with_statement(self, scene: Scene, predicate: str) -> Scene:
        """A scene and what a sentence says of its first thing; the same scene where the parser loses that."""
        head = scene.things[0]
        said = self.parse(f"{graph.definite_phrase(head)} {predicate}")
        names = [thing.canonical for thing in said.things]
        known = head.canonical in names
        return graph.merged(scene, graph.subgraph(said, names.index(head.canonical))) if known else scene

    def resolved(self, phrase: Phrase) -> str:
        """The words as written, with the antecedent in place of "it"; without one, "her" is a woman."""
        if not phrase.pronouns:
            return phrase.text
        words = []
        for at, word in enumerate(phrase.words):
            person = DATA["persons"].get(word, "")
            meant = self.antecedent_phrase if self.antecedent_phrase.endswith(person) else ""
            meant = meant or (f"the {person}" if person else "")
            if at in phrase.pronouns and meant:
                words.append(meant)
            elif word != ",":
                words.append(phrase.part(at, at + 1).text)
        return " ".join(words)

    def unclear(self, referent: Referent, phrase: Phrase) -> list[Edit]:
        """An operation that no rule understands."""
        return [self.at_most(UNCLEAR).edit("other", referent, value=phrase.text, flags=["not understood"])]


def mentioned(edits: Sequence[Edit]) -> Thing | None:
    """What "it" refers to after some edits: what the last of them brought or changed."""
    for edit in reversed(edits):
        new = edit.operation in {"add", "replace"} and edit.result.things
        if thing := edit.result.things[0] if new else edit.target:
            return thing
    return None

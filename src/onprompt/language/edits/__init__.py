"""From an instruction to what is to be done to a picture: operations with target, scope and expected result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from onprompt.errors import PromptError
from onprompt.language import lexicon as lex
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.change import Becoming
from onprompt.language.edits.clauses import LONGEST, begins, clauses, first_words, unopened
from onprompt.language.edits.context import BARE, SAID, TOLD, UNSURE, WISHED
from onprompt.language.edits.parting import parting
from onprompt.language.edits.pictures import ground_before
from onprompt.language.edits.rules import Reading, readings
from onprompt.language.edits.scenes import NOTHING, Named
from onprompt.language.edits.words import (
    Words,
    describe,
    describes,
    is_colour,
    is_deed,
    is_known,
    is_size,
    is_text,
    numeral,
    unhedged,
    whole_picture,
)
from onprompt.language.prompt import normalize_prompt
from onprompt.language.segmentation import sentences
from onprompt.language.spelling import vocabulary as known
from onprompt.settings import Settings
from onprompt.types import Edit

INSTEAD = (("instead", "of"), ("in", "place", "of"), ("rather", "than"))
IDLE = "nothing to do"
DONE, KNOWN = 0.6, 0.3  # how sure a phrase is: "the man wearing a hat", "the moon"


def parse_edit(instruction: str, settings: Settings) -> tuple[Edit, ...]:
    """What the instruction wants done, in its order."""
    cleaned = normalize_prompt(instruction, settings)
    editor = Editor(settings)
    for units in sentences(cleaned):
        editor.wished = False
        for clause in clauses(Words(cleaned.text, tuple(units))):
            editor.read(clause)
    told = [edit for edit in editor.edits if IDLE not in edit.flags]
    edits = told or editor.edits or [Edit("other", cleaned.text, confidence=UNSURE, flags=(IDLE,))]
    return tuple(replace(edit, keep=tuple(editor.keep)) for edit in edits)


def parse_edits(instructions: Iterable[str], settings: Settings) -> Iterator[tuple[Edit, ...] | PromptError]:
    """What each instruction wants done, or why it can't be read."""
    for instruction in instructions:
        try:
            yield parse_edit(instruction, settings)
        except PromptError as error:
            yield error


class Editor(Becoming):
    """Finds for each operation the rule that fits."""

    wished = False  # whether the sentence began with "what if", "I want"

    def read(self, clause: Words) -> None:
        """One operation."""
        self.clause = clause
        if clause.units[0].start == clause.units[0].end:  # its verb is borrowed
            self.placed()
        inner, wished = unopened(clause)
        self.wished = wished = wished or (self.wished and not begins(inner))
        self.inner, self.sure = inner, WISHED if wished else SAID
        if len(inner) > LONGEST:
            self.other(Named(), inner)
        elif inner and not self.instead(inner) and not self.commanded(inner, wished) and not self.seen(inner, wished):
            self.sure = WISHED if wished else BARE
            self.phrased(inner, wished)

    def commanded(self, inner: Words, wished: bool) -> bool:
        """Whether a rule for verbs of editing fits."""
        if wished and not begins(inner):
            return False
        return any(self.done(reading) for reading in readings(inner, lists.RULES))

    def seen(self, inner: Words, wished: bool) -> bool:
        """Whether a rule for descriptions of the result fits."""
        for reading in readings(inner, lists.DESCRIPTIONS):
            wish = wished or reading.act == "exist" or bool(set(inner.all) & lists.MODALS)
            self.sure = WISHED if wish else TOLD
            if self.done(reading):
                return True
        return False

    def done(self, reading: Reading) -> bool:
        """Whether the act of a reading could be done."""
        before = len(self.edits), len(self.keep)
        act: Callable[..., None] = getattr(self, f"on_{reading.act}")
        act(**{name.lower(): words for name, words in reading.parts.items()})
        return before != (len(self.edits), len(self.keep))

    # -- one thing instead of another

    def instead(self, inner: Words) -> bool:
        """`a cat instead of the dog`, `put a cat in place of the dog`, `instead of the dog, a cat`."""
        for mark in INSTEAD:
            for at in range(len(inner) - len(mark)):
                if inner.all[at : at + len(mark)] == mark:
                    new, old = inner.part(0, at), inner.part(at + len(mark))
                    if not new:
                        cut = next((n for n, word in enumerate(old.all) if word == ","), len(old))
                        new, old = old.part(cut), old.part(0, cut)
                    if new and old:
                        self.exchanged(new, old)
                        return True
        return False

    def exchanged(self, new: Words, old: Words) -> None:
        """Something is to be seen in place of something else; what is done with it is read as usual."""
        fitting = list(readings(new, lists.RULES if begins(new) else lists.DESCRIPTIONS))
        found = next((each for each in fitting if each.act != "text_on" or is_text(each.parts["Y"])), None)
        it = found and found.act == "make" and found.parts["X"].line in lists.PICTURE
        if found and (found.act in {"add", "exist", "with"} or (it and not describes(found.parts["Y"].all[0]))):
            new = found.parts["Y"]
        elif found and found.act == "put" and not is_known(found.parts["Y"]):
            new = found.parts["Y"].plus(found.parts["P"])
        elif found:
            self.done(found)
            return
        self.sure = self.sure if found or self.sure == WISHED else TOLD
        if numeral(old.all) is not None:
            self.on_exist(new)
        else:
            self.on_replace(old, new)

    # -- no rule fits

    def phrased(self, words: Words, wished: bool) -> None:
        """A phrase: a style, something done, a background; else a thing to be added."""
        plain = unhedged(words)
        cut = parting(words.all) if is_known(words) or wished else None
        if len(words) == 1 and words.all[0] in first_words() | lists.UNTOLD:
            self.other(Named(), words)
        elif whole_picture(plain):
            self.on_picture(plain)
        elif describe(plain):
            doing = "action" if plain.all[0].endswith("ing") else "restyle"
            operation = "recolour" if is_colour(plain) else "resize" if is_size(plain) else doing
            self.add(operation, Named(), NOTHING, plain.said, ["no target"])
        elif ground := ground_before(words):
            self.grounded(words.said, ground)
        elif cut and (is_known(words) or is_deed(words.part(cut))):
            self.sure = max(self.sure, DONE)
            self.on_make(words.part(0, cut), words.part(cut))
        elif words.all[0] in known().verbs and words.all[1:2] and words.all[1] in lex.DEFINITE:
            self.other(self.named(words.part(1)), words)  # a verb that no rule knows
        else:
            scene = self.scene(self.phrase(words))
            if not scene.things or scene.things[0].canonical in lists.ANYTHING | lists.PICTURE:
                self.other(Named(), words)
            else:
                self.sure = KNOWN if is_known(words) and not wished else self.sure
                self.shown(scene)

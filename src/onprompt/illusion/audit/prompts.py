"""Section 1: the eight questions, byte for byte. Any byte that a model reads may change its answer."""

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.audit.description import Target
from onprompt.illusion.audit.points import Point, Verdict, not_described, quoted
from onprompt.illusion.protocol import COMPLEX, SCENES, SIMPLE, SPLITS, Split
from onprompt.illusion.results import QUESTIONS

PLACEHOLDER = re.compile(r"\{(\w*)\}")
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
WORDING, OPTIONS, FORMAT = "prompt wording", "options in the prompt", "output format"
LISTED, PROVIDE = "following options:", "Provide "  # where the original's options start and end
NOTE = "the model reads another text; only asking it shows whether its answers change"
LONGEST = 20_000  # characters of a question
SHOWN = 5  # changes that a point lists


class Question(NamedTuple):
    """One of the eight questions: the original's text, and theirs as the model gets it."""

    split: str
    kind: str  # shape or scene
    original: str
    theirs: str | None  # None where it is not described
    undescribed: tuple[str, ...] = ()  # what was taken from the original to fill in theirs

    @property
    def where(self) -> str:
        """The name of the question in points."""
        return f"{self.split}, {self.kind} question"


class Change(NamedTuple):
    """A part of the original, from a character on, and what replaces it."""

    start: int
    original: str
    theirs: str


def questions(target: Target) -> list[Question]:
    """The eight questions."""
    return [question(target, split, kind) for split in SPLITS.values() for kind in QUESTIONS]


def question(target: Target, split: Split, kind: str) -> Question:
    """One of a split's two questions, with the options filled in."""
    original = split.shape_question if kind == "shape" else split.scene_question
    template = getattr(target.prompts.get(split.name), kind, None)
    if template is None:
        return Question(split.name, kind, original, None)
    if len(template) > LONGEST:
        raise UserError(f"the {kind} question of {split.name} is longer than {LONGEST:,} characters")
    lists = option_lists(target, split)
    undescribed: dict[str, None] = {}

    def fill(placeholder: re.Match[str]) -> str:
        if placeholder[1] not in lists:
            known = ", ".join(f"{{{name}}}" for name in lists)
            raise UserError(f"the {kind} question of {split.name} has {placeholder[0]}; valid are {known}")
        text, missing = lists[placeholder[1]]
        undescribed.update(dict.fromkeys(missing))
        return text

    return Question(split.name, kind, original, PLACEHOLDER.sub(fill, template), tuple(undescribed))


def option_lists(target: Target, split: Split) -> dict[str, tuple[str, list[str]]]:
    """What each placeholder stands for, and which parts of it are taken from the original."""
    options, joins = target.options, target.prompts[split.name].joins
    lists = {
        "shapes": (options.shapes.get(split.name), split.shapes, joins.shapes),
        "scenes": (options.all_scenes, SCENES, joins.scenes),
        "simple": (options.simple, SIMPLE, joins.scenes),
        "complex": (options.complex, COMPLEX, joins.scenes),
    }
    texts = {}
    for name, (theirs, original, join) in lists.items():
        separator = "," if (split.name, name) == ("old_sin", "shapes") else ", "
        text = (separator if join is None else join).join(original if theirs is None else theirs)
        missing = {f"the list of {name}": theirs, f"the separator of {name}": join}
        texts[name] = text, [part for part, value in missing.items() if value is None]
    return texts


def compare(target: Target) -> Iterator[Point]:
    """Three points for each question: its wording, the options it offers, the output format."""
    for asked in questions(target):
        original, theirs = asked.original, asked.theirs
        changes = [] if theirs is None else token_changes(original, theirs)
        for title, (start, end) in parts(original).items():
            text = original[start:end].strip()
            last = len(original) + 1 if title == FORMAT else end  # what is added at the end belongs to the format
            here = [change for change in changes if start <= change.start < last]
            if theirs is None:
                yield not_described("prompt", title, asked.where, text)
            elif here:
                yield difference(title, asked.where, text, here, original, theirs)
            elif title == OPTIONS and asked.undescribed:
                note = f"not described: {', '.join(asked.undescribed)}; the original's were used to compare the rest"
                yield not_described("prompt", title, asked.where, text, note)
            else:
                yield Point("prompt", title, asked.where, text, text, Verdict.ALIGNED)


def parts(original: str) -> dict[str, tuple[int, int]]:
    """Where each part of a question starts and ends."""
    options = original.index(LISTED) + len(LISTED)
    output = original.index(PROVIDE, options)
    return {WORDING: (0, options), OPTIONS: (options, output), FORMAT: (output, len(original))}


def token_changes(original: str, theirs: str) -> list[Change]:
    """Where two texts differ, by words, punctuation and whitespace."""
    tokens, their_tokens = TOKEN.findall(original), TOKEN.findall(theirs)
    starts = list(accumulate(map(len, tokens), initial=0))
    matcher = difflib.SequenceMatcher(None, tokens, their_tokens, autojunk=False)
    return [
        Change(starts[i], "".join(tokens[i:j]), "".join(their_tokens[k:n]))
        for kind, i, j, k, n in matcher.get_opcodes()
        if kind != "equal"
    ]


def difference(title: str, where: str, text: str, changes: Sequence[Change], original: str, theirs: str) -> Point:
    """The changes within one part of a question."""
    least = min(changes, key=lambda change: (len(change.original) + len(change.theirs), change.start))
    example = {
        "original": in_context(original, least),
        "theirs": quoted(least.theirs) if least.theirs else "nothing",
        "at": f"character {least.start}",
    }
    shown = "; ".join(f"{quoted(change.original)} → {quoted(change.theirs)}" for change in changes[:SHOWN])
    shown += "; …" if len(changes) > SHOWN else ""
    if original.strip() == theirs.strip():
        note = "only whitespace at the ends, which chat templates strip"
        return Point("prompt", title, where, text, shown, Verdict.HARMLESS, note, example)
    changed = "".join(change.original + change.theirs for change in changes)
    only = (
        "" if re.search(r"\w", changed) else f"only {'punctuation' if changed.strip() else 'whitespace'} differs, but "
    )
    return Point("prompt", title, where, text, shown, Verdict.CHANGES, f"{only}{NOTE}", example)


def in_context(original: str, change: Change) -> str:
    """The original's text, with a little around it if it has no words."""
    if re.search(r"\w", change.original):
        return quoted(change.original)
    around = original[max(0, change.start - 12) : change.start + len(change.original) + 12]
    return f"{quoted(change.original)} in {quoted(around)}"

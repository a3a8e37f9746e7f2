"""Section 1: the eight questions, byte for byte. Any byte that a model reads may change its answer."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.audit.description import Questions, Target
from onprompt.illusion.audit.points import Point, Verdict, silent
from onprompt.illusion.audit.showing import quoted
from onprompt.illusion.protocol import COMPLEX, SCENES, SIMPLE, SPLITS, Split
from onprompt.illusion.results import QUESTIONS

PLACE = re.compile(r"\{(\w*)\}")
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
DESCRIPTION, OPTIONS, FORMAT = "prompt wording", "options in the prompt", "output format"
LISTED, PROVIDE = "following options:", "Provide "  # where the original's options begin and end
READS = "the model reads another text, and what it answers then can only be known by asking it"
LONGEST = 20_000  # characters of a question


class Filled(NamedTuple):
    """A question as a model gets it; `open` names what is not described and was taken from the original."""

    text: str
    open: tuple[str, ...]


def compare(target: Target) -> Iterator[Point]:
    """Three points for each of the eight questions."""
    for split in SPLITS.values():
        for kind in QUESTIONS:
            yield from compare_one(target, split, kind)


def compare_one(target: Target, split: Split, kind: str) -> Iterator[Point]:
    """What a question says, which options it offers, and what it wants for an answer."""
    original = question(split, kind)
    where = f"{split.name}, {kind} question"
    found = filled(target, split, kind)
    ranges = parts(original)
    if found is None:
        yield from (silent("prompt", part, where, original[slice(*ranges[part])]) for part in ranges)
        return
    changes = differences(original, found.text)
    for part, (start, end) in ranges.items():
        here = [each for each in changes if start <= each.start < end or (part == FORMAT and each.start >= end)]
        said = original[start:end].strip()
        if here:
            yield departure(part, where, said, here, original, found.text)
        elif part == OPTIONS and found.open:
            note = f"not described: {', '.join(found.open)}; the rest was compared with the original's in their place"
            yield silent("prompt", part, where, said, note)
        else:
            yield Point("prompt", part, where, said, said, Verdict.ALIGNED)


def question(split: Split, kind: str) -> str:
    """One of a split's two questions."""
    return split.shape_question if kind == "shape" else split.scene_question


def parts(original: str) -> dict[str, tuple[int, int]]:
    """Where each part of a question begins and ends."""
    listed = original.index(LISTED) + len(LISTED)
    provide = original.index(PROVIDE, listed)
    return {DESCRIPTION: (0, listed), OPTIONS: (listed, provide), FORMAT: (provide, len(original))}


# ---- filling in ------------------------------------------------------------------------------------------------------


def filled(target: Target, split: Split, kind: str) -> Filled | None:
    """A described question with its options filled in."""
    asked = target.prompts.get(split.name)
    template = getattr(asked, kind) if asked else None
    if asked is None or template is None:
        return None
    if len(template) > LONGEST:
        raise UserError(f"the {kind} question of {split.name} has {len(template):,} characters, which is no question")
    strings, missing = option_strings(target, asked, split)
    used: list[str] = []

    def put(place: re.Match[str]) -> str:
        if place[1] not in strings:
            there = ", ".join(f"{{{name}}}" for name in strings)
            raise UserError(f"the {kind} question of {split.name} has {place[0]}; there are {there}")
        used.append(place[1])
        return strings[place[1]]

    text = PLACE.sub(put, template)
    return Filled(text, tuple(dict.fromkeys(lack for name in used for lack in missing[name])))


def option_strings(
    target: Target, asked: Questions, split: Split
) -> tuple[Mapping[str, str], Mapping[str, Sequence[str]]]:
    """What each placeholder stands for, and what of it had to be taken from the original."""
    options, joins = target.options, asked.joins
    lists = {
        "shapes": (options.shapes.get(split.name), split.shapes, joins.shapes),
        "scenes": (options.every_scene, SCENES, joins.scenes),
        "simple": (options.simple, SIMPLE, joins.scenes),
        "complex": (options.complex, COMPLEX, joins.scenes),
    }
    strings, missing = {}, {}
    for name, (given, usual, join) in lists.items():
        separator = separator_of(split, name) if join is None else join
        strings[name] = separator.join(usual if given is None else given)
        missing[name] = [
            what for what, value in ((f"the list of {name}", given), (f"what joins {name}", join)) if value is None
        ]
    return strings, missing


def separator_of(split: Split, name: str) -> str:
    """What the original puts between two options."""
    return "," if (split.name, name) == ("old_sin", "shapes") else ", "


# ---- comparing -------------------------------------------------------------------------------------------------------


class Change(NamedTuple):
    """A stretch of the original, from a character on, and what stands in its place."""

    start: int
    original: str
    theirs: str


def differences(original: str, theirs: str) -> list[Change]:
    """Where two texts differ, in words, signs and white space."""
    if original == theirs:
        return []
    one, other = TOKEN.findall(original), TOKEN.findall(theirs)
    starts = [0]
    for token in one:
        starts.append(starts[-1] + len(token))
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return [
        Change(starts[i], "".join(one[i:j]), "".join(other[k:n]))
        for kind, i, j, k, n in matcher.get_opcodes()
        if kind != "equal"
    ]


def departure(part: str, where: str, said: str, changes: Sequence[Change], original: str, theirs: str) -> Point:
    """A difference within one part of a question."""
    first = min(changes, key=lambda each: (len(each.original) + len(each.theirs), each.start))
    example = {
        "original": context(original, first),
        "theirs": quoted(first.theirs) if first.theirs else "nothing",
        "at": f"character {first.start}",
    }
    told = "; ".join(f"{quoted(each.original)} → {quoted(each.theirs)}" for each in changes[:5])
    told += "; …" if len(changes) > 5 else ""
    if original.strip() == theirs.strip():
        note = "white space at the ends only, which chat templates cut off"
        return Point("prompt", part, where, said, told, Verdict.HARMLESS, note, example)
    return Point("prompt", part, where, said, told, Verdict.CHANGES, f"{extent(changes)}{READS}", example)


def extent(changes: Sequence[Change]) -> str:
    """What sort of difference it is, where it is a slight one."""
    if all(not each.original.strip() and not each.theirs.strip() for each in changes):
        return "only white space differs, yet "
    if all(not re.search(r"\w", each.original + each.theirs) for each in changes):
        return "only separators and marks differ, yet "
    return ""


def context(original: str, change: Change) -> str:
    """The original's stretch with a little around it, where by itself it says nothing."""
    if re.search(r"\w", change.original):
        return quoted(change.original)
    around = original[max(0, change.start - 12) : change.start + len(change.original) + 12]
    return f"{quoted(change.original)} in {quoted(around)}"

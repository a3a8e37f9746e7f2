"""Gold labels from the path of an image: by the original's rule, as they are meant, and where the two differ."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.protocol import SCENES, Split, option

SUFFIX = ".png"  # in the original, `.PNG` and all others don't count
DIFFICULTIES = {"Easy": ("1.25", "1.4"), "Hard": ("1.05", "0.85")}  # and the generator's strengths
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SHOWN = 3  # examples in a problem


class Gold(NamedTuple):
    """The shape and scene of an image, and its difficulty and strength if the name has them."""

    shape: str  # as the folder spells it
    scene: str  # as the file name spells it
    difficulty: str = ""  # Easy or Hard
    strength: str = ""


def counts(path: str) -> bool:
    """Whether the original reads the file."""
    return path.endswith(SUFFIX)


def gold(path: str, split: Split) -> Gold:
    """Labels by the original's rule: the folder two levels up, and a field of the file name."""
    folder, fields = parts(path, split)
    place = 2 if split.name == "icon" else 1
    if len(fields) <= place:
        raise UserError(
            f"{path}: no scene: the file name has too few fields between hyphens ({len(fields)}, not {place + 1})"
        )
    scene = fields[place]
    if split.name == "old_sin":
        scene = scene.partition(".")[0][:-1]  # elephant3.png is elephant, but elephant10.png is elephant1
    return Gold(folder, scene, *difficulty(fields))


def named(path: str, split: Split) -> Gold:
    """Labels as they are meant: the options that the folder and any field of the file name are spellings of."""
    folder, fields = parts(path, split)
    shape = option(folder, split)
    if shape not in split.shapes:
        raise UserError(f"{path}: the folder {folder!r} is not a shape of the split {split.name}")
    kinds = split.shapes if split.name == "old_sin" else SCENES  # a cue conflict's texture is one of the shapes
    bare = [field.removesuffix(SUFFIX) for field in fields[1:]]
    bare = [field.rstrip("0123456789") for field in bare] if split.name == "old_sin" else bare
    scene = next((meant for field in bare if (meant := option(field, split)) in kinds), "")
    if not scene:
        raise UserError(f"{path}: no field of the file name is a scene")
    return Gold(shape, scene, *difficulty(fields))


def parts(path: str, split: Split) -> tuple[str, list[str]]:
    """The folder that names the shape, and the fields of the file name."""
    steps = path.replace("\\", "/").split("/")
    levels = 1 if split.name == "old_sin" else 2
    if len(steps) <= levels or not steps[-1 - levels]:
        where = "the file's own folder" if levels == 1 else "the folder two levels up"
        raise UserError(f"{path}: no shape: it is the name of {where}")
    return steps[-1 - levels], steps[-1].split("-")


def difficulty(fields: list[str]) -> tuple[str, str]:
    """Easy or Hard, and the strength that follows it."""
    for place, field in enumerate(fields):
        if field in DIFFICULTIES:
            following = fields[place + 1].removesuffix(SUFFIX) if place + 1 < len(fields) else ""
            return field, following if NUMBER.fullmatch(following) else ""
    return "", ""


def troubles(paths: Iterable[str], split: Split) -> list[str]:
    """Problems with files that distort scores, with their numbers: a sentence for each type."""
    problems: dict[str, list[str]] = {}
    for path in paths:
        for problem, example in troubles_of(path, split):
            problems.setdefault(problem, []).append(example)
    sentences = []
    for problem, examples in problems.items():
        few = ", ".join(list(dict.fromkeys(examples))[:SHOWN])
        sentences.append(f"{len(examples)} file{'s' * (len(examples) != 1)} {problem}{': ' * bool(few)}{few}")
    return sentences


def troubles_of(path: str, split: Split) -> Iterator[tuple[str, str]]:
    """Problems with a file, each with an example."""
    if not counts(path):
        yield f"without the extension {SUFFIX}: the original ignores them, here they count", ""
        return
    try:
        rule = gold(path, split)
    except UserError as error:
        yield "on which the original crashes", str(error)
        return
    for kind, label in (("shape", rule.shape), ("scene", rule.scene)):
        meant = option(label, split)
        if not label:
            yield f"with an empty {kind}, so every answer counts for it", ""
        elif meant not in (SCENES if kind == "scene" and split.name != "old_sin" else split.shapes):
            yield f"whose {kind} by the original's rule is not an option of {split.name}", label
        elif label.lower() not in meant.lower():
            yield f"with the {kind} {label}: the option is spelled {meant}, so a correct answer scores 0", ""
    folder, fields = parts(path, split)
    first = option(fields[0].rstrip("0123456789"), split)
    if first in split.shapes and first != option(folder, split):
        yield "named after another shape than the folder", f"{fields[0]} in {folder}"

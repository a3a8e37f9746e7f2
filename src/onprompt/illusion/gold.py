"""What an image shows, read from its path: as the original reads it, as it is meant, and where the two differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.protocol import SCENES, Split, option

SUFFIX = ".png"  # as the original: `.PNG` and all others don't count
DIFFICULTIES = {"Easy": ("1.25", "1.4"), "Hard": ("1.05", "0.85")}  # with the strengths of the generator
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SHOWN = 3  # examples in a finding


class Gold(NamedTuple):
    """The shape and the scene of an image; how hard it is and how strong the shape, where the name says so."""

    shape: str  # as the folder spells it
    scene: str  # as the file name spells it
    difficulty: str = ""  # Easy or Hard
    strength: str = ""


def counts(path: str) -> bool:
    """Whether the original takes the file."""
    return path.endswith(SUFFIX)


def gold(path: str, split: Split) -> Gold:
    """By the original's rule: the folder two levels up, and a field of the file name."""
    folder, fields = parts(path, split)
    place = scene_field(split)
    if len(fields) <= place:
        raise UserError(f"{path}: no scene, for its name has {len(fields)} fields between hyphens, not {place + 1}")
    scene = fields[place]
    if split.name == "old_sin":
        scene = scene.partition(".")[0][:-1]  # elephant3.png is elephant, but elephant10.png is elephant1
    return Gold(folder, scene, *difficulty(fields))


def named(path: str, split: Split) -> Gold:
    """As it is meant: the options that the folder and the file name are spellings of, wherever the scene stands."""
    folder, fields = parts(path, split)
    shape = option(folder, split)
    if shape not in split.shapes:
        raise UserError(f"{path}: the folder {folder!r} is no shape of the split {split.name}")
    kinds = split.shapes if split.name == "old_sin" else SCENES  # a cue conflict's texture is one of the shapes
    bare = [field.removesuffix(SUFFIX) for field in fields[1:]]
    bare = [field.rstrip("0123456789") for field in bare] if split.name == "old_sin" else bare
    scene = next((found for field in bare if (found := option(field, split)) in kinds), "")
    if not scene:
        raise UserError(f"{path}: no field of its name is a scene")
    return Gold(shape, scene, *difficulty(fields))


def scene_field(split: Split) -> int:
    """Which field of the file name holds the scene, by the original's rule."""
    return 2 if split.name == "icon" else 1


def parts(path: str, split: Split) -> tuple[str, list[str]]:
    """The folder that names the shape, and the fields of the file's name."""
    steps = path.replace("\\", "/").split("/")
    levels = 1 if split.name == "old_sin" else 2
    if len(steps) <= levels or not steps[-1 - levels]:
        where = "its own folder" if levels == 1 else "the folder two levels up"
        raise UserError(f"{path}: no shape, which is the name of {where}")
    return steps[-1 - levels], steps[-1].split("-")


def difficulty(fields: list[str]) -> tuple[str, str]:
    """Easy or Hard, and the strength that follows it."""
    for place, field in enumerate(fields):
        if field in DIFFICULTIES:
            following = fields[place + 1].removesuffix(SUFFIX) if place + 1 < len(fields) else ""
            return field, following if NUMBER.fullmatch(following) else ""
    return "", ""


def troubles(paths: Iterable[str], split: Split) -> list[str]:
    """What stands between the files and a fair score, counted: a sentence for each kind."""
    paths = list(paths)
    images = [path for path in paths if counts(path)]
    found, failures = [], []
    for path in images:
        try:
            found.append(gold(path, split))
        except UserError as error:
            failures.append(str(error))
    told = []
    if len(images) < len(paths):
        told.append(f"{files(len(paths) - len(images))} that are no {SUFFIX} don't count; nor does .PNG")
    if failures:
        told.append(f"the original stops at {files(len(failures))}: {shown(failures)}")
    told += folder_troubles(Counter(each.shape for each in found), split)
    told += scene_troubles(Counter(each.scene for each in found), split)
    told += class_troubles(images, split)
    return told


def folder_troubles(folders: Counter[str], split: Split) -> Iterator[str]:
    """Where a folder is spelt so that the right answer scores nothing, or is no shape at all."""
    for folder, count in folders.items():
        meant = option(folder, split)
        if meant not in split.shapes:
            yield f"{files(count)} in folder {folder}: that is no shape of the split {split.name}"
        elif folder.lower() not in meant.lower():
            yield (
                f"{files(count)} in folder {folder}: the option is spelt {meant}, "
                "so under the original's rule a correct answer there scores 0"
            )


def scene_troubles(scenes: Counter[str], split: Split) -> Iterator[str]:
    """Where the field that the original takes for the scene is none, or is spelt otherwise."""
    field = f"field {scene_field(split)} of"
    hard = sum(count for scene, count in scenes.items() if scene in DIFFICULTIES)
    if hard:
        yield f"{field} {hard} {split.name} file{'s' * (hard > 1)} is Easy or Hard, not a scene"
    kinds = split.shapes if split.name == "old_sin" else SCENES
    none: Counter[str] = Counter()
    for scene, count in scenes.items():
        meant = option(scene, split)
        if meant not in kinds:
            none[scene] = count if scene not in DIFFICULTIES else 0
        elif scene.lower() not in meant.lower():
            yield f"{field} {files(count)} is {scene}: the option is spelt {meant}, so a correct answer scores 0"
    if none.total():
        what = "no texture once its last character is cut" if split.name == "old_sin" else "no scene"
        yield f"{field} {files(none.total())} is {what}: {shown([scene or 'nothing' for scene in none if none[scene]])}"
    if scenes[""]:
        yield f"{field} {files(scenes[''])} is empty, and what is empty is in every answer: each counts for the scene"


def class_troubles(paths: Iterable[str], split: Split) -> Iterator[str]:
    """Where a file's name begins with another shape than its folder's."""
    strays = []
    for path in paths:
        try:
            folder, fields = parts(path, split)
        except UserError:
            continue
        first = option(fields[0].rstrip("0123456789"), split)
        if first in split.shapes and first != option(folder, split):
            strays.append(f"{fields[0]} in {folder}")
    if strays:
        yield f"{files(len(strays))} named after another shape than the folder's: {shown(strays)}"


def files(count: int) -> str:
    """`1 file`, `12 files`."""
    return f"{count} file{'s' * (count != 1)}"


def shown(texts: list[str]) -> str:
    """The first few different texts, and that there are more."""
    few = list(dict.fromkeys(texts))
    return ", ".join(few[:SHOWN]) + (", …" if len(few) > SHOWN else "")

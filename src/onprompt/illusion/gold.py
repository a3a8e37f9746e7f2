"""Gold labels from the path of an image: by the original's rule, as they are meant, and where the two differ."""

import re
from collections import Counter
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
    place = scene_field(split)
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


def scene_field(split: Split) -> int:
    """The field of the file name that is the scene by the original's rule."""
    return 2 if split.name == "icon" else 1


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
    paths = list(paths)
    images = [path for path in paths if counts(path)]
    labels, errors = [], []
    for path in images:
        try:
            labels.append(gold(path, split))
        except UserError as error:
            errors.append(str(error))
    problems = []
    if len(images) < len(paths):
        problems.append(f"{files(len(paths) - len(images))} without the extension {SUFFIX} (lower case) don't count")
    if errors:
        problems.append(f"the original crashes on {files(len(errors))}: {shown(errors)}")
    problems += folder_troubles(Counter(label.shape for label in labels), split)
    problems += scene_troubles(Counter(label.scene for label in labels), split)
    problems += name_troubles(images, split)
    return problems


def folder_troubles(folders: Counter[str], split: Split) -> Iterator[str]:
    """Folders that are spelled so that a correct answer scores 0, or that are no shape."""
    for folder, count in folders.items():
        meant = option(folder, split)
        if meant not in split.shapes:
            yield f"{files(count)} in folder {folder}, which is not a shape of the split {split.name}"
        elif folder.lower() not in meant.lower():
            yield f"{files(count)} in folder {folder}: the option is spelled {meant}, so a correct answer scores 0"


def scene_troubles(scenes: Counter[str], split: Split) -> Iterator[str]:
    """Files whose scene, by the original's rule, is not an option or is spelled differently."""
    field = f"field {scene_field(split)} of"
    if hard := sum(count for scene, count in scenes.items() if scene in DIFFICULTIES):
        yield f"{field} {hard} {split.name} file{'s' * (hard > 1)} is Easy or Hard, not a scene"
    kinds = split.shapes if split.name == "old_sin" else SCENES
    unknown: Counter[str] = Counter()
    for scene, count in scenes.items():
        meant = option(scene, split)
        if meant not in kinds:
            unknown[scene] = count if scene not in DIFFICULTIES else 0
        elif scene.lower() not in meant.lower():
            yield f"{field} {files(count)} is {scene}: the option is spelled {meant}, so a correct answer scores 0"
    if unknown.total():
        what = "not a texture without its last character" if split.name == "old_sin" else "not a scene"
        examples = shown([scene or "empty" for scene in unknown if unknown[scene]])
        yield f"{field} {files(unknown.total())} is {what}: {examples}"
    if scenes[""]:
        yield f"{field} {files(scenes[''])} is empty, so every answer counts for the scene"


def name_troubles(paths: Iterable[str], split: Split) -> Iterator[str]:
    """Files whose name starts with another shape than the folder's."""
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
        yield f"{files(len(strays))} named after another shape than the folder: {shown(strays)}"


def files(count: int) -> str:
    """`1 file`, `12 files`."""
    return f"{count} file{'s' * (count != 1)}"


def shown(texts: list[str]) -> str:
    """The first few different texts."""
    few = list(dict.fromkeys(texts))
    return ", ".join(few[:SHOWN]) + (", …" if len(few) > SHOWN else "")

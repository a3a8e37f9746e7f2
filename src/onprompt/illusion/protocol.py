"""IllusionBench as published: splits, options, questions byte for byte, gold labels from paths, and figures."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from onprompt.errors import UserError
from onprompt.plugins import did_you_mean
from onprompt.wording import plural


def load_toml(name: str) -> dict[str, Any]:
    """A data file of this package."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


DATA = load_toml("protocol.toml")
SIMPLE, COMPLEX = tuple(DATA["scenes"]["simple"]), tuple(DATA["scenes"]["complex"])
SCENES = SIMPLE + COMPLEX
QUESTIONS = ("shape", "scene")
ALSO: Mapping[str, Sequence[str]] = DATA["spellings"]
PUBLISHED: Mapping[str, Mapping[str, Sequence[float]]] = DATA["published"]
SUFFIX = ".png"  # in the original, `.PNG` and all others don't count
SHOWN = 3  # examples in a problem


@dataclass(frozen=True, slots=True)
class Split:
    """A split of the benchmark: its name in the original code and in the paper, its shapes and its two questions."""

    name: str
    paper: str  # "" where the paper has no such split
    shapes: tuple[str, ...]
    questions: Mapping[str, str] = field(hash=False)  # by what they ask for

    @property
    def options(self) -> tuple[str, ...]:
        """The options of both questions: the shapes, then the scenes."""
        return self.shapes + SCENES


def make(name: str, paper: str, noun: str, identify: str, separator: str = ", ") -> Split:
    """A split with its two questions, as the original asks them."""
    shapes = tuple(DATA["shapes"][name])
    options = f"{separator.join(shapes)},{', '.join(SCENES)}"
    worded = {"shape": ("a", identify, options, noun), "scene": ("an", "background", f"{options}.", "background")}
    questions = {
        kind: f"This image contains {article} icon integrated into a background, "
        f"where elements of the background contribute to forming the {noun}. "
        f"Identify the {sought} that is represented in the image "
        f"by choosing exclusively among the following options:{offered} "
        f"Provide your response by stating only the single, most accurate class name "
        f"that represents the {answer}. You have to respond with a single word."
        for kind, (article, sought, offered, answer) in worded.items()
    }
    return Split(name, paper, shapes, questions)


SPLITS: Mapping[str, Split] = {
    "sin": make("sin", "IN", "icon", "shape"),
    "logo": make("logo", "LOGO", "logo", "logo"),
    "icon": make("icon", "ICON", "icon", "icon"),
    "old_sin": make("old_sin", "", "icon", "icon", ","),
}


def split_named(name: str) -> Split:
    """A split by its name in the original code."""
    if name not in SPLITS:
        raise UserError(f"no split {name!r}{did_you_mean(name, SPLITS)}")
    return SPLITS[name]


def spelling(words: str) -> str:
    """A name without case, spaces, underscores and hyphens."""
    return re.sub(r"[\W_]+", "", words).lower()


@cache
def spellings(name: str) -> Mapping[str, str]:
    """The options of a split by their spellings."""
    options = SPLITS[name].options
    known = {spelling(other): option for option in options for other in ALSO.get(option, ())}
    return known | {spelling(option): option for option in options}


def option(words: str, split: Split) -> str:
    """The option that a name is a spelling of, or "": `stationary` is `Stationery`."""
    return spellings(split.name).get(spelling(words), "")


class Gold(NamedTuple):
    """The shape and scene of an image, and its difficulty (Easy or Hard) if the name has it."""

    shape: str  # as the folder spells it
    scene: str  # as the file name spells it
    difficulty: str = ""


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
    return Gold(folder, scene, difficulty(fields))


def named(path: str, split: Split) -> Gold:
    """Labels as they are meant: the options that the folder and any field of the file name are spellings of."""
    folder, fields = parts(path, split)
    shape = option(folder, split)
    if shape not in split.shapes:
        raise UserError(f"{path}: the folder {folder!r} is not a shape of the split {split.name}")
    bare = [each.removesuffix(SUFFIX) for each in fields[1:]]
    bare = [each.rstrip("0123456789") for each in bare] if split.name == "old_sin" else bare
    scene = next((meant for each in bare if (meant := option(each, split)) in scenes(split)), "")
    if not scene:
        raise UserError(f"{path}: no field of the file name is a scene")
    return Gold(shape, scene, difficulty(fields))


def scenes(split: Split) -> tuple[str, ...]:
    """What a scene label may be: a cue conflict's texture is one of the shapes."""
    return split.shapes if split.name == "old_sin" else SCENES


def parts(path: str, split: Split) -> tuple[str, list[str]]:
    """The folder that names the shape, and the fields of the file name."""
    steps = path.replace("\\", "/").split("/")
    levels = 1 if split.name == "old_sin" else 2
    if len(steps) <= levels or not steps[-1 - levels]:
        where = "the file's own folder" if levels == 1 else "the folder two levels up"
        raise UserError(f"{path}: no shape: it is the name of {where}")
    return steps[-1 - levels], steps[-1].split("-")


def difficulty(fields: Sequence[str]) -> str:
    """Easy, Hard or ""."""
    return next((each for each in fields if each in ("Easy", "Hard")), "")


def troubles(paths: Iterable[str], split: Split) -> list[str]:
    """Problems with files that distort scores, with their numbers: a sentence for each type."""
    problems: dict[str, list[str]] = {}
    for path in paths:
        for problem, example in troubles_of(path, split):
            problems.setdefault(problem, []).append(example)
    few = {problem: ", ".join(list(dict.fromkeys(each))[:SHOWN]) for problem, each in problems.items()}
    return [f"{plural(len(problems[each]), 'file')} {each}{': ' * bool(few[each])}{few[each]}" for each in problems]


def troubles_of(path: str, split: Split) -> Iterator[tuple[str, str]]:
    """Problems with a file, each with an example."""
    if not path.endswith(SUFFIX):
        yield f"without the extension {SUFFIX}: the original ignores them, here they count", ""
        return
    try:
        rule = gold(path, split)
    except UserError as error:
        yield "on which the original crashes", str(error)
        return
    for kind, label, options in (("shape", rule.shape, split.shapes), ("scene", rule.scene, scenes(split))):
        meant = option(label, split)
        if meant not in options:
            yield f"whose {kind} by the original's rule is not an option of {split.name}", label
        elif label.lower() not in meant.lower():
            yield f"with the {kind} {label}: the option is spelled {meant}, so a correct answer scores 0", ""

"""The splits, options and questions of the original, byte for byte, and the published figures."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from onprompt.errors import UserError
from onprompt.plugins import did_you_mean


def load_toml(name: str) -> dict[str, Any]:
    """A data file of this package."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


DATA = load_toml("protocol.toml")
SIMPLE, COMPLEX = tuple(DATA["scenes"]["simple"]), tuple(DATA["scenes"]["complex"])
SCENES = SIMPLE + COMPLEX
QUESTIONS = ("shape", "scene")
ALSO: Mapping[str, Sequence[str]] = DATA["spellings"]
PUBLISHED: Mapping[str, Mapping[str, tuple[float, float]]] = {
    model: {paper: (shape, scene) for paper, (shape, scene) in recalls.items()}
    for model, recalls in DATA["published"].items()
}


@dataclass(frozen=True, slots=True)
class Split:
    """A split of the benchmark: its name in the original code and in the paper, its shapes and its two questions."""

    name: str
    paper: str  # "" where the paper has no such split
    shapes: tuple[str, ...]
    shape_question: str
    scene_question: str

    @property
    def questions(self) -> dict[str, str]:
        """The two questions by what they ask for."""
        return {"shape": self.shape_question, "scene": self.scene_question}

    @property
    def options(self) -> tuple[str, ...]:
        """The options of both questions: the shapes, then the scenes."""
        return self.shapes + SCENES


class Case(NamedTuple):
    """An answer to a question about an image; `point` is what it shows in an audit."""

    split: str
    question: str
    shape: str
    scene: str
    answer: str
    point: str = ""

    @property
    def label(self) -> str:
        """What the question asks for."""
        return self.shape if self.question == "shape" else self.scene


def worded(article: str, noun: str, identify: str, options: str, answer: str) -> str:
    """A question as the original asks it."""
    return (
        f"This image contains {article} icon integrated into a background, "
        f"where elements of the background contribute to forming the {noun}. "
        f"Identify the {identify} that is represented in the image "
        f"by choosing exclusively among the following options:{options} "
        f"Provide your response by stating only the single, most accurate class name "
        f"that represents the {answer}. You have to respond with a single word."
    )


def make(name: str, paper: str, noun: str, identify: str, separator: str = ", ") -> Split:
    """A split with its two questions."""
    shapes = tuple(DATA["shapes"][name])
    options = f"{separator.join(shapes)},{', '.join(SCENES)}"
    shape = worded("a", noun, identify, options, noun)
    scene = worded("an", noun, "background", f"{options}.", "background")
    return Split(name, paper, shapes, shape, scene)


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

"""A re-implementation as a TOML file describes it. Every part may be left out, and nothing is assumed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from onprompt.errors import UserError
from onprompt.illusion.protocol import SPLITS

LARGEST = 2**20  # bytes of a description
SplitName = Annotated[str, Field(pattern=f"^({'|'.join(SPLITS)})$")]
Labels = tuple[str, ...]
Over = Literal[
    "all answers", "answers that name an option", "answers that are not empty", "one-word answers", "classes"
]
Function = Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]


class Section(BaseModel):
    """A section of the file; other keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Join(Section):
    """The separators of shapes and of scenes."""

    shapes: str | None = None
    scenes: str | None = None


class Questions(Section):
    """The two questions of a split: filled in, or with {shapes}, {scenes}, {simple}, {complex} and separators."""

    shape: str | None = None
    scene: str | None = None
    join: str | Join | None = None

    @property
    def joins(self) -> Join:
        """The separators by type of option."""
        return self.join if isinstance(self.join, Join) else Join(shapes=self.join, scenes=self.join)


class Options(Section):
    """The option lists: shapes by split; scenes in one list, or in a simple and a complex one."""

    shapes: Mapping[SplitName, Labels] = {}
    scenes: Labels | None = None
    simple: Labels | None = None
    complex: Labels | None = None

    @property
    def all_scenes(self) -> Labels | None:
        """All scenes, in order."""
        if self.scenes is None and self.simple is not None and self.complex is not None:
            return self.simple + self.complex
        return self.scenes


class Scoring(Section):
    """The function that scores an answer, and how it is called."""

    function: Function
    takes: tuple[Literal["prediction", "label", "shape", "scene", "split", "question"], ...]
    returns: Literal["match", "outcome", "counts"]
    case: Literal["as given", "lower"] = "as given"  # of the prediction when the function is called
    combine: Literal["shape first", "scene first", "independent"] | None = None

    @model_validator(mode="after")
    def check(self) -> Scoring:
        """Check that arguments and return value fit together."""
        if "prediction" not in self.takes:
            raise ValueError('takes needs "prediction"')
        if (self.returns == "match") != ("label" in self.takes):
            raise ValueError('a function that takes "label" returns "match", and no other function does')
        if self.combine and self.returns != "match":
            raise ValueError('combine is only for a function that returns "match"')
        return self


class Totals(Section):
    """How the scores of all answers to a question become a recall: a function, or what it is divided by."""

    function: Function | None = None
    takes: tuple[Literal["outcomes", "predictions", "shapes", "scenes", "question"], ...] = ("outcomes",)
    scale: Literal["share", "percent"] = "share"  # of what the function returns
    over: Over | None = None


class GoldRule(Section):
    """Which folder (1 is the file's own) or field of the file name (from 0) is the shape, and which the scene."""

    shape_folder: Annotated[int, Field(ge=1, le=9)] | None = None
    shape_field: Annotated[int, Field(ge=0, le=99)] | None = None
    scene_folder: Annotated[int, Field(ge=1, le=9)] | None = None
    scene_field: Annotated[int, Field(ge=0, le=99)] | None = None
    separator: Annotated[str, Field(min_length=1)] | None = None
    until: str = ""  # the scene ends before it
    drop_last: Annotated[int, Field(ge=0, le=99)] = 0  # characters of the scene


class Gold(Section):
    """Shape and scene of a path: a function, or a rule for each split; and which files count."""

    function: Function | None = None
    takes: tuple[Literal["path", "split"], ...] = ("path",)
    extensions: Labels | None = None
    sin: GoldRule | None = None
    logo: GoldRule | None = None
    icon: GoldRule | None = None
    old_sin: GoldRule | None = None


class Resize(Section):
    """How images are resized: a function of a Pillow image and two numbers, or filter, size and mode."""

    function: Function | None = None
    filter: str | None = None
    size: tuple[str | int, str | int] | None = None  # "width" and "height", in order
    mode: str | None = None


class Target(Section):
    """A re-implementation."""

    name: str
    path: str = "."  # the folder to import functions from, relative to the description
    prompts: Mapping[SplitName, Questions] = {}
    options: Options = Options()
    scoring: Scoring | None = None
    totals: Totals | None = None
    gold: Gold | None = None
    resize: Resize | None = None


def load(path: Path) -> tuple[Target, Path]:
    """Load a description; also returns the folder of its functions."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise UserError(f"{path} is larger than {LARGEST:,} bytes: is it a description of a re-implementation?")
        target = Target.model_validate(tomllib.loads(content.decode()))
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: byte {error.start} is {content[error.start]:#x}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise UserError(f"{path}: {'; '.join(map(describe, error.errors()[:3]))}") from None
    folder = (path.parent / target.path).resolve()
    if not folder.is_dir():
        raise UserError(f"{path}: path = {target.path!r} is not a folder")
    return target, folder


def describe(error: Mapping[str, Any]) -> str:
    """Where a description is invalid, and why."""
    where = ".".join(str(step) for step in error["loc"])
    return f"{where}: {error['msg']}" if where else str(error["msg"])

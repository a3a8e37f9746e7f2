"""A re-implementation as a small TOML file describes it. Every part may be left out: silence is never filled in."""

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
Function = Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]


class Given(BaseModel):
    """What a table of the file may hold, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Join(Given):
    """What stands between two options."""

    shapes: str | None = None
    scenes: str | None = None


class Questions(Given):
    """The two questions of a split: filled in, or with {shapes}, {scenes}, {simple}, {complex} and what joins these."""

    shape: str | None = None
    scene: str | None = None
    join: str | Join | None = None

    @property
    def joins(self) -> Join:
        """The separators of both kinds of option."""
        return self.join if isinstance(self.join, Join) else Join(shapes=self.join, scenes=self.join)


class Options(Given):
    """The option lists: shapes for each split; scenes for all, in one list or as simple and complex ones."""

    shapes: Mapping[SplitName, Labels] = {}
    scenes: Labels | None = None
    simple: Labels | None = None
    complex: Labels | None = None

    @property
    def every_scene(self) -> Labels | None:
        """All scenes in their order."""
        if self.scenes is None and self.simple is not None and self.complex is not None:
            return self.simple + self.complex
        return self.scenes


class Scoring(Given):
    """The function that scores an answer, and how it is called."""

    function: Function
    takes: tuple[Literal["prediction", "label", "shape", "scene", "split", "question"], ...]
    returns: Literal["match", "outcome", "counts"]
    case: Literal["as given", "lower"] = "as given"  # what the caller does to the prediction before
    combine: Literal["shape first", "scene first", "independent"] | None = None

    @model_validator(mode="after")
    def fits(self) -> Scoring:
        """A match is of one label; what tells shape from scene must be given both."""
        if "prediction" not in self.takes:
            raise ValueError("takes must name the prediction")
        if (self.returns == "match") != ("label" in self.takes):
            raise ValueError('a function that takes "label" returns "match", and only such a one does')
        if self.combine and self.returns != "match":
            raise ValueError('combine is for a function that returns "match"; another one decides by itself')
        return self


class GoldRule(Given):
    """Which folder names the shape (1 is the file's own), and which field of the file's name (from 0) the scene."""

    shape_folder: Annotated[int, Field(ge=1, le=9)] | None = None
    shape_field: Annotated[int, Field(ge=0, le=99)] | None = None
    scene_folder: Annotated[int, Field(ge=1, le=9)] | None = None
    scene_field: Annotated[int, Field(ge=0, le=99)] | None = None
    separator: Annotated[str, Field(min_length=1)] | None = None
    until: str = ""  # the scene ends here
    drop_last: Annotated[int, Field(ge=0, le=99)] = 0  # and loses so many characters


class Gold(Given):
    """How a path tells shape and scene: a function of the path, or a rule for each split; and which files count."""

    function: Function | None = None
    takes: tuple[Literal["path", "split"], ...] = ("path",)
    extensions: Labels | None = None
    sin: GoldRule | None = None
    logo: GoldRule | None = None
    icon: GoldRule | None = None
    old_sin: GoldRule | None = None


class Resize(Given):
    """What is done to an image: a function of a Pillow image and the two given numbers, or filter, sides and mode."""

    function: Function | None = None
    filter: str | None = None
    size: tuple[str | int, str | int] | None = None  # "width", "height", in the order in which they are used
    mode: str | None = None


class Target(Given):
    """A re-implementation."""

    name: str
    path: str = "."  # the folder that functions are imported from, relative to the description
    prompts: Mapping[SplitName, Questions] = {}
    options: Options = Options()
    scoring: Scoring | None = None
    gold: Gold | None = None
    resize: Resize | None = None


def read(path: Path) -> tuple[Target, Path]:
    """The description in a file, and the folder that its functions are in."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise UserError(f"{path} has more than {LARGEST:,} bytes: is it a description of a re-implementation?")
        target = Target.model_validate(tomllib.loads(content.decode()))
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: byte {error.start} is {content[error.start]:#x}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is no TOML: {error}") from None
    except ValidationError as error:
        raise UserError(f"{path}: {'; '.join(complaint(each) for each in error.errors()[:3])}") from None
    folder = (path.parent / target.path).resolve()
    if not folder.is_dir():
        raise UserError(f"{path}: path = {target.path!r} is no folder beside it")
    return target, folder


def complaint(error: Mapping[str, Any]) -> str:
    """Where a description is wrong, and how."""
    where = ".".join(str(step) for step in error["loc"])
    return f"{where}: {error['msg']}" if where else str(error["msg"])

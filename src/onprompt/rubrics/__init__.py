"""The protocols, one file each, with all that is particular to one. Their texts, word for word, are in `texts`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onprompt.types import FRAME, IMAGE, NAMES, TEXT, Input

DEFAULT = "verify"  # the rubric unless another is named
TEXTS = Path(__file__).with_name("texts")
# The inputs of a rubric that compares one image with its prompt.
PROMPT_INPUTS = (
    Input(
        "image",
        IMAGE,
        "The image.",
        columns=("image", "image_path", "img", "file", "filename", "file_name", "path", "output", "generated"),
    ),
    Input("prompt", TEXT, "What it should show.", columns=("prompt", "caption", "text", "instruction", "description")),
    Input("major", NAMES, "An object that weighs more; can be repeated.", required=False, columns=("major",)),
    Input("frame", FRAME, "Which frame of an animation, from 0.", required=False),
)


def text(name: str) -> str:
    """A judge's text, word for word."""
    return (TEXTS / f"{name}.txt").read_bytes().decode()


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }

"""The protocols, one file each, with all that is particular to one. Their texts, word for word, are in `texts`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onprompt.types import FRAME, IMAGE, NAMES, TEXT, Input, Rubric

DEFAULT = "verify"  # the rubric unless another is named
TEXTS = Path(__file__).with_name("texts")
LEVEL = re.compile(r"^(?:Score )?(\d)(?: =|:) (.+)(?:\nGuiding Principle: (.+))?$", re.MULTILINE)
DEFINITION = re.compile(r"=== FACTOR \d: (\w+) ===\s+Definition: (.+)")
# The inputs of a rubric that compares one image with its prompt.
PROMPT_INPUTS = (
    Input(
        "image",
        IMAGE,
        "The image.",
        columns=("image", "image_path", "img", "file", "filename", "file_name", "path", "output", "generated"),
    ),
    Input("prompt", TEXT, "What it should show.", columns=("prompt", "caption", "text", "instruction", "description")),
    Input(
        "major",
        NAMES,
        "A main object of the prompt, which weighs more; repeatable.",
        required=False,
        columns=("major",),
    ),
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


def guidelines(rubric: Rubric) -> tuple[dict[int, str], dict[str, str]]:
    """What a rubric's text says of each score, and of each factor."""
    scale = set().union(*rubric.factors.values())
    levels = {int(n): f"{name}. {rule}" if rule else name for n, name, rule in LEVEL.findall(rubric.text)}
    factors = {name.lower(): words for name, words in DEFINITION.findall(rubric.text)}
    return {n: words[0].upper() + words[1:] for n, words in levels.items() if n in scale}, factors

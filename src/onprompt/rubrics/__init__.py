"""The protocols, one file each: all that is particular to one. The judges' texts, word for word, are in `texts`."""

from pathlib import Path

from onprompt.types import FRAME, IMAGE, NAMES, TEXT, Input

DEFAULT = "verify"  # where no rubric is named
TEXTS = Path(__file__).with_name("texts")
# What a rubric takes that compares one picture with its prompt.
PROMPT_INPUTS = (
    Input(
        "image",
        IMAGE,
        "The picture.",
        columns=("image", "image_path", "img", "file", "filename", "file_name", "path", "output", "generated"),
    ),
    Input(
        "prompt",
        TEXT,
        "What it should show.",
        columns=("prompt", "caption", "text", "instruction", "description"),
    ),
    Input("major", NAMES, "An object that weighs more; can be repeated.", required=False, columns=("major",)),
    Input("frame", FRAME, "Which frame of an animation, from 0.", required=False),
)


def text(name: str) -> str:
    """A judge's text as it was given to us."""
    return (TEXTS / f"{name}.txt").read_bytes().decode()

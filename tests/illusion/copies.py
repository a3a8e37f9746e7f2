"""A faithful copy of the original's rules."""

from pathlib import Path

from onprompt.illusion.audit import Audit, Point, audit
from onprompt.illusion.protocol import SCENES, SPLITS

LISTS = "\n".join(f"{name.upper()} = {list(split.shapes)!r}" for name, split in SPLITS.items())
FAITHFUL = f"""
import os
QUESTIONS = { ({name: dict(split.questions) for name, split in SPLITS.items()})!r}
{LISTS}
SCENES = {list(SCENES)!r}

def build_prompt(split, question):
    return QUESTIONS[split][question]

def score(prediction, shape, scene):
    prediction = prediction.lower()
    if shape.lower() in prediction:
        return "shape"
    elif scene.lower() in prediction or scene.replace("_", " ") in prediction:
        return "texture"
    return "rest"

def gold_labels(path, split):
    folders = path.split(os.sep)
    fields = folders[-1].split("-")
    if split == "old_sin":
        return folders[-2], fields[1].split(".")[0][:-1]
    return folders[-3], fields[2 if split == "icon" else 1]

def recall(hits):
    return sum(hits) / len(hits)

def resize(image, width, height):
    return image.convert("RGB").resize((width, height), 1)
"""


def audited(folder: Path, source: str, name: str = "copied.py") -> Audit:
    """The audit of a file with this text."""
    path = folder / name
    path.write_text(source)
    return audit(path)


def point(result: Audit, table: str, name: str) -> Point:
    """What an audit says of one point."""
    (found,) = (each for each in result.points if (each.table, each.name) == (table, name))
    return found

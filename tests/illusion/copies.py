"""A faithful copy of the original's rules."""

from pathlib import Path

from onprompt.illusion.audit import Audit, audit
from onprompt.illusion.protocol import SPLITS

FAITHFUL = f"""
import os
QUESTIONS = { ({name: dict(split.questions) for name, split in SPLITS.items()})!r}

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
    return folders[-3], folders[-1].split("-")[2 if split == "icon" else 1]
"""


def audited(folder: Path, source: str, name: str = "copied.py") -> Audit:
    """The audit of a file with this text."""
    path = folder / name
    path.write_text(source)
    return audit(path)

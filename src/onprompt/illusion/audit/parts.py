"""What the rubrics' texts are made of: the words with which each part begins, and its name in plain language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# In the order of the text. A part goes from its first words to those of the next; not every version has all parts.
BEGINNINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "verify": (
        ("the judge's role", "You are an Image–Prompt"),
        ("the form of the answer, (4)", "You should output the format"),
        ("step 1, what the prompt names", "Step 1: Extract"),
        ("step 2, what the image shows", "Step 2: Extract"),
        ("step 3, extras are ignored", "Step 3: The purpose"),
        ("step 4, the comparison", "Step 4: Alignment check. Compare"),
        ("step 5, grades from 0 to 4", "Step 5: Grading the"),
        ("what to say of mismatches", "If there are mismatches"),
        ("the steps once more, with their lists", "Step 1: Prompt Object Extractor: I"),
        ("the rubric's two dimensions", "Step 5: Grading Rubric"),
        ("score 4", "Score 4: Perfect"),
        ("score 3", "Score 3: High"),
        ("score 2", "Score 2: Partial"),
        ("score 1", "Score 1: Poor"),
        ("score 0", "Score 0: No"),
        ("how to apply the rubric", "How to Apply"),
        ("the worked example", "eg1:"),
        ("the example's last line, (4)", "Since all mactched"),
    ),
    "rate": (
        ("the judge's role and steps", "You are an expert"),
        ("score 1", "1: the image"),
        ("score 2", "2: the image"),
        ("score 3", "3: the image"),
        ("score 4", "4: the image"),
        ("score 5", "5: the image"),
        ("the reasoning of at most 20 words", "Please explain"),
        ("the worked examples", "User prompt: A girl"),
    ),
    "edit": (
        ("the judge's role", "ROLE:"),
        ("the three inputs", "CONTEXT:"),
        ("alignment", "=== FACTOR 1"),
        ("completeness", "=== FACTOR 2"),
        ("plausibility", "=== FACTOR 3"),
        ("the steps", "EVALUATION STEPS:"),
        ("the scale from 1 to 7", "SCORING SYSTEM"),
        ("the output format, strict JSON", "OUTPUT FORMAT"),
        ("the constraints", "CONSTRAINTS:"),
    ),
}


class Part(NamedTuple):
    """A part of a text, from one character to another."""

    title: str
    start: int
    end: int


def parts(rubric: str, text: str) -> list[Part]:
    """The parts of one of our texts."""
    found: list[tuple[str, int]] = []
    for title, words in BEGINNINGS.get(rubric, ()):
        start = text.find(words, found[-1][1] if found else 0)
        if start >= 0:
            found.append((title, start))
    ends = [start for _, start in found[1:]] + [len(text)]
    return [Part(title, start, end) for (title, start), end in zip(found, ends, strict=True)]

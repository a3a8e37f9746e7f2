"""Broken answers of models: a score that is read stands in the answer, or there is none."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from onprompt import plugins
from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import ascii_digits, read_answer
from onprompt.samples import make_sample
from onprompt.settings import Settings
from onprompt.types import Answer, Rubric, Sample
from tests.hostile.damage import damaged_text

PICTURE = np.zeros((8, 8, 3), np.uint8)
INPUTS = {
    "verify": {"image": PICTURE, "prompt": "two dogs"},
    "rate": {"image": PICTURE, "prompt": "two dogs"},
    "edit": {"before": PICTURE, "after": PICTURE, "instruction": "make it red"},
}
WHOLE = {
    "verify": 'Step 1: ["Two dogs","A ball"]\nStep 2: ["Two dogs"]\nStep 3&4: [("A ball", "nothing")]\nNone.\n(2)',
    "rate": "Reasoning: The image shows both dogs, but the ball is blue instead of red.\nScore: 3",
    "edit": '{"alignment": {"score": 6, "justification": "It is red now, as the instruction asks, and nothing else."},'
    ' "completeness": {"score": 5, "justification": "All of it is red but for one corner at the lower left."},'
    ' "plausibility": {"score": 7, "justification": "Light and shadow fit the rest of the picture very well."}}',
}


@cache
def asked(name: str) -> tuple[Rubric, Sample]:
    """A rubric, and a sample for it."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC
    return rubric, make_sample(rubric, Settings(), INPUTS[name])


def case(chance: Random, folder: Path) -> Counter[str]:
    """One answer."""
    name = chance.choice(list(WHOLE))
    text = damaged_text(chance, WHOLE[name])
    rubric, sample = asked(name)
    try:
        reading = read_answer(rubric, Answer(text, chance.choice(("end", "end", "length"))), sample)
    except UnreadableAnswer:
        return Counter(["unreadable"])
    for key, score in reading.scores.items():
        assert score in rubric.factors[key], (key, score)
        assert str(score) in ascii_digits(text), (score, text)
    return Counter(["read"])

"""Broken answers of models: a score that is read stands in the answer, or there is none."""

from __future__ import annotations

import json
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
    "edit": json.dumps(
        {
            "image_id": "the picture",
            "online_factor_results": {
                name: {"score": score, "justification": " ".join(["The ball is red as the instruction asks."] * 3)}
                for name, score in (("alignment", 6), ("completeness", 5), ("plausibility", 7))
            },
        }
    ),
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

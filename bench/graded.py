"""Verdicts on many images and texts, graded again and again: what was seen is kept."""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from onprompt.evidence.beliefs import believe
from onprompt.evidence.grading import rubric_score
from onprompt.evidence.observe import observe
from onprompt.settings import load
from onprompt.vision.image import load_picture


class Grade(NamedTuple):
    """What `verify` makes of one image and text."""

    value: float
    score: int
    coverage: float
    estimated: float


class Graded:
    """Grades by image and text; what was seen is kept, so that grading again costs nothing."""

    def __init__(self, data):
        self.data, self.settings = data, load()
        self.observed = {}

    def observe(self, image, text):
        """What was observed; of the estimates those that the claims asked for, so that no picture is kept."""
        key = str(image), text
        if key not in self.observed:
            found, asked = observe(text, load_picture(image, self.settings), (), self.settings), {}

            def estimate(phrase):
                return asked.setdefault(phrase, found.image.estimate(phrase))

            believe(found.scene, replace(found.image, estimate=estimate), self.settings)
            self.observed[key] = replace(found, image=replace(found.image, estimate=asked.get))
        return self.observed[key]

    def grade(self, image, text):
        found = self.observe(image, text)
        expected = found.expectation(rubric_score, range(5), self.settings)
        return Grade(expected.value, expected.score, found.coverage, found.measures(self.settings)["estimated"])


def interval(statistic, groups):
    """A statistic of rows, and what it is in 95 of 100 resamplings of the groups that the rows come in."""
    by_group = defaultdict(list)
    for row, group in enumerate(groups):
        by_group[group].append(row)
    parts, chance = [by_group[name] for name in sorted(by_group)], np.random.default_rng(0)
    draws = (chance.choice(len(parts), len(parts)) for _ in range(300))
    found = [statistic(np.array([row for k in draw for row in parts[k]])) for draw in draws]
    low, high = np.nanpercentile(found, [2.5, 97.5])
    return f"{statistic(np.arange(len(groups))):.3f} [{low:.3f}, {high:.3f}]"

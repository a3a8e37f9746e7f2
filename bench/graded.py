"""Verdicts on many images and texts, graded again and again: what was seen is kept."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
from onprompt.evidence.estimates import Whole, no_estimate
from onprompt.evidence.match import match
from onprompt.evidence.observations import observe

from onprompt.rubrics.verify import SCALE, score_of
from onprompt.settings import load
from onprompt.vision.image import load_picture


class Graded:
    """Grades by image and text; what was seen is kept, so that grading again costs nothing."""

    def __init__(self, data):
        self.data, self.settings = data, load()
        self.observed, self.left_out = {}, ()

    def observe(self, image, text):
        """What was observed; of the estimates those that the matching asked for, so that no picture is kept."""
        key = str(image), text
        if key not in self.observed:
            found, asked = observe(text, load_picture(image, self.settings), (), self.settings), {}

            def estimate(phrase):
                return asked.setdefault(phrase, found.estimate(phrase))

            match(found.scene, found.seen, found.lines, self.settings, estimate, Whole(found.artwork, found.overall))
            self.observed[key] = found if found.blank else replace(found, estimate=asked.get)
        return self.observed[key]

    def grade(self, image, text):
        found = self.observe(image, text)
        if not self.settings.matcher and not found.blank:
            found = replace(found, estimate=no_estimate, overall=None, artwork=0.0)
        whole = Whole(found.artwork, found.overall)
        matches = match(found.scene, found.seen, found.lines, self.settings, found.estimate, whole)
        kept = tuple(without(each, self.left_out) for each in matches)
        grade = replace(found, matches=kept).grade(self.settings)
        return replace(grade, value=self.reconciled(grade)[1])

    def score(self, grade):
        """The score of a grade by `verify`."""
        return self.reconciled(grade)[0]

    def reconciled(self, grade):
        """Score and value by `verify`; the same again for a value that was moved."""
        checked = score_of(grade.presence, grade.attribute_accuracy, self.settings, grade.faultless)
        return grade.reconcile(checked, SCALE[-1], self.settings)


def without(each, kinds):
    """A match without the checks of some kinds."""
    return replace(each, checks=(each.first, *(check for check in each.checks[1:] if check.claim.kind not in kinds)))


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

"""Verdicts on many images and texts, graded again and again: what was seen is kept."""

from collections import defaultdict

import numpy as np

from onprompt.evidence.grade import grade
from onprompt.evidence.guesses import nobody
from onprompt.evidence.match import match
from onprompt.judges.evidence import EvidenceJudge, asked_closely, asks_for_text, names, never, nothing
from onprompt.language.parser import parse
from onprompt.settings import load
from onprompt.types import Sample
from onprompt.vision.detection import detect
from onprompt.vision.global_properties import is_blank
from onprompt.vision.image import load_picture
from onprompt.vision.text import read_text


class Graded:
    """Verdicts by image and text; what was seen is kept, so that grading again costs nothing."""

    def __init__(self, data):
        self.data, self.settings = data, load()
        self.seen, self.left_out = {}, ()

    def look_at(self, image, text):
        key = str(image), text
        if key not in self.seen:
            picture = load_picture(image, self.settings)
            scene = parse(text, self.settings)
            if is_blank(picture):
                self.seen[key] = scene, nothing(scene), (), never, None
            else:
                seen = detect(picture, names(scene), self.settings, asked_closely(scene))
                lines = read_text(picture) if asks_for_text(scene) else ()
                guess, fits = EvidenceJudge(self.settings).guesser(Sample("", text, picture), scene)
                asked = {}  # phrase → chance, so that no picture has to be kept
                match(scene, seen, lines, self.settings, lambda phrase: asked.setdefault(phrase, guess(phrase)))
                self.seen[key] = scene, seen, lines, asked.get, fits
        return self.seen[key]

    def grade(self, image, text):
        scene, seen, lines, guess, fits = self.look_at(image, text)
        if not self.settings.matcher:
            guess, fits = nobody, None
        matches = match(scene, seen, lines, self.settings, guess)
        matches = [without(each, self.left_out) for each in matches]
        empty = self.settings.model_copy(update={"prior": 0.0}) if guess is never else self.settings
        return grade(matches, empty, fits)


def without(each, kinds):
    """A match without the checks of some kinds."""
    checks = (each.checks[0], *(check for check in each.checks[1:] if check.kind not in kinds))
    return type(each)(each.thing, each.chosen, checks)


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

"""Step 5: which claims hold → a score; and over claims that are only probable, the score to expect.

A rubric's rule grades a table of truths: one row a possible state of affairs, one column a claim. Where all claims are
certain there is one row, and the score is the rule's own. Otherwise the rule grades every combination of the uncertain
ones (or a fixed sample of them), and the verdict is the mean, weighted by how likely each combination is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onprompt.types import Check, Outcome, Scene

if TYPE_CHECKING:
    from onprompt.settings import Settings

MINOR = 0.5  # credit of a minor error: another shade, the next size, a count off by one, a swapped side
KINDRED, SAME_PURPOSE = 0.2, 0.4  # credit of a similar kind in its place: a zebra for a giraffe, a bicycle for a car
EXACT = 8  # uncertain claims up to which all combinations are graded
SAMPLES = 1024  # combinations graded where there are more
CERTAIN = 0.001  # distance from 0 or 1 within which a claim is certain
MIDDLE = (0.1, 0.9)  # the quantiles of the interval

Truths = NDArray[np.bool_]  # a row for each state of affairs, a column for each claim
Numbers = NDArray[np.float64]  # one for each row
Rule = Callable[["Tally"], NDArray[np.int64]]


@cache
def reliability() -> dict[str, Any]:
    """What was fitted: priors, what measurements are worth, and where values are cut into scores."""
    return tomllib.loads(Path(__file__).with_name("reliability.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Expectation:
    """The score to expect on a rubric's scale: as a share of it, the score itself, and the middle 80 %."""

    value: float
    score: int
    interval: tuple[float, float]
    shares: tuple[float, ...]  # how likely each score of the scale is
    measures: Mapping[str, float | None]  # the protocols' own, as they are to be expected

    def measured(self, *names: str) -> dict[str, float | None]:
        """Some of the measures."""
        return {name: self.measures[name] for name in names}

    def limited(self, scale: range) -> Expectation:
        """The same below the cut of the upper half: in proportion, so that what is likelier stays above."""
        below = reliability()["cuts"][2] * (1 - 1e-6)
        low, high = self.interval
        value = self.value * below
        return replace(self, value=value, score=cut(value, scale), interval=(low * below, high * below))


def expect(scene: Scene, checks: Sequence[Check], rule: Rule, scale: range, settings: Settings) -> Expectation:
    """What a rule gives for claims of these probabilities."""
    truths, weights = possible_truths(checks)
    tally = Tally(scene, checks, truths, settings)
    top = len(scale) - 1
    shares = np.bincount(rule(tally) - scale[0], weights, minlength=len(scale))
    value = min(1.0, float(shares @ np.arange(len(scale))) / top)
    low, high = np.searchsorted(np.cumsum(shares), np.array(MIDDLE) - 1e-9).tolist()
    measures: dict[str, float | None] = {
        "presence": float(weights @ tally.presence),
        "attribute_accuracy": float(weights @ tally.accuracy),
        "elements": float(weights @ tally.elements),
        "relations": float(weights @ tally.related) / tally.relations if tally.relations else None,
    }
    interval = min(low / top, value), max(min(high, top) / top, value)  # a mean may lie beside all that is likely
    return Expectation(value, cut(value, scale), interval, tuple(np.round(shares, 6).tolist()), measures)


def cut(value: float, scale: range) -> int:
    """A value as a score: four fixed thresholds, between the values that certain claims give."""
    return scale[0] + int(np.searchsorted(reliability()["cuts"], round(value, 9), side="right"))


def possible_truths(checks: Sequence[Check]) -> tuple[Truths, Numbers]:
    """The states of affairs to grade, and the weight of each.

    What was measured holds or fails by itself. What nobody could measure is believed for one reason, that the image as
    a whole looks right or wrong, so of those claims the likelier ones hold whenever a less likely one does.
    """
    likely = np.array([check.probability for check in checks], dtype=np.float64)
    uncertain = np.minimum(likely, 1 - likely) > CERTAIN
    together = np.array([check.outcome is Outcome.UNVERIFIABLE for check in checks], dtype=np.bool_)
    alone, shared = np.flatnonzero(uncertain & ~together), np.flatnonzero(uncertain & together)
    if len(alone) > EXACT:
        drawn = np.random.default_rng(0).random((SAMPLES, len(likely)))
        drawn[:, shared] = ((np.arange(SAMPLES) + 0.5) / SAMPLES)[:, None]
        return drawn < likely, np.full(SAMPLES, 1 / SAMPLES)
    steps = np.unique(np.concatenate([likely[shared], [0.0, 1.0]]))
    rows = np.arange(2 ** len(alone) * (len(steps) - 1))
    state, combination = rows % (len(steps) - 1), rows // (len(steps) - 1)
    truths = np.tile(likely >= 0.5, (len(rows), 1))
    truths[:, alone] = (combination[:, None] >> np.arange(len(alone))) & 1
    truths[:, shared] = steps[state][:, None] < likely[shared]
    each = np.where(truths[:, alone], likely[alone], 1 - likely[alone])
    return truths, np.asarray(each.prod(axis=1) * np.diff(steps)[state], dtype=np.float64)


class Tally:
    """What a table of truths comes to, object by object: the protocols' measures and kinds of errors."""

    def __init__(self, scene: Scene, checks: Sequence[Check], truths: Truths, settings: Settings) -> None:
        rows = len(truths)
        self.scene, self.checks, self.settings = scene, checks, settings
        self.credits = [np.where(truths[:, place], 1.0, check.otherwise) for place, check in enumerate(checks)]
        own: list[list[int]] = [[] for _ in scene.things]
        for place, check in enumerate(checks):
            if check.thing is not None:
                own[check.thing].append(place)
        mentioned = scene.mentioned
        self.there = [self.credits[places[0]] >= MINOR for places in own]
        self.required = [i for i, thing in enumerate(scene.things) if not thing.absent and i not in mentioned]
        self.minor, self.wrong, self.missing = (np.zeros(rows, dtype=np.int64) for _ in range(3))
        self.kindred = np.zeros(rows)  # the best credit of something in a missing object's place
        self.unlike = np.zeros(rows, dtype=np.bool_)  # of another kind than asked for, with no attribute right
        self.details, self.detailed = np.zeros(rows), 0 * self.minor  # of objects that are there: credits, and number
        self.related, self.relations = np.zeros(rows), 0  # of actions and relations: credits, and number
        self.fits = np.ones(rows, dtype=np.bool_)  # as a whole
        counted = [i for i in range(len(scene.things)) if i not in mentioned]
        scores = [scene.things[i].importance * self.add(i, own[i]) for i in counted]
        total = sum(scene.things[i].importance for i in counted)
        properties = []
        for place, check in enumerate(checks):
            if check.claim.kind == "whole":
                self.fits = truths[:, place]
            elif check.thing is None:
                properties.append(self.credits[place])
                self.charge(self.credits[place], np.ones(rows, dtype=np.bool_))
        full, elements = np.sum(scores, axis=0) if total else np.zeros((2, rows))
        # Means of exact scores may fall short of a threshold by rounding alone.
        self.presence = np.round(full / total, 9) if total else np.ones(rows)
        parts = total + len(properties)  # to `rate`, a property of the image is an element
        self.elements = np.round((elements + sum(properties)) / parts, 9) if parts else np.ones(rows)
        self.accuracy = np.round(np.where(self.detailed > 0, self.details / np.maximum(self.detailed, 1), 1.0), 9)

    def add(self, index: int, places: Sequence[int]) -> Numbers:
        """Tally one object: its `match_score`, with and without actions and relations."""
        there, first = self.there[index], self.credits[places[0]]
        self.missing += ~there
        if index not in self.required:  # an absence
            return np.stack([np.where(there, 1.0, 0.0)] * 2)
        self.kindred = np.where(there, self.kindred, np.maximum(self.kindred, first))
        kind, count = first.copy(), np.ones(len(first))
        right, number = np.zeros((2, len(first))), np.zeros((2, len(first)))
        for place in places[1:]:
            check, credit = self.checks[place], self.credits[place]
            if check.claim.kind == "count":
                count = credit
                self.charge(credit, there, measured=False)
            elif check.claim.kind == "kind":  # an office chair, of which only "chair" is known
                kind = np.where(credit < 1, kind * self.settings.subtype_score, kind)
                self.charge(credit, there, measured=False)
            else:
                # A missing counterpart is charged once, as a missing object.
                counted = there if check.target is None else there & self.there[check.target]
                self.charge(credit, counted)
                also = np.array([[True], [not check.claim.is_interaction]]) & counted
                right, number = right + credit * also, number + also
                if check.claim.is_interaction:
                    self.related, self.relations = self.related + (credit == 1) * counted, self.relations + 1
        self.unlike |= there & (kind < first) & (number[0] > 0) & (right[0] == 0)
        attributes = np.where(number > 0, right / np.maximum(number, 1), 1.0)
        weights = self.settings.weight_class, self.settings.weight_count, self.settings.weight_attributes
        full = weights[0] * kind + weights[1] * count + weights[2] * attributes
        return np.where(there, full, weights[0] * first)

    def charge(self, credit: Numbers, counted: Truths, measured: bool = True) -> None:
        """Count an error, and the credit of an attribute."""
        self.minor += counted & (credit < 1) & (credit >= MINOR)
        self.wrong += counted & (credit < MINOR)
        if measured:
            self.details, self.detailed = self.details + credit * counted, self.detailed + counted


def rubric_score(tally: Tally) -> NDArray[np.int64]:
    """`verify`: the thresholds of step 5; where they disagree with the rubric's sentences, the sentences win.

    An image that as a whole is not what the prompt describes, whatever it shows of it, has half the score.
    """
    scores = claims_score(tally)
    return np.where(tally.fits, scores, scores // 2)


def claims_score(tally: Tally) -> NDArray[np.int64]:
    """The score of the single claims."""
    scene, settings = tally.scene, tally.settings
    presence, accuracy = tally.presence, tally.accuracy
    by_thresholds = np.select(
        [
            (presence >= settings.presence_4) & (accuracy >= settings.attributes_4),
            (presence >= settings.presence_3) & (accuracy >= settings.attributes_3),
            presence >= settings.presence_2,
            presence >= settings.presence_1,
        ],
        [4, 3, 2, 1],
        default=0,
    )
    complete = tally.missing == 0
    if not scene.things:  # only the image as a whole is described
        levels = [tally.wrong + tally.minor == 0, tally.wrong == 0, accuracy >= MINOR]
        return np.select([tally.fits & level for level in levels], [4, 3, 2], default=0)
    if not tally.required:
        return np.select([complete & (tally.wrong + tally.minor == 0), complete], [4, 3], default=by_thresholds)
    shown = np.any([tally.there[index] for index in tally.required], axis=0)
    # One wrong attribute among several objects leaves the core of the prompt; that of the only one is its core.
    sole = len(tally.required) == 1
    alone = 2 if sole else 3
    # Without errors in what is there, at most half missing is a missing counterpart (2); else most are missing (1).
    at_least = np.where((2 * tally.missing <= len(tally.required)) & (tally.wrong == 0), 2, 1)
    return np.select(
        [
            ~shown,
            complete & (tally.minor + tally.wrong == 0),
            complete & (tally.wrong == 0),
            complete & tally.unlike & sole,
            complete & (tally.wrong == 1),
            complete,
        ],
        [
            np.select([tally.kindred >= SAME_PURPOSE, tally.kindred > 0], [2, 1], default=0),
            4,
            3,
            1,
            alone,
            np.clip(by_thresholds, 2, 3),
        ],
        default=np.clip(by_thresholds, at_least, 3),
    )

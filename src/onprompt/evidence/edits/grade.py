"""An edit judged by evidence: its operations, and alignment, completeness and plausibility as shares of their scales.

What was fitted is in reliability.toml, with the script that wrote it: curves from log-odds to the protocol's scale, on
which 5 to 7 are edits that people accept.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from onprompt.evidence.beliefs import sigmoid
from onprompt.evidence.edits.claims import Operation, judge_operations
from onprompt.evidence.edits.observations import EditObservations, observe_edit
from onprompt.evidence.edits.plausibility import faults
from onprompt.evidence.observe import is_animated
from onprompt.settings import Settings
from onprompt.types import Check, EditEvidence, Flag, Outcome, Sample
from onprompt.vision.geometry import ramp
from onprompt.vision.matchers import load_matcher

# Weights of what shows a careful edit: change in one place, similarity, change within a mask; and of what redrawing
# costs plausibility (bench/edit.py).
PLACE, SIMILAR, MASK, REDRAWN = 3.3, 6.0, 2.0, 8.0
SPREAD, KEPT, LAYOUT = 0.34, 0.83, 0.6  # concentration, similarity of features and of edges of an average edit
CONTRAST = 2.2  # change within a mask against outside, in logarithms, of an average edit
DONE = 0.67  # weight of an operation's log-odds beside those that the rest was left alone
BARE = 1.25  # log-odds by which a careful edit may be above its operation: what was not carried out is never above 4
PRESERVED = 0.5, 0.97  # similarity of features: another image, the same
FAULT, SHOWN = 3.0, 0.2  # log-odds that a certain fault costs, and severity from which a fault is reported
LOW = 0.25  # share of the scale at most (2 of 7) of another image, of an edit of what was not there, or not verifiable
# How open an operation is that only the matcher knows, and what is not seen of plausibility.
ESTIMATED, UNSEEN = 0.8, 0.4
FACTORS = ("alignment", "completeness", "plausibility")


@cache
def reliability() -> dict[str, Any]:
    """What was fitted to rated and scripted edits."""
    return tomllib.loads(Path(__file__).with_name("reliability.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class EditGrade:
    """The three factors as shares of their scales, what they may be, and how well the rest was kept."""

    alignment: float
    completeness: float
    plausibility: float
    preservation: float
    coverage: float  # share of the operations that a measurement or a detector could judge
    interval: tuple[float, float]  # the middle 80 % of what their geometric mean may be
    faults: tuple[Check, ...]
    redrawn: float  # log-odds by which needless redrawing lowered plausibility


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """What was observed, which operations were carried out, and the factors."""

    observed: EditObservations
    operations: tuple[Operation, ...]
    grade: EditGrade

    @property
    def checks(self) -> tuple[Check, ...]:
        """The operations with their details, then the faults."""
        return (*(check for operation in self.operations for check in operation.checks), *self.grade.faults)

    @property
    def weights(self) -> tuple[bool, bool]:
        """Attributes are measured, men are not told from women."""
        return True, False

    @property
    def verifiable(self) -> bool:
        """Whether anything of the instruction was understood and could be checked."""
        return is_verifiable(self.operations)

    def flags(self, settings: Settings) -> dict[str, bool]:
        """What to know before trusting the score."""
        observed = self.observed
        unread = [flag for each in self.operations if not each.verifiable for flag in each.edit.flags]
        read = [flag for flag in unread if flag in ("not English", "not understood")]
        return {
            **dict.fromkeys([*read, *observed.notes], True),
            observed.failure: bool(observed.failure),
            Flag.NOT_VERIFIABLE: not self.verifiable,
            Flag.LOW_CONFIDENCE: any(each.check.outcome is Outcome.LOW_CONFIDENCE for each in self.operations),
            "nothing_to_change": any(each.targetless for each in self.operations),
            "one_frame_of_an_animation": any(map(is_animated, observed.pictures)),
            "matcher_uncalibrated": bool(settings.matcher) and not load_matcher(settings).calibrated,
            "other_frame": bool(observed.change.turned or observed.change.crop),
        }

    def measures(self, settings: Settings) -> dict[str, float | None]:  # noqa: ARG002 the same for all judges
        """The factors before they are rounded, and how much of the rest was kept."""
        return {
            **{name: getattr(self.grade, name) for name in FACTORS},
            "preservation": self.grade.preservation,
            "changed": round(self.observed.change.area, 4),
            "coverage": self.grade.coverage,
        }

    def evidence(self, settings: Settings) -> EditEvidence:  # noqa: ARG002 the same for all judges
        """What was asked for, and how the versions differ."""
        return self.observed.evidence()


def judge_edit(sample: Sample, settings: Settings) -> JudgedEdit:
    """Observe an edit, judge its operations, and grade it."""
    observed = observe_edit(sample, settings)
    operations = judge_operations(observed)
    return JudgedEdit(observed, operations, grade(operations, observed))


def is_verifiable(operations: Sequence[Operation]) -> bool:
    """Whether anything of the instruction was understood and could be checked."""
    return any(operation.verifiable for operation in operations)


def grade(operations: Sequence[Operation], observed: EditObservations) -> EditGrade:
    """The factors of an edit; redrawing costs plausibility, since editors leave most of their artefacts there."""
    found, redrawn = faults(observed), 0.0 if observed.is_global else REDRAWN * (KEPT - observed.kept)
    plausible = sum(check.probability - 1 for check in found) * FAULT - redrawn
    shares = factors(operations, kept_odds(observed), plausible, observed)
    return EditGrade(
        **{name: round(share, 4) for name, share in shares.items()},
        preservation=round(ramp(observed.kept, *PRESERVED), 4),
        coverage=round(sum(operation.known for operation in operations) / len(operations), 4),
        interval=interval(shares, operations),
        faults=tuple(check for check in found if 1 - check.probability >= SHOWN),
        redrawn=redrawn,
    )


def factors(
    operations: Sequence[Operation], kept: float, plausible: float, observed: EditObservations
) -> dict[str, float]:
    """The factors by the operations, and the log-odds that the rest was left alone and that the image is plausible."""
    if observed.blank:
        return dict.fromkeys(FACTORS, 0.0)
    careful = "alignment" if observed.mask is None else "alignment with a mask"
    aligned = [
        each.fit * min(sigmoid(each.odds + BARE), curve(careful, DONE * each.odds + kept)) for each in operations
    ]
    complete = [each.fit * curve("completeness", each.odds) for each in operations]
    shares = float(np.mean(aligned)), float(np.mean(complete)), curve("plausibility", plausible)
    another, unknown = observed.failure == "another_image", not is_verifiable(operations)
    low = another or unknown or all(each.targetless for each in operations), another or unknown, another
    return {name: min(share, LOW if cap else 1.0) for name, share, cap in zip(FACTORS, shares, low, strict=True)}


def curve(name: str, odds: float) -> float:
    """Log-odds as a share of a scale."""
    fitted = reliability()[name]
    return sigmoid(fitted["base"] + fitted["slope"] * odds)


def interval(shares: Mapping[str, float], operations: Sequence[Operation]) -> tuple[float, float]:
    """The middle 80 % of what the geometric mean may be, as wide as what is not measured; all if nothing was."""
    if not is_verifiable(operations):
        return 0.0, 1.0
    doubts = [2 * each.probability * (1 - each.probability) if each.known else ESTIMATED for each in operations]
    low, high = 1.0, 1.0
    for name, share in shares.items():
        open_ = UNSEEN if name == "plausibility" else float(np.mean(doubts))
        low *= share * (1 - open_)
        high *= share + (1 - share) * open_
    return round(low ** (1 / 3), 4), round(high ** (1 / 3), 4)


def kept_odds(observed: EditObservations) -> float:
    """The log-odds of an edit that left the rest alone: its change is in one place, and the image is still the same.

    With a mask, what counts is how much more changed within it than outside.
    """
    change, mask = observed.change, observed.mask
    if observed.is_global:
        return SIMILAR * (change.structure - LAYOUT) / 2
    spread = PLACE * (change.concentration - SPREAD)
    if mask is None:
        return spread + SIMILAR * (observed.kept - KEPT)
    inside, outside = (float(change.difference[part].mean()) for part in (mask, ~mask))
    return spread + MASK * (float(np.log((inside + 1) / (outside + 1))) - CONTRAST)

"""An edit judged by evidence: its operations, and alignment, completeness and plausibility as shares of their scales.

A fault of the edited image costs plausibility, each with its evidence. Size, support and light are not measured.

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

import cv2
import numpy as np

from onprompt.evidence.beliefs import sigmoid
from onprompt.evidence.edits.claims import Operation, judge_operations
from onprompt.evidence.edits.objects import is_touched
from onprompt.evidence.edits.observations import LARGEST, EditObservations, observe_edit
from onprompt.evidence.observe import is_animated
from onprompt.settings import Settings
from onprompt.types import Check, Claim, EditEvidence, Finding, Flag, Found, Outcome, Sample
from onprompt.vision.adjustments import log_ratio
from onprompt.vision.geometry import ramp
from onprompt.vision.matchers import load_matcher
from onprompt.vision.people import detect_people, match_person

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
NOISE = 0.0, 6.0  # how much more fine detail the changed region has than the rest, in logarithms
ENOUGH, MOST = 0.004, 0.7  # share of the image that a region needs for its detail to be compared with the rest
GONE = ("remove", "replace")  # operations after which people may be missing
MORE = ("add", "count", "replace", "background", "restyle")  # … there may be more of something
BODY, JOINTS = 0.02, 6  # share of the image, and number of joints, of a person who can be compared


@cache
def reliability() -> dict[str, Any]:
    """What was fitted to rated and scripted edits."""
    return tomllib.loads(Path(__file__).with_name("reliability.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """What was observed, which operations were carried out, and the factors as shares of their scales."""

    observed: EditObservations
    operations: tuple[Operation, ...]
    alignment: float
    completeness: float
    plausibility: float
    preservation: float  # how well the rest was kept
    coverage: float  # share of the operations that a measurement or a detector could judge
    interval: tuple[float, float]  # the middle 80 % of what the geometric mean of the factors may be
    faults: tuple[Check, ...]
    redrawn: float  # log-odds by which needless redrawing lowered plausibility

    @property
    def checks(self) -> tuple[Check, ...]:
        """The operations with their details, then the faults."""
        return (*(check for each in self.operations for check in (each.check, *each.details)), *self.faults)

    @property
    def weights(self) -> tuple[bool, bool]:
        """Attributes are measured, men are not told from women."""
        return True, False

    @property
    def verifiable(self) -> bool:
        """Whether anything of the instruction was understood and could be checked."""
        return any(each.verifiable for each in self.operations)

    def flags(self, settings: Settings) -> dict[str, bool]:
        """What to know before trusting the score."""
        observed = self.observed
        unread = {flag for each in self.operations if not each.verifiable for flag in each.edit.flags}
        return {
            **{flag: flag in unread for flag in ("not English", "not understood")},
            **dict.fromkeys(observed.notes, True),
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
        names = (*FACTORS, "preservation", "coverage")
        return {name: getattr(self, name) for name in names} | {"changed": round(self.observed.change.area, 4)}

    def evidence(self, settings: Settings) -> EditEvidence:  # noqa: ARG002 the same for all judges
        """What was asked for, and how the versions differ."""
        seen, change = self.observed, self.observed.change
        regions = tuple(region.box for region in change.regions[:LARGEST])
        return EditEvidence(seen.edits, seen.seen[1].sightings, seen.objects, regions, seen.failure, seen.adjustments)


def judge_edit(sample: Sample, settings: Settings) -> JudgedEdit:
    """Observe an edit, judge its operations, and grade it."""
    observed = observe_edit(sample, settings)
    return grade(judge_operations(observed), observed)


def grade(operations: tuple[Operation, ...], observed: EditObservations) -> JudgedEdit:
    """The factors of an edit; redrawing costs plausibility, since editors leave most of their artefacts there."""
    found, redrawn = faults(observed), 0.0 if observed.is_global else REDRAWN * (KEPT - observed.kept)
    plausible = sum(check.probability - 1 for check in found) * FAULT - redrawn
    shares = factors(operations, kept_odds(observed), plausible, observed)
    return JudgedEdit(
        observed,
        operations,
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
    another, unknown = observed.failure == "another_image", not any(each.verifiable for each in operations)
    low = another or unknown or all(each.targetless for each in operations), another or unknown, another
    return {name: min(share, LOW if cap else 1.0) for name, share, cap in zip(FACTORS, shares, low, strict=True)}


def curve(name: str, odds: float) -> float:
    """Log-odds as a share of a scale."""
    fitted = reliability()[name]
    return sigmoid(fitted["base"] + fitted["slope"] * odds)


def interval(shares: Mapping[str, float], operations: Sequence[Operation]) -> tuple[float, float]:
    """The middle 80 % of what the geometric mean may be, as wide as what is not measured; all if nothing was."""
    if not any(each.verifiable for each in operations):
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


# -- faults -----------------------------------------------------------------------------------------------------------


def faults(observed: EditObservations) -> tuple[Check, ...]:
    """Every fault that was found, with its severity as the check's score: 1 for none."""
    if observed.blank:
        return (fault("blank", 1.0),)
    measures = {"noisy patch": noisy_patch, "joints": lost_joints, "doubled": doubled_targets}
    found = {name: measure(observed) for name, measure in measures.items()}
    return tuple(fault(name, severity) for name, severity in found.items() if severity > 0)


def fault(name: str, severity: float) -> Check:
    """A fault as a check."""
    finding = Finding(Found.FAULT, name, probability=round(severity, 4))
    outcome = Outcome.MISMATCH if severity >= 0.5 else Outcome.LOW_CONFIDENCE
    return Check(Claim("plausibility", "a plausible image"), finding, outcome, round(1 - severity, 4), "pixels")


def noisy_patch(observed: EditObservations) -> float:
    """How much more fine detail, or noise, the changed region has than the rest."""
    change = observed.change
    if observed.is_global or not ENOUGH <= change.area <= MOST:
        return 0.0
    gray = cv2.cvtColor(change.after, cv2.COLOR_RGB2GRAY).astype(np.float32)
    detail = np.abs(cv2.Laplacian(gray, cv2.CV_32F))
    return ramp(log_ratio(float(detail[change.changed].mean()), float(detail[~change.changed].mean())), *NOISE)


def lost_joints(observed: EditObservations) -> float:
    """The share of joints that are lost, of people that the instruction does not remove."""
    if not observed.change.regions or any(edit.operation in GONE for edit in observed.edits):
        return 0.0
    people = [
        person
        for person in detect_people(observed.pictures[0], observed.settings)
        if len(person.joints) >= JOINTS and person.box.area >= BODY and is_touched(person.box, observed.change)
    ]
    if not people:
        return 0.0
    there = detect_people(observed.pictures[1], observed.settings)
    found = [(old.joints.keys(), match_person(there, old.box)) for old in people]
    return float(np.mean([len(old - new.joints.keys()) / len(old) if new else 1.0 for old, new in found]))


def doubled_targets(observed: EditObservations) -> float:
    """Whether there are two of what should have been changed in place, or moved: the old one and a new one."""
    if any(edit.operation in MORE for edit in observed.edits):
        return 0.0
    labels = {edit.target.canonical for edit in observed.edits if edit.target}
    new = any(c.kind == "added" and c.after and c.after.label in labels for c in observed.objects)
    kept = [c for c in observed.objects if c.before and c.after and c.before.label in labels]
    return float(new and len(kept) == 1)

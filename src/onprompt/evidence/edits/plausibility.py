"""Faults of an edited image, each with its evidence. Size, support and light are not measured."""

from __future__ import annotations

import cv2
import numpy as np

from onprompt.evidence.edits.objects import is_touched
from onprompt.evidence.edits.observations import EditObservations
from onprompt.types import Check, Claim, Finding, Found, Outcome
from onprompt.vision.adjustments import log_ratio
from onprompt.vision.geometry import ramp
from onprompt.vision.people import detect_people, match_person

NOISE = 0.0, 6.0  # how much more fine detail the changed region has than the rest, in logarithms
ENOUGH, MOST = 0.004, 0.7  # share of the image that a region needs for its detail to be compared with the rest
GONE = ("remove", "replace")  # operations after which people may be missing
MORE = ("add", "count", "replace", "background", "restyle")  # … there may be more of something
BODY, JOINTS = 0.02, 6  # share of the image, and number of joints, of a person who can be compared


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
    claim = Claim("plausibility", "a plausible image")
    return Check(claim, finding, outcome, round(1 - severity, 4), "pixels")


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

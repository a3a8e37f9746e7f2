"""Faults of an edited image, each with its evidence. Size, support and light are not measured."""

from __future__ import annotations

import cv2
import numpy as np

from onprompt.evidence.edits.objects import is_touched
from onprompt.evidence.edits.observations import EditObservations
from onprompt.types import Check, Claim, Finding, Found, Outcome
from onprompt.vision.adjustments import log_ratio
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.change import Mask
from onprompt.vision.geometry import ramp
from onprompt.vision.people import detect_people, match_person

NOISE = 0.0, 6.0  # how much more fine detail the changed region has than the rest, in logarithms
SEAM, DOUBTFUL = (1.0, 2.0), 0.6  # how much the edges along its border grew; severity at most: what is new has edges
ENOUGH, MOST = 0.004, 0.7  # share of the image that a region needs for its detail to be compared with the rest
GONE = ("remove", "replace")  # operations after which people may be missing
MORE = ("add", "count", "replace", "background", "restyle")  # … there may be more of something
BODY, JOINTS = 0.02, 6  # share of the image, and number of joints, of a person who can be compared


def faults(observed: EditObservations) -> tuple[Check, ...]:
    """Every fault that was found, with its severity as the check's score: 1 for none."""
    if observed.blank:
        return (fault("blank", 1.0),)
    found = {
        "noisy patch": noisy_patch(observed),
        "seam": seam(observed),
        "joints": lost_joints(observed),
        "doubled": doubled_targets(observed),
    }
    return tuple(fault(name, severity) for name, severity in found.items() if severity > 0)


def fault(name: str, severity: float) -> Check:
    """A fault as a check."""
    finding = Finding(Found.FAULT, name, probability=round(severity, 4))
    outcome = Outcome.MISMATCH if severity >= 0.5 else Outcome.LOW_CONFIDENCE
    claim = Claim("plausibility", "a plausible image")
    return Check(claim, finding, outcome, round(1 - severity, 4), "pixels")


def noisy_patch(observed: EditObservations) -> float:
    """How much more fine detail the changed region has than the rest."""
    change = observed.change
    if observed.is_global or not ENOUGH <= change.area <= MOST:
        return 0.0
    after = detail(change.after)
    return ramp(log_ratio(float(after[change.changed].mean()), float(after[~change.changed].mean())), *NOISE)


def detail(pixels: Pixels) -> Floats:
    """The absolute Laplacian of each pixel: fine detail, or noise."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.abs(np.asarray(cv2.Laplacian(gray, cv2.CV_32F), dtype=np.float32))


def seam(observed: EditObservations) -> float:
    """Whether there are edges along the border of a mask that were not there before."""
    border = None if observed.mask is None else ring(observed.mask)
    if border is None or not border.any():
        return 0.0
    versions = observed.change.before, observed.change.after
    before, after = (float(detail(image)[border].mean()) for image in versions)
    return DOUBTFUL * ramp(log_ratio(after, before), *SEAM)


def ring(mask: Mask) -> Mask:
    """The border of a mask, a few pixels wide, within the image."""
    kernel = np.ones((5, 5), np.uint8)
    wide, narrow = cv2.dilate(mask.astype(np.uint8), kernel), cv2.erode(mask.astype(np.uint8), kernel)
    return np.asarray(wide > narrow, dtype=np.bool_)


def lost_joints(observed: EditObservations) -> float:
    """The share of joints that are lost, of people that the instruction does not remove."""
    if not observed.change.regions or any(edit.operation in GONE for edit in observed.edits):
        return 0.0
    before, after = observed.pictures
    people = [each for each in detect_people(before, observed.settings) if len(each.joints) >= JOINTS]
    people = [each for each in people if each.box.area >= BODY and is_touched(each.box, observed.change)]
    if not people:
        return 0.0
    there = detect_people(after, observed.settings)
    found = [match_person(there, person.box) for person in people]
    kept = [len(old.joints.keys() & new.joints.keys()) if new else 0 for old, new in zip(people, found, strict=True)]
    return 1 - float(np.mean([number / len(old.joints) for old, number in zip(people, kept, strict=True)]))


def doubled_targets(observed: EditObservations) -> float:
    """Whether there are two of what should have been changed in place, or moved: the old one and a new one."""
    if any(edit.operation in MORE for edit in observed.edits):
        return 0.0
    labels = {edit.target.canonical for edit in observed.edits if edit.target}
    new = any(c.kind == "added" and c.after and c.after.label in labels for c in observed.objects)
    kept = [c for c in observed.objects if c.before and c.after and c.before.label in labels]
    return float(new and len(kept) == 1)

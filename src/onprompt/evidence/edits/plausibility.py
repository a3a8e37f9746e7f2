"""Faults of an edited image, each with its evidence. Anatomy, size, support and light are not measured."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from onprompt.evidence.edits.adjustments import log_ratio
from onprompt.evidence.edits.objects import TOUCHED
from onprompt.evidence.edits.observations import EditObservations
from onprompt.types import Box, Check, Claim, Finding, Found, Outcome
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.change import Change, Mask
from onprompt.vision.geometry import ramp
from onprompt.vision.people import detect_people, match_person

SEAM = 1.0, 2.0  # how much the edges along its border grew
NOISE, NOISIER = (1.2, 2.2), (0.6, 1.6)  # how much more fine detail it has than the rest, and than it had
DOUBTFUL = 0.6  # severity at most of noise and seams: what is new may be richer in detail than what was there
ILLEGIBLE = 0.3, 0.6  # doubt in the best line of new text: none, certain
ENOUGH, MOST = 0.004, 0.7  # share of the image that a region needs for its sharpness to be measured
MORE = ("add", "count", "replace", "background", "restyle")  # operations after which there may be more of something
BODY = 0.02  # share of the image that a person needs for joints to be seen


def sharpness_shift(observed: EditObservations) -> float:
    """How much the sharpness changed where the image did not: the logarithm of the ratio, without its sign."""
    change = observed.change
    outside = ~change.changed & change.overlap & observed.outside(change.changed.shape)
    if outside.mean() < ENOUGH:
        return 0.0
    before, after = (float(detail(image)[outside].mean()) for image in (change.before, change.after))
    return abs(log_ratio(after, before))


def detail(pixels: Pixels) -> Floats:
    """The squared Laplacian of each pixel: fine detail, or noise."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.asarray(cv2.Laplacian(grey, cv2.CV_32F), dtype=np.float32) ** 2


def faults(observed: EditObservations) -> tuple[Check, ...]:
    """Every fault that was found, with its severity as the check's score: 1 for none."""
    if observed.blank:
        return (fault("blank", 1.0),)
    found = {
        "noisy patch": noisy_patch(observed),
        "seam": seam(observed),
        "body": shapeless_people(observed),
        "doubled": doubled_targets(observed),
        "text": illegible_text(observed),
    }
    return tuple(fault(name, severity) for name, severity in found.items() if severity > 0)


def fault(name: str, severity: float) -> Check:
    """A fault as a check."""
    finding = Finding(Found.FAULT, name, probability=round(severity, 4))
    outcome = Outcome.MISMATCH if severity >= 0.5 else Outcome.LOW_CONFIDENCE
    claim = Claim("plausibility", "a plausible image")
    return Check(claim, finding, outcome, round(1 - severity, 4), "pixels")


def noisy_patch(observed: EditObservations) -> float:
    """Whether the changed region has far more fine detail than it had, and than the rest; something new may have."""
    change = observed.change
    written = any(edit.operation in ("text", "background", "restyle") for edit in observed.edits)
    if written or observed.is_global or not ENOUGH <= change.area <= MOST:
        return 0.0
    inside, outside = detail_gains(change)
    after = detail(change.after)
    contrast = log_ratio(after[change.changed].mean(), after[~change.changed].mean())
    return DOUBTFUL * min(ramp(contrast, *NOISE), ramp(inside - max(outside, 0.0), *NOISIER))


def detail_gains(change: Change) -> tuple[float, float]:
    """How much fine detail the changed region gained, and the rest, in logarithms."""
    before, after = (detail(image) for image in (change.before, change.after))
    inside, outside = (log_ratio(after[part].mean(), before[part].mean()) for part in (change.changed, ~change.changed))
    return inside, outside


def illegible_text(observed: EditObservations) -> float:
    """Whether new text, where text was asked for, can hardly be read."""
    old, new = observed.lines
    added = [line for line in new if observed.change.within(line.box) >= TOUCHED and line not in old]
    return ramp(1 - max(line.confidence for line in added), *ILLEGIBLE) if added else 0.0


def seam(observed: EditObservations) -> float:
    """Whether there are edges along the border of a mask that were not there before."""
    if observed.mask is None:
        return 0.0
    border = ring(observed.mask)
    if not border.any():
        return 0.0
    before, after = (
        float(np.sqrt(detail(image))[border].mean()) for image in (observed.change.before, observed.change.after)
    )
    return DOUBTFUL * ramp(log_ratio(after, before), *SEAM)


def ring(mask: Mask) -> Mask:
    """The border of a mask, a few pixels wide, within the image."""
    kernel = np.ones((5, 5), np.uint8)
    wide, narrow = cv2.dilate(mask.astype(np.uint8), kernel), cv2.erode(mask.astype(np.uint8), kernel)
    return np.asarray(wide > narrow, dtype=np.bool_)


def shapeless_people(observed: EditObservations) -> float:
    """The share of the new or changed people whose joints make no body."""
    people = list(new_people(observed))
    if not people:
        return 0.0
    bodies = detect_people(observed.pictures[1], observed.settings)
    lost = [person for person in people if match_person(bodies, person) is None]
    return 0.5 * len(lost) / len(people)


def doubled_targets(observed: EditObservations) -> float:
    """Whether there are two of what should have been changed in place, or moved: the old one and a new one."""
    if any(edit.operation in MORE for edit in observed.edits):
        return 0.0
    labels = {edit.target.canonical for edit in observed.edits if edit.target}
    boxes = [c.after.box for c in observed.objects if c.kind == "added" and c.after and c.after.label in labels]
    kept = [c for c in observed.objects if c.before and c.after and c.before.label in labels]
    return float(bool(boxes) and len(kept) == 1)


def new_people(observed: EditObservations) -> Iterator[Box]:
    """The boxes of people that were added, or take the place of something."""
    for change in observed.objects:
        person = change.after
        if change.kind in ("added", "replaced") and person and person.word == "person" and person.box.area >= BODY:
            yield person.box

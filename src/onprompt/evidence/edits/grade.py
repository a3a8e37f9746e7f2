"""Alignment, completeness and plausibility from what is known of an edit; each 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onprompt.evidence.beliefs import sigmoid
from onprompt.evidence.edits.observations import EditObservations
from onprompt.evidence.edits.operations import Operation
from onprompt.evidence.edits.plausibility import faults, sharpness_shift
from onprompt.types import Check
from onprompt.vision import Floats, Mask, ramp

# Weights of what shows a careful edit: change in one place, similarity, change within a mask; and of what redrawing and
# a change of sharpness cost plausibility (bench/edit.py).
PLACE, SIMILAR, MASK, REDRAWN, SHARPNESS = 3.3, 5.5, 1.2, 4.0, 1.5
SPREAD, KEPT, LAYOUT = 0.34, 0.83, 0.6  # concentration, similarity of features and of edges of an average edit
CONTRAST = 2.2  # change within a mask against outside, in logarithms, of an average edit
CAREFUL = 2.5  # log-odds against alignment: most edits fail
BARE = -0.75  # log-odds by which alignment may differ at most from what the operations alone say
PRESERVED = 0.5, 0.97  # similarity of features: another image, the same
NOT_MEASURED = 0.85  # plausibility at most: anatomy, size, support and light are not measured
SOUND = 2.5  # log-odds of plausibility where no fault was found
FAULT = 2.0  # log-odds that a certain fault costs


@dataclass(frozen=True, slots=True)
class EditGrade:
    """The three factors, and how well the rest was kept."""

    alignment: float
    completeness: float
    plausibility: float
    preservation: float
    coverage: float  # share of the operations that a measurement or a detector could judge
    faults: tuple[Check, ...]


def grade(operations: Sequence[Operation], observed: EditObservations) -> EditGrade:
    """The factors of an edit."""
    found = faults(observed)
    odds = float(np.mean([operation.odds for operation in operations]))
    aligned = min(sigmoid(odds / 2 + kept_odds(observed) - CAREFUL), sigmoid(odds + BARE))
    complete = float(np.mean([operation.probability for operation in operations]))
    return EditGrade(
        alignment=round(aligned, 4),
        completeness=round(complete, 4),
        plausibility=round(plausible(found, observed), 4),
        preservation=round(ramp(observed.kept, *PRESERVED), 4),
        coverage=round(sum(operation.known for operation in operations) / len(operations), 4),
        faults=found,
    )


def kept_odds(observed: EditObservations) -> float:
    """The log-odds of an edit that left the rest alone: its change is in one place, and the image is still the same.

    With a mask, what counts is how much more changed within it than outside.
    """
    if observed.is_global:
        return SIMILAR * (observed.change.structure - LAYOUT) / 2
    spread = PLACE * (observed.change.concentration - SPREAD)
    if observed.mask is not None:
        return spread + MASK * (mask_contrast(observed.mask, observed.change.difference) - CONTRAST)
    return spread + SIMILAR * (float(np.median(observed.similarity)) - KEPT)


def mask_contrast(mask: Mask, difference: Floats) -> float:
    """The logarithm of how much more the image changed within a mask than outside."""
    inside, outside = (float(difference[part].mean()) for part in (mask, ~mask))
    return float(np.log((inside + 1) / (outside + 1)))


def plausible(found: Sequence[Check], observed: EditObservations) -> float:
    """How plausible the edited image is, as far as that can be measured."""
    if observed.blank:
        return 0.0
    odds = SOUND - FAULT * sum(1 - check.probability for check in found)
    if not observed.is_global:  # what was redrawn without need is where editors leave most of their artefacts
        odds += REDRAWN * (observed.kept - KEPT) - SHARPNESS * sharpness_shift(observed)
    return NOT_MEASURED * sigmoid(odds)

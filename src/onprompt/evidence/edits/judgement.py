"""An edit judged by evidence: its operations and its grade, in the form that a judge asks for."""

from __future__ import annotations

from dataclasses import dataclass

from onprompt.evidence.edits.grade import EditGrade, grade
from onprompt.evidence.edits.observations import EditObservations, observe_edit
from onprompt.evidence.edits.operations import Operation, judge_operations
from onprompt.evidence.observe import is_animated
from onprompt.settings import Settings
from onprompt.types import Check, EditEvidence, Outcome, Sample
from onprompt.vision import load_matcher


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """What was observed, which operations were carried out, and the factors."""

    observed: EditObservations
    operations: tuple[Operation, ...]
    grade: EditGrade

    @property
    def checks(self) -> tuple[Check, ...]:
        """The operations, then the faults."""
        return (*(operation.check for operation in self.operations), *self.grade.faults)

    @property
    def weights(self) -> tuple[bool, bool]:
        """Attributes are measured, men are not told from women."""
        return True, False

    def flags(self, settings: Settings) -> dict[str, bool]:
        """What to know before trusting the score."""
        observed = self.observed
        read = [flag for edit in observed.edits for flag in edit.flags if flag in ("not English", "not understood")]
        return {
            **dict.fromkeys([*read, *observed.notes], True),
            observed.failure: bool(observed.failure),
            "not_verifiable": all(check.outcome is Outcome.UNVERIFIABLE for check in self.checks),
            "low_confidence": any(operation.check.outcome is Outcome.LOW_CONFIDENCE for operation in self.operations),
            "one_frame_of_an_animation": any(map(is_animated, observed.pictures)),
            "matcher_uncalibrated": bool(settings.matcher) and not load_matcher(settings).calibrated,
            "other_frame": bool(observed.change.turned or observed.change.crop),
        }

    def measures(self, settings: Settings) -> dict[str, float | None]:  # noqa: ARG002 the same for all judges
        """The factors before they are rounded, and how much of the rest was kept."""
        return {
            "alignment": self.grade.alignment,
            "completeness": self.grade.completeness,
            "plausibility": self.grade.plausibility,
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

"""Is a run worse than another by more than is allowed? A one-sided paired test on the prompts that both have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onprompt.errors import UserError
from onprompt.gate.results import Result, RunResults
from onprompt.gate.rules import Decision
from onprompt.report.comparison import SIGNIFICANCE, by_prompt, format_p, paired_differences, sign_flip_tests
from onprompt.report.statistics import Estimate, mean_of
from onprompt.wording import plural

SEED = 0


@dataclass(frozen=True, slots=True)
class Drop:
    """How far a run is below its baseline, by prompt: the mean with its interval, and what a test says of the limit."""

    size: Estimate  # negative where the run is better
    allowed: float
    p_worse: float  # of no drop beyond the limit: if small, the drop is larger
    p_fine: float  # of a drop beyond the limit: if small, it is not

    @property
    def shown(self) -> bool:
        """Whether the test shows that the drop is larger than allowed."""
        return self.p_worse < SIGNIFICANCE

    @property
    def ruled_out(self) -> bool:
        """Whether the test shows that the drop is not larger than allowed."""
        return self.p_fine < SIGNIFICANCE


def measure_drop(results: Sequence[Result], baseline: Sequence[Result], allowed: float) -> Drop | None:
    """The drop on common prompts; None if there is none."""
    new, old = (by_prompt(name, [r.item for r in rows]) for name, rows in (("run", results), ("baseline", baseline)))
    differences = paired_differences(old, new)
    if not differences:
        return None
    beyond = {prompt: difference - allowed for prompt, difference in differences.items()}
    (both_sides,) = sign_flip_tests([beyond], SEED)
    # The distribution of the sums is symmetric, so each side has half of the two-sided p-value.
    half = float(both_sides) / 2
    larger = sum(beyond.values()) > 0
    p_worse, p_fine = (half, 1 - half) if larger else (1 - half, half)
    if not any(beyond.values()):
        p_worse = p_fine = 1.0
    return Drop(mean_of(np.array(list(differences.values()))), allowed, p_worse, p_fine)


def decide(run: RunResults, baseline: RunResults, allowed: float, strict: bool) -> tuple[Decision, tuple[str, ...]]:
    """Whether a run is good enough beside its baseline, and what to know before believing it.

    It fails where the test shows a drop of more than is allowed; if strict, wherever the test does not rule that out.
    """
    if run.rubric != baseline.rubric:
        raise UserError(f"can't compare a run of {run.rubric} with a baseline of {baseline.rubric}")
    drop = measure_drop(run.results, baseline.results, allowed)
    how = "shown to be no worse" if strict else "not significantly worse"
    asked = f"{how} than {baseline.path.name} by more than {allowed:g}"
    if drop is None:
        return Decision("baseline", asked, "the runs have no prompt in common", met=False), ()
    met, p = (drop.ruled_out, drop.p_fine) if strict else (not drop.shown, drop.p_worse)
    prompts = plural(drop.size.n, "common prompt")
    measured = f"{turned(drop.size.value)}{interval(drop.size)} on {prompts} ({format_p(p)})"
    return Decision("baseline", asked, measured, met), tuple(notes(run, baseline, drop, met))


def interval(size: Estimate) -> str:
    """The interval of the change, which is the drop turned around."""
    return "" if size.low is None else f" [{turned(size.high)}, {turned(size.low)}]"


def turned(number: float | None) -> str:
    """A drop as a change: `-0.020`; `+0.000`, not `-0.000`, for none."""
    return f"{0.0 - round(number or 0.0, 3):+.3f}"


def notes(run: RunResults, baseline: RunResults, drop: Drop, met: bool) -> list[str]:
    """What to know before believing the comparison."""
    said = []
    if run.judge != baseline.judge:
        said.append(f"the runs are by different judges, whose values differ in meaning: {run.judge}, {baseline.judge}")
    if met and (drop.size.value or 0.0) > drop.allowed:
        said.append("the drop is larger than allowed, but may be chance: more prompts would tell")
    if not baseline.complete:
        said.append(f"{baseline.path.name} did not read all of its data")
    return said

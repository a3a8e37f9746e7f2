"""A run against all of its conditions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onprompt.errors import UserError
from onprompt.gate import baseline, results
from onprompt.gate.results import Result, RunResults
from onprompt.gate.rules import Decision, Rule, decide, parse_over, parse_under


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run has to meet."""

    rules: tuple[Rule, ...] = ()
    baseline: Path | None = None
    max_drop: float = 0.0  # of the mean value, against the baseline
    strict: bool = False  # whether the test has to rule out a larger drop

    def __bool__(self) -> bool:
        return bool(self.rules or self.baseline)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decisions on a run, and what to know before believing them."""

    run: RunResults
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every condition is met."""
        return all(decision.met for decision in self.decisions)

    def broken_by(self, result: Result) -> list[Decision]:
        """The conditions that are not met and that this sample is to blame for."""
        return [each for each in self.decisions if not each.met and result.id in each.missed]


def conditions(
    under: Sequence[str] = (),
    over: Sequence[str] = (),
    against: Path | None = None,
    max_drop: float | None = None,
    strict: bool = False,
) -> Conditions:
    """Conditions as they are written on a command line."""
    if against is None and (strict or max_drop is not None):
        raise UserError(f"{'--strict' if strict else '--max-drop'} needs a run to compare with: --baseline RUN")
    rules = (*map(parse_under, under), *map(parse_over, over))
    return Conditions(rules, against, max_drop or 0.0, strict)


def check(run_file: Path, wanted: Conditions, generation: int = 0) -> Outcome:
    """Whether a run meets its conditions."""
    if not wanted:
        raise UserError("nothing to check: give --fail-under, --fail-over or --baseline")
    run = results.read(run_file, generation)
    decisions, notes = list(decide(wanted.rules, run.results)), list(notes_on(run))
    if wanted.baseline:
        decision, more = baseline.decide(run, results.read(wanted.baseline), wanted.max_drop, wanted.strict)
        decisions.append(decision)
        notes += more
    return Outcome(run, tuple(decisions), tuple(notes))


def notes_on(run: RunResults) -> Iterator[str]:
    """What is not in the means, and whether there is more to come."""
    left_out = sum(not result.counts for result in run.results)
    if left_out:
        unverifiable = sum(result.is_counted_as("not_verifiable") for result in run.results)
        errors = left_out - unverifiable
        yield f"not in means and shares: {errors:,} without a verdict, {unverifiable:,} not verifiable"
    if not run.complete:
        yield "the run did not read all of its data"

"""`gate`, and the options of a gate for `run`: does a run pass?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt.cli.app import RunPath, add_options, app, echo, print_json
from onprompt.errors import GateFailed
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.report.gate import Conditions, GateResult

UNDER = "Fail if a mean is under a limit (value=.7), or too few samples reach a level (score=3@.9). Can be repeated."
OVER = "Fail if there are more than this: errors=0, not_verifiable=5, flagged=5%, cost=2. Can be repeated."
BASELINE = "Fail if the run is significantly worse than this run file on common prompts."
MAX_DROP = "How much worse than the baseline the mean value may be (default: 0)."
STRICT = "Fail unless the test shows that the run is no worse than the baseline."
GATE: dict[str, tuple[Any, Any]] = {
    "fail_under": (Annotated[list[str] | None, typer.Option(help=UNDER)], None),
    "fail_over": (Annotated[list[str] | None, typer.Option(help=OVER)], None),
    "baseline": (Annotated[Path | None, typer.Option(help=BASELINE)], None),
    "max_drop": (Annotated[float | None, typer.Option(min=0, help=MAX_DROP, show_default=False)], None),
    "strict": (Annotated[bool, typer.Option("--strict", help=STRICT)], False),
    "junit": (Annotated[Path | None, typer.Option(help="Write the decisions to this file as JUnit XML.")], None),
    "summary": (Annotated[Path | None, typer.Option(help="Add a summary in markdown to this file.")], None),
}


class Gating:
    """The options of a gate, read before anything is judged, and what follows from them."""

    def __init__(
        self,
        fail_under: list[str] | None = None,
        fail_over: list[str] | None = None,
        baseline: Path | None = None,
        max_drop: float | None = None,
        strict: bool = False,
        junit: Path | None = None,
        summary: Path | None = None,
    ) -> None:
        self.wanted: Conditions | None = None
        if any((fail_under, fail_over, baseline, max_drop is not None, strict, junit, summary)):
            from onprompt.report.gate import conditions

            self.wanted = conditions(fail_under or (), fail_over or (), baseline, max_drop, strict)
        self.junit, self.summary = junit, summary

    @property
    def allows_errors(self) -> bool:
        """Whether a condition says how many samples may be without a verdict."""
        return bool(self.wanted) and any(rule.metric == "errors" for rule in self.wanted.rules)  # type: ignore[union-attr]

    def check(self, run_file: Path, configuration: int = 0, json: bool = False) -> None:
        """Decide, print and write; a gate that does not pass is an error with an exit code of its own."""
        from onprompt.report.gate import Conditions, check, write_junit, write_summary

        outcome = check(run_file, self.wanted or Conditions(), configuration)
        if self.junit:
            write_junit(outcome, self.junit)
        if self.summary:
            write_summary(outcome, self.summary)
        print_json(outcome.document) if json else print_decisions(outcome)
        if not outcome.passed:
            broken = sum(not decision.met for decision in outcome.decisions)
            raise GateFailed(f"{run_file} fails {plural(broken, 'condition')}")


def print_decisions(outcome: GateResult) -> None:
    """A line per condition."""
    for decision in outcome.decisions:
        word, colour = ("ok", "green") if decision.met else ("FAILED", "red")
        echo(f"{word:6}  {decision.asked}: {decision.measured}", fg=colour)
    for note in outcome.notes:
        echo(f"note: {note}", err=True)


@app.command()
@add_options(GATE)
def gate(
    run_file: RunPath,
    json: Annotated[bool, typer.Option("--json", help="Print the decisions as JSON.")] = False,
    **options: Any,
) -> None:
    """Decide whether a run passes: exit code 0 if it meets all conditions, 7 if not."""
    Gating(**options).check(run_file, json=json)

"""`gate`: does a run pass?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import RunPath, app, echo, print_json
from onprompt.errors import GateFailed
from onprompt.wording import plural

UNDER = "Least mean (value=.7), or least share of samples that reach a level (score=3@.9); repeatable."
OVER = "Most samples with errors (errors=0, the default), flagged=5%, not_verifiable=5, cost=2 (dollars); repeatable."


@app.command()
def gate(
    run_file: RunPath,
    fail_under: Annotated[list[str] | None, typer.Option(metavar="METRIC=LIMIT", help=UNDER)] = None,
    fail_over: Annotated[list[str] | None, typer.Option(metavar="METRIC=LIMIT", help=OVER)] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="RUN_FILE", help="Fail if significantly worse than this run."),
    ] = None,
    max_drop: Annotated[
        float | None, typer.Option(help="Largest allowed drop of the mean value below the baseline (default: 0).")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail unless the test shows that the run is no worse than the baseline.")
    ] = False,
    allow_unfinished: Annotated[
        bool, typer.Option("--allow-unfinished", help="Let a run pass that did not read all of its data.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the decisions as JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE", help="Append a summary in Markdown.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the decisions as JSON.")] = False,
) -> None:
    """Decide whether a run passes. The exit code is 0 if it meets all conditions, and 7 if not."""
    from onprompt.report.gate import check, conditions, write_junit, write_summary

    wanted = conditions(fail_under or (), fail_over or (), baseline, max_drop, strict, allow_unfinished)
    result = check(run_file, wanted)
    if junit:
        write_junit(result, junit)
    if summary:
        write_summary(result, summary)
    if json:
        print_json(result.document)
    else:
        for decision in result.decisions:
            word, color = ("ok", "green") if decision.met else ("FAILED", "red")
            echo(f"{word:6}  {decision.asked}: {decision.measured}", fg=color)
        for note in result.notes:
            echo(f"note: {note}", err=True)
    if not result.passed:
        broken = sum(not decision.met for decision in result.decisions)
        raise GateFailed(f"{run_file} fails {plural(broken, 'condition')}")

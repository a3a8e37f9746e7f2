"""`probe`: is this judge fit to judge?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import Permissive, app, print_json
from onprompt.cli.judging import BaseUrl, Budget, DetectorName, DryRun, JudgeName, Model, judging, print_plan

RUBRICS = "By which rubric pictures are judged: verify or rate. Edits are asked by their own."


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help=RUBRICS)] = "verify",
    json: Annotated[bool, typer.Option("--json", help="Print every comparison as JSON.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the pictures to this folder, to look at.")] = None,
    detector: DetectorName = "",
    permissive: Permissive = False,
    model: Model = "",
    base_url: BaseUrl = "",
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Test a judge on drawn pictures: nothing to see, wrong prompts, counts, edits, the same question put otherwise."""
    from onprompt import probe as probing
    from onprompt.probe import table

    settings = judging(judge, model, budget=budget, base_url=base_url, detector=detector, permissive=permissive)
    if save:
        typer.echo(f"{probing.save(save)} pictures are in {save}", err=True)
    if dry_run:
        print_plan(probing.plan(rubric, settings=settings))
        return
    report = probing.probe(rubric, settings=settings)
    if json:
        print_json(table.document(report))
        return
    for line in table.lines(report):
        typer.echo(line)

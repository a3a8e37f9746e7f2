"""`probe`: whether a judge is fit to judge."""

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import app, echo, print_json
from onprompt.cli.judging import Budget, DryRun, JudgeName, Models, judge_settings, print_plan
from onprompt.rubrics import DEFAULT


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help="Rubric for images: verify or rate. Edits use edit.")] = DEFAULT,
    json: Annotated[bool, typer.Option("--json", help="Print every comparison as JSON.")] = False,
    save: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also write the images to this folder.")] = None,
    model: Models = None,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Test a judge on drawn images with known answers. They cover blank images, wrong prompts, edits and rephrasing."""
    from onprompt import probe as probing

    settings = judge_settings(judge, model, budget=budget)
    if save:
        echo(f"{probing.save(save)} pictures written to {save}", err=True)
    if dry_run:
        print_plan(probing.plan(rubric, settings=settings))
        return
    report = probing.probe(rubric, settings=settings)
    if json:
        print_json(report.document())
        return
    for line in report.lines():
        echo(line)

"""`probe`: whether a judge is fit to judge."""

from typing import Annotated

import typer

from onprompt.cli.app import app, echo
from onprompt.cli.judging import Budget, DryRun, JudgeName, Models, judge_settings, print_plan
from onprompt.rubrics import DEFAULT


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help="Rubric for images: verify or rate. Edits use edit.")] = DEFAULT,
    model: Models = None,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Test a judge on drawn images with known answers. They cover blank images, wrong prompts, edits and rephrasing."""
    from onprompt import probe as probing

    settings = judge_settings(judge, model, budget=budget)
    if dry_run:
        print_plan(probing.plan(rubric, settings=settings))
    else:
        echo("\n".join(probing.lines(probing.probe(rubric, settings=settings))))

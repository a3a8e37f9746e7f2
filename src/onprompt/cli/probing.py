"""`probe`: can this judge be trusted?"""

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import app, echo, print_json
from onprompt.cli.judging import Budget, DetectorName, DryRun, JudgeName, Models, judge_settings, print_plan
from onprompt.rubrics import DEFAULT

RUBRICS = "Rubric for the images: verify or rate. Edits always use edit."


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help=RUBRICS)] = DEFAULT,
    json: Annotated[bool, typer.Option("--json", help="Print every comparison as JSON.")] = False,
    save: Annotated[Path | None, typer.Option(help="Also write the images to this folder.")] = None,
    detector: DetectorName = "",
    model: Models = None,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Test a judge on drawn images with known answers: blank images, wrong prompts, reversed edits, rephrasing."""
    from onprompt import probe as probing

    settings = judge_settings(judge, model, detector, budget)
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

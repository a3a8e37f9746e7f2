"""`probe`: can this judge be trusted?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from onprompt.cli.app import Permissive, app, echo, print_json
from onprompt.cli.judging import (
    BaseUrl,
    Budget,
    DetectorName,
    DryRun,
    JudgeName,
    LookAgain,
    MatcherName,
    Measured,
    Models,
    WeightsFile,
    judge_settings,
    print_plan,
)
from onprompt.rubrics import DEFAULT

RUBRICS = "Rubric for the images: verify or rate. Edits always use edit."


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help=RUBRICS)] = DEFAULT,
    json: Annotated[bool, typer.Option("--json", help="Print every comparison as JSON.")] = False,
    save: Annotated[Path | None, typer.Option(help="Also write the images to this folder.")] = None,
    detector: DetectorName = "",
    matcher: MatcherName = "",
    permissive: Permissive = False,
    model: Models = None,
    measured: Measured = None,
    look_again: LookAgain = False,
    weights: WeightsFile = None,
    base_url: BaseUrl = "",
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Test a judge on drawn images with known answers: blank images, wrong prompts, reversed edits, rephrasing."""
    from onprompt import probe as probing

    options: dict[str, Any] = {"base_url": base_url, "detector": detector, "matcher": matcher, "permissive": permissive}
    options |= {"measured": measured, "look_again": look_again, "weights": weights}
    settings = judge_settings(judge, model, budget=budget, **options)
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

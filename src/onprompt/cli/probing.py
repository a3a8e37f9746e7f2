"""`probe` and `prompts make`: material to test a judge or a model with."""

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import App, app, echo, print_json
from onprompt.cli.judging import Budget, DryRun, JudgeName, Models, judge_settings, print_plan
from onprompt.errors import UserError
from onprompt.plugins import did_you_mean
from onprompt.rubrics import DEFAULT
from onprompt.wording import plural


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help="Rubric for images: verify or rate; edits use edit.")] = DEFAULT,
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


prompts = App(no_args_is_help=True, help="Make prompts to test an image model with.")
app.add_typer(prompts, name="prompts")


@prompts.command()
def make(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder to write to.")],
    n: Annotated[int, typer.Option("--n", min=1, max=100_000, help="Number of prompts.")] = 200,
    objects: Annotated[int, typer.Option(metavar="N", help="Number of objects in each prompt, 1 to 5.")] = 2,
    features: Annotated[
        list[str] | None, typer.Option("--with", metavar="FEATURE", help="colors, counts or relations; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed makes the same prompts.")] = 0,
) -> None:
    """Write compositional prompts and the scenes they were made from. They are in our form and in GenEval's."""
    from onprompt.prompt_sets import FEATURES, GENEVAL, TABLE, TEXTS, write
    from onprompt.prompt_sets import make as make_prompts

    for name in features or ():
        if name not in FEATURES:
            raise UserError(f"prompts make has no feature {name!r}{did_you_mean(name, FEATURES)}")
    made = list(make_prompts(n, objects, [name for name in FEATURES if name in (features or ())], seed))
    write(made, out)
    echo(f"{plural(len(made), 'prompt')} in {len({each.category for each in made})} categories written to {out}:")
    echo(f"  {TABLE}: id, image, prompt, category and objects; {TEXTS}: only the prompts; {GENEVAL}: GenEval's form")
    echo(
        f"write an image for each to {out / 'images'} (00000.png …); then: onprompt run {out / TABLE} --out run.sqlite"
    )

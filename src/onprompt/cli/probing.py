"""`probe` and `prompts make`: material to test a judge or a model with."""

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import app, echo, print_json
from onprompt.cli.judging import Budget, DetectorName, DryRun, JudgeName, Models, judge_settings, print_plan
from onprompt.rubrics import DEFAULT
from onprompt.wording import plural

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


prompts = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make prompts to test a model with.")
app.add_typer(prompts, name="prompts")


@prompts.command()
def make(
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    n: Annotated[int, typer.Option("--n", min=1, max=100_000, help="How many prompts.")] = 200,
    objects: Annotated[int, typer.Option(help="How many objects each prompt names, 1 to 5.")] = 2,
    colours: Annotated[bool, typer.Option("--colours", help="Give objects colours.")] = False,
    counts: Annotated[bool, typer.Option("--counts", help="Ask for up to four of an object.")] = False,
    relations: Annotated[bool, typer.Option("--relations", help="Say where the first object is.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed makes the same prompts.")] = 0,
) -> None:
    """Write compositional prompts with the scenes that they were made from, in our form and in GenEval's."""
    from onprompt.prompt_sets import FEATURES, GENEVAL, TABLE, TEXTS, write
    from onprompt.prompt_sets import make as make_prompts

    wanted = dict(zip(FEATURES, (colours, counts, relations), strict=True))
    made = list(make_prompts(n, objects, [name for name, chosen in wanted.items() if chosen], seed))
    write(made, out)
    echo(f"{plural(len(made), 'prompt')} in {len({each.category for each in made})} categories written to {out}:")
    echo(f"  {TABLE}: id, image, prompt, category and objects; {TEXTS}: only the prompts; {GENEVAL}: GenEval's form")
    echo(
        f"write an image for each to {out / 'images'} (00000.png …); then: onprompt run {out / TABLE} --out run.sqlite"
    )

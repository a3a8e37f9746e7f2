"""`illusion run`, `report`, `make` and `audit`: IllusionBench, as the original asks and scores it and otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import app, print_json
from onprompt.cli.auditing import audit, audit_target
from onprompt.cli.judging import BaseUrl, Budget, DryRun, Model, judging
from onprompt.cli.running import Generation, RunFile, Watcher, finish, named
from onprompt.errors import UserError

illusion = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="IllusionBench: which shape hides in this scene? Ask, score, draw and audit.",
)
app.add_typer(illusion, name="illusion")
illusion.command("audit")(audit_target)
app.command()(audit)  # beside it, for the other rubrics
SplitName = Annotated[str, typer.Option(help="sin (the paper's IN), logo, icon or old_sin.")]
Scoring = Annotated[str, typer.Option(help="By which scoring groups are shown: original, recall, in_context, strict.")]


@illusion.command("run")
def run_illusion(
    data: Annotated[str, typer.Argument(help="The original's folder, a table, or hf:OWNER/DATASET.")],
    out: Annotated[Path, typer.Option(help="The file of the run; an old one goes on where it was.")],
    split: SplitName = "sin",
    model: Model = "",
    base_url: BaseUrl = "",
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT to resize to, as the original does; else as it is.")] = "",
    column: Annotated[list[str] | None, typer.Option(help="FIELD=COLUMN, where a column can't be guessed.")] = None,
    engine: Annotated[str, typer.Option(help="What keeps many questions under way.")] = "threads",
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Ask a model for the shape and for the scene of every image, word for word as the original; then report."""
    from onprompt.illusion import images, protocol
    from onprompt.illusion.asking import Asking
    from onprompt.models.client import plan_calls
    from onprompt.runs.run import run, to_do

    settings = judging("vlm", model, base_url, None, budget)
    if not settings.model:
        raise UserError("name the model to ask: --model BACKEND/MODEL, such as openai/gpt-5.2")
    found = images.opened(data, protocol.split(split), named(column or []))
    told = ", ".join(f"{field} from {name!r}" for field, name in found.columns.items())
    typer.echo(f"{found.kind}{'' if found.count is None else f' of {found.count:,}'}: {told}", err=True)
    work = Asking(split, settings, sides(size, settings.max_side))
    if dry_run:
        typer.echo(plan_calls(work.client, to_do(found, out, work), work.questions, again=False))
        return
    summary = run(found, out, work, engine, Watcher(found.count))
    if summary.done or summary.before:
        show(out, 0, "original")
    finish(summary)


@illusion.command()
def report(
    run_file: RunFile,
    scoring: Scoring = "original",
    markdown: Annotated[Path | None, typer.Option(help="Write all tables to this Markdown file.")] = None,
    generation: Generation = 0,
    json: Annotated[bool, typer.Option("--json", help="All figures, and all answers that scorings differ on.")] = False,
) -> None:
    """Score the stored answers of a run in all four ways, beside the published figures. Nothing is asked."""
    show(run_file, generation, scoring, markdown, json)


@illusion.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where the images go, in the original's layout.")],
    split: SplitName = "sin",
    per_class: Annotated[int, typer.Option(min=1, help="Images of each shape.")] = 11,
    side: Annotated[int, typer.Option(min=64, max=2048, help="Width and height of an image.")] = 512,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws others.")] = 0,
) -> None:
    """Draw images in which a shape hides, to try everything without the benchmark's own."""
    from onprompt.illusion import drawing, protocol
    from onprompt.illusion.silhouettes import drawable

    wanted = protocol.split(split)
    try:
        made = drawing.make(folder, wanted, per_class, side, seed)
    except OSError as error:
        raise UserError(f"can't write to {folder}: {error.strerror or error}") from error
    typer.echo(f"{len(made):,} images are in {folder}")
    if missing := [shape for shape in wanted.shapes if shape not in drawable(wanted)]:
        typer.echo(f"not drawn, for lack of a plain outline: {', '.join(missing)}")


def show(path: Path, generation: int, scoring: str, markdown: Path | None = None, json: bool = False) -> None:
    """Print what a run's answers come to, or write it."""
    from onprompt import plugins
    from onprompt.illusion import answers, tables
    from onprompt.illusion.scoring import SCORINGS
    from onprompt.runs.ledger import Ledger

    if scoring not in SCORINGS:
        raise UserError(f"no scoring {scoring!r}{plugins.did_you_mean(scoring, SCORINGS)}")
    with Ledger(path) as ledger:
        measured = answers.results_of(ledger, generation)
    if markdown:
        try:
            markdown.write_text(tables.markdown(measured, scoring), encoding="utf-8")
        except OSError as error:
            raise UserError(f"can't write {markdown}: {error.strerror or error}") from error
        typer.echo(f"all tables are in {markdown}", err=True)
    if json:
        print_json(tables.document(measured))
    elif not markdown:
        typer.echo("\n".join(tables.lines(measured, scoring)))


def sides(size: str, longest: int) -> tuple[int, int] | None:
    """`336x336` as two numbers."""
    if not size:
        return None
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise UserError(f"--size is WIDTHxHEIGHT, such as 336x336, not {size!r}")
    if not 2 <= min(int(width), int(height)) <= max(int(width), int(height)) <= longest:
        raise UserError(f"--size {size}: each side is 2 to {longest} (setting max_side)")
    return int(width), int(height)

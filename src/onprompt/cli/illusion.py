"""`illusion run`, `report` and `audit`: IllusionBench, asked and scored as published and in other ways."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import App, Configuration, Json, RunPath, echo, print_result
from onprompt.cli.judging import AskAgain, Budget, DryRun, Model, judge_settings, print_plan
from onprompt.cli.running import Columns, Engine, Out, ProgressLine, finish, parse_columns, print_source
from onprompt.errors import UserError
from onprompt.files import replacing

illusion = App(no_args_is_help=True, help="Ask, score and audit IllusionBench (shapes hidden in scenes).")
SCORING = "original"  # of the groups; the totals are scored in three ways
SplitName = Annotated[str, typer.Option(help="sin (the paper's IN), logo, icon or old_sin.")]


@illusion.command("audit")
def audit_file(
    file: Annotated[
        Path, typer.Argument(help="A .py file, a document that quotes code, or a .toml (docs/illusion.md).")
    ],
    out: Annotated[Path | None, typer.Option(help="Write the page to OUT.md and OUT.json.")] = None,
    json: Json = False,
) -> None:
    """Audit a re-implementation of IllusionBench against the original. RUNS THE CODE of the file."""
    import json as encoding

    from onprompt.illusion.audit import audit, document, markdown, summary, text

    result = audit(file)
    if out:
        texts = {".md": "\n".join(markdown(result)), ".json": encoding.dumps(document(result), indent=2)}
        for suffix, content in texts.items():
            with replacing(out.with_name(out.name.removesuffix(".md").removesuffix(".json") + suffix)) as new:
                new.write_text(content + "\n", encoding="utf-8")
    print_result(json, lambda: document(result), [summary(result)] if out else text(result))
    raise typer.Exit(0 if result.aligned else 1)


@illusion.command("run")
def run_illusion(
    data: Annotated[str, typer.Argument(help="The original folder, a table, or hf:OWNER/DATASET.")],
    out: Out,
    split: SplitName = "sin",
    model: Model = "",
    size: Annotated[
        str, typer.Option(help="Resize to WIDTHxHEIGHT, as the original does (default: no resizing).")
    ] = "",
    column: Columns = None,
    engine: Engine = "threads",
    budget: Budget = None,
    dry_run: DryRun = False,
    ask_again: AskAgain = False,
) -> None:
    """Ask a model for the shape and the scene in every image, in the original's words, and report."""
    from onprompt.illusion.protocol import split_named
    from onprompt.illusion.run import RUBRIC, IllusionJob, opened
    from onprompt.runs.run import run

    settings = judge_settings("vlm", model, budget=budget, ask_again=ask_again)
    if not settings.model:
        raise UserError("a model is needed: --model BACKEND/MODEL, such as openai/gpt-5.2")
    dataset = opened(data, split_named(split), parse_columns(column or []))
    print_source(dataset)
    job = IllusionJob(RUBRIC.name, settings, split, parse_size(size, settings.max_side))
    if dry_run:
        print_plan(job.judge.plan(partial(job.sample, row.item) for row in dataset.rows() if not row.error))
        return
    summary = run(dataset, out, job, engine, ProgressLine(dataset.count))
    if summary.done or summary.before:
        print_report(out)
    finish(summary)


@illusion.command()
def report(
    run_file: RunPath,
    html: Annotated[Path | None, typer.Option(help="Write a page with figures and the missed pictures.")] = None,
    configuration: Configuration = 0,
    json: Json = False,
) -> None:
    """Score the stored answers of a run in three ways, beside the published figures; nothing is asked."""
    print_report(run_file, configuration, html, json)


def print_report(path: Path, configuration: int = 0, html: Path | None = None, json: bool = False) -> None:
    """Print or write the scores of a run's answers."""
    from onprompt.illusion import results
    from onprompt.illusion.run import results_of
    from onprompt.runs.reading import Run

    run = Run(path, configuration)
    measured = results_of(run)
    if html:
        from onprompt.illusion import page

        with replacing(html) as new:
            page.write(run, measured, SCORING, new)
        echo(f"written to {html}", err=True)
    if json or not html:
        print_result(json, lambda: results.document(measured, SCORING), results.lines(measured, SCORING))


def parse_size(size: str, longest: int) -> tuple[int, int] | None:
    """`336x336` as two numbers."""
    if not size:
        return None
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise UserError(f"--size must be WIDTHxHEIGHT, such as 336x336, not {size!r}")
    if not 2 <= min(int(width), int(height)) <= max(int(width), int(height)) <= longest:
        raise UserError(f"--size {size}: each side must be 2 to {longest} (setting max_side)")
    return int(width), int(height)

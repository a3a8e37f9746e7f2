"""`show`, `export` and `report`: the results of a run in the terminal, in files and as pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onprompt.cli.app import Configuration, Json, RunPath, app, echo, find_rubric, print_json, print_result
from onprompt.cli.comparing import Human, HumanScale, RatingColumns, find_ratings
from onprompt.cli.judging import NoCaption, PictureFile, print_verdict
from onprompt.errors import UserError
from onprompt.files import replacing
from onprompt.models.reading import one_line
from onprompt.wording import plural
from onprompt.wording.labels import error_words

if TYPE_CHECKING:
    from onprompt.runs.reading import Run, RunRow

FORMATS = ("html", "markdown", "latex")  # of `report`
TRACKERS = ("mlflow", "tensorboard", "wandb")


@app.command()
def show(
    run_file: RunPath,
    sample: Annotated[str, typer.Option("--id", help="Print the verdict on this sample.")] = "",
    picture: PictureFile = None,
    no_caption: NoCaption = False,
    by: Annotated[str, typer.Option(metavar="model|category", help="Means by model or category.")] = "",
    worst: Annotated[int, typer.Option(min=0, metavar="N", help="List the N samples with the lowest values.")] = 0,
    flagged: Annotated[
        bool, typer.Option("--flagged", help="List only samples that have a flag or no verdict.")
    ] = False,
    configuration: Configuration = 0,
    json: Json = False,
) -> None:
    """Show a run: overview, worst or flagged samples, or one verdict."""
    from onprompt.runs.reading import Run

    if picture and not sample:
        raise UserError("--picture needs a sample: choose one with --id")
    run = Run(run_file, configuration)
    if sample:
        show_verdict(run, sample, picture, json, caption=not no_caption)
    elif by:
        show_breakdown(run, by, json)
    elif not worst and not flagged and not json:
        echo("\n".join(overview_lines(run)))
    else:
        for row in run.rows(worst, flagged):
            print_json(row.document, indent=None) if json else echo(sample_line(row))


def show_breakdown(run: Run, by: str, json: bool) -> None:
    """Print the means of a run by model or by category."""
    from onprompt.report import comparison

    if by not in ("model", "category"):
        raise UserError(f"--by takes model or category, not {by!r}")
    rows = list(run.rows())
    groups = comparison.by_group(rows, (getattr(row, by) for row in rows))
    print_result(json, lambda: comparison.group_document(groups, by), comparison.group_lines(groups, by))


def show_verdict(run: Run, sample: str, picture: Path | None, json: bool, caption: bool) -> None:
    """Print a stored verdict, as it was printed when it was made."""
    from onprompt.report import picture as drawing
    from onprompt.report.document import document

    verdict = run.verdict(sample)
    if picture:
        drawing.check_path(picture, verdict.sample.picture.name)
        drawing.save(verdict, picture, caption)
    print_json(document(verdict)) if json else print_verdict(verdict)


@app.command()
def export(
    run_file: RunPath,
    to: Annotated[
        str, typer.Option(help=f"csv, jsonl, parquet, claims.FORMAT (by claim), geneval, {', '.join(TRACKERS)}.")
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option(help="The file to write. Default: NAME.verdicts.csv beside the run file.")
    ] = None,
    configuration: Configuration = 0,
) -> None:
    """Export a run's verdicts and errors to a file or a tracker."""
    from onprompt.runs import exporting
    from onprompt.runs.reading import Run

    if to in TRACKERS:
        from onprompt.trackers import track

        echo(f"logged to {track(run_file, to, configuration)}", err=True)
        return
    of_claims = to.startswith(exporting.CLAIMS)
    ending = "geneval.jsonl" if to == "geneval" else to if of_claims else f"verdicts.{to}"
    path = out or run_file.with_name(f"{run_file.stem}.{ending}")
    run = Run(run_file, configuration)
    if path.exists() and path.samefile(run_file):  # by whatever name: some systems ignore case
        raise UserError(f"{path} is the run file itself; choose another file with --out")
    if to == "geneval":
        from onprompt.adapters import geneval

        written = geneval.write(path, geneval.stored(run))
        echo(f"{plural(written.results, 'result')} written to {path}, {written.left_out:,} left out")
    else:
        count = exporting.export(run, path, to)
        echo(f"{plural(count, 'claim' if of_claims else 'sample')} written to {path}")


def overview_lines(run: Run) -> Iterator[str]:
    """A run at a glance."""
    from onprompt.report.comparison import make_group

    seen, rows = run.overview, list(run.rows())
    whole = make_group("all", rows)
    number = f" (configuration {run.configuration} of {len(run.configurations)})" if len(run.configurations) > 1 else ""
    yield f"{run.rubric} by {run.judge}{number}"
    gone = f"; {seen.gone:,} more are no longer in the data and not counted" if seen.gone else ""
    yield f"{plural(seen.verdicts, 'verdict')} on {plural(seen.samples, 'sample')}{gone}"
    if seen.outdated:
        yield f"{plural(seen.outdated, 'verdict')} outdated (image or prompt changed) and not counted; run again"
    if not seen.read_whole:
        yield "the last run did not read all of the data; run it again to resume"
    if whole.items:
        score = f", mean score {whole.score}" if whole.score.n else ""
        given = Counter(row.known_score for row in rows if row.known_score is not None)
        scores = ", ".join(f"{count:,} × ({score})" for score, count in sorted(given.items()))
        rubric = find_rubric(run.rubric)
        prompts = plural(whole.mean.n, rubric.prompt if rubric else "prompt")
        yield f"mean value {whole.mean}{score} over {prompts}{f'; scores: {scores}' if scores else ''}"
    if seen.placeholders:
        yield f"{plural(seen.placeholders, 'verdict')} not verifiable, and not in the mean"
    if seen.tokens:
        yield plural(seen.tokens, "token") + ("" if seen.cost is None else f", ${seen.cost:.4f}")
    yield from (f"{number:,} × no verdict: {error_words(kind)}" for kind, number in seen.errors.items())


def sample_line(row: RunRow) -> str:
    """`0.12 (1)  cup.png: 'a laptop' Missing. [flags]`, free of control characters."""
    name = one_line(row.id)
    if row.value is None:
        return f"no verdict  {name}: {one_line(row.why_none)}"
    score = "" if row.score is None else f" ({row.score})"
    flags = f" [{', '.join(row.flags).replace('_', ' ')}]" if row.flags else ""
    return f"{row.value:.2f}{score}  {name}: {row.prompt!r} {one_line(row.summary)}{flags}"


@app.command()
def report(
    run_files: Annotated[list[Path], typer.Argument(help="Run files; several are put side by side.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A folder or one file. Default: report/ (markdown, latex: standard output)."),
    ] = None,
    to: Annotated[str, typer.Option(help=f"The format: {', '.join(FORMATS)}.")] = "html",
    human: Human = None,
    human_scale: HumanScale = "",
    column: RatingColumns = None,
    configuration: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Judge configurations; repeatable. Default: the last that ran."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Samples with a page of their own; 0: all. Default: 10,000, or 200 in one file."
        ),
    ] = None,
) -> None:
    """Write runs as HTML pages. They show figures, images with evidence, and agreement with people."""
    from onprompt.pages.exporting import latex, markdown
    from onprompt.pages.report import read_report, write
    from onprompt.runs.reading import Run

    if to not in FORMATS:
        raise UserError(f"--to takes {', '.join(FORMATS)}, not {to!r}")
    given = find_ratings([Run(path, (configuration or [0])[0]) for path in run_files], human, column, human_scale)
    if given and not human:
        echo(given.origin, err=True)
    names = [Path(name).name for name in human or ()]
    options = [word for name in names for word in ("--human", name)]
    options += [word for pair in column or () for word in ("--column", pair)]
    options += ["--human-scale", human_scale] if human_scale else []
    terms = {"human_scale": given.scale if given else None}
    made = read_report(run_files, configuration or (), given.ratings if given else None, terms, options=options)
    if to == "html":
        out = out or Path("report")
        written = write(made, out, limit)
        echo(f"{plural(len(written.shown), 'sample')}: open {out / 'index.html' if out.is_dir() else out}")
        if written.limited:
            echo(written.limited, err=True)
        return
    text = (latex if to == "latex" else markdown)(made)
    if out is None:
        echo(text.rstrip())
        return
    with replacing(out) as new:
        new.write_text(text, "utf-8")
    echo(f"written to {out}")

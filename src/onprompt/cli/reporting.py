"""`report`: runs as pages that people look at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onprompt.cli.app import app, echo
from onprompt.cli.comparing import Human, HumanScale, RatingColumns, find_ratings, parse_scale
from onprompt.errors import UserError
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.pages.report import Report

FORMATS = ("html", "markdown", "latex")
SEVERAL = "A judge configuration (default: the last one that ran); repeat to compare several."
MANY = 500  # samples whose pages take a while
LARGE = 25 * 10**6  # bytes of one file from which browsers and mail take long


@app.command()
def report(
    run_files: Annotated[list[Path], typer.Argument(help="Run files; several are put side by side.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A folder, or one .html file (default: report); the rest goes to stdout."),
    ] = None,
    to: Annotated[str, typer.Option(help=f"The format: {', '.join(FORMATS)}.")] = "html",
    human: Human = None,
    human_scale: HumanScale = "",
    column: RatingColumns = None,
    configuration: Annotated[list[int] | None, typer.Option(metavar="N", help=SEVERAL)] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Show N samples one by one; 0: all (default: 10,000; 200 in one file)."),
    ] = None,
    title: Annotated[str, typer.Option(help="Title (default: names of the runs).")] = "",
) -> None:
    """Write runs as HTML pages. They show figures, images with evidence, and agreement with people."""
    from onprompt.pages.report import read_report
    from onprompt.runs.reading import Run

    if to not in FORMATS:
        raise UserError(f"--to takes {', '.join(FORMATS)}, not {to!r}")
    begun = time.monotonic()
    given = find_ratings([Run(path, (configuration or [0])[0]) for path in run_files], human, column)
    if given and not human:
        echo(given.origin, err=True)
    scale = parse_scale(human_scale) if human_scale else given.scale if given else None
    names = [Path(name).name for name in human or ()]
    options = [word for name in names for word in ("--human", name)]
    options += [word for pair in column or () for word in ("--column", pair)]
    options += ["--human-scale", human_scale] if human_scale else []
    ratings = given.ratings if given else None
    made = read_report(run_files, configuration or (), ratings, {"human_scale": scale}, title, options)
    if to == "html":
        write_pages(made, out or Path("report"), limit, begun)
    else:
        write_text(made, out, to)


def write_pages(made: Report, out: Path, limit: int | None, begun: float) -> None:
    """Write pages and say where they are."""
    from onprompt.pages.report import write

    if len(made.entries) >= MANY:
        echo(f"writing the pages of {plural(len(made.entries), 'sample')} …", err=True)
    written = write(made, out, limit)
    page = out / "index.html" if out.is_dir() else out
    seconds = time.monotonic() - begun
    echo(f"{plural(len(written.shown), 'sample')} in {seconds:.0f} s: open {page}")
    if written.limited:
        echo(written.limited, err=True)
    if out.is_file() and (size := out.stat().st_size) > LARGE:
        echo(f"{out} is {size / 1e6:.0f} MB; a folder (--out report) opens faster, or --limit shows less", err=True)


def write_text(made: Report, out: Path | None, to: str) -> None:
    """Print the tables in a format, or write them to a file."""
    from onprompt.pages.exporting import latex, markdown

    text = (latex if to == "latex" else markdown)(made)
    if out is None:
        echo(text.rstrip())
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"can't write to {out}: {error.strerror or error}") from error
    echo(f"written to {out}")

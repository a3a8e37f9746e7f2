"""`run`, `check` and `gate`: many samples, judged and stored; whether the file is intact; whether the run passes."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt import plugins
from onprompt.cli.app import Json, RunPath, add_options, app, echo, is_dumb, print_json
from onprompt.cli.judging import JUDGING, judge_settings, print_plan
from onprompt.errors import GateFailed, StoreError, UserError
from onprompt.models.reading import one_line
from onprompt.rubrics import DEFAULT
from onprompt.wording import plural
from onprompt.wording.labels import error_words

if TYPE_CHECKING:
    from onprompt.runs.datasets import Dataset
    from onprompt.runs.run import Summary

Out = Annotated[Path, typer.Option(metavar="FILE", help="The run file. An existing one is resumed.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="Which column holds a field, such as image=path; repeatable."
    ),
]
Engine = Annotated[str, typer.Option(help="How samples are judged in parallel: threads or ray.")]
UNDER = "Fail below this mean (value=.7) or share (score=3@.9); repeatable."
OVER = "Fail above: errors, flagged, not_verifiable (5 or 5%), cost; repeatable. Default: errors=0."
RUBRICS = f"The rubric: {', '.join(plugins.names('rubrics'))}. Default: {DEFAULT}."
REFRESH, LOGGED = 0.2, 30.0  # seconds between two updates of the progress, on a terminal and elsewhere
MAX_MESSAGE = 160  # characters


@app.command()
@add_options(JUDGING)
def run(
    data: Annotated[str, typer.Argument(help="CSV, JSONL, Parquet, a folder, or hf:OWNER/DATASET.")],
    out: Out,
    rubric: Annotated[str, typer.Option(help=RUBRICS)] = "",
    column: Columns = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Judge only the first N samples.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, metavar="N", help="Judge N samples at a time. Default: by cores and models."),
    ] = None,
    engine: Engine = "threads",
    **options: Any,
) -> None:
    """Judge the images of a table, a folder or a dataset. An interrupted run resumes; a bad sample affects no other."""
    from onprompt import api
    from onprompt.runs import datasets
    from onprompt.runs.run import JudgeJob
    from onprompt.runs.run import run as judge_all
    from onprompt.samples import load_rubric

    if workers and engine == "ray":
        raise UserError("--workers is for the engine threads: Ray uses all cores that its cluster has")
    dry_run = options.pop("dry_run")
    job = JudgeJob(rubric or DEFAULT, judge_settings(**options, workers=workers), workers=workers or 0)
    others = [] if rubric else [load_rubric(name) for name in plugins.modules("rubrics")]
    dataset = datasets.open_dataset(data, job.rubric, parse_columns(column or []), alternatives=others)
    print_source(dataset)
    if dry_run:
        items = (row.item for row in islice(dataset.rows(), limit) if not row.error)
        print_plan(api.plan(job.rubric_name, items, settings=job.settings))
        return
    count = min(filter(None, (dataset.count, limit)), default=None)
    finish(judge_all(dataset, out, job, engine, ProgressLine(count), limit))


def print_source(dataset: Dataset) -> None:
    """Print what was opened, and where each field comes from."""
    number = "" if dataset.count is None else f", {plural(dataset.count, 'sample')}"
    fields = dataset.columns.items()
    if dataset.fixed:
        origins = ", ".join(f"{field} from {place}" for field, place in fields if field != "image")
    else:
        columns = (field if field == name else f"{field} from {name!r}" for field, name in fields)
        origins = f"columns: {', '.join(columns)}"
    echo("; ".join(filter(None, (f"{dataset.kind}{number}", origins))), err=True)
    if dataset.count == 0:
        raise UserError(f"{dataset.source} has no samples")


def finish(summary: Summary) -> None:
    """Print the results and exit: with 130 after Ctrl-C, with 1 if it stopped or a sample got no verdict."""
    if redraws():
        draw("")
    echo("\n".join(result_lines(summary)))
    raise typer.Exit(130 if summary.interrupted else 1 if summary.stopped or summary.errors else 0)


def parse_columns(pairs: list[str]) -> dict[str, str]:
    """`image=file` as a dictionary."""
    if bad := [pair for pair in pairs if "=" not in pair]:
        raise UserError(f"--column must be FIELD=COLUMN, not {bad[0]!r}")
    return dict(pair.split("=", 1) for pair in pairs)


class ProgressLine:
    """Shows the progress of a run: in one line on a terminal, or else, as under nohup, in a new line now and then."""

    def __init__(self, count: int | None) -> None:
        self.count, self.begun, self.last = count, 0.0, 0.0
        self.show: Callable[[str], None] = draw if redraws() else partial(echo, err=True)
        self.every = REFRESH if redraws() else LOGGED

    def __call__(self, summary: Summary) -> None:
        now = time.monotonic()
        if not self.begun:
            self.begun = self.last = now
            if summary.new and summary.configuration > 1:
                configuration = f"configuration {summary.configuration} of {summary.path}"
                echo(f"changed: {summary.changed}; results go to {configuration}", err=True)
        elif now - self.last >= self.every:
            self.last = now
            self.show(progress_line(summary, self.count, now - self.begun))


def progress_line(summary: Summary, count: int | None, seconds: float) -> str:
    """`120 of 2,000, 3.4 per second, 9 min left, 2 errors, $0.12`."""
    errors = summary.errors.total()
    now = summary.done + errors
    rate = now / seconds
    parts = [f"{summary.before + now:,}" + (f" of {count:,}" if count else ""), f"{rate:.1f} per second"]
    if count and rate:
        parts.append(f"{(count - summary.before - now) / rate / 60:,.0f} min left")
    parts += [plural(errors, "error")] if errors else []
    parts += [f"${summary.cost:.2f}"] if summary.cost else []
    return ", ".join(parts)


def draw(line: str) -> None:
    """Draw a line over the one before, with blanks instead of a control sequence that old terminals would print."""
    width = shutil.get_terminal_size().columns - 1
    sys.stderr.write(f"\r{line[:width]:{width}}\r")


def redraws() -> bool:
    """Whether the progress is one line that is drawn again and again."""
    from onprompt.settings import is_quiet

    return sys.stderr.isatty() and not is_dumb() and not is_quiet()


def result_lines(summary: Summary) -> Iterator[str]:
    """The results of a run."""
    parts = [plural(summary.done, "verdict")]
    parts += [f"{summary.before:,} already judged"] if summary.before else []
    parts += [plural(summary.errors.total(), "error")]
    parts += [plural(summary.tokens, "token")] if summary.tokens else []
    parts += [f"${summary.cost:.4f}"] if summary.cost else []
    yield f"{', '.join(parts)}: {summary.path}"
    for kind, number in summary.errors.most_common():
        yield f"  {number:,} × {error_words(kind)}, for example: {one_line(summary.examples[kind])[:MAX_MESSAGE]}"
    if summary.repeated:
        repeat = "repeats" if summary.repeated == 1 else "repeat"
        rows = f"{plural(summary.repeated, 'row')} {repeat} the id of an earlier row"
        yield f"  {rows} and got a new one: {summary.repeat}"
    if summary.incomplete:
        verdicts = f"{plural(summary.incomplete, 'verdict')} without a model that failed"
        yield f"  {verdicts}; run the same command again to ask it"
    if summary.stopped:
        yield f"  {summary.stopped}; run the same command again to resume"


@app.command()
def check(run_file: RunPath) -> None:
    """Check a run file for damage. Reads the file as a whole, and compares every row with its digest."""
    from onprompt.runs.file import RunFile

    with RunFile(run_file) as file:
        damage = file.damage()
    for place in damage[:20]:
        echo(f"damaged: {place}")
    if damage:
        number = plural(len(damage), "place")
        raise StoreError(f"{run_file} is damaged in {number}: take an intact copy, or run it again into another file")
    echo("no damage found")


@app.command()
def gate(
    run_file: RunPath,
    fail_under: Annotated[list[str] | None, typer.Option(metavar="METRIC=LIMIT", help=UNDER)] = None,
    fail_over: Annotated[list[str] | None, typer.Option(metavar="METRIC=LIMIT", help=OVER)] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="RUN_FILE", help="Fail if significantly worse than this run."),
    ] = None,
    max_drop: Annotated[
        float | None, typer.Option(help="How far the mean may drop below the baseline. Default: 0.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Pass only if shown to be no worse.")] = False,
    allow_unfinished: Annotated[
        bool, typer.Option("--allow-unfinished", help="Pass even if the run did not read all data.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the decisions as JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE", help="Append a summary in Markdown.")] = None,
    json: Json = False,
) -> None:
    """Decide whether a run passes. The exit code is 0 if it meets all conditions, and 7 if not."""
    from onprompt.report.gate import check, write_junit, write_summary

    result = check(run_file, fail_under or (), fail_over or (), baseline, max_drop, strict, allow_unfinished)
    if junit:
        write_junit(result, junit)
    if summary:
        write_summary(result, summary)
    if json:
        print_json(result.document)
    else:
        for decision in result.decisions:
            word, color = ("ok", "green") if decision.met else ("FAILED", "red")
            echo(f"{word:6}  {decision.line}", fg=color)
        for note in result.notes:
            echo(f"note: {note}", err=True)
    if not result.passed:
        broken = sum(not decision.met for decision in result.decisions)
        raise GateFailed(f"{run_file} fails {plural(broken, 'condition')}")

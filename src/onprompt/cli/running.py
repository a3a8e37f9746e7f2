"""`run`, `show` and `export`: many samples, and what became of them."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt.cli.app import Permissive, app, chosen, print_json
from onprompt.cli.judging import BaseUrl, Budget, DetectorName, DryRun, JudgeName, Model, Repeats, judging
from onprompt.errors import UserError
from onprompt.models.reading import one_line

if TYPE_CHECKING:
    from onprompt.runs.findings import Overview
    from onprompt.runs.run import Summary

RunFile = Annotated[Path, typer.Argument(help="The file of a run.")]
Generation = Annotated[int, typer.Option(help="Which generation, by its number; by itself the one that ran last.")]
EVERY = 0.2  # seconds between two looks at the progress
WIDE = 160  # characters of a message that are shown


@app.command()
def run(
    data: Annotated[str, typer.Argument(help="CSV, JSONL, Parquet, a folder, a glob, or hf:OWNER/DATASET.")],
    out: Annotated[Path, typer.Option(help="The file of the run; an old one goes on where it was.")],
    rubric: Annotated[str, typer.Option(help="verify, rate or edit.")] = "verify",
    column: Annotated[list[str] | None, typer.Option(help="FIELD=COLUMN, where a column can't be guessed.")] = None,
    engine: Annotated[str, typer.Option(help="What keeps many samples under way: threads or ray.")] = "threads",
    judge: JudgeName = "",
    model: Model = "",
    base_url: BaseUrl = "",
    repeats: Repeats = None,
    budget: Budget = None,
    detector: DetectorName = "",
    permissive: Permissive = False,
    dry_run: DryRun = False,
) -> None:
    """Judge many samples. Killed at any moment, it goes on where it was; one that fails costs no other."""
    from onprompt import api
    from onprompt.runs import datasets
    from onprompt.runs.run import Work, to_do
    from onprompt.runs.run import run as judge_all

    settings = judging(judge, model, base_url, repeats, budget, detector=detector, permissive=permissive)
    found = datasets.opened(data, rubric, named(column or []))
    shown = ", ".join(f"{field} from {name!r}" for field, name in found.columns.items())
    typer.echo(f"{found.kind}{'' if found.count is None else f' of {found.count:,}'}: {shown}", err=True)
    if dry_run:
        typer.echo(api.plan(rubric, to_do(found, out, Work(rubric, settings)), settings=settings))
        return
    finish(judge_all(found, out, Work(rubric, settings), engine, Watcher(found.count)))


def finish(summary: Summary) -> None:
    """Say how a run went, and leave: with 1 where a sample got no verdict, with 130 where it was stopped by hand."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    typer.echo("\n".join(result_lines(summary)))
    raise typer.Exit(130 if summary.interrupted else 1 if summary.faults or summary.stopped else 0)


@app.command()
def show(
    run_file: RunFile,
    worst: Annotated[int, typer.Option(min=0, help="Only so many, the lowest values first.")] = 0,
    flagged: Annotated[bool, typer.Option("--flagged", help="Only what a person should look at.")] = False,
    generation: Generation = 0,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show what a run found: its figures, then the worst or the flagged samples if that is wanted."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    with Ledger(run_file) as ledger:
        number = findings.generation_of(ledger, generation)
        if not worst and not flagged and not json:
            typer.echo("\n".join(overview_lines(findings.overview(ledger, number))))
            return
        for row in findings.rows(ledger, number, worst, flagged):
            if json:
                print_json(row, indent=None)
            else:
                typer.echo(sample_line(row))


@app.command()
def export(
    run_file: RunFile,
    to: Annotated[str, typer.Option(help="csv, jsonl or parquet.")] = "csv",
    out: Annotated[Path | None, typer.Option(help="The file; by itself NAME.verdicts.csv beside the run.")] = None,
    answers: Annotated[bool, typer.Option("--answers", help="With what the model said, word for word.")] = False,
    generation: Generation = 0,
) -> None:
    """Write all samples of a run with their verdicts and errors to a file."""
    from onprompt.models.answer_store import AnswerStore
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    path = out or run_file.with_name(f"{run_file.stem}.verdicts.{to}")
    if path.resolve() == run_file.resolve():
        raise UserError(f"{path} is the run itself: name another file")
    kept = AnswerStore(chosen().answers) if answers else None
    with Ledger(run_file) as ledger:
        count, lost = findings.export(ledger, findings.generation_of(ledger, generation), path, to, kept)
    if kept:
        kept.close()
    typer.echo(f"{count:,} samples are in {path}")
    if lost:
        typer.echo(f"{lost:,} answers are not in {chosen().answers} any more: null stands in their place", err=True)


def named(pairs: list[str]) -> dict[str, str]:
    """`image=file` as a dictionary."""
    if bad := [pair for pair in pairs if "=" not in pair]:
        raise UserError(f"--column is FIELD=COLUMN, not {bad[0]!r}")
    return dict(pair.split("=", 1) for pair in pairs)


class Watcher:
    """Shows the progress to whoever watches; nobody does in CI."""

    def __init__(self, count: int | None) -> None:
        self.count, self.watched, self.start, self.last = count, sys.stderr.isatty(), 0.0, 0.0

    def __call__(self, summary: Summary) -> None:
        now = time.monotonic()
        if not self.start:
            self.start = now
            if summary.new and summary.generation > 1:
                why = f"another way of judging than before ({summary.changed} changed)"
                typer.echo(f"{why}: this is generation {summary.generation} of {summary.path}", err=True)
        elif self.watched and now - self.last >= EVERY:
            self.last = now
            line = progress(summary, self.count, now - self.start)
            sys.stderr.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")


def progress(summary: Summary, count: int | None, seconds: float) -> str:
    """`120 of 2,000, 3.4 a second, 9 min to go, 2 errors, 0.12 US dollars`."""
    faults = summary.faults.total()
    now = summary.done + faults
    rate = now / seconds if seconds else 0.0
    had = max(summary.known, summary.before)  # those that have a verdict may stand further on in the data
    parts = [f"{summary.before + now:,}" + (f" of {count:,}" if count else ""), f"{rate:.1f} a second"]
    if count and rate:
        parts.append(f"{duration(max(0, count - had - now) / rate)} to go")
    parts += [f"{faults:,} errors"] if faults else []
    parts += [f"{summary.cost:.2f} US dollars"] if summary.cost else []
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """A time to wait."""
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )


def result_lines(summary: Summary) -> Iterator[str]:
    """How a run went."""
    old = f", {summary.before:,} had one already" if summary.before else ""
    money = f", {summary.cost:.4f} US dollars" if summary.cost else ""
    tokens = f", {summary.tokens:,} tokens{money}" if summary.tokens else ""
    yield f"{summary.done:,} verdicts{old}, {summary.faults.total():,} errors{tokens}: {summary.path}"
    for kind, number in summary.faults.most_common():
        yield f"  {number:,} × {kind}, such as: {shortened(summary.examples[kind])}"
    if summary.stopped:
        yield f"  {summary.stopped}; run again to go on"


def shortened(message: str) -> str:
    """A message on one line."""
    line = one_line(message)
    return line if len(line) <= WIDE else f"{line[: WIDE - 1]}…"


def overview_lines(found: Overview) -> Iterator[str]:
    """A run at a glance."""
    told = found.identity
    by = told.get("model") or told["judge"]
    number = f" (generation {found.generation} of {found.generations})" if found.generations > 1 else ""
    yield f"{told['rubric']} by {by}{number}"
    gone = f"; {found.gone:,} more are no longer in the data and in no figure" if found.gone else ""
    yield f"{found.verdicts:,} verdicts on {found.samples:,} samples{gone}"
    if found.outdated:
        yield f"{found.outdated:,} verdicts on pictures or words that have changed since are in no figure: run again"
    if not found.read_whole:
        yield "the last run did not read all of the data, so there may be more samples: run again to go on"
    if found.mean is not None:
        scores = ", ".join(f"({score}) {n:,}" for score, n in found.scores.items())
        yield f"mean value {found.mean:.3f}" + (f"; {scores}" if scores else "")
    if found.placeholders:
        yield f"{found.placeholders:,} of them stand on nothing that could be checked, and are in no mean"
    if found.tokens:
        yield f"{found.tokens:,} tokens" + ("" if found.cost is None else f", {found.cost:.4f} US dollars")
    yield from (f"{number:,} × no verdict: {kind}" for kind, number in found.faults.items())


def sample_line(row: dict[str, Any]) -> str:
    """One sample: `0.12 (1) cup.png: a laptop: missing [flags]`. What others wrote must not steer the terminal."""
    name = one_line(row["id"])
    if row["error"]:
        return f"no verdict  {name}: {row['error']}: {one_line(row['message'])}"
    score = "" if row["score"] is None else f" ({row['score']})"
    flags = f" [{row['flags']}]" if row["flags"] else ""
    return f"{row['value']:.2f}{score}  {name}: {row['prompt']!r} {one_line(row['summary'])}{flags}"

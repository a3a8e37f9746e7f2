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
from onprompt.cli.judging import (
    BaseUrl,
    Budget,
    DetectorName,
    DryRun,
    JudgeName,
    Model,
    PictureFile,
    Repeats,
    judging,
    print_lines,
    print_plan,
)
from onprompt.errors import UserError
from onprompt.models.reading import one_line
from onprompt.rubrics import DEFAULT
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.runs.datasets import Dataset
    from onprompt.runs.findings import Overview
    from onprompt.runs.ledger import Ledger
    from onprompt.runs.run import Summary

RunFile = Annotated[Path, typer.Argument(help="The run file.")]
Generation = Annotated[int, typer.Option(help="The number of a generation; by default the one that ran last.")]
EVERY = 0.2  # seconds between two looks at the progress
WIDE = 160  # characters of a message that are shown


@app.command()
def run(
    data: Annotated[str, typer.Argument(help="CSV, JSONL, Parquet, a folder, a glob, or hf:OWNER/DATASET.")],
    out: Annotated[Path, typer.Option(help="The file of the run; an existing one is resumed.")],
    rubric: Annotated[str, typer.Option(help="The rubric: verify, rate, edit, or that of a plug-in.")] = DEFAULT,
    column: Annotated[list[str] | None, typer.Option(help="FIELD=COLUMN, where a column can't be guessed.")] = None,
    engine: Annotated[str, typer.Option(help="What runs samples in parallel: threads or ray.")] = "threads",
    judge: JudgeName = "",
    model: Model = "",
    base_url: BaseUrl = "",
    repeats: Repeats = None,
    budget: Budget = None,
    detector: DetectorName = "",
    permissive: Permissive = False,
    dry_run: DryRun = False,
) -> None:
    """Judge many samples. A run resumes after any interruption; a sample that fails costs no other."""
    from onprompt import api
    from onprompt.runs import datasets
    from onprompt.runs.job import JudgeJob
    from onprompt.runs.run import run as judge_all
    from onprompt.runs.run import to_do

    settings = judging(judge, model, repeats, budget, base_url=base_url, detector=detector, permissive=permissive)
    job = JudgeJob(rubric, settings)
    found = datasets.open_dataset(data, job.rubric, named(column or []))
    announce(found)
    if dry_run:
        print_plan(api.plan(rubric, to_do(found, out, job), settings=settings))
        return
    finish(judge_all(found, out, job, engine, Watcher(found.count)))


def announce(data: Dataset) -> None:
    """Say what was opened, and from where each field comes."""
    columns = ", ".join(f"{field} from {name!r}" for field, name in data.columns.items())
    number = "" if data.count is None else f", {plural(data.count, 'sample')}"
    typer.echo(f"{data.kind}{number}: {columns}", err=True)


def finish(summary: Summary) -> None:
    """Say how a run went, and leave: with 1 where a sample got no verdict, with 130 where it was stopped by hand."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    typer.echo("\n".join(result_lines(summary)))
    raise typer.Exit(130 if summary.interrupted else 1 if summary.faults or summary.stopped else 0)


@app.command()
def show(
    run_file: RunFile,
    sample: Annotated[str, typer.Option("--id", help="One sample: print its verdict as it was printed then.")] = "",
    picture: PictureFile = None,
    worst: Annotated[int, typer.Option(min=0, help="Only so many samples, the lowest values first.")] = 0,
    flagged: Annotated[bool, typer.Option("--flagged", help="Only samples that a person should look at.")] = False,
    generation: Generation = 0,
    json: Annotated[bool, typer.Option("--json", help="JSON, one object per line; with --id the verdict.")] = False,
) -> None:
    """Show the results of a run: its figures, the worst or flagged samples, or one verdict."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    if picture and not sample:
        raise UserError("--picture draws one verdict: name its sample with --id")
    with Ledger(run_file) as ledger:
        number = findings.generation_of(ledger, generation)
        if sample:
            show_verdict(ledger, number, sample, picture, json)
        elif not worst and not flagged and not json:
            typer.echo("\n".join(overview_lines(findings.overview(ledger, number))))
        else:
            for row in findings.rows(ledger, number, worst, flagged):
                print_json(row, indent=None) if json else typer.echo(sample_line(row))


def show_verdict(ledger: Ledger, generation: int, sample: str, picture: Path | None, json: bool) -> None:
    """One stored verdict, as it was printed when it was made."""
    from onprompt import plugins
    from onprompt.models.answer_store import AnswerStore
    from onprompt.report import picture as drawing
    from onprompt.report import terminal
    from onprompt.report.document import document
    from onprompt.runs.findings import stored_verdict

    answers = AnswerStore(chosen().answers)
    try:
        verdict = stored_verdict(ledger, generation, sample, answers)
    finally:
        answers.close()
    if picture:
        drawing.can_write(picture, verdict.sample.picture.name)
        drawing.save(verdict, picture)
    if json:
        print_json(document(verdict))
        return
    known = verdict.rubric in plugins.names("rubrics")
    lines = plugins.load("rubrics", verdict.rubric).RUBRIC.lines if known else None
    print_lines((lines or terminal.factor_lines)(verdict))


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
    store = AnswerStore(chosen().answers) if answers else None
    with Ledger(run_file) as ledger:
        count, lost = findings.export(ledger, findings.generation_of(ledger, generation), path, to, store)
    if store:
        store.close()
    typer.echo(f"{plural(count, 'sample')} written to {path}")
    if lost:
        typer.echo(f"{plural(lost, 'answer')} no longer in {chosen().answers}: null in their place", err=True)


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
                typer.echo(
                    f"{summary.changed} changed: this is generation {summary.generation} of {summary.path}", err=True
                )
        elif self.watched and now - self.last >= EVERY:
            self.last = now
            line = progress(summary, self.count, now - self.start)
            sys.stderr.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")


def progress(summary: Summary, count: int | None, seconds: float) -> str:
    """`120 of 2,000, 3.4 per second, 9 min left, 2 errors, $0.12`."""
    faults = summary.faults.total()
    now = summary.done + faults
    rate = now / seconds if seconds else 0.0
    had = max(summary.known, summary.before)  # those that have a verdict may stand further on in the data
    parts = [f"{summary.before + now:,}" + (f" of {count:,}" if count else ""), f"{rate:.1f} per second"]
    if count and rate:
        parts.append(f"{duration(max(0, count - had - now) / rate)} left")
    parts += [plural(faults, "error")] if faults else []
    parts += [f"${summary.cost:.2f}"] if summary.cost else []
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
    parts = [plural(summary.done, "verdict")]
    parts += [f"{summary.before:,} already there"] if summary.before else []
    parts += [plural(summary.faults.total(), "error")]
    parts += [plural(summary.tokens, "token")] if summary.tokens else []
    parts += [f"${summary.cost:.4f}"] if summary.cost else []
    yield f"{', '.join(parts)}: {summary.path}"
    for kind, number in summary.faults.most_common():
        yield f"  {number:,} × {kind}, for example: {shortened(summary.examples[kind])}"
    if summary.stopped:
        yield f"  {summary.stopped}; run the same command again to resume"


def shortened(message: str) -> str:
    """A message on one line."""
    line = one_line(message)
    return line if len(line) <= WIDE else f"{line[: WIDE - 1]}…"


def overview_lines(found: Overview) -> Iterator[str]:
    """A run at a glance."""
    by = found.identity.get("model") or found.identity["judge"]
    number = f" (generation {found.generation} of {found.generations})" if found.generations > 1 else ""
    yield f"{found.identity['rubric']} by {by}{number}"
    gone = f"; {found.gone:,} more are no longer in the data and not counted" if found.gone else ""
    yield f"{plural(found.verdicts, 'verdict')} on {plural(found.samples, 'sample')}{gone}"
    if found.outdated:
        yield f"{plural(found.outdated, 'verdict')} outdated (picture or prompt changed) and not counted: run again"
    if not found.read_whole:
        yield "the last run did not read all of the data; run it again to resume"
    if found.mean is not None:
        scores = ", ".join(f"({score}) {n:,}" for score, n in found.scores.items())
        yield f"mean value {found.mean:.3f}" + (f"; {scores}" if scores else "")
    if found.placeholders:
        yield f"{plural(found.placeholders, 'verdict')} not verifiable, and left out of means"
    if found.tokens:
        yield plural(found.tokens, "token") + ("" if found.cost is None else f", ${found.cost:.4f}")
    yield from (f"{number:,} × no verdict: {kind}" for kind, number in found.faults.items())


def sample_line(row: dict[str, Any]) -> str:
    """One sample: `0.12 (1) cup.png: a laptop: missing [flags]`. What others wrote must not steer the terminal."""
    name = one_line(row["id"])
    if row["error"]:
        return f"no verdict  {name}: {row['error']}: {one_line(row['message'])}"
    score = "" if row["score"] is None else f" ({row['score']})"
    flags = f" [{row['flags']}]" if row["flags"] else ""
    return f"{row['value']:.2f}{score}  {name}: {row['prompt']!r} {one_line(row['summary'])}{flags}"

"""`show` and `export`: the results of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt import plugins
from onprompt.cli.app import app, echo, load_settings, print_json
from onprompt.cli.judging import PictureFile, print_verdict
from onprompt.cli.running import Generation, RunFile
from onprompt.errors import UserError
from onprompt.models.reading import one_line
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.report.ratings import Item
    from onprompt.runs.findings import Overview
    from onprompt.runs.ledger import Ledger

TRACKERS = ", ".join(plugins.names("trackers"))


@app.command()
def show(
    run_file: RunFile,
    sample: Annotated[str, typer.Option("--id", help="Print the verdict on this sample.")] = "",
    picture: PictureFile = None,
    by: Annotated[
        str, typer.Option(help="A table by model, by category or by kind of check: model, category, kind.")
    ] = "",
    worst: Annotated[int, typer.Option(min=0, help="List this many samples with the lowest values.")] = 0,
    flagged: Annotated[bool, typer.Option("--flagged", help="List only samples that need review.")] = False,
    generation: Generation = 0,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per sample; with --id the verdict.")
    ] = False,
) -> None:
    """Show the results of a run: an overview, the worst or flagged samples, or one verdict."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    if picture and not sample:
        raise UserError("--picture needs a sample: choose one with --id")
    with Ledger(run_file) as ledger:
        number = findings.choose_generation(ledger, generation)
        if sample:
            show_verdict(ledger, number, sample, picture, json)
        elif by:
            show_breakdown(ledger, number, by, json)
        elif not worst and not flagged and not json:
            means = findings.prompt_means(ledger, number)
            echo("\n".join(overview_lines(findings.overview(ledger, number), means)))
        else:
            for row in findings.rows(ledger, number, worst, flagged):
                print_json(row, indent=None) if json else echo(sample_line(row))


def show_breakdown(ledger: Ledger, generation: int, by: str, json: bool) -> None:
    """Print the means of a run by model, by category or by kind of check."""
    from onprompt.report import breakdown
    from onprompt.runs import findings

    if by not in (ways := ("model", "category", "kind")):
        raise UserError(f"--by takes {', '.join(ways[:-1])} or {ways[-1]}, not {by!r}")
    rows: list[Any]
    if by == "kind":
        rows = breakdown.by_kind(findings.check_sums(ledger, generation))
        lines = breakdown.kind_lines(rows)
    else:
        items = items_of(ledger, generation)
        rows = breakdown.by_group(items, (item.model if by == "model" else item.category for item in items))
        lines = breakdown.group_lines(rows, by)
    print_json(breakdown.document(rows, by)) if json else echo("\n".join(lines))


def items_of(ledger: Ledger, generation: int) -> list[Item]:
    """A run's samples; one of which nothing could be checked has no value."""
    from onprompt.report.ratings import Item
    from onprompt.runs import findings

    items = []
    for row in findings.rows(ledger, generation):
        real = row["value"] is not None and findings.NOTHING_CHECKED not in row["flags"].split()
        value, score = (row["value"], row["score"]) if real else (None, None)
        items.append(Item(row["id"], row["prompt"], value, score, row["category"], row["model"]))
    return items


def show_verdict(ledger: Ledger, generation: int, sample: str, picture: Path | None, json: bool) -> None:
    """Print a stored verdict, as it was printed when it was made."""
    from onprompt.report import picture as drawing
    from onprompt.report.document import document
    from onprompt.runs.findings import stored_verdict

    verdict = stored_verdict(ledger, generation, sample, load_settings().answers)
    if picture:
        drawing.check_path(picture, verdict.sample.picture.name)
        drawing.save(verdict, picture)
    if json:
        print_json(document(verdict))
    else:
        known = verdict.rubric in plugins.names("rubrics")
        print_verdict(verdict, plugins.load("rubrics", verdict.rubric).RUBRIC if known else None)


@app.command()
def export(
    run_file: RunFile,
    to: Annotated[
        str, typer.Option(help=f"Format (csv, jsonl, parquet, datasets, geneval) or tracker ({TRACKERS}).")
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option(help="The file to write (default: NAME.verdicts.csv beside the run file).")
    ] = None,
    answers: Annotated[bool, typer.Option("--answers", help="Include the model's raw answers.")] = False,
    excel_safe: Annotated[
        bool, typer.Option("--excel-safe", help="Put an apostrophe before texts that a spreadsheet would evaluate.")
    ] = False,
    generation: Generation = 0,
) -> None:
    """Write all samples of a run, with their verdicts and errors, to a file; or send the run to a tracker."""
    from onprompt.models.answer_store import AnswerStore
    from onprompt.runs import exporting, findings
    from onprompt.runs.ledger import Ledger

    if to in plugins.names("trackers"):
        from onprompt.trackers import track

        echo(f"logged to {track(run_file, to, generation)}", err=True)
        return
    path = out or run_file.with_name(f"{run_file.stem}.verdicts.{to}")
    if path.resolve() == run_file.resolve():
        raise UserError(f"{path} is the run file itself; choose another file with --out")
    if to == "geneval":
        export_geneval(run_file, generation, out or run_file.with_name(f"{run_file.stem}.geneval.jsonl"))
        return
    cache = load_settings().answers
    with closing(AnswerStore(cache)) if answers else nullcontext() as store, Ledger(run_file) as ledger:
        number = findings.choose_generation(ledger, generation)
        count, lost = exporting.export(ledger, number, path, to, store, excel_safe)
    echo(f"{plural(count, 'sample')} written to {path}")
    if lost:
        echo(f"{plural(lost, 'answer')} no longer in {cache}: exported as null", err=True)


def export_geneval(run_file: Path, generation: int, path: Path) -> None:
    """Write GenEval's results file; images without a verdict go to a second one."""
    from onprompt import api
    from onprompt.adapters import geneval

    written = geneval.write(path, geneval.stored(api.load_run(run_file, generation)))
    echo(f"{plural(written.results, 'result')} written to {path}, {written.left_out:,} left out")


def overview_lines(run: Overview, means: tuple[list[float], list[float]]) -> Iterator[str]:
    """A run at a glance; `means` are the values and scores of its prompts."""
    by = run.identity.get("model") or run.identity["judge"]
    number = f" (generation {run.generation} of {run.generations})" if run.generations > 1 else ""
    yield f"{run.identity['rubric']} by {by}{number}"
    gone = f"; {run.gone:,} more are no longer in the data and not counted" if run.gone else ""
    yield f"{plural(run.verdicts, 'verdict')} on {plural(run.samples, 'sample')}{gone}"
    if run.outdated:
        yield f"{plural(run.outdated, 'verdict')} outdated (image or prompt changed) and not counted; run again"
    if not run.read_whole:
        yield "the last run did not read all of the data; run it again to resume"
    if run.mean is not None:
        scores = ", ".join(f"{count:,} × ({score})" for score, count in run.scores.items())
        yield mean_words(*means) + (f"; scores: {scores}" if scores else "")
    if run.placeholders:
        yield f"{plural(run.placeholders, 'verdict')} not verifiable, and not in the mean"
    if run.tokens:
        yield plural(run.tokens, "token") + ("" if run.cost is None else f", ${run.cost:.4f}")
    yield from (f"{number:,} × no verdict: {kind}" for kind, number in run.faults.items())


def mean_words(values: list[float], scores: list[float]) -> str:
    """`mean value 0.750 [0.700, 0.800], mean score 3.100 [2.900, 3.300] over 40 prompts`."""
    import numpy as np

    from onprompt.report.statistics import mean_of

    score = f", mean score {mean_of(np.array(scores))}" if scores else ""
    return f"mean value {mean_of(np.array(values))}{score} over {plural(len(values), 'prompt')}"


def sample_line(row: dict[str, Any]) -> str:
    """`0.12 (1)  cup.png: 'a laptop' Missing. [flags]`, free of control characters."""
    name = one_line(row["id"])
    if row["error"]:
        return f"no verdict  {name}: {row['error']}: {one_line(row['message'])}"
    score = "" if row["score"] is None else f" ({row['score']})"
    flags = f" [{row['flags']}]" if row["flags"] else ""
    return f"{row['value']:.2f}{score}  {name}: {row['prompt']!r} {one_line(row['summary'])}{flags}"

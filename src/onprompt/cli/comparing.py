"""`agree` and `compare`: a run beside people, and runs or models beside each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onprompt.cli.app import app, print_json
from onprompt.cli.running import Generation, RunFile
from onprompt.errors import UserError

if TYPE_CHECKING:
    from onprompt.report.ratings import Item
    from onprompt.types import Rubric

Json = Annotated[bool, typer.Option("--json", help="All figures as JSON.")]


@app.command()
def agree(
    run_file: RunFile,
    human: Annotated[Path, typer.Option(help="CSV of ratings: id and a column for each rater, or id, rater, rating.")],
    human_scale: Annotated[str, typer.Option(help="The raters' scale, such as 1-5: α, κ and AUC need it.")] = "",
    id_column: Annotated[str, typer.Option("--id", help="The column with the samples' ids.")] = "",
    rater: Annotated[str, typer.Option(help="The column that names the rater, if each rating has a row.")] = "",
    rating: Annotated[list[str] | None, typer.Option(help="A column with ratings; may be given again.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Rated above this is good, for the AUC.")] = None,
    apart: Annotated[
        float, typer.Option(min=0, help="How far apart two ratings of one prompt must be to count.")
    ] = 0.33,
    generation: Generation = 0,
    json: Json = False,
) -> None:
    """Say how well a run agrees with people, and one of them with the others."""
    from onprompt import plugins
    from onprompt.report import agreement, ratings

    found = ratings.read(human, id_column=id_column, rater_column=rater, rating_columns=rating or ())
    name, items = judged(run_file, generation)
    if name not in plugins.names("rubrics"):
        raise UserError(f"{run_file} is a run of {name}, which gives no score that people give too")
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC
    scale = between(human_scale) if human_scale else None
    result = agreement.agreement(items, found, rubric.factors.get("score", range(2)), scale, threshold, apart)
    if json:
        print_json(agreement.document(result))
        return
    typer.echo(f"ratings: {', '.join(found.columns)}", err=True)
    for line in agreement.lines(result):
        typer.echo(line)


@app.command()
def compare(
    run_files: Annotated[list[Path], typer.Argument(help="The files of runs.")],
    by: Annotated[str, typer.Option(help="What is compared: run, model or generation.")] = "run",
    json: Json = False,
) -> None:
    """Rank runs or models with intervals, and say between which two a difference is shown."""
    from onprompt.report import comparison

    if by not in ("run", "model", "generation"):
        raise UserError(f"--by is run, model or generation, not {by!r}")
    alike = len({path.stem for path in run_files}) < len(run_files)
    names = {path: str(path) if alike else path.stem for path in run_files}
    if len(names) < len(run_files):
        raise UserError("the same run is named twice")
    runs = {
        f"{name}, generation {number}" if by == "generation" else name: judged(path, number)
        for path, name in names.items()
        for number in (generations(path) if by == "generation" else [0])
    }
    if len(rubrics := {name for name, _ in runs.values()}) > 1:
        raise UserError(f"runs of {' and of '.join(sorted(rubrics))} can't be compared: their values mean other things")
    systems = comparison.systems({name: items for name, (_, items) in runs.items()}, by == "model")
    result = comparison.compare(systems)
    if json:
        print_json(comparison.document(result))
        return
    for line in comparison.lines(result):
        typer.echo(line)


def generations(path: Path) -> list[int]:
    """The ways of judging that a run's file holds."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        return findings.generations(ledger)


def judged(path: Path, generation: int) -> tuple[str, list[Item]]:
    """What a run is of, and its samples with their values; what stands on nothing has none."""
    from onprompt.report.ratings import Item
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        number = findings.generation_of(ledger, generation)
        about = findings.identity(ledger, number)
        name = " ".join(filter(None, (about["rubric"], about.get("split"))))
        items = []
        for row in findings.rows(ledger, number):
            real = row["value"] is not None and findings.NOTHING_CHECKED not in row["flags"].split()
            value, score = (row["value"], row["score"]) if real else (None, None)
            items.append(Item(row["id"], row["prompt"], value, score, row["category"], row["model"]))
    return name, items


def between(words: str) -> tuple[float, float]:
    """`1-5` as two numbers."""
    found = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*(?:-|:|to)\s*([+-]?\d+(?:\.\d+)?)\s*", words)
    if not found:
        raise UserError(f"--human-scale is LOW-HIGH, such as 1-5 or -2-2, not {words!r}")
    return float(found[1]), float(found[2])

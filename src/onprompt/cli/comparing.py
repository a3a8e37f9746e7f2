"""`agree` and `compare`: a run against human ratings, and runs or models against each other."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onprompt import plugins
from onprompt.cli.app import Configuration, RunPath, app, echo, print_json
from onprompt.cli.running import parse_columns
from onprompt.errors import UserError
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.report.ratings import Ratings
    from onprompt.runs.reading import Run
    from onprompt.types import Rubric

Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Human = Annotated[
    Path | None,
    typer.Option(help="CSV of ratings: id and a column per rater, or id, rater and rating. Without it: the reviews."),
]
HumanScale = Annotated[
    str, typer.Option(help="Worst and best rating, such as 1-5; needed for AUC, Krippendorff α and κ of a CSV.")
]
Threshold = Annotated[
    float | None, typer.Option(help="For the AUC: a mean rating above this is good (default: middle of the scale).")
]
Apart = Annotated[float, typer.Option(min=0, help="Count pairs whose mean ratings differ by at least this much.")]
RatingColumns = Annotated[
    list[str] | None,
    typer.Option("--column", help="id=, rater= or rating=COLUMN of the CSV; guessed by default. Can be repeated."),
]

HUMAN_COLUMN = "Column of the data that was judged, with ratings; repeat for several raters. In place of --human."
COLUMN = "id=, rater= or rating=COLUMN of the CSV; with --human-column FIELD=COLUMN, as it was given to `run`."


@app.command()
def agree(
    run_file: RunPath,
    human: Human = None,
    human_column: Annotated[list[str] | None, typer.Option(help=HUMAN_COLUMN)] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN)] = None,
    human_scale: HumanScale = "",
    threshold: Threshold = None,
    apart: Apart = 0.33,
    configuration: Configuration = 0,
    json: Json = False,
) -> None:
    """Measure how well a run agrees with human ratings. Also measures how well the raters agree with each other."""
    from onprompt.report import agreement
    from onprompt.runs.reading import Run
    from onprompt.runs.reviews import corrected_checks, rating_scale

    run = Run(run_file, configuration)
    rubric, rows = rubric_of(run), list(run.rows())
    human_ratings, origin = find_ratings(run, rubric, human, human_column, column)
    of_reviews = not human and not human_column
    scale = parse_scale(human_scale) if human_scale else rating_scale(rubric) if of_reviews else None
    terms = agreement.Terms(rubric.factors.get("score", range(2)), scale, threshold, apart)
    result = agreement.agreement(rows, human_ratings, terms)
    voices = agreement.by_voice(rows, agreement.voice_values(run), human_ratings, terms)
    corrected = corrected_checks(run) if of_reviews else {}
    if json:
        print_json(agreement.document(result, voices, corrected))
        return
    echo(origin, err=True)
    of_voices = agreement.voice_lines(voices) if voices else ()
    echo("\n".join((*agreement.lines(result), *of_voices, *agreement.check_lines(corrected))))


def find_ratings(
    run: Run,
    rubric: Rubric,
    human: Path | None,
    names: list[str] | None,
    columns: list[str] | None,
) -> tuple[Ratings, str]:
    """The ratings in a CSV, in columns of the data that was judged, or else the run's reviews; and which they are."""
    from onprompt.report import ratings

    if human and names:
        raise UserError("choose --human FILE.csv or --human-column of the data that was judged, not both")
    if human:
        given = read_ratings(human, columns)
        return given, f"columns read: {', '.join(given.columns)} (--column chooses others)"
    if names:
        if columns:
            raise UserError("--column names columns of --human FILE.csv; --human-column needs none")
        return ratings.in_data(run, names), f"columns of the data: {', '.join(names)}"
    if reviews := ratings.in_reviews(run, rubric):
        return reviews, reviews_used(run.path, reviews)
    how = f"rate some verdicts with `onprompt review {run.path}`, or name ratings with --human or --human-column"
    raise UserError(f"{run.path} has no reviews: {how}")


def read_ratings(path: Path, columns: list[str] | None) -> Ratings:
    """The ratings in a CSV, by columns as --column names them."""
    from onprompt.report import ratings

    chosen = parse_columns(columns or [])
    if unknown := chosen.keys() - {"id", "rater", "rating"}:
        raise UserError(f"--column of a CSV takes id, rater or rating=COLUMN, not {min(unknown)!r}")
    several = [pair.removeprefix("rating=") for pair in columns or [] if pair.startswith("rating=")]
    return ratings.read(
        path, id_column=chosen.get("id", ""), rater_column=chosen.get("rater", ""), rating_columns=several
    )


def all_reviews(paths: list[Path], configuration: int) -> tuple[Ratings, tuple[float, float]] | None:
    """The reviews in several run files of one rubric, and their scale; None if there are none."""
    from onprompt.report import ratings
    from onprompt.runs.reading import Run
    from onprompt.runs.reviews import rating_scale

    merged: dict[str, dict[str, float]] = {}
    scale = 0.0, 1.0
    for run in (Run(path, configuration) for path in paths):
        if run.rubric in plugins.names("rubrics"):
            scale = rating_scale(rubric_of(run))
            if reviews := ratings.in_reviews(run, rubric_of(run)):
                for sample, given in reviews.by_item.items():
                    merged.setdefault(sample, {}).update(given)
    return (ratings.Ratings(merged), scale) if merged else None


def reviews_used(path: Path | str, ratings: Ratings) -> str:
    """That ratings are those in the run file."""
    number, raters = plural(len(ratings.by_item), "sample"), ", ".join(sorted(ratings.raters))
    return f"ratings: the reviews in {path}, {number} by {raters} (--human takes a CSV instead)"


@app.command()
def compare(
    run_files: Annotated[list[Path], typer.Argument(help="Run files.")],
    by: Annotated[
        str, typer.Option(help="Compare each run, model or configuration; or, within each category, runs or models.")
    ] = "run",
    json: Json = False,
) -> None:
    """Rank runs or models, and test which differences are significant."""
    from onprompt.report import comparison
    from onprompt.runs.reading import open_runs

    by = by.replace("generation", "configuration")  # its former name
    if by not in ("run", "model", "configuration", "category"):
        raise UserError(f"--by takes run, model, configuration or category, not {by!r}")
    runs = open_runs(run_files, every=by == "configuration")
    if len(rubrics := {run.rubric for run in runs.values()}) > 1:
        raise UserError(f"can't compare runs of {' and '.join(sorted(rubrics))}: their values differ in meaning")
    by_model = by == "model" or (by == "category" and len(run_files) == 1)
    systems = comparison.systems({name: list(run.rows()) for name, run in runs.items()}, by_model)
    warnings = () if by == "configuration" else comparison.judge_warnings(run.judge for run in runs.values())
    if by == "category":
        categories = comparison.compare_categories(systems)
        categories = {name: replace(each, warnings=(*warnings, *each.warnings)) for name, each in categories.items()}
        documents = {name: comparison.document(each) for name, each in categories.items()}
        print_json(documents) if json else echo("\n".join(comparison.category_lines(categories)))
        return
    result = comparison.compare(systems)
    result = replace(result, warnings=(*warnings, *result.warnings))
    print_json(comparison.document(result)) if json else echo("\n".join(comparison.lines(result)))


def rubric_of(run: Run) -> Rubric:
    """The rubric of a run."""
    if run.rubric not in plugins.names("rubrics"):
        raise UserError(f"{run.path} is a run of {run.rubric}, which has no score to compare with human ratings")
    rubric: Rubric = plugins.load("rubrics", run.rubric).RUBRIC
    return rubric


def parse_scale(text: str) -> tuple[float, float]:
    """`1-5` as two numbers."""
    match = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*(?:-|:|to)\s*([+-]?\d+(?:\.\d+)?)\s*", text)
    if not match:
        raise UserError(f"--human-scale takes LOW-HIGH, such as 1-5 or -2-2, not {text!r}")
    return float(match[1]), float(match[2])

"""`agree` and `compare`: a run against human ratings, and runs against each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from onprompt.cli.app import Configuration, Json, RunPath, app, echo, find_rubric, print_result
from onprompt.cli.running import parse_columns
from onprompt.errors import UserError
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.report.ratings import Ratings
    from onprompt.runs.reading import Run
    from onprompt.types import Rubric

TABLES = (".csv", ".tsv", ".txt")  # what --human takes for a file, also where there is none

Human = Annotated[
    list[str] | None,
    typer.Option(help="Ratings: a CSV, or columns of the data; repeatable. Default: the reviews."),
]
HumanScale = Annotated[str, typer.Option(metavar="LOW-HIGH", help="Worst and best rating, for AUC, α and κ.")]
Apart = Annotated[float, typer.Option(min=0, help="Least difference of two ratings that makes a pair.")]
RatingColumns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="FIELD=COLUMN", help="CSV column that holds id, rater or rating; repeatable."),
]


@app.command()
def agree(
    run_file: RunPath,
    human: Human = None,
    column: RatingColumns = None,
    human_scale: HumanScale = "",
    apart: Apart = 0.33,
    configuration: Configuration = 0,
    json: Json = False,
) -> None:
    """Measure how well a run agrees with human ratings. Also measures how well the raters agree with each other."""
    from onprompt.report import agreement
    from onprompt.runs.reading import Run
    from onprompt.runs.reviews import corrected_checks

    run = Run(run_file, configuration)
    rubric, rows = rubric_of(run), list(run.rows())
    given = find_ratings([run], human, column, human_scale)
    if not given:
        how = f"rate some verdicts with `onprompt review {run.path}`, or name ratings with --human"
        raise UserError(f"{run.path} has no reviews: {how}")
    terms = agreement.Terms(rubric.factors.get("score", range(2)), given.scale, apart)
    voices = agreement.voice_values(run)
    result = agreement.agreement(rows, given.ratings, terms, run.checks(), given.of_factors, voices)
    corrected = {} if human else corrected_checks(run)
    if not json:
        echo(given.origin, err=True)
    print_result(json, lambda: agreement.document(result, corrected), agreement.lines(result, corrected))


class GivenRatings(NamedTuple):
    """Ratings, where they come from, their scale where it is known, and of reviews those of each factor."""

    ratings: Ratings
    origin: str
    scale: tuple[float, float] | None = None
    of_factors: Mapping[str, Ratings] = {}


def find_ratings(
    runs: Sequence[Run], human: list[str] | None, columns: list[str] | None, scale: str
) -> GivenRatings | None:
    """The ratings in a CSV, in columns of the data that was judged, or else the runs' reviews; None without any."""
    from onprompt.report import ratings

    match = re.fullmatch(r"([+-]?\d+(?:\.\d+)?)-([+-]?\d+(?:\.\d+)?)", scale)
    if scale and not match:
        raise UserError(f"--human-scale takes LOW-HIGH, such as 1-5 or -2-2, not {scale!r}")
    ends = (float(match[1]), float(match[2])) if match else None
    paths = [path for path in map(Path, human or ()) if path.suffix.lower() in TABLES or path.is_file()]
    if paths and len(human or ()) > 1:
        raise UserError("--human takes one CSV, or columns of the judged data, not both")
    if paths:
        chosen = parse_columns(columns or [])
        if unknown := chosen.keys() - {"id", "rater", "rating"}:
            raise UserError(f"--column of a CSV takes id, rater or rating=COLUMN, not {min(unknown)!r}")
        several = [pair.removeprefix("rating=") for pair in columns or [] if pair.startswith("rating=")]
        read = ratings.read(paths[0], chosen.get("id", ""), chosen.get("rater", ""), several)
        return GivenRatings(read, f"columns read: {', '.join(read.columns)} (--column chooses others)", ends)
    if columns:
        raise UserError("--column names columns of the CSV that --human names")
    if human:
        read = ratings.merged(ratings.in_data(run.rows(), human) for run in runs)
        return GivenRatings(read, f"columns of the data: {', '.join(human)}", ends)
    found = ratings_in_reviews(runs)
    return found._replace(scale=ends or found.scale) if found else None


def ratings_in_reviews(runs: Sequence[Run]) -> GivenRatings | None:
    """The reviews in run files of one rubric, if there are any."""
    from onprompt.report import ratings
    from onprompt.runs.reviews import rating_scale

    rated = [run for run in runs if find_rubric(run.rubric)]
    found = ratings.merged(ratings.in_reviews(run, rubric_of(run)) for run in rated)
    if not found.by_item:
        return None
    rubric = rubric_of(rated[0])
    of_factors = {
        name: ratings.merged(ratings.in_reviews(run, rubric, name) for run in rated)
        for name in (rubric.factors if len(rubric.factors) > 1 else ())
    }
    number, raters = plural(len(found.by_item), "sample"), ", ".join(sorted(found.raters))
    files = " and ".join(str(run.path) for run in rated)
    origin = f"ratings: the reviews in {files}, {number} by {raters} (--human takes others)"
    return GivenRatings(found, origin, rating_scale(rubric), of_factors)


@app.command()
def compare(
    run_files: Annotated[list[Path], typer.Argument(help="Run files.")],
    by: Annotated[
        str, typer.Option(help="What to compare: run, model, configuration, or within each category.")
    ] = "run",
    json: Json = False,
) -> None:
    """Rank runs or models, and test which differences are significant."""
    from onprompt.report import comparison
    from onprompt.runs.reading import judge_names, open_runs, same_images

    if by not in ("run", "model", "configuration", "category"):
        raise UserError(f"--by takes run, model, configuration or category, not {by!r}")
    runs = open_runs(run_files, every=by == "configuration")
    rows = {name: list(run.rows()) for name, run in runs.items()}
    judges = judge_names(runs)
    rubrics = {run.rubric for run in runs.values()}
    if len({run.fingerprint for run in runs.values()}) > 1 and same_images(rows) and comparable(rubrics):
        if by not in ("run", "configuration"):
            raise UserError(f"these runs are of the same images by different judges: compare --by {by} in one of them")
        compared = comparison.JudgeComparison.of(judges, rows)
        print_result(json, lambda: compared.document, comparison.judge_lines(compared))
        return
    if len(rubrics) > 1:
        raise UserError(f"can't compare runs of different rubrics: {', '.join(sorted(rubrics))}")
    systems = comparison.systems(rows, by == "model" or (by == "category" and len(run_files) == 1))
    warnings = () if by == "configuration" else comparison.judge_warnings(judges.values())
    if by == "category":
        results = comparison.compare_categories(systems, warnings)
    else:
        results = {"": comparison.compare(systems, warnings)}

    def documents() -> object:
        found = {name: comparison.document(each) for name, each in results.items()}
        return found.get("", found)

    print_result(json, documents, comparison.lines(results))


def comparable(names: Iterable[str]) -> bool:
    """Whether rubrics ask for the same: prompt and image, or instruction and two images."""
    return len({tuple(rubric.required) if (rubric := find_rubric(name)) else (name,) for name in names}) == 1


def rubric_of(run: Run) -> Rubric:
    """The rubric of a run."""
    if rubric := find_rubric(run.rubric):
        return rubric
    raise UserError(f"{run.path} is a run of {run.rubric}, which has no score to compare with human ratings")

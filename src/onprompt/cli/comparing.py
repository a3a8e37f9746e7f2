"""`agree` and `compare`: a run against human ratings, and runs or models against each other."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onprompt import plugins
from onprompt.cli.app import app, echo, print_json
from onprompt.cli.running import Generation, RunFile, parse_columns
from onprompt.cli.showing import items_of
from onprompt.errors import UserError
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.report.ratings import Item, Ratings
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
    run_file: RunFile,
    human: Human = None,
    human_column: Annotated[list[str] | None, typer.Option(help=HUMAN_COLUMN)] = None,
    column: Annotated[list[str] | None, typer.Option(help=COLUMN)] = None,
    human_scale: HumanScale = "",
    threshold: Threshold = None,
    apart: Apart = 0.33,
    generation: Generation = 0,
    json: Json = False,
) -> None:
    """Measure how well a run's scores agree with human ratings, and how well the raters agree with each other."""
    from onprompt.report import agreement
    from onprompt.runs.reviews import rating_scale

    name, items = judged(run_file, generation)
    rubric = rubric_of(run_file, name)
    human_ratings, origin = find_ratings(run_file, rubric, human, human_column, column)
    of_reviews = not human and not human_column
    scale = parse_scale(human_scale) if human_scale else rating_scale(rubric) if of_reviews else None
    terms = agreement.Terms(rubric.factors.get("score", range(2)), scale, threshold, apart)
    result = agreement.agreement(items, human_ratings, terms)
    voices = agreement.by_voice(items, said_by_voice(run_file, generation), human_ratings, terms)
    corrected = corrected_checks(run_file, generation, rubric) if of_reviews else {}
    if json:
        print_json(agreement.document(result, voices, corrected))
        return
    echo(origin, err=True)
    of_voices = agreement.voice_lines(voices) if voices else ()
    echo("\n".join((*agreement.lines(result), *of_voices, *agreement.check_lines(corrected))))


def find_ratings(
    run_file: Path,
    rubric: Rubric,
    human: Path | None,
    names: list[str] | None,
    columns: list[str] | None,
) -> tuple[Ratings, str]:
    """The ratings in a CSV, in columns of the data that was judged, or else the run's reviews; and which they are."""
    if human and names:
        raise UserError("choose --human FILE.csv or --human-column of the data that was judged, not both")
    if human:
        given = read_ratings(human, columns)
        return given, f"columns read: {', '.join(given.columns)} (--column chooses others)"
    if names:
        return rated_in_data(run_file, rubric, names, columns or []), f"columns of the data: {', '.join(names)}"
    reviews = reviewed(run_file, rubric)
    if not reviews:
        how = f"rate some verdicts with `onprompt review {run_file}`, or name ratings with --human or --human-column"
        raise UserError(f"{run_file} has no reviews: {how}")
    return reviews, reviews_used(run_file, reviews)


def rated_in_data(path: Path, rubric: Rubric, names: list[str], columns: list[str]) -> Ratings:
    """The ratings in columns of the data that a run judged."""
    from onprompt.report.ratings import Ratings
    from onprompt.runs.human_columns import human_ratings
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        return Ratings(human_ratings(ledger, rubric, names, parse_columns(columns)), tuple(names))


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


def reviewed(path: Path, rubric: Rubric) -> Ratings | None:
    """The ratings in a run file by those who reviewed it; None if nobody did."""
    from onprompt.report.ratings import Ratings
    from onprompt.runs import reviews
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        given = reviews.ratings(ledger, rubric)
    return Ratings(given) if given else None


def all_reviews(paths: list[Path], generation: int) -> tuple[Ratings, tuple[float, float]] | None:
    """The reviews in several run files of one rubric, and their scale; None if there are none."""
    from onprompt.report.ratings import Ratings
    from onprompt.runs import findings, reviews
    from onprompt.runs.ledger import Ledger

    merged: dict[str, dict[str, float]] = {}
    scale = 0.0, 1.0
    for path in paths:
        with Ledger(path) as ledger:
            name = findings.identity(ledger, findings.choose_generation(ledger, generation))["rubric"]
            if name in plugins.names("rubrics"):
                rubric = rubric_of(path, name)
                scale = reviews.rating_scale(rubric)
                for sample, given in reviews.ratings(ledger, rubric).items():
                    merged.setdefault(sample, {}).update(given)
    return (Ratings(merged), scale) if merged else None


def reviews_used(path: Path | str, ratings: Ratings) -> str:
    """That ratings are those in the run file."""
    number, raters = plural(len(ratings.by_item), "sample"), ", ".join(sorted(ratings.raters))
    return f"ratings: the reviews in {path}, {number} by {raters} (--human takes a CSV instead)"


def corrected_checks(path: Path, generation: int, rubric: Rubric) -> dict[str, tuple[int, int]]:
    """For each kind of check how many people have seen, and how many they corrected."""
    from onprompt.runs import findings, reviews
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        counts = reviews.check_counts(ledger, findings.choose_generation(ledger, generation), rubric.name)
    return {kind: (count.seen, count.corrected) for kind, count in counts.items()}


@app.command()
def compare(
    run_files: Annotated[list[Path], typer.Argument(help="Run files.")],
    by: Annotated[
        str, typer.Option(help="Compare each run, model or generation; or, within each category, runs or models.")
    ] = "run",
    json: Json = False,
) -> None:
    """Rank runs or models by mean value with confidence intervals, and test which differences are significant."""
    from onprompt.report import comparison

    if by not in ("run", "model", "generation", "category"):
        raise UserError(f"--by takes run, model, generation or category, not {by!r}")
    if len(set(run_files)) < len(run_files):
        raise UserError("the same run is given twice")
    runs = judged_runs(run_files, by)
    by_model = by == "model" or (by == "category" and len(run_files) == 1)
    systems = comparison.systems(runs, by_model)
    warnings = () if by == "generation" else judge_warnings(run_files)
    if by == "category":
        categories = comparison.compare_categories(systems)
        categories = {name: replace(each, warnings=(*warnings, *each.warnings)) for name, each in categories.items()}
        documents = {name: comparison.document(each) for name, each in categories.items()}
        print_json(documents) if json else echo("\n".join(comparison.category_lines(categories)))
        return
    result = comparison.compare(systems)
    result = replace(result, warnings=(*warnings, *result.warnings))
    print_json(comparison.document(result)) if json else echo("\n".join(comparison.lines(result)))


def judged_runs(run_files: list[Path], by: str) -> dict[str, list[Item]]:
    """The samples of each run, or of each generation, by name; an error if their rubrics differ."""
    ambiguous = len({path.stem for path in run_files}) < len(run_files)
    runs = {}
    for path in run_files:
        name = str(path) if ambiguous else path.stem
        for number in generations(path) if by == "generation" else [0]:
            runs[f"{name}, generation {number}" if by == "generation" else name] = judged(path, number)
    if len(rubrics := {rubric for rubric, _ in runs.values()}) > 1:
        raise UserError(f"can't compare runs of {' and '.join(sorted(rubrics))}: their values differ in meaning")
    return {name: items for name, (_, items) in runs.items()}


def judge_warnings(run_files: list[Path]) -> tuple[str, ...]:
    """What to know of runs by different judges."""
    judges = sorted({judged_by(path) for path in run_files})
    if len(judges) < 2:
        return ()
    return (f"these runs are by different judges, whose values differ in meaning: {', '.join(judges)}",)


def generations(path: Path) -> list[int]:
    """The numbers of a run file's generations."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        return findings.generations(ledger)


def judged_by(path: Path) -> str:
    """Who judged a run last: the judge, and the model that it asked."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        about = findings.identity(ledger, findings.choose_generation(ledger))
    return " ".join(filter(None, (about["judge"], about.get("model"))))


def said_by_voice(path: Path, generation: int) -> dict[str, dict[str, float]]:
    """The values of a jury's voices by sample."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger
    from onprompt.runs.voices import voice_values

    with Ledger(path) as ledger:
        return voice_values(ledger, findings.choose_generation(ledger, generation))


def judged(path: Path, generation: int) -> tuple[str, list[Item]]:
    """A run's rubric and its samples; one of which nothing could be checked has no value."""
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    with Ledger(path) as ledger:
        number = findings.choose_generation(ledger, generation)
        about = findings.identity(ledger, number)
        name = " ".join(filter(None, (about["rubric"], about.get("split"))))
        return name, items_of(ledger, number)


def rubric_of(path: Path, name: str) -> Rubric:
    """The rubric of a run, by its name."""
    if name not in plugins.names("rubrics"):
        raise UserError(f"{path} is a run of {name}, which has no score to compare with human ratings")
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC
    return rubric


def parse_scale(text: str) -> tuple[float, float]:
    """`1-5` as two numbers."""
    match = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*(?:-|:|to)\s*([+-]?\d+(?:\.\d+)?)\s*", text)
    if not match:
        raise UserError(f"--human-scale takes LOW-HIGH, such as 1-5 or -2-2, not {text!r}")
    return float(match[1]), float(match[2])

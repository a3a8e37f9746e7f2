"""`fit`: weights of a jury's voices, by a user's raters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt.cli.app import RunPath, app, echo, print_json
from onprompt.cli.comparing import Human, Json, RatingColumns, find_ratings
from onprompt.errors import UserError
from onprompt.files import is_same

if TYPE_CHECKING:
    from onprompt.fitting.validation import Fit
    from onprompt.fitting.weights import Voices
    from onprompt.report.ratings import Ratings
    from onprompt.runs.reading import Run


@app.command()
def fit(
    run_file: RunPath,
    out: Annotated[Path, typer.Option(help="The file of weights to write, for the setting `weights`.")],
    human: Human = None,
    no_reviews: Annotated[
        bool, typer.Option("--no-reviews", help="Without --human: weights by how the voices agree, not by reviews.")
    ] = False,
    column: RatingColumns = None,
    json: Json = False,
) -> None:
    """Fit the weights of a jury and of the evidence to human ratings."""
    from onprompt import fitted
    from onprompt.fitting import report
    from onprompt.fitting.weights import as_settings, one_factor_weights
    from onprompt.runs.reading import Run

    if any(is_same(out, path) for path in (run_file, *map(Path, human or ()))):
        raise UserError(f"{out} would be overwritten; choose another file with --out")
    run = Run(run_file)
    given = None if no_reviews and not human else find_ratings([run], human, column)
    if given and not human:
        echo(f"{given.origin}; --no-reviews takes none", err=True)
    voices, result = fit_run(run, given.ratings if given else None)
    weights = result.weights if result else one_factor_weights(voices)
    reviewers = f"reviews by {', '.join(sorted(given.ratings.raters))}" if given else ""
    origin = ", ".join(Path(name).name for name in human) if human else reviewers
    about = {"run": run_file.name, "human": origin, "samples": len(voices.values), **method(result)}
    if json:
        print_json(report.document(voices, weights, about, result))
    else:
        lines = report.fit_lines(result) if result else [report.NO_RATINGS]
        typer.echo("\n".join([*report.weight_lines(voices, weights), "", *lines]))
    if result and not result.helps:
        typer.echo(f"{out} was not written", err=True)
        raise typer.Exit(1)
    fitted.write(out, as_settings(voices, weights), {**about, **report.notes(result)})
    echo(f"weights written to {out}; use them with --set weights={out}", err=True)


def method(result: Fit | None) -> dict[str, Any]:
    """How weights were found."""
    if not result:
        return {"method": "one-factor model"}
    return {"method": "ratings", "prompts": result.prompts, "unused_ratings": result.unused}


def fit_run(run: Run, given: Ratings | None) -> tuple[Voices, Fit | None]:
    """What the voices of a run say; of the rated samples, with the fit to their ratings, if there are any."""
    import numpy as np

    from onprompt.fitting import stored
    from onprompt.fitting.validation import fit_and_validate
    from onprompt.report.ratings import mean

    prompts = {row.id: row.group for row in run.rows()}
    rated = given.rated_ids(prompts) if given else None
    ids, voices = stored.read(run, rated)
    if not ids:
        raise UserError(
            f"{run.path} has no verdict of a jury or of the evidence {'with a rating' if given else ''}".strip()
        )
    if given is None or rated is None:
        return voices, None
    human = np.array([mean(given.by_item[sample].values()) for sample in ids])
    prompt = np.unique([prompts[sample] for sample in ids], return_inverse=True)[1].astype(np.intp)
    return voices, replace(fit_and_validate(voices, human, prompt), unused=len(rated) - len(ids))

"""`fit`: weights of a jury's voices, by a user's raters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt.cli.app import app, print_json
from onprompt.cli.comparing import IdColumn, Json, RaterColumn, RatingColumns, judged, rubric_of
from onprompt.cli.running import Generation, RunFile
from onprompt.errors import UserError

if TYPE_CHECKING:
    from onprompt.fitting.validation import Fit
    from onprompt.fitting.weights import Voices
    from onprompt.report.ratings import Ratings


@app.command()
def fit(
    run_file: RunFile,
    out: Annotated[Path, typer.Option(help="The file of weights to write, for --weights.")],
    human: Annotated[
        Path | None,
        typer.Option(help="CSV of ratings, as for `agree`; without it, weights follow from how the voices agree."),
    ] = None,
    id_column: IdColumn = "",
    rater: RaterColumn = "",
    rating: RatingColumns = None,
    generation: Generation = 0,
    json: Json = False,
) -> None:
    """Fit the weights of a jury's voices, and of the evidence's parts, to human ratings of a run."""
    from onprompt import fitted
    from onprompt.fitting import report
    from onprompt.fitting.one_factor import one_factor_weights
    from onprompt.fitting.weights import as_settings
    from onprompt.report import ratings

    if out.resolve() in [path.resolve() for path in (run_file, human) if path]:
        raise UserError(f"{out} would be overwritten; choose another file with --out")
    given = human and ratings.read(human, id_column=id_column, rater_column=rater, rating_columns=rating or ())
    voices, result = fit_run(run_file, generation, given or None)
    weights = result.weights if result else one_factor_weights(voices)
    about: dict[str, Any] = {"run": run_file.name, "human": human.name if human else "", "samples": len(voices.values)}
    about |= {"method": "ratings" if result else "one-factor model"}
    about |= {"prompts": result.prompts, "unused_ratings": result.unused} if result else {}
    if json:
        print_json(report.document(voices, weights, about, result))
    else:
        lines = report.fit_lines(result) if result else [report.NO_RATINGS]
        typer.echo("\n".join([*report.weight_lines(voices, weights), "", *lines]))
    if result and not result.helps:
        typer.echo(f"{out} was not written", err=True)
        raise typer.Exit(1)
    fitted.write(out, as_settings(voices, weights), {**about, **report.notes(result)})
    typer.echo(f"weights written to {out}; use them with --weights", err=True)


def fit_run(path: Path, generation: int, given: Ratings | None) -> tuple[Voices, Fit | None]:
    """What the voices of a run say; of the rated samples, with the fit to their ratings, if there are any."""
    import numpy as np

    from onprompt.fitting import stored
    from onprompt.fitting.validation import fit_and_validate
    from onprompt.report.ratings import mean
    from onprompt.runs import findings
    from onprompt.runs.ledger import Ledger

    name, items = judged(path, generation)
    rubric, prompts = rubric_of(path, name), {item.id: item.group or item.id for item in items}
    rated = given.rated_ids(prompts) if given else None
    with Ledger(path) as ledger:
        ids, voices = stored.read(ledger, findings.choose_generation(ledger, generation), rubric, rated)
    if not ids:
        raise UserError(
            f"{path} has no verdict of a jury or of the evidence {'with a rating' if given else ''}".strip()
        )
    if given is None or rated is None:
        return voices, None
    human = np.array([mean(given.by_item[sample].values()) for sample in ids])
    prompt = np.unique([prompts[sample] for sample in ids], return_inverse=True)[1].astype(np.intp)
    return voices, replace(fit_and_validate(voices, human, prompt), unused=len(rated) - len(ids))

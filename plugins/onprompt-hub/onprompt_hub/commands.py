"""`onprompt calibrate`; what it needs is imported when it runs."""

import itertools
from pathlib import Path
from typing import Annotated

import typer

from onprompt.errors import UserError


def calibrate(
    matcher: Annotated[str, typer.Argument(help="A matcher from a model hub: hf:OWNER/MODEL or hf:FOLDER.")],
    data: Annotated[str, typer.Argument(help="Images with captions: a table, a folder …, as for `run`.")],
    out: Annotated[Path, typer.Option(help="The .toml file to write, for --set matcher=hf:FILE.toml.")],
    column: Annotated[
        list[str] | None, typer.Option(help="FIELD=COLUMN: which column holds a field; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Use at most this many rows, the first ones.")] = 500,
) -> None:
    """Calibrate a matcher from a model hub on images with captions of your own."""
    from onprompt.cli.app import echo, load_settings
    from onprompt.cli.running import parse_columns, print_source
    from onprompt.plugins import load
    from onprompt.rubrics import DEFAULT
    from onprompt.runs.datasets import open_dataset
    from onprompt_hub.calibration import calibrate_matcher

    if out.suffix != ".toml":
        raise UserError(f"--out must end in .toml, not {out.name!r}")
    dataset = open_dataset(data, load("rubrics", DEFAULT).RUBRIC, parse_columns(column or []))
    print_source(dataset)
    rows = list(itertools.islice(dataset.rows(), limit))
    items = [UserError(row.error) if row.error else row.item for row in rows]
    calibrated = calibrate_matcher(items, load_settings(matcher=matcher))
    calibrated.write(out)
    echo("\n".join(calibrated.lines()))
    echo(f"written to {out}; use it with --set matcher=hf:{out}")

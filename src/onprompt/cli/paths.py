"""`path`: files of ours that other programs are told of."""

from __future__ import annotations

from typing import Annotated

import typer

from onprompt.cli.app import app
from onprompt.errors import UserError
from onprompt.plugins import did_you_mean

FILES = {"promptfoo": "adapters/promptfoo.py"}


@app.command()
def path(name: Annotated[str, typer.Argument(help=f"Which one: {', '.join(FILES)}.")]) -> None:
    """Print the path of a file that another program loads, such as promptfoo's assertion."""
    from importlib.resources import files

    if name not in FILES:
        raise UserError(f"no file {name!r}{did_you_mean(name, FILES)}")
    typer.echo(str(files("onprompt").joinpath(FILES[name])))

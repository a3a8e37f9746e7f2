"""The application that commands join, and what they share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
DETECTORS = "Which detector looks: fused, coco, yolo26, world, hf:OWNER/MODEL."
Permissive = Annotated[bool, typer.Option("--permissive", help="Use Apache, MIT and BSD model files only.")]


def chosen(**options: Any) -> Any:
    """The settings in force, with the options that were given."""
    from onprompt.settings import load

    given = {name: value for name, value in options.items() if value is not None and value is not False and value != ""}
    return load(**given)


def version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version as installed

        typer.echo(installed("onprompt"))
        raise typer.Exit


@app.callback()
def about(
    _: Annotated[bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Does this image show what was asked for? A score, and the evidence for it."""


def print_json(value: object, indent: int | None = 2) -> None:
    """JSON on standard output."""
    import json

    typer.echo(json.dumps(value, indent=indent, ensure_ascii=False))

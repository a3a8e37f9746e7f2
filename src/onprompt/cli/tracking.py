"""`log`, and `--log` of `run`: send a run to an experiment tracker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onprompt import plugins
from onprompt.cli.app import app, echo

TRACKERS = ", ".join(plugins.names("trackers"))
Log = Annotated[
    list[str] | None, typer.Option("--log", help=f"Send the results to a tracker: {TRACKERS}. Can be repeated.")
]


@app.command()
def log(
    run_file: Annotated[Path, typer.Argument(help="The run file.")],
    to: Annotated[list[str], typer.Option(help=f"The tracker: {TRACKERS}. Can be repeated.")],
    generation: Annotated[
        int, typer.Option(help="The number of a generation (default: the last one that ran).", show_default=False)
    ] = 0,
) -> None:
    """Send a run to an experiment tracker: figures with intervals, the worst pictures, and the run file."""
    send(run_file, to, generation)


def send(run_file: Path, trackers: list[str], generation: int = 0) -> None:
    """Send a run to each tracker, and say where it is."""
    from onprompt.trackers import track

    for name in trackers:
        echo(f"logged to {track(run_file, name, generation)}", err=True)


def check(trackers: list[str] | None) -> list[str]:
    """The trackers, each of which there is and can be loaded: to be known before a run, not after it."""
    for name in trackers or []:
        plugins.load("trackers", name)
    return trackers or []

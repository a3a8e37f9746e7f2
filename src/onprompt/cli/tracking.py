"""`export --to TRACKER` and `run --log TRACKER`: send a run to an experiment tracker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onprompt import plugins
from onprompt.cli.app import echo

TRACKERS = ", ".join(plugins.names("trackers"))
Log = Annotated[
    list[str] | None, typer.Option("--log", help=f"Send the results to a tracker: {TRACKERS}. Can be repeated.")
]


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

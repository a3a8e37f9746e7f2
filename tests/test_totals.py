"""How much there is of everything. A number may fall freely; raising one needs a line in the commit that says why."""

from pathlib import Path
from typing import Any

import click
import typer

from onprompt.cli import app
from onprompt.settings import Settings

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
DOCS = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


def commands(command: Any) -> list[Any]:
    """All commands of ours below one, and itself if it does something by itself; plug-ins may bring others."""
    context = click.Context(command)
    below = [command.get_command(context, name) for name in getattr(command, "list_commands", lambda _: [])(context)]
    ours = not command.callback or command.callback.__module__.startswith("onprompt.")
    own = [command] if ours and (not below or (command.invoke_without_command and command.name)) else []
    return own + [each for part in below for each in commands(part)]


def test_totals_do_not_grow() -> None:
    every = commands(typer.main.get_command(app))
    totals = {
        "lines": sum(len(path.read_text().splitlines()) for path in SOURCES),
        "files": len(SOURCES),
        "settings": len(Settings.model_fields),
        "commands": len(every),
        "options": sum(each.param_type_name == "option" for command in every for each in command.params),
        "words of docs": sum(len(path.read_text().split()) for path in DOCS),
    }
    limits = {
        "lines": 29_500,
        "files": 178,
        "settings": 64,
        "commands": 24,
        "options": 134,
        "words of docs": 15_000,
    }
    assert {name: total for name, total in totals.items() if total > limits[name]} == {}


def test_no_file_is_longer_than_600_lines() -> None:
    assert [path.name for path in SOURCES if len(path.read_text().splitlines()) > 600] == []

"""The application, and what its commands share."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from onprompt import plugins
from onprompt.errors import UserError

if TYPE_CHECKING:
    from onprompt.settings import Settings

COMMANDS = "onprompt.commands"  # the entry-point group for commands of other packages
GLOBAL = ("--set", "--config", "--measured")  # options of the whole program

RunPath = Annotated[Path, typer.Argument(help="The run file.")]
CONFIGURATION = ("--configuration", "--generation")  # the latter is its former name
Configuration = Annotated[
    int,
    typer.Option(
        *CONFIGURATION, help="The number of a judge configuration (default: the last one that ran).", show_default=False
    ),
]


class Commands(TyperGroup):
    """Our commands, one per rubric, and those of other packages; the latter two are loaded when used or listed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options of the whole program also after the command."""
        end = args.index("--") if "--" in args else len(args)
        ours = {at for at in range(end) if args[at].partition("=")[0] in GLOBAL}
        ours |= {at + 1 for at in ours if "=" not in args[at] and args[at] != "--measured"}
        first = [word for at, word in enumerate(args) if at in ours]
        return super().parse_args(ctx, [*first, *(word for at, word in enumerate(args) if at not in ours)])

    def list_commands(self, ctx: Any) -> list[str]:
        own = [*plugins.names("rubrics"), *super().list_commands(ctx)]
        return list(dict.fromkeys([*own, *sorted(plugins.entry_points(COMMANDS).names)]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from onprompt.cli.judging import rubric_command

        command, is_rubric = super().get_command(ctx, cmd_name), cmd_name in plugins.names("rubrics")
        if added := plugins.entry_points(COMMANDS).select(name=cmd_name):
            built_in = command is not None or cmd_name in plugins.modules("rubrics")
            loaded = plugins.load_added("command", cmd_name, added, built_in)
            group = isinstance(loaded, typer.Typer)
            return typer.main.get_command(loaded) if group else single_command(cmd_name, loaded)
        if command is None and not is_rubric and cmd_name in plugins.ELSEWHERE["commands"]:
            raise plugins.unknown("command", cmd_name, (), "commands")
        return rubric_command(cmd_name) if command is None and is_rubric else command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def single_command(name: str, function: Callable[..., None], text: str | None = None) -> Any:
    """A function as a command; its help is its docstring, or a text."""
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(name, help=text)(function)
    return typer.main.get_command(single)


def add_options(options: Mapping[str, tuple[Any, Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options that it shares with others, as keywords: the annotation and the default of each."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in options.items()
        ]
        named = [*(each for each in own if each.kind is not inspect.Parameter.VAR_KEYWORD), *added]
        command.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in named}
        return command

    return decorate


def load_settings(**options: Any) -> Settings:
    """The settings of file and environment, overridden by the options that were given."""
    from onprompt.settings import load

    given = {name: value for name, value in options.items() if value is not None and value is not False and value != ""}
    return load(**given)


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables for as long as a command runs, and for the processes that it starts."""
    before = {name: os.environ.pop(name, None) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


def version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        from importlib.metadata import version as installed

        typer.echo(installed("onprompt"))
        raise typer.Exit


@app.callback()
def about(
    context: typer.Context,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE: a setting of `onprompt settings`; repeatable."),
    ] = None,
    config: Annotated[str, typer.Option(help="File of settings. Default: onprompt.toml, thresholds only.")] = "",
    measured: Annotated[
        bool, typer.Option("--measured", help="With --judge claims: ask only what evidence leaves open.")
    ] = False,
    _: Annotated[bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Does this image show what was asked for? A score, and the evidence for it."""
    from onprompt.settings import PREFIX, Settings, config_file

    chosen = ({PREFIX + "CONFIG": config} if config else {}) | ({PREFIX + "MEASURED": "1"} if measured else {})
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, not {pair!r}")
        if name not in Settings.model_fields:
            raise UserError(f"no setting {name!r} (in --set){plugins.did_you_mean(name, Settings.model_fields)}")
        chosen[PREFIX + name.upper()] = value
    if chosen:
        context.with_resource(environment(chosen))
    if path := config_file():
        echo(f"settings from {path}", err=True)


def echo(text: object, err: bool = False, **style: Any) -> None:
    """Print a text, whoever wrote it, without control characters that a terminal would obey."""
    from onprompt.wording.terminal import printable

    typer.secho(printable(str(text)), err=err, **style)


def print_json(value: object, indent: int | None = 2) -> None:
    """Print JSON."""
    import json

    from onprompt.wording.terminal import printable_json

    typer.echo(printable_json(json.dumps(value, indent=indent, ensure_ascii=False)))

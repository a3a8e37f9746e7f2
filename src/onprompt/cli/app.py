"""The application, and what its commands share."""

from __future__ import annotations

import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from onprompt import plugins
from onprompt.errors import UserError

if TYPE_CHECKING:
    from onprompt.settings import Settings
    from onprompt.types import Rubric

Function = TypeVar("Function", bound=Callable[..., Any])
COMMANDS = "onprompt.commands"  # the entry-point group for commands of other packages
SWITCHES = ("--measured", "--crops", "--quiet", "-q")  # of the whole program, as are these:
GLOBAL = (*SWITCHES, "--set", "--config")
GROUPS = {  # of the commands, as `onprompt --help` lists them
    "Judge one image": (*plugins.modules("rubrics"), "see", "parse"),
    "Judge many": ("run", "gate", "check", "illusion"),
    "Look at a run": ("show", "report", "review", "compare", "agree", "export"),
    "Set up": ("settings", "models", "probe", "serve"),
}
ADDED = "From other packages"

RunPath = Annotated[Path, typer.Argument(help="The run file.")]
Configuration = Annotated[
    int,
    typer.Option(metavar="N", help="Number of a judge configuration. Default: the last that ran.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")]


class Command(TyperCommand):
    """A command whose help names values in capitals, as in `verify IMAGE PROMPT`, instead of by their types."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        for each in self.params:
            name = each.name if each.param_type_name == "argument" else each.opts[0].rpartition("-")[2]
            each.metavar = each.metavar or str(name).upper()
        self.arguments: list[Any] = [each for each in self.params if each.param_type_name == "argument"]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 typer's
        words = (f"{each.metavar}{'' if each.nargs == 1 else ' …'}" for each in self.arguments)
        return ["[OPTIONS]", *(w if a.required else f"[{w}]" for w, a in zip(words, self.arguments, strict=True))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        options = [each.get_help_record(ctx) for each in self.get_params(ctx) if each.param_type_name == "option"]
        for title, rows in (("Arguments", [(a.metavar, a.help) for a in self.arguments]), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Of an option that this command does not have, but that is the name of a setting, say how to set it."""
        known = {"--help"}.union(*(each.opts for each in self.params))
        for word in itertools.takewhile(lambda word: word != "--", args):
            option = word.partition("=")[0]
            if option.startswith("--") and option not in known and (name := setting_name(option)):
                raise UserError(f"{ctx.info_name} has no option {option}, but it is a setting: --set {name}=VALUE")
        return super().parse_args(ctx, args)


class Commands(TyperGroup):
    """Our commands, one per rubric, and those of other packages; the latter two are loaded when used or listed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options of the whole program also after the command."""
        args = ["--help"] if args == ["help"] else args
        end = args.index("--") if "--" in args else len(args)
        ours = {at for at in range(end) if args[at].partition("=")[0] in GLOBAL}
        ours |= {at + 1 for at in ours if "=" not in args[at] and args[at] not in SWITCHES}
        first = [word for at, word in enumerate(args) if at in ours]
        return super().parse_args(ctx, [*first, *(word for at, word in enumerate(args) if at not in ours)])

    def list_commands(self, ctx: Any) -> list[str]:
        own = [*plugins.names("rubrics"), *super().list_commands(ctx)]
        return list(dict.fromkeys([*own, *sorted(plugins.entry_points(COMMANDS).names)]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from onprompt.cli.judging import rubric_command

        command = super().get_command(ctx, cmd_name)
        if added := plugins.entry_points(COMMANDS).select(name=cmd_name):
            built_in = command is not None or cmd_name in plugins.modules("rubrics")
            loaded = plugins.load_added("command", cmd_name, added, built_in)
            return (
                typer.main.get_command(loaded) if isinstance(loaded, typer.Typer) else single_command(cmd_name, loaded)
            )
        return rubric_command(cmd_name) if command is None and cmd_name in plugins.names("rubrics") else command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not args[0].startswith("-") and args[0] not in (known := self.list_commands(ctx)):
            raise plugins.unknown("command", args[0], known, "commands")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by group, each with the first sentence of its help."""
        names = self.list_commands(ctx)
        listed = {name for group in GROUPS.values() for name in group}
        for title, group in {**GROUPS, ADDED: [name for name in names if name not in listed]}.items():
            helps = {name: self.get_command(ctx, name).help or "" for name in group if name in names}
            if helps:
                with formatter.section(title):
                    rows = [(name.ljust(max(map(len, names))), text.partition(". ")[0]) for name, text in helps.items()]
                    formatter.write_dl([(name, text.rstrip(".")) for name, text in rows])


class App(typer.Typer):
    """An application, or a group of its commands, without colors or boxes in help and errors."""

    def __init__(self, **options: Any) -> None:
        usual: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
        super().__init__(**usual | options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        return super().command(name, cls=Command, **options)


app = App(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def single_command(name: str, function: Callable[..., None], text: str | None = None) -> Any:
    """A function as a command; its help is its docstring, or a text."""
    single = App()
    single.command(name, help=text)(function)
    return typer.main.get_command(single)


def setting_name(option: str) -> str:
    """The setting that an option would have the name of; empty if there is none."""
    from onprompt.settings import Settings

    name = option.strip("-").replace("-", "_")
    return name if name in Settings.model_fields else ""


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


def find_rubric(name: str) -> Rubric | None:
    """A rubric by its name; None for IllusionBench, and for one of a package that is not installed."""
    return plugins.load("rubrics", name).RUBRIC if name in plugins.names("rubrics") else None


def load_settings(**options: Any) -> Settings:
    """The settings of file and environment, overridden by the options that were given."""
    from onprompt.settings import OPTION, load

    given = {name: value for name, value in options.items() if value is not None and value is not False and value != ""}
    return load(OPTION, **given)


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables for as long as a command runs, and for the processes that it starts."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


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
        typer.Option("--set", metavar="NAME=VALUE", help="Set anything that `onprompt settings` lists; repeatable."),
    ] = None,
    config: Annotated[
        str, typer.Option(metavar="FILE", help="File of settings. Default: onprompt.toml, thresholds only.")
    ] = "",
    measured: Annotated[
        bool, typer.Option("--measured", help="With --judge claims: ask only about unresolved claims.")
    ] = False,
    crops: Annotated[
        bool, typer.Option("--crops", help="With --measured: also send each claim's part of the image.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")] = False,
    _: Annotated[bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Does this image show what was asked for? A score, and the evidence for it."""
    from onprompt.settings import CONFIG, PREFIX, QUIET, TYPED, Settings, config_file

    chosen = {name: value for name, value in {CONFIG: config, QUIET: "1" if quiet else ""}.items() if value}
    typed = {}
    for pair in (*(given or ()), *(["measured=1"] if measured else []), *(["crops=1"] if crops else [])):
        name, equals, value = pair.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, not {pair!r}")
        if not setting_name(name):
            raise UserError(f"no setting {name!r} (in --set){plugins.did_you_mean(name, Settings.model_fields)}")
        typed[PREFIX + setting_name(name).upper()] = value
    if chosen or typed:
        context.with_resource(environment({**chosen, **typed, TYPED: " ".join(typed)}))
    if path := config_file():
        echo(f"settings from {path}", err=True)


def echo(text: object, err: bool = False, **style: Any) -> None:
    """Print any text without control characters that a terminal would obey.

    To standard error go messages that are neither results nor errors: none with --quiet.
    """
    from onprompt.settings import is_quiet
    from onprompt.wording.terminal import printable

    if err and is_quiet():
        return
    wanted = {} if os.environ.get("NO_COLOR") or is_dumb() else {name: value for name, value in style.items() if value}
    shown = printable(str(text))
    typer.echo(typer.style(shown, **wanted) if wanted else shown, err=err)


def echo_error(text: object) -> None:
    """Print an error, also with --quiet."""
    from onprompt.wording.terminal import printable

    typer.echo(printable(str(text)), err=True)


def is_dumb() -> bool:
    """Whether the terminal knows no control sequences."""
    return os.environ.get("TERM") == "dumb"


def print_result(json: bool, document: Callable[[], object], lines: Iterable[str]) -> None:
    """Print a result in lines, or its document as JSON."""
    if json:
        print_json(document())
    else:
        echo("\n".join(lines))


def print_json(value: object, indent: int | None = 2) -> None:
    """Print JSON."""
    import json

    from onprompt.wording.terminal import printable_json

    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"  # a pipe on Windows is not
    typer.echo(printable_json(json.dumps(value, indent=indent, ensure_ascii=not is_utf8)))

"""`prompts`: known sets of prompts, and compositional ones of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from onprompt.cli.app import app, echo
from onprompt.wording import plural


class Sets(TyperGroup):
    """`make`, and a command per known set that says where to get it."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *known()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        return set_command(cmd_name) if command is None and cmd_name in known() else command


prompts = typer.Typer(
    cls=Sets, invoke_without_command=True, help="List known sets of prompts, say where to get them, or make some."
)
app.add_typer(prompts, name="prompts")


def known() -> dict[str, dict[str, Any]]:
    """The known sets by name."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files("onprompt.prompt_sets").joinpath("known.toml").read_text(encoding="utf-8"))


def set_command(name: str) -> Any:
    """The command that says where to get a set, and how to judge its images."""
    about = known()[name]

    def command() -> None:
        echo(f"{about['title']}: {about['prompts']:,} prompts, {about['about']}")
        echo(f"licence: {about['licence']}; not shipped with onprompt")
        echo(f"get it:  {about['source']}")
        echo(f"use it:  {about['use']} --out run.sqlite")

    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(name, help=f"Say where to get {about['title']}, and how to judge its images.")(command)
    return typer.main.get_command(single)


@prompts.callback()
def list_sets(context: typer.Context) -> None:
    """List known sets of prompts."""
    if not context.invoked_subcommand:
        for name, about in known().items():
            echo(f"{name:12} {about['prompts']:6,} prompts  {about['licence']}: {about['about']}")
        echo("\nonprompt prompts NAME says where to get a set; onprompt prompts make writes prompts of our own")


@prompts.command()
def make(
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    n: Annotated[int, typer.Option("--n", min=1, max=100_000, help="How many prompts.")] = 200,
    objects: Annotated[int, typer.Option(help="How many objects each prompt names, 1 to 5.")] = 2,
    colours: Annotated[bool, typer.Option("--colours", help="Give objects colours.")] = False,
    counts: Annotated[bool, typer.Option("--counts", help="Ask for up to four of an object.")] = False,
    relations: Annotated[bool, typer.Option("--relations", help="Say where the first object is.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed makes the same prompts.")] = 0,
) -> None:
    """Write compositional prompts with the scenes that they were made from, in our form and in GenEval's."""
    from onprompt.prompt_sets.made import FEATURES
    from onprompt.prompt_sets.made import make as make_prompts
    from onprompt.prompt_sets.writing import GENEVAL, TABLE, TEXTS, write

    wanted = dict(zip(FEATURES, (colours, counts, relations), strict=True))
    made = list(make_prompts(n, objects, [name for name, chosen in wanted.items() if chosen], seed))
    write(made, out)
    echo(f"{plural(len(made), 'prompt')} in {len({each.category for each in made})} categories written to {out}:")
    echo(f"  {TABLE}: id, image, prompt, category and objects; {TEXTS}: only the prompts; {GENEVAL}: GenEval's form")
    echo(
        f"write an image for each to {out / 'images'} (00000.png …); then: onprompt run {out / TABLE} --out run.sqlite"
    )

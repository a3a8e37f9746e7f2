"""`models`, `settings` and `answers`: the files and the numbers that everything else stands on."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from onprompt.cli.app import app, chosen

USERINFO = r"//[^/@]*@"  # a name and a password in an address

models = typer.Typer(no_args_is_help=False, invoke_without_command=True, help="Model files: list, fetch, check.")
app.add_typer(models, name="models")


@app.command()
def settings() -> None:
    """Show every setting, its value, and where the value comes from. The output is a valid onprompt.toml."""
    from onprompt.settings import Settings, load_with_origins

    values, origins = load_with_origins()
    for name, field in Settings.model_fields.items():
        typer.echo(f"# {field.description} [{origins.get(name, 'default')}]")
        value = getattr(values, name)
        if name == "api_key" and value.get_secret_value():
            typer.echo("# api_key is set, and not shown")
        elif value is None or name == "api_key":
            typer.echo(f"# {name} is not set")
        else:
            typer.echo(f"{name} = {toml(re.sub(USERINFO, '//', value) if name == 'base_url' else value)}")


@app.command()
def answers() -> None:
    """Show what the models' answers that are kept here were: read, refused, cut off, … and what they took."""
    from onprompt.models.answer_store import AnswerStore

    kept = AnswerStore(chosen().answers)
    typer.echo(f"{'model':32} {'became':14} {'answers':>8}")
    for model, outcome, count, tokens_in, tokens_out, cost in kept.summary():
        money = "price not known" if cost is None else f"{cost:.4f} US dollars"
        tokens = f"{tokens_in:,} tokens in and {tokens_out:,} out"
        typer.echo(f"{model:32} {outcome or 'not read':14} {count:8,}  {tokens}, {money}")
    typer.echo(f"in {kept.path}")
    kept.close()


@models.callback()
def list_models(context: typer.Context) -> None:
    """List the model files with their licence and whether they are here."""
    if context.invoked_subcommand:
        return
    from onprompt.weights.cache import folder, state
    from onprompt.weights.manifest import manifest

    force = chosen()
    for file in manifest():
        typer.echo(
            f"{file.set:9} {file.name:25} {file.bytes / 1e6:6.1f} MB  {state(file, force):8} {file.licence}: {file.use}"
        )
    typer.echo(f"in {folder(force)}")


@models.command()
def pull(
    names: Annotated[
        list[str] | None, typer.Argument(help="Files or sets; without a name, all but the optional ones.")
    ] = None,
) -> None:
    """Fetch model files that are not here yet, and replace damaged ones."""
    from onprompt.weights import cache
    from onprompt.weights.manifest import find, manifest

    force = chosen()
    usual = (file for file in manifest() if not file.optional and (file.permissive or not force.permissive))
    files = find(names) if names else list(usual)
    cache.pull(files, force)
    typer.echo(f"{len(files)} files are ready in {cache.folder(force)}")


@models.command()
def path(name: Annotated[str, typer.Argument(help="A file's name.")]) -> None:
    """Print where a model file lies, fetching it if need be."""
    from onprompt.weights.cache import paths

    typer.echo("\n".join(map(str, paths([name], chosen()).values())))


@models.command()
def check() -> None:
    """Compare every model file that is here with its pinned hash."""
    from onprompt.weights.cache import location, state
    from onprompt.weights.manifest import manifest

    force = chosen()
    states = {file: state(file, force) for file in manifest()}
    for file, found in states.items():
        typer.echo(f"{found:8} {location(file, force)}")
    if "damaged" in states.values():
        typer.echo("run `onprompt models pull` to fetch the damaged files again", err=True)
        raise typer.Exit(3)


def toml(value: object) -> str:
    """A value as TOML writes it."""
    import json

    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else json.dumps(str(value), ensure_ascii=False)

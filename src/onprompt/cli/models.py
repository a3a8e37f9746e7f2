"""`settings` and `models`: the configuration and the model files."""

import json
import re
from typing import Annotated

import typer

from onprompt.cli.app import app, echo, load_settings

CREDENTIALS = r"//[^/@]*@"  # a name and a password in a URL

models = typer.Typer(
    no_args_is_help=False, invoke_without_command=True, help="List the model files; or download or verify them."
)
app.add_typer(models, name="models")


@app.command()
def settings() -> None:
    """Show every setting with its value and where it comes from. The output is a valid onprompt.toml."""
    from onprompt.settings import Settings, load_with_origins

    values, origins = load_with_origins()
    for name, field in Settings.model_fields.items():
        echo(f"# {field.description} [{origins.get(name, 'default')}]")
        value = getattr(values, name)
        if name == "api_key" and value.get_secret_value():
            echo("# api_key is set (hidden)")
        elif value is None or name == "api_key":
            echo(f"# {name} is not set")
        else:
            shown = re.sub(CREDENTIALS, "//", toml(value)) if name in ("base_url", "models") else toml(value)
            echo(f"{name} = {shown}")


@models.callback()
def list_models(context: typer.Context) -> None:
    """List the model files with their state and licence."""
    if context.invoked_subcommand:
        return
    from onprompt.weights import blobs
    from onprompt.weights.cache import folder, state
    from onprompt.weights.manifest import manifest
    from onprompt.wording import plural

    settings = load_settings()
    for file in manifest():
        size = f"{file.bytes / 1e6:6.1f} MB"
        echo(f"{file.set:9} {file.name:25} {size}  {state(file, settings):8} {file.licence}: {file.use}")
    echo(f"in {folder(settings)}")
    if compiled := blobs.files(blobs.folder(settings)):
        total = sum(map(blobs.size_of, compiled)) / 1e6
        echo(f"and {plural(len(compiled), 'compiled network')}, {total:.1f} MB, in {blobs.folder(settings)}")


@models.command()
def pull(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Files, sets, or local/OWNER/REPO of a hub; by default all that are not optional."),
    ] = None,
) -> None:
    """Download missing model files, and replace damaged ones."""
    from onprompt.weights import cache, hub
    from onprompt.weights.manifest import find, manifest

    settings = load_settings()
    if models := [name.removeprefix("local/") for name in names or () if name.startswith("local/")]:
        for model in models:
            echo(f"ready in {hub.pull(model, settings, echo)}: --model local/{model}")
        names = [name for name in names or () if not name.startswith("local/")]
        if not names:
            return
    files = find(names) if names else [file for file in manifest() if not file.optional]
    cache.pull(files, settings)
    echo(f"{len(files)} files are ready in {cache.folder(settings)}")


@models.command()
def path(name: Annotated[str, typer.Argument(help="The name of a file.")]) -> None:
    """Print the path of a model file, after downloading it if it is missing."""
    from onprompt.weights.cache import paths

    echo("\n".join(map(str, paths([name], load_settings()).values())))


@models.command()
def check() -> None:
    """Verify every model file on this machine against its pinned hash."""
    from onprompt.weights.cache import location, state
    from onprompt.weights.manifest import manifest

    settings = load_settings()
    states = {file: state(file, settings) for file in manifest()}
    for file, status in states.items():
        echo(f"{status:8} {location(file, settings)}")
    if "damaged" in states.values():
        echo("run `onprompt models pull` to replace the damaged files", err=True)
        raise typer.Exit(3)


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    return str(value) if isinstance(value, int | float) else json.dumps(str(value), ensure_ascii=False)

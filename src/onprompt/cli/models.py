"""`settings`, `models` and `probe`: the configuration, the model files, and whether a judge is fit to judge."""

import json
import re
from typing import Annotated

import typer

from onprompt.cli.app import App, app, echo, load_settings
from onprompt.cli.judging import Budget, DryRun, JudgeName, Models, judge_settings, print_plan
from onprompt.errors import WrongHash
from onprompt.rubrics import DEFAULT

CREDENTIALS = r"//[^/@]*@"  # a name and a password in a URL

models = App(invoke_without_command=True, help="List or download the model files.")
app.add_typer(models, name="models")


@app.command()
def settings() -> None:
    """List all settings, their values and origins. The output is a valid onprompt.toml."""
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
            shown = json.dumps(value, default=str, ensure_ascii=False)  # TOML writes these values in the same way
            echo(f"{name} = {re.sub(CREDENTIALS, '//', shown) if name in ('base_url', 'models') else shown}")


@models.callback()
def list_models(context: typer.Context) -> None:
    """List or download the model files. Without a command, list them with license and state, by their pinned hashes."""
    if context.invoked_subcommand:
        return
    from onprompt.weights import blobs
    from onprompt.weights.cache import folder, state
    from onprompt.weights.manifest import manifest
    from onprompt.wording import plural

    settings = load_settings()
    states = {file: state(file, settings) for file in manifest()}
    for file, status in states.items():
        echo(f"{file.set:9} {file.name:25} {file.bytes / 1e6:6.1f} MB  {status:8} {file.licence}: {file.use}")
    echo(f"in {folder(settings)}")
    if compiled := blobs.files(blobs.folder(settings)):
        total = sum(path.stat().st_size for path in compiled) / 1e6
        echo(f"and {plural(len(compiled), 'compiled network')}, {total:.1f} MB, in {blobs.folder(settings)}")
    if "damaged" in states.values():
        raise WrongHash("run `onprompt models pull` to replace the damaged files")


@models.command()
def pull(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Files, sets or local/OWNER/REPO. Default: all but optional ones."),
    ] = None,
) -> None:
    """Download missing model files, and replace damaged ones."""
    from onprompt.weights import cache, hub
    from onprompt.weights.manifest import find, manifest

    settings = load_settings()
    local = [name for name in names or () if name.startswith("local/")]
    others = [name for name in names or () if name not in local]
    for name in local:
        echo(f"ready in {hub.pull(name.removeprefix('local/'), settings, echo)}: --model {name}")
    if local and not others:
        return
    files = find(others) if others else [file for file in manifest() if not file.optional]
    cache.pull(files, settings)
    echo(f"{len(files)} files are ready in {cache.folder(settings)}")


@models.command()
def path(name: Annotated[str, typer.Argument(help="The name of a file.")]) -> None:
    """Print where a model file is, downloading it if needed."""
    from onprompt.weights.cache import paths

    echo("\n".join(map(str, paths([name], load_settings()).values())))


@app.command()
def probe(
    judge: JudgeName = "",
    rubric: Annotated[str, typer.Option(help="Rubric for images: verify or rate. Edits use edit.")] = DEFAULT,
    model: Models = None,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Test a judge on drawn images with known answers. They cover blank images, wrong prompts, edits and rephrasing."""
    from onprompt import probe as probing

    settings = judge_settings(judge, model, budget=budget)
    if dry_run:
        print_plan(probing.plan(rubric, settings=settings))
    else:
        echo("\n".join(probing.lines(probing.probe(rubric, settings=settings))))

"""The command line. A command is a few lines that call the API; results go to standard output, the rest to error."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from onprompt.errors import OnpromptError, PromptError, UserError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
models = typer.Typer(no_args_is_help=False, invoke_without_command=True, help="Model files: list, fetch, check.")
app.add_typer(models, name="models")

DETECTORS = "Which detector looks: fused, coco, yolo26, world, hf:OWNER/MODEL."
Permissive = Annotated[bool, typer.Option("--permissive", help="Use Apache, MIT and BSD model files only.")]


def chosen(**options: Any) -> Any:
    """The settings in force, with the options that were given."""
    from onprompt.settings import load

    return load(**{name: value for name, value in options.items() if value})


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


@app.command()
def verify(
    image: Annotated[str, typer.Argument(help="The picture.")],
    prompt: Annotated[str, typer.Argument(help="What it should show.")],
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON (docs/json.md).")] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Write the picture with boxes and findings to this file.")
    ] = None,
    major: Annotated[list[str] | None, typer.Option(help="An object that weighs more; may be given again.")] = None,
    frame: Annotated[int, typer.Option(help="Which frame of an animation, from 0.")] = 0,
    detector: Annotated[str, typer.Option(help=DETECTORS)] = "",
    permissive: Permissive = False,
) -> None:
    """Check a picture against a prompt. The last line is the score, (0) to (4)."""
    from onprompt import api
    from onprompt.report import document, terminal
    from onprompt.report import picture as drawing

    if picture:
        drawing.can_write(picture, image)
    verdict = api.verify(
        image, prompt, major=major or (), frame=frame, settings=chosen(detector=detector, permissive=permissive)
    )
    if picture:
        drawing.save(verdict, picture)
    if json:
        print_json(document.document(verdict))
        return
    for line, style in terminal.lines(verdict):
        typer.secho(line, bold=style == "bold", fg=style if style not in ("", "bold") else None)


@app.command()
def rate(
    image: Annotated[str, typer.Argument(help="The picture.")],
    prompt: Annotated[str, typer.Argument(help="What it should show.")],
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON (docs/json.md).")] = False,
    major: Annotated[list[str] | None, typer.Option(help="An object that weighs more; may be given again.")] = None,
    frame: Annotated[int, typer.Option(help="Which frame of an animation, from 0.")] = 0,
    detector: Annotated[str, typer.Option(help=DETECTORS)] = "",
    permissive: Permissive = False,
) -> None:
    """Rate how well a picture fits a prompt, from 1 to 5, with the reason in at most 20 words."""
    from onprompt import api
    from onprompt.report import document

    verdict = api.rate(
        image, prompt, major=major or (), frame=frame, settings=chosen(detector=detector, permissive=permissive)
    )
    if json:
        print_json(document.document(verdict))
        return
    typer.echo(f"Reasoning: {verdict.summary}")
    typer.echo(f"Score: {verdict.score}")


@app.command()
def explain(
    image: Annotated[str, typer.Argument(help="The picture.")],
    prompt: Annotated[str, typer.Argument(help="What it should show.")],
    why: Annotated[list[str] | None, typer.Option(help="Only this object; may be given again.")] = None,
    major: Annotated[list[str] | None, typer.Option(help="An object that weighs more; may be given again.")] = None,
    frame: Annotated[int, typer.Option(help="Which frame of an animation, from 0.")] = 0,
    detector: Annotated[str, typer.Option(help=DETECTORS)] = "",
    permissive: Permissive = False,
) -> None:
    """Show how the score of `verify` comes about: every check, every sum, every threshold."""
    from onprompt import api
    from onprompt.evidence import arithmetic
    from onprompt.language.ontology import canonical

    force = chosen(detector=detector, permissive=permissive)
    verdict = api.verify(image, prompt, major=major or (), frame=frame, settings=force)
    names = [canonical(name) for name in why or ()]
    asked = {thing.canonical for thing in verdict.scene.things}
    if strangers := [name for name in names if name not in asked]:
        raise UserError(
            f"not in the prompt: {', '.join(strangers)}; it names {', '.join(sorted(asked)) or 'no object'}"
        )
    for line in arithmetic.lines(verdict, force, names):
        typer.echo(line)


@app.command()
def see(
    image: Annotated[str, typer.Argument(help="The picture.")],
    prompt: Annotated[str, typer.Option("--for", help="Look for what this prompt names; else for 80 kinds.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print what was seen as JSON (docs/json.md).")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write the picture with boxes to this file.")] = None,
    text: Annotated[bool, typer.Option("--text/--no-text", help="Read the text in the picture.")] = True,
    frame: Annotated[int, typer.Option(help="Which frame of an animation, from 0.")] = 0,
    detector: Annotated[str, typer.Option(help=DETECTORS)] = "",
    permissive: Permissive = False,
) -> None:
    """Show what is in a picture: objects with colours, size, place and posture, text, light."""
    from onprompt import api
    from onprompt.report import document, terminal
    from onprompt.report import picture as drawing

    if picture:
        drawing.can_write(picture, image)
    force = chosen(detector=detector, permissive=permissive)
    view = api.view(image, prompt, frame=frame, text=text, settings=force)
    if picture:
        drawing.save_view(view, picture, force.low_confidence)
    if json:
        print_json(document.view_document(view, force.low_confidence))
        return
    for line in terminal.view_lines(view, force.low_confidence, force.missing_below):
        typer.echo(line)


@app.command()
def match(
    image: Annotated[str, typer.Argument(help="The picture.")],
    texts: Annotated[list[str], typer.Argument(help="Texts that may describe it.")],
    json: Annotated[bool, typer.Option("--json", help="A JSON list, in the order given.")] = False,
    frame: Annotated[int, typer.Option(help="Which frame of an animation.")] = 0,
) -> None:
    """Rank texts by how likely each describes a picture as a whole. A guess by a small model: no evidence."""
    from onprompt import api

    chances = api.match(image, texts, frame=frame, settings=chosen())
    if json:
        print_json([{"text": text, "chance": chance} for text, chance in zip(texts, chances, strict=True)])
        return
    for chance, text in sorted(zip(chances, texts, strict=True), key=lambda pair: -pair[0]):
        typer.echo(f"{chance:.2f}  {text}")


@app.command()
def parse(
    prompt: Annotated[str, typer.Argument(help="A prompt, or with --edit an instruction.")] = "",
    source: Annotated[str, typer.Option("--input", help="A file with one prompt a line; - is standard input.")] = "",
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Read instructions for edits, not prompts.")] = False,
) -> None:
    """Show what a prompt asks for, or what an instruction wants done to a picture. --input writes JSON, a line each."""
    from onprompt import api
    from onprompt.report import document, terminal

    settings = chosen()
    if bool(prompt) == bool(source):
        raise UserError("give either a prompt that is not empty, or --input FILE")
    if source:
        raise typer.Exit(write_lines(source, edit, settings))
    if edit:
        edits = api.parse_edit(prompt, settings=settings)
        found, lines = document.edits_document(prompt, edits), [terminal.edit_line(one) for one in edits]
    else:
        scene = api.parse(prompt, settings=settings)
        found, lines = document.scene_document(scene), list(terminal.scene_lines(scene))
    if json:
        print_json(found, indent=None)
    else:
        typer.echo("\n".join(lines) or "no objects")


def write_lines(source: str, edit: bool, settings: Any) -> int:
    """A JSON object for each line of a file that is not blank; a bad one costs no other. Gives the exit code."""
    from onprompt.language.edits import parse_edits
    from onprompt.language.parser import parse_many
    from onprompt.report import document

    lines = numbered_lines(source)
    code = 0
    for (number, text), found in zip(
        lines, (parse_edits if edit else parse_many)((text for _, text in lines), settings), strict=True
    ):
        if isinstance(found, PromptError):
            code = found.exit_code
            typer.echo(f"onprompt: line {number}: {found}", err=True)
            entry = {"instruction" if edit else "prompt": text[:200], "error": str(found)}
        else:
            entry = document.edits_document(text, found) if isinstance(found, tuple) else document.scene_document(found)
        print_json(entry, indent=None)
    return code


@app.command()
def settings() -> None:
    """Show every setting, its value, and where the value comes from. The output is a valid onprompt.toml."""
    from onprompt.settings import Settings, load_with_origins

    values, origins = load_with_origins()
    for name, field in Settings.model_fields.items():
        typer.echo(f"# {field.description} [{origins.get(name, 'default')}]")
        typer.echo(f"{name} = {toml(getattr(values, name))}")


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


def numbered_lines(source: str) -> list[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or error
        raise UserError(f"can't read {source}: {reason}") from error
    lines = enumerate((line.rstrip("\r") for line in text.split("\n")), 1)
    return [(number, line) for number, line in lines if line.strip()]


def print_json(value: object, indent: int | None = 2) -> None:
    """JSON on standard output."""
    import json

    typer.echo(json.dumps(value, indent=indent, ensure_ascii=False))


def toml(value: object) -> str:
    """A value as TOML writes it."""
    import json

    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else json.dumps(str(value), ensure_ascii=False)


def main() -> None:
    """Run the command; what goes wrong on purpose is one clear message and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no → shows ? instead of failing
    try:
        app()
    except OnpromptError as error:
        typer.echo(f"onprompt: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:  # standard output can't be written
        sys.exit(f"onprompt: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(130)

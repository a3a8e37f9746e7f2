"""`see`, `match` and `parse`: what is in a picture, and what a prompt asks for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from onprompt.cli.app import DETECTORS, Permissive, app, chosen, print_json
from onprompt.errors import PromptError, UserError


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


def numbered_lines(source: str) -> list[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or error
        raise UserError(f"can't read {source}: {reason}") from error
    lines = enumerate((line.rstrip("\r") for line in text.split("\n")), 1)
    return [(number, line) for number, line in lines if line.strip()]

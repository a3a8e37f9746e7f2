"""`see` and `parse`: what an image shows, and what a prompt asks for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from onprompt.cli.app import app, echo, echo_error, load_settings, print_json
from onprompt.cli.judging import DetectorName
from onprompt.errors import PromptError, UserError

Image = Annotated[str, typer.Argument(help="The image.")]
Frame = Annotated[int, typer.Option(metavar="N", help="Frame of an animation, from 0.")]


@app.command()
def see(
    image: Image,
    prompt: Annotated[
        str, typer.Option("--for", metavar="PROMPT", help="Detect what this names (default: the 80 COCO classes).")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON (docs/json.md).")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the image with boxes.")] = None,
    frame: Frame = 0,
    detector: DetectorName = "",
) -> None:
    """Show what an image contains: objects, text, lighting. Objects have color, size, position and posture."""
    from onprompt import api
    from onprompt.report import document, terminal
    from onprompt.report import picture as drawing

    if picture:
        drawing.check_path(picture, image)
    settings = load_settings(detector=detector)
    view = api.view(image, prompt, frame=frame, settings=settings)
    if picture:
        drawing.save_view(view, picture, settings.low_confidence)
    if json:
        print_json(document.view_document(view, settings.low_confidence))
    else:
        echo("\n".join(terminal.view_lines(view, settings.low_confidence)))


@app.command()
def parse(
    prompt: Annotated[str, typer.Argument(help="A prompt, or with --edit an instruction.")] = "",
    source: Annotated[str, typer.Option("--input", metavar="FILE", help="A file, one prompt per line; -: stdin.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Parse edit instructions instead of prompts.")] = False,
) -> None:
    """Show what a prompt or an edit instruction asks for. With --input, always as JSON."""
    from onprompt.language import parse_edits, parse_many
    from onprompt.report import document, terminal

    if bool(prompt) == bool(source):
        raise UserError("give either a prompt or --input FILE")
    given = numbered_lines(source) if source else [(0, prompt)]
    results: Any = (parse_edits if edit else parse_many)((text for _, text in given), load_settings())
    code = 0
    for (number, text), result in zip(given, results, strict=True):
        if isinstance(result, PromptError):
            if not source:
                raise result
            code = result.exit_code
            echo_error(f"onprompt: line {number}: {result}")
            print_json({"instruction" if edit else "prompt": text[:200], "error": str(result)}, indent=None)
        elif json or source:
            found = document.edits_document(text, result) if edit else document.scene_document(result)
            print_json(found, indent=None)
        else:
            lines = map(terminal.edit_line, result) if edit else terminal.scene_lines(result)
            echo("\n".join(lines) or "no objects")
    raise typer.Exit(code)


def numbered_lines(source: str) -> list[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers."""
    try:
        text = (sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or error
        raise UserError(f"can't read {source}: {reason}") from error
    lines = enumerate((line.rstrip("\r") for line in text.split("\n")), 1)
    return [(number, line) for number, line in lines if line.strip()]

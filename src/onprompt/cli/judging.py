"""A command per rubric, made from its inputs; `see` and `parse`: what an image shows, and what a prompt asks for."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt import plugins
from onprompt.cli.app import (
    Json,
    add_options,
    app,
    echo,
    echo_error,
    find_rubric,
    load_settings,
    print_json,
    print_result,
    single_command,
)
from onprompt.errors import PluginError, PromptError, UnreadableAnswer, UserError
from onprompt.types import FRAME, NAMES, Asks, Input, Line, Rubric, Verdict

if TYPE_CHECKING:
    from onprompt.settings import Settings
    from onprompt.types import JudgePlan

Protocol = Annotated[bool, typer.Option("--protocol", help="Print exactly the output that the protocol asks for.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print how the score is computed.")]

NoCaption = Annotated[bool, typer.Option("--no-caption", help="Draw no list of findings below the picture.")]
PictureFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the image with boxes and findings.")]
DetectorName = Annotated[
    str, typer.Option(metavar="NAME", help="The detector. Default: coco. Others come with plug-ins.")
]
JudgeName = Annotated[str, typer.Option(metavar="NAME", help="Who judges: evidence (no model), vlm, claims or jury.")]
MODEL = "Model to ask, such as openai/gpt-5.2"
Model = Annotated[str, typer.Option(metavar="BACKEND/MODEL", help=f"{MODEL}.")]
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="BACKEND/MODEL", help=f"{MODEL}; several make a jury.")
]
Budget = Annotated[
    float | None, typer.Option(metavar="DOLLARS", help="Most to spend, in US dollars. Default: no limit.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print how many calls, tokens and dollars it takes.")]
AskAgain = Annotated[bool, typer.Option("--ask-again", help="Ask the model again, even if its answer is cached.")]
# The options that choose a judge, of every command that judges.
JUDGING: dict[str, tuple[Any, Any]] = {
    "judge": (JudgeName, ""),
    "model": (Models, None),
    "detector": (DetectorName, ""),
    "budget": (Budget, None),
    "ask_again": (AskAgain, False),
    "dry_run": (DryRun, False),
}
OPTIONS: dict[str, tuple[Any, Any]] = {
    "json": (Json, False),
    "protocol": (Protocol, False),
    "explain": (Explain, False),
    "picture": (PictureFile, None),
    "no_caption": (NoCaption, False),
    **JUDGING,
}


def rubric_command(name: str) -> Any:
    """The command that judges one sample by a rubric: required inputs are arguments, the others options."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC

    inputs = sorted(rubric.inputs, key=lambda given: not given.required)
    # Options that not every rubric has
    optional = {"protocol": rubric.protocol, "explain": rubric.explain}
    options = {key: option for key, option in OPTIONS.items() if optional.get(key, True)}
    if taken := [given.name for given in inputs if given.name in OPTIONS]:
        raise PluginError(f"the rubric {name!r} has an input {taken[0]!r}, which is an option of every command")

    @add_options({given.name: parameter(given) for given in inputs} | options)
    def command(**values: Any) -> None:
        judge_sample(rubric, values)

    return single_command(name, command, rubric.help)


def parameter(given: Input) -> tuple[Any, Any]:
    """An input as a parameter of a command: its annotation and its default."""
    if given.required:
        return Annotated[str, typer.Argument(help=given.help)], inspect.Parameter.empty
    option = typer.Option(metavar={FRAME: "N", NAMES: "NAME"}.get(given.kind), help=given.help)
    if given.kind == NAMES:
        return Annotated[list[str] | None, option], None
    return (Annotated[int, option], 0) if given.kind == FRAME else (Annotated[str, option], "")


def judge_sample(rubric: Rubric, values: Mapping[str, Any]) -> None:
    """Judge one sample and print the verdict."""
    from onprompt import api
    from onprompt.report import picture as drawing
    from onprompt.report.document import document

    item = {given.name: values[given.name] if given.required else values[given.name] or None for given in rubric.inputs}
    if values["picture"]:
        drawing.check_path(values["picture"], values[rubric.picture])
    settings = judge_settings(**{name: values[name] for name in JUDGING if name != "dry_run"})
    if values["dry_run"]:
        print_plan(api.plan(rubric.name, [item], settings=settings), values["json"])
        return
    try:
        verdict = api.judge_one(rubric, item, settings)
    except UnreadableAnswer as error:
        echo_error(f"The model's last answer:\n{error.text}\n")
        raise
    for note in verdict.sample.picture.notes:
        echo(f"{verdict.sample.picture.name}: {note}", err=True)
    if values["picture"]:
        drawing.save(verdict, values["picture"], not values["no_caption"])
    if values["json"]:
        print_json(document(verdict))
    elif values.get("protocol") and rubric.protocol:
        echo(rubric.protocol(verdict))
    elif values.get("explain") and rubric.explain:
        echo("\n".join(rubric.explain(verdict, settings)))
    else:
        print_verdict(verdict)


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict in its rubric's own form, or by factor if the rubric is not installed or has none."""
    from onprompt.report import terminal

    rubric = find_rubric(verdict.rubric)
    lines: Iterable[Line] = ((rubric.lines if rubric else None) or terminal.factor_lines)(verdict)
    for line, style in (*terminal.voice_lines(verdict), *lines):
        echo(line, bold=style == "bold", fg=style if style not in ("", "bold") else None)


def print_plan(plan: JudgePlan, json: bool = False) -> None:
    """Print what it would cost."""
    from onprompt.wording import plan_words

    print_json(plan.document) if json else echo(plan_words(plan))


def judge_settings(
    judge: str = "",
    model: str | Sequence[str] | None = "",
    detector: str = "",
    budget: float | None = None,
    ask_again: bool = False,
    workers: int | None = None,
) -> Settings:
    """The settings, overridden by the options of the judge; one model implies the judge `vlm`, several a jury."""
    from onprompt import samples
    from onprompt.api import model_settings

    chosen = model_settings(judge, [model] if isinstance(model, str) else model or ())
    settings = load_settings(**chosen, detector=detector, budget=budget, concurrency=workers)
    settings = settings.model_copy(update={"reuse_answers": False} if ask_again else {})
    unused = [name for name, value in (("--budget", budget), ("--ask-again", ask_again)) if value]
    if unused and samples.asks(settings.judged_by) is Asks.NONE:
        asked = f"which the judge {settings.judged_by!r} does not ask"
        raise UserError(f"{', '.join(unused)} needs a model, {asked}; choose one with --model")
    return settings


@app.command()
def see(
    image: Annotated[str, typer.Argument(help="The image.")],
    prompt: Annotated[
        str, typer.Option("--for", metavar="PROMPT", help="Detect what this names. Default: the 80 COCO classes.")
    ] = "",
    json: Json = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the image with boxes.")] = None,
    frame: Annotated[int, typer.Option(metavar="N", help="Frame of an animation, from 0.")] = 0,
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
    of = view, settings.low_confidence
    print_result(json, lambda: document.view_document(*of), terminal.view_lines(*of))


@app.command()
def parse(
    prompt: Annotated[str, typer.Argument(help="A prompt, or with --edit an instruction.")] = "",
    source: Annotated[
        str, typer.Option("--input", metavar="FILE", help="Read a file with one prompt per line; -: stdin.")
    ] = "",
    json: Json = False,
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

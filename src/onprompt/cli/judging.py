"""A command for each rubric, made from what it takes; and `explain`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt import plugins
from onprompt.cli.app import DETECTORS, Permissive, app, chosen, print_json
from onprompt.errors import UnreadableAnswer, UserError
from onprompt.types import FRAME, NAMES, Input, Rubric, Verdict

if TYPE_CHECKING:
    from onprompt.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="Print the verdict as JSON (docs/json.md).")]
PictureFile = Annotated[Path | None, typer.Option(help="Write the picture with boxes and findings to this file.")]
DetectorName = Annotated[str, typer.Option(help=DETECTORS)]
JudgeName = Annotated[str, typer.Option(help="The judge: evidence (on this CPU), vlm (a model), hybrid (both).")]
Model = Annotated[str, typer.Option(help="The model to ask: BACKEND/MODEL, such as openai/gpt-5.2.")]
BaseUrl = Annotated[str, typer.Option(help="The address of the model's server, if it is your own.")]
Repeats = Annotated[int | None, typer.Option(help="How often to ask the model, for the spread of its scores.")]
YesNo = Annotated[bool, typer.Option("--yes-no", help="Also ask whether the picture shows the prompt, yes or no.")]
Budget = Annotated[float | None, typer.Option(help="The most to spend, in US dollars.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print the number of calls, tokens and dollars.")]
Id = Annotated[str, typer.Option(help="The sample's id; by default the file's name.")]
JUDGING = ("judge", "model", "base_url", "repeats", "budget", "detector", "permissive", "yes_no")
OPTIONS: dict[str, tuple[Any, Any]] = {
    "json": (Json, False),
    "picture": (PictureFile, None),
    "id": (Id, ""),
    "detector": (DetectorName, ""),
    "permissive": (Permissive, False),
    "judge": (JudgeName, ""),
    "model": (Model, ""),
    "base_url": (BaseUrl, ""),
    "repeats": (Repeats, None),
    "yes_no": (YesNo, False),
    "budget": (Budget, None),
    "dry_run": (DryRun, False),
}


def rubric_command(name: str) -> Any:
    """The command that judges one sample by a rubric: required inputs are arguments, the others options."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC

    def command(**given: Any) -> None:
        judge_sample(rubric, given)

    options = {key: option for key, option in OPTIONS.items() if key != "yes_no" or rubric.yes_no}
    parameters = {each.name: parameter(each) for each in (*required(rubric), *optional(rubric))} | options
    signature = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, (kind, default) in parameters.items()
    ]
    command.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    command.__annotations__ = {key: kind for key, (kind, _) in parameters.items()}
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(name, help=rubric.help)(command)
    return typer.main.get_command(single)


def required(rubric: Rubric) -> list[Input]:
    """The inputs that can't be left out."""
    return [each for each in rubric.inputs if each.required]


def optional(rubric: Rubric) -> list[Input]:
    """The inputs that can."""
    return [each for each in rubric.inputs if not each.required]


def parameter(given: Input) -> tuple[Any, Any]:
    """An input as a parameter of a command: its annotation and its default."""
    if given.required:
        return Annotated[str, typer.Argument(help=given.help)], inspect.Parameter.empty
    option = typer.Option(help=given.help)
    if given.kind == NAMES:
        return Annotated[list[str] | None, option], None
    return (Annotated[int, option], 0) if given.kind == FRAME else (Annotated[str, option], "")


def judge_sample(rubric: Rubric, given: Mapping[str, Any]) -> None:
    """Judge one sample and print the verdict."""
    from onprompt import api
    from onprompt.report import picture as drawing
    from onprompt.report import terminal

    inputs = {each.name: given[each.name] or None for each in optional(rubric)}
    item = {**{each.name: given[each.name] for each in required(rubric)}, **inputs, "id": given["id"]}
    if given["picture"]:
        drawing.can_write(given["picture"], given[rubric.picture])
    settings = judging(**{name: given.get(name) for name in JUDGING})
    if given["dry_run"]:
        print_plan(api.plan(rubric.name, [item], settings=settings), given["json"])
        return
    verdict = judged(rubric.name, item, settings)
    if given["picture"]:
        drawing.save(verdict, given["picture"])
    if given["json"]:
        from onprompt.report.document import document

        print_json(document(verdict))
    else:
        print_lines((rubric.lines or terminal.factor_lines)(verdict))


def print_lines(lines: Any) -> None:
    """Lines with their styles."""
    for line, style in lines:
        typer.secho(line, bold=style == "bold", fg=style if style not in ("", "bold") else None)


def print_plan(plan: Any, json: bool = False) -> None:
    """What it would cost."""
    from onprompt.wording import plan_words

    print_json(plan.document) if json else typer.echo(plan_words(plan))


def judged(rubric: str, item: Mapping[str, Any], settings: Settings) -> Verdict:
    """The verdict; of an unreadable answer the text is printed before the error."""
    from onprompt import api

    (found,) = api.judge_many(rubric, [item], settings=settings)
    if isinstance(found, UnreadableAnswer):
        typer.echo(f"The model's last answer:\n{found.text}\n", err=True)
    if isinstance(found, Exception):
        raise found
    return found


@app.command()
def explain(
    image: Annotated[str, typer.Argument(help="The picture.")],
    prompt: Annotated[str, typer.Argument(help="What it should show.")],
    why: Annotated[list[str] | None, typer.Option(help="Only this object; can be repeated.")] = None,
    major: Annotated[list[str] | None, typer.Option(help="An object that weighs more; can be repeated.")] = None,
    frame: Annotated[int, typer.Option(help="Which frame of an animation, from 0.")] = 0,
    detector: DetectorName = "",
    permissive: Permissive = False,
) -> None:
    """Show how a score comes about: every check, every sum, every threshold."""
    from onprompt import api
    from onprompt.language.ontology import canonical
    from onprompt.report import arithmetic

    force = chosen(detector=detector, permissive=permissive, judge="evidence")
    verdict = api.verify(image, prompt, major=major or (), frame=frame, settings=force)
    names = [canonical(name) for name in why or ()]
    things = verdict.evidence.scene.things if verdict.evidence else ()
    known = {thing.canonical for thing in things}
    if unknown := [name for name in names if name not in known]:
        listed = ", ".join(sorted(known)) or "no object"
        raise UserError(f"not in the prompt: {', '.join(unknown)}; it names {listed}")
    for line in arithmetic.lines(verdict, force, names):
        typer.echo(line)


def judging(
    judge: str | None = "",
    model: str | None = "",
    repeats: int | None = None,
    budget: float | None = None,
    **options: Any,
) -> Settings:
    """The settings in force, with the options that say who judges; a model alone means the judge `vlm`."""
    settings: Settings = chosen(
        judge=judge or ("vlm" if model else ""),
        model=model,
        repeats=repeats,
        budget=budget,
        **options,
    )
    given = {"--repeats": repeats, "--budget": budget, "--yes-no": options.get("yes_no")}
    if settings.judged_by == "evidence" and (idle := [name for name, value in given.items() if value]):
        raise UserError(f"{', '.join(idle)} needs a model: the evidence judge asks none (name one with --model)")
    return settings

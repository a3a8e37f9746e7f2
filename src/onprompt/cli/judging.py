"""A command per rubric, made from its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt import plugins
from onprompt.cli.app import DETECTORS, MATCHERS, Permissive, echo, load_settings, print_json, single_command
from onprompt.errors import PluginError, UnreadableAnswer, UserError
from onprompt.types import FRAME, NAMES, Input, Line, Rubric, Verdict

if TYPE_CHECKING:
    from onprompt.settings import Settings
    from onprompt.types import Plan

Protocol = Annotated[bool, typer.Option("--protocol", help="Print exactly the output that the protocol asks for.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print how the score is computed: checks, sums, thresholds.")]
Json = Annotated[bool, typer.Option("--json", help="Print the verdict as JSON (docs/json.md).")]
PictureFile = Annotated[Path | None, typer.Option(help="Write the image with boxes and findings to this file.")]
DetectorName = Annotated[str, typer.Option(help=DETECTORS)]
MatcherName = Annotated[str, typer.Option(help=MATCHERS)]
JudgeName = Annotated[
    str,
    typer.Option(help="The judge: evidence (on this CPU), vlm (a model), claims (asked of a model), jury (several)."),
]
Model = Annotated[str, typer.Option(help="The model to ask: BACKEND/MODEL, such as openai/gpt-5.2.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="The model to ask: BACKEND/MODEL, such as openai/gpt-5.2. Repeated: a jury."),
]
Measured = Annotated[
    bool | None,
    typer.Option(
        "--measured/--no-evidence", help="claims: ask only what evidence leaves open; jury: without evidence."
    ),
]
LookAgain = Annotated[
    bool, typer.Option("--look-again", help="Ask a jury's model once more if the evidence contradicts it.")
]
WeightsFile = Annotated[
    Path | None, typer.Option("--weights", help="A file of weights for a jury or the evidence, by `onprompt fit`.")
]
BaseUrl = Annotated[str, typer.Option(help="The address of the model's server, if it is your own.")]
Repeats = Annotated[int | None, typer.Option(help="How often to ask the model, to see how its scores vary.")]
YesNo = Annotated[bool, typer.Option("--yes-no", help="Also ask whether the image shows the prompt, yes or no.")]
SendMask = Annotated[bool, typer.Option("--send-mask", help="Show the model the mask, too.")]
Budget = Annotated[float | None, typer.Option(help="The most to spend, in US dollars.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print the number of calls, tokens and dollars.")]
AskAgain = Annotated[bool, typer.Option("--ask-again", help="Ask the model anew, also where its answer is cached.")]
Id = Annotated[str, typer.Option(help="The sample's id (default: the file name).")]
JUDGING = (
    *("judge", "model", "measured", "look_again", "weights", "base_url", "repeats", "budget"),
    *("detector", "matcher", "permissive", "yes_no", "send_mask", "ask_again"),
)
OPTIONS: dict[str, tuple[Any, Any]] = {
    "json": (Json, False),
    "protocol": (Protocol, False),
    "explain": (Explain, False),
    "picture": (PictureFile, None),
    "id": (Id, ""),
    "detector": (DetectorName, ""),
    "matcher": (MatcherName, ""),
    "permissive": (Permissive, False),
    "judge": (JudgeName, ""),
    "model": (Models, None),
    "measured": (Measured, None),
    "look_again": (LookAgain, False),
    "weights": (WeightsFile, None),
    "base_url": (BaseUrl, ""),
    "repeats": (Repeats, None),
    "yes_no": (YesNo, False),
    "send_mask": (SendMask, False),
    "budget": (Budget, None),
    "ask_again": (AskAgain, False),
    "dry_run": (DryRun, False),
}


def rubric_command(name: str) -> Any:
    """The command that judges one sample by a rubric: required inputs are arguments, the others options."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC

    def command(**values: Any) -> None:
        judge_sample(rubric, values)

    inputs = sorted(rubric.inputs, key=lambda given: not given.required)
    # Options that not every rubric has
    optional: dict[str, object] = {"yes_no": rubric.yes_no, "protocol": rubric.protocol, "explain": rubric.explain}
    optional["send_mask"] = "mask" in rubric.image_inputs
    options = {key: option for key, option in OPTIONS.items() if optional.get(key, True)}
    if taken := [given.name for given in inputs if given.name in OPTIONS]:
        raise PluginError(f"the rubric {name!r} has an input {taken[0]!r}, which is an option of every command")
    parameters = {given.name: parameter(given) for given in inputs} | options
    signature = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, (kind, default) in parameters.items()
    ]
    command.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    command.__annotations__ = {key: kind for key, (kind, _) in parameters.items()}
    return single_command(name, command, rubric.help)


def parameter(given: Input) -> tuple[Any, Any]:
    """An input as a parameter of a command: its annotation and its default."""
    if given.required:
        return Annotated[str, typer.Argument(help=given.help)], inspect.Parameter.empty
    option = typer.Option(help=given.help)
    if given.kind == NAMES:
        return Annotated[list[str] | None, option], None
    return (Annotated[int, option], 0) if given.kind == FRAME else (Annotated[str, option], "")


def judge_sample(rubric: Rubric, values: Mapping[str, Any]) -> None:
    """Judge one sample and print the verdict."""
    from onprompt import api
    from onprompt.report import picture as drawing
    from onprompt.report.document import document

    item = {given.name: values[given.name] if given.required else values[given.name] or None for given in rubric.inputs}
    item["id"] = values["id"]
    if values["picture"]:
        drawing.check_path(values["picture"], values[rubric.picture])
    settings = judge_settings(**{name: values.get(name) for name in JUDGING})
    if values["dry_run"]:
        print_plan(api.plan(rubric.name, [item], settings=settings), values["json"])
        return
    verdict = judge_item(rubric.name, item, settings)
    for note in verdict.sample.picture.notes:
        echo(f"{verdict.sample.picture.name}: {note}", err=True)
    if values["picture"]:
        drawing.save(verdict, values["picture"])
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

    known = verdict.rubric in plugins.names("rubrics")
    rubric: Rubric | None = plugins.load("rubrics", verdict.rubric).RUBRIC if known else None
    lines: Iterable[Line] = ((rubric.lines if rubric else None) or terminal.factor_lines)(verdict)
    for line, style in (*terminal.voice_lines(verdict), *lines):
        echo(line, bold=style == "bold", fg=style if style not in ("", "bold") else None)


def print_plan(plan: Plan, json: bool = False) -> None:
    """Print what it would cost."""
    from onprompt.wording import plan_words

    print_json(plan.document) if json else echo(plan_words(plan))


def judge_item(rubric: str, item: Mapping[str, Any], settings: Settings) -> Verdict:
    """The verdict; an unreadable answer is printed before the error is raised."""
    from onprompt import api

    (result,) = api.judge_many(rubric, [item], settings=settings)
    if isinstance(result, UnreadableAnswer):
        echo(f"The model's last answer:\n{result.text}\n", err=True)
    if isinstance(result, Exception):
        raise result
    return result


def judge_settings(
    judge: str | None = "",
    model: str | Sequence[str] | None = "",
    repeats: int | None = None,
    budget: float | None = None,
    measured: bool | None = None,
    look_again: bool | None = False,
    ask_again: bool | None = False,
    **options: Any,
) -> Settings:
    """The settings, overridden by the options of the judge; one model implies the judge `vlm`, several a jury."""
    from onprompt.api import model_settings

    chosen = model_settings(judge or "", [model] if isinstance(model, str) else model or ())
    settings = load_settings(**chosen, repeats=repeats, budget=budget, **options)
    if measured and settings.judged_by != "claims":
        raise UserError("--measured is for the judge claims: choose it with --judge claims")
    for option, wanted in (("--no-evidence", measured is False), ("--look-again", look_again)):
        if wanted and settings.judged_by != "jury":
            raise UserError(f"{option} is for a jury: choose --judge jury, or several models")
    if options.get("weights") and settings.judged_by not in ("jury", "evidence", "claims"):
        raise UserError(f"--weights is for a jury and the evidence, not for the judge {settings.judged_by!r}")
    switches = {"measured": (measured, True), "jury_evidence": (measured is False, False)}
    switches |= {"jury_look_again": (look_again, True), "reuse_answers": (ask_again, False)}
    settings = settings.model_copy(update={name: to for name, (wanted, to) in switches.items() if wanted})
    given = {"--repeats": repeats, "--budget": budget, "--yes-no": options.get("yes_no")}
    given |= {"--send-mask": options.get("send_mask"), "--ask-again": ask_again}
    if settings.judged_by == "evidence" and (unused := [name for name, value in given.items() if value]):
        raise UserError(
            f"{', '.join(unused)} needs a model, which the evidence judge does not ask; choose one with --model"
        )
    return settings

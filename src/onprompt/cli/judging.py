"""`verify`, `rate`, `edit` and `explain`: does this image show what was asked for?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onprompt.cli.app import DETECTORS, Permissive, app, chosen, print_json
from onprompt.errors import UnreadableAnswer, UserError

if TYPE_CHECKING:
    from onprompt.settings import Settings
    from onprompt.types import Verdict

Image = Annotated[str, typer.Argument(help="The picture.")]
Prompt = Annotated[str, typer.Argument(help="What it should show.")]
Json = Annotated[bool, typer.Option("--json", help="Print the verdict as JSON (docs/json.md).")]
Major = Annotated[list[str] | None, typer.Option(help="An object that weighs more; may be given again.")]
Frame = Annotated[int, typer.Option(help="Which frame of an animation, from 0.")]
DetectorName = Annotated[str, typer.Option(help=DETECTORS)]
JudgeName = Annotated[str, typer.Option(help="Who judges: evidence (on this CPU), vlm (a model), hybrid (both).")]
Model = Annotated[str, typer.Option(help="The model to ask: BACKEND/MODEL, such as openai/gpt-5.2.")]
BaseUrl = Annotated[str, typer.Option(help="The address of the model's server, if it is one of your own.")]
Repeats = Annotated[int | None, typer.Option(help="How often to ask the model, for the spread of its scores.")]
YesNo = Annotated[bool, typer.Option("--yes-no", help="Also ask whether the picture shows the prompt, yes or no.")]
Budget = Annotated[float | None, typer.Option(help="US dollars that may be spent, at most.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many calls, tokens and dollars it would take.")]


@app.command()
def verify(
    image: Image,
    prompt: Prompt,
    json: Json = False,
    picture: Annotated[
        Path | None, typer.Option(help="Write the picture with boxes and findings to this file.")
    ] = None,
    major: Major = None,
    frame: Frame = 0,
    detector: DetectorName = "",
    permissive: Permissive = False,
    judge: JudgeName = "",
    model: Model = "",
    base_url: BaseUrl = "",
    repeats: Repeats = None,
    yes_no: YesNo = False,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Check a picture against a prompt. The last line is the score, (0) to (4)."""
    from onprompt.report import picture as drawing
    from onprompt.report import terminal

    if picture:
        drawing.can_write(picture, image)
    settings = judging(judge, model, base_url, repeats, budget, detector=detector, permissive=permissive, yes_no=yes_no)
    verdict = judged("verify", asked(image, prompt, major, frame), settings, dry_run, json)
    if verdict and picture:
        drawing.save(verdict, picture)
    if verdict and not json:
        for line, style in terminal.lines(verdict):
            typer.secho(line, bold=style == "bold", fg=style if style not in ("", "bold") else None)


@app.command()
def rate(
    image: Image,
    prompt: Prompt,
    json: Json = False,
    major: Major = None,
    frame: Frame = 0,
    detector: DetectorName = "",
    permissive: Permissive = False,
    judge: JudgeName = "",
    model: Model = "",
    base_url: BaseUrl = "",
    repeats: Repeats = None,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Rate how well a picture fits a prompt, from 1 to 5, with the reason in at most 20 words."""
    settings = judging(judge, model, base_url, repeats, budget, detector=detector, permissive=permissive)
    verdict = judged("rate", asked(image, prompt, major, frame), settings, dry_run, json)
    if verdict and not json:
        typer.echo(f"Reasoning: {verdict.summary}")
        typer.echo(f"Score: {verdict.score}")


@app.command()
def edit(
    before: Annotated[str, typer.Argument(help="The picture before the edit.")],
    after: Annotated[str, typer.Argument(help="The picture after it.")],
    instruction: Annotated[str, typer.Argument(help="What should have been done.")],
    mask: Annotated[str, typer.Option(help="A picture that is white where the edit may change something.")] = "",
    id: Annotated[str, typer.Option(help="The id that the answer must name; by itself the file's name.")] = "",  # noqa: A002
    json: Json = False,
    judge: JudgeName = "",
    model: Model = "",
    base_url: BaseUrl = "",
    repeats: Repeats = None,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> None:
    """Judge an edit: alignment, completeness and plausibility, each from 1 to 7. Needs a model for now."""
    from onprompt.report import terminal

    settings = judging(judge, model, base_url, repeats, budget)
    item = {"before": before, "after": after, "instruction": instruction, "mask": mask or None, "id": id}
    verdict = judged("edit", item, settings, dry_run, json)
    if verdict and not json:
        typer.echo("\n".join(terminal.factor_lines(verdict)))


@app.command()
def explain(
    image: Image,
    prompt: Prompt,
    why: Annotated[list[str] | None, typer.Option(help="Only this object; may be given again.")] = None,
    major: Major = None,
    frame: Frame = 0,
    detector: DetectorName = "",
    permissive: Permissive = False,
) -> None:
    """Show how the score of `verify` comes about: every check, every sum, every threshold."""
    from onprompt import api
    from onprompt.evidence import arithmetic
    from onprompt.language.ontology import canonical

    force = chosen(detector=detector, permissive=permissive, judge="evidence")
    verdict = api.verify(image, prompt, major=major or (), frame=frame, settings=force)
    names = [canonical(name) for name in why or ()]
    named = {thing.canonical for thing in verdict.scene.things}
    if strangers := [name for name in names if name not in named]:
        raise UserError(
            f"not in the prompt: {', '.join(strangers)}; it names {', '.join(sorted(named)) or 'no object'}"
        )
    for line in arithmetic.lines(verdict, force, names):
        typer.echo(line)


def judging(
    judge: str, model: str, base_url: str, repeats: int | None, budget: float | None, **options: Any
) -> Settings:
    """The settings in force, with the options that say who judges; a model alone is asked by itself."""
    found: Settings = chosen(
        judge=judge or ("vlm" if model else ""),
        model=model,
        base_url=base_url,
        repeats=repeats,
        budget=budget,
        **options,
    )
    given = {"--repeats": repeats, "--budget": budget, "--yes-no": options.get("yes_no")}
    if found.judged_by == "evidence" and (idle := [name for name, value in given.items() if value]):
        raise UserError(f"{', '.join(idle)} is for models: the evidence judge asks none (name one by --model)")
    return found


def asked(image: str, prompt: str, major: list[str] | None, frame: int) -> dict[str, Any]:
    """What a picture and a prompt are given as."""
    return {"image": image, "prompt": prompt, "major": major or (), "frame": frame}


def judged(rubric: str, item: Mapping[str, Any], settings: Settings, dry_run: bool, json: bool) -> Verdict | None:
    """The verdict, printed if it is wanted as JSON; with --dry-run none, but what it would take."""
    from onprompt import api
    from onprompt.report import document

    if dry_run:
        planned = api.plan(rubric, [item], settings=settings)
        print_json(planned.document) if json else typer.echo(planned)
        return None
    (found,) = api.judge_many(rubric, [item], settings=settings)
    if isinstance(found, UnreadableAnswer):
        typer.echo(f"The model's last answer:\n{found.text}\n", err=True)
    if isinstance(found, Exception):
        raise found
    if json:
        print_json(document.document(found))
    return found

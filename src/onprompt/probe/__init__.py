"""Is a judge fit to judge? It is asked about pictures of which the right answer is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from onprompt import api, plugins
from onprompt.errors import OnpromptError, UnreadableAnswer, UserError
from onprompt.models.client import ModelClient, Plan
from onprompt.probe.cases import PROBES, Asked, Comparison, Probe
from onprompt.probe.pictures import names, picture
from onprompt.probe.table import Report, Result, Row
from onprompt.settings import Settings
from onprompt.types import Rubric, Verdict

__all__ = ["PROBES", "Report", "Result", "Row", "plan", "probe", "save"]

LOW = 0.25  # share of the scale up to which a picture of nothing may score
HAIR = 1e-9  # by which equal numbers may differ
Said = Mapping[Asked, Verdict | OnpromptError]


def probe(
    rubric: str = "verify",
    *,
    judge: str = "",
    model: str = "",
    probes: Sequence[Probe] = PROBES,
    settings: Settings | None = None,
) -> Report:
    """How many comparisons a judge gets right, by kind; edits are asked by their own rubric, if it serves that."""
    chosen, scale = api.judging(settings, judge, model), scale_of(rubric)
    client = client_of(rubric, chosen)  # a judge that can't be asked at all is an error, not a finding
    served = [each for each in probes if not each.edits or serves_edits(chosen)]
    said = answered(questions(served), rubric, chosen)
    rows = (
        Row(each, True, tuple(result(one, said, scale) for one in each.comparisons)) if each in served else Row(each)
        for each in probes
    )
    return Report(chosen.judged_by, client.name if client else "", rubric, tuple(rows))


def plan(
    rubric: str = "verify",
    *,
    judge: str = "",
    model: str = "",
    probes: Sequence[Probe] = PROBES,
    settings: Settings | None = None,
) -> Plan:
    """How many calls of a model, tokens and dollars `probe` would take; nothing is asked."""
    chosen = api.judging(settings, judge, model)
    scale_of(rubric)
    served = [each for each in probes if not each.edits or serves_edits(chosen)]
    first, *rest = (
        api.plan(name, map(item, some), settings=force) for name, some, force in runs(questions(served), rubric, chosen)
    )
    for each in rest:
        first = Plan(first.model, first.calls + each.calls, first.known + each.known, first.usage + each.usage)
    return first


def save(folder: Path) -> int:
    """Write the pictures to a folder, for people to look at; gives their number."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names():
            picture(name).save(folder / f"{name}.png")
    except OSError as error:
        raise UserError(f"can't write pictures to {folder}: {error.strerror or error}") from error
    return len(names())


def scale_of(rubric: str) -> Rubric:
    """The rubric by its name; edits are probed with every other one."""
    if rubric == "edit":
        raise UserError("pictures and prompts are probed by verify or rate; edits are probed along with them")
    found: Rubric = plugins.load("rubrics", rubric).RUBRIC
    return found


def client_of(rubric: str, settings: Settings) -> ModelClient | None:
    """What the judge asks its model with, if it has one."""
    return getattr(api.judge_of(rubric, settings), "client", None)


def serves_edits(settings: Settings) -> bool:
    """Whether the judge says anything of edits."""
    try:
        api.judge_of("edit", settings)
    except UserError:
        return False
    return True


def questions(probes: Iterable[Probe]) -> list[Asked]:
    """All that is asked, each once: a picture's own prompt is part of many comparisons."""
    return list(dict.fromkeys(asked for each in probes for one in each.comparisons for asked in one.asked))


def item(asked: Asked) -> dict[str, Any]:
    """A question as the API takes it."""
    if asked.before:
        return {"before": picture(asked.before), "after": picture(asked.picture), "instruction": asked.prompt}
    return {"image": picture(asked.picture), "prompt": asked.prompt}


def runs(asked: Sequence[Asked], rubric: str, settings: Settings) -> Iterator[tuple[str, list[Asked], Settings]]:
    """The questions by rubric and settings; those that the store must not answer come last, paid by what is left."""
    plain = [each for each in asked if not each.before and not each.again]
    yield rubric, plain[:1], settings  # alone, so that what a judge loads is loaded once
    yield rubric, plain[1:], settings
    if edits := [each for each in asked if each.before]:
        yield "edit", edits, settings
    if again := [each for each in asked if each.again]:
        fresh: dict[str, Any] = {"reuse_answers": False}
        if settings.budget is not None and (client := client_of(rubric, settings)):
            fresh["budget"] = max(settings.budget - client.budget.spent, 0.0)
        yield rubric, again, settings.model_copy(update=fresh)


def answered(asked: Sequence[Asked], rubric: str, settings: Settings) -> Said:
    """What the judge says to each; an error if it said nothing at all, not even something that can't be read."""
    said: dict[Asked, Verdict | OnpromptError] = {}
    for name, some, force in runs(asked, rubric, settings):
        said.update(zip(some, api.judge_many(name, map(item, some), settings=force), strict=True))
    if not any(isinstance(each, Verdict | UnreadableAnswer) for each in said.values()):
        raise next(each for each in said.values() if isinstance(each, OnpromptError))
    return said


def result(comparison: Comparison, said: Said, scale: Rubric) -> Result:
    """Whether a comparison passes."""
    answers = [said[each] for each in comparison.asked]
    told = [each if isinstance(each, Verdict) else None for each in answers]
    values = tuple(each.value if each else None for each in told)
    scores = tuple(each.score if each else None for each in told)
    whys = [why for each in answers if (why := no_verdict(each))]
    verdicts = [each for each in told if each]
    passed = None if whys else passes(comparison.rule, verdicts, scale)
    return Result(comparison, passed, values, scores, whys[0] if whys else "")


def no_verdict(answer: Verdict | OnpromptError) -> str:
    """Why an answer does not count; a score that only stands for "nothing could be checked" does not."""
    if isinstance(answer, OnpromptError):
        return str(answer)
    return "nothing could be checked (not_verifiable)" if "not_verifiable" in answer.flags else ""


def passes(rule: str, verdicts: Sequence[Verdict], scale: Rubric) -> bool:
    """Whether answers are as they should be."""
    first, last = verdicts[0], verdicts[-1]
    if rule == "low":
        return (first.value if first.score is None else scale.share(first.score)) <= LOW
    if rule == "higher":
        return first.value > last.value + HAIR
    if rule == "same":
        return first.score == last.score and (first.score is not None or abs(first.value - last.value) <= HAIR)
    return abs(first.value - last.value) <= 1 / (len(scale.scale) - 1) + HAIR

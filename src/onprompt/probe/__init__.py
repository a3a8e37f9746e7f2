"""Can a judge be trusted? It is asked about pictures whose right answers are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from onprompt import api, plugins
from onprompt.errors import OnpromptError, UnreadableAnswer, UserError
from onprompt.probe.cases import PROBES, Case, Comparison, Probe
from onprompt.probe.pictures import NAMES, picture
from onprompt.probe.results import Report, Result, Row
from onprompt.rubrics import DEFAULT
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.types import Flag, Plan, Rubric, Verdict

__all__ = ["PROBES", "Report", "Result", "Row", "plan", "probe", "save"]

MAX_LOW = 0.25  # share of the scale up to which a picture of nothing may score
TOLERANCE = 1e-9  # of floats
Answers = Mapping[Case, Verdict | OnpromptError]


def probe(
    rubric: str = DEFAULT,
    *,
    judge: str = "",
    model: str = "",
    probes: Sequence[Probe] = PROBES,
    settings: Settings | None = None,
) -> Report:
    """How many comparisons a judge gets right, by probe; edits use their own rubric, if the judge supports it."""
    chosen, scale = api.judge_settings(settings, judge, model), rubric_for_prompts(rubric)
    asked = api.judges.get(scale, chosen)  # raises if the judge can't be asked at all
    supported = select(probes, chosen)
    answers = judge_cases(unique_cases(supported), scale, chosen)
    rows = (
        Row(probe, True, tuple(evaluate(comparison, answers, scale) for comparison in probe.comparisons))
        if probe in supported
        else Row(probe)
        for probe in probes
    )
    return Report(chosen.judged_by, asked.model, rubric, tuple(rows))


def plan(rubric: str = DEFAULT, *, settings: Settings | None = None) -> Plan:
    """The model calls, tokens and dollars that `probe` would take; nothing is asked."""
    chosen = api.judge_settings(settings, "", "")
    batches = split(unique_cases(select(PROBES, chosen)), rubric_for_prompts(rubric), chosen)
    total, *others = (api.plan(by.name, to_items(cases, by), settings=used) for by, cases, used in batches)
    for other in others:
        total = Plan(total.model, total.calls + other.calls, total.known + other.known, total.usage + other.usage)
    return total


def save(folder: Path) -> int:
    """Write all pictures to a folder and return their number."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            picture(name).save(folder / f"{name}.png")
    except OSError as error:
        raise UserError(f"can't write pictures to {folder}: {error.strerror or error}") from error
    return len(NAMES)


def rubric_for_prompts(name: str) -> Rubric:
    """The rubric for pictures and prompts."""
    rubric = load_rubric(name)
    if rubric.source_image:
        raise UserError(f"probe takes a rubric for one picture and a prompt; edits are probed by {name!r} in any case")
    return rubric


@cache
def edit_rubric() -> Rubric:
    """The rubric for an instruction and the pictures before and after."""
    rubrics = map(load_rubric, plugins.modules("rubrics"))  # our own: another package's may mean something else
    return next(rubric for rubric in rubrics if rubric.source_image and rubric.prompt in rubric.required)


def select(probes: Iterable[Probe], settings: Settings) -> list[Probe]:
    """The probes that the judge supports."""
    try:
        api.judges.get(edit_rubric(), settings)
    except UserError:
        return [probe for probe in probes if not probe.edits]
    return list(probes)


def unique_cases(probes: Iterable[Probe]) -> list[Case]:
    """Each case once; many are part of several comparisons."""
    comparisons = [comparison for probe in probes for comparison in probe.comparisons]
    return list(dict.fromkeys(case for comparison in comparisons for case in comparison.cases))


def to_items(cases: Iterable[Case], rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Cases as the API takes them."""
    for case in cases:
        source = {rubric.source_image: picture(case.before)} if case.before else {}
        yield {rubric.picture: picture(case.picture), rubric.prompt: case.prompt, **source}


def split(cases: Sequence[Case], rubric: Rubric, settings: Settings) -> Iterator[tuple[Rubric, list[Case], Settings]]:
    """The cases by rubric and settings; those that bypass the cache come last, with what is left of the budget."""
    plain = [case for case in cases if not case.before and not case.fresh]
    yield rubric, plain[:1], settings  # alone, so that the judge loads its models once
    yield rubric, plain[1:], settings
    settings = less_spent(rubric, settings)
    if edits := [case for case in cases if case.before]:
        yield edit_rubric(), edits, settings
        settings = less_spent(edit_rubric(), settings)
    if fresh := [case for case in cases if case.fresh]:
        yield rubric, fresh, settings.model_copy(update={"reuse_answers": False})


def less_spent(rubric: Rubric, settings: Settings) -> Settings:
    """The settings with what a judge has left of its budget."""
    if settings.budget is None:
        return settings
    rest = settings.budget - api.judges.get(rubric, settings).spent()
    return settings.model_copy(update={"budget": max(rest, 0.0)})


def judge_cases(cases: Sequence[Case], rubric: Rubric, settings: Settings) -> Answers:
    """The judge's answers; an error if it never answered, not even unreadably."""
    answers: dict[Case, Verdict | OnpromptError] = {}
    for by, batch, used in split(cases, rubric, settings):
        answers.update(zip(batch, api.judge_many(by.name, to_items(batch, by), settings=used), strict=True))
    if not any(isinstance(answer, Verdict | UnreadableAnswer) for answer in answers.values()):
        raise next(answer for answer in answers.values() if isinstance(answer, OnpromptError))
    return answers


def evaluate(comparison: Comparison, answers: Answers, scale: Rubric) -> Result:
    """Whether a comparison passes."""
    given = [answers[case] for case in comparison.cases]
    verdicts = tuple(answer if isinstance(answer, Verdict) else None for answer in given)
    why = next(filter(None, map(no_verdict, given)), "")
    passed = None if why else passes(comparison.rule, [verdict for verdict in verdicts if verdict], scale)
    return Result(comparison, passed, verdicts, why)


def no_verdict(answer: Verdict | OnpromptError) -> str:
    """Why an answer doesn't count: an error, or a score of which nothing could be checked."""
    if isinstance(answer, OnpromptError):
        return str(answer)
    return "nothing could be checked (not_verifiable)" if Flag.NOT_VERIFIABLE in answer.flags else ""


def passes(rule: str, verdicts: Sequence[Verdict], scale: Rubric) -> bool:
    """Whether verdicts follow the rule."""
    first, last = verdicts[0], verdicts[-1]
    if rule == "low":
        return (first.value if first.score is None else scale.share("score", first.score)) <= MAX_LOW
    if rule == "higher":
        return first.value > last.value + TOLERANCE
    if rule == "same":
        return first.score == last.score and (first.score is not None or abs(first.value - last.value) <= TOLERANCE)
    return abs(first.value - last.value) <= 1 / (len(scale.factors["score"]) - 1) + TOLERANCE

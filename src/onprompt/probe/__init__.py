"""Can a judge be trusted? It is asked about pictures whose right answers are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from onprompt import api, plugins
from onprompt.errors import OnpromptError, UnreadableAnswer, UserError
from onprompt.probe.cases import PROBES, Case, Cases, Probe
from onprompt.probe.pictures import NAMES, picture
from onprompt.report.statistics import wilson
from onprompt.rubrics import DEFAULT
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.types import Plan, Rubric, Verdict

__all__ = ["PROBES", "Report", "Result", "Row", "plan", "probe", "save"]

MAX_LOW = 0.25  # share of the scale up to which a picture of nothing may score
TOLERANCE = 1e-9  # of floats
Answers = Mapping[Case, Verdict | OnpromptError]
HEADER = ("probe", "passed", "of", "rate", "95 % CI", "no verdict")


@dataclass(frozen=True, slots=True)
class Result:
    """One or two cases with their verdicts, and whether they pass: None if a verdict is missing, and `why`."""

    cases: Cases
    passed: bool | None
    verdicts: tuple[Verdict | None, ...]
    why: str = ""

    def document(self) -> dict[str, Any]:
        """JSON."""
        asked = []
        for case, verdict in zip(self.cases, self.verdicts, strict=True):
            before = {"before": case.before} if case.before else {}
            value, score = (round(verdict.value, 4), verdict.score) if verdict else (None, None)
            asked.append({"picture": case.picture, **before, "prompt": case.prompt, "value": value, "score": score})
        return {"passed": self.passed, "no_verdict": self.why or None, "asked": asked}


@dataclass(frozen=True, slots=True)
class Row:
    """A probe's results; none if the judge doesn't support its rubric."""

    probe: Probe
    served: bool = False
    results: tuple[Result, ...] = ()

    @property
    def passed(self) -> int:
        return sum(result.passed is True for result in self.results)

    @property
    def judged(self) -> int:
        return sum(result.passed is not None for result in self.results)

    @property
    def no_verdict(self) -> int:
        return len(self.results) - self.judged

    @property
    def rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.passed, self.judged) if self.judged else None

    def cells(self) -> tuple[str, ...]:
        """The row of the table, under HEADER."""
        if not self.served:
            return (self.probe.name, "", "", "", "unsupported", "")
        rate = "–" if self.rate is None else f"{self.rate:.2f}"
        interval = "{:.2f}–{:.2f}".format(*self.interval) if self.interval else "–"
        return (self.probe.name, str(self.passed), str(self.judged), rate, interval, str(self.no_verdict))

    def document(self) -> dict[str, Any]:
        """JSON."""
        return {
            "probe": self.probe.name,
            "passes_if": self.probe.about,
            "served": self.served,
            "passed": self.passed,
            "judged": self.judged,
            "rate": None if self.rate is None else round(self.rate, 4),
            "interval": None if self.interval is None else [round(bound, 4) for bound in self.interval],
            "no_verdict": self.no_verdict,
            "comparisons": [result.document() for result in self.results],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A judge's results."""

    judge: str
    model: str
    rubric: str
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[str]:
        """A table, and the reasons for missing verdicts."""
        yield f"judge: {self.judge}{f' ({self.model})' if self.model else ''}, rubric: {self.rubric}\n"
        table = [HEADER, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row, about in zip(table, ["passes if", *(row.probe.about for row in self.rows)], strict=True):
            numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            yield "  ".join([row[0].ljust(widths[0]), *numbers, about])
        reasons = Counter(result.why for row in self.rows for result in row.results if result.passed is None)
        yield from ([""] if reasons else [])
        yield from (f"{number} × no verdict: {reason}" for reason, number in reasons.most_common())

    def document(self) -> dict[str, Any]:
        """JSON, with every comparison."""
        header = {"format": "onprompt.probe/1", "judge": self.judge, "model": self.model, "rubric": self.rubric}
        return {**header, "probes": [row.document() for row in self.rows]}


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
        Row(probe, True, tuple(evaluate(probe.rule, cases, answers, scale) for cases in probe.comparisons))
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
    return list(dict.fromkeys(case for probe in probes for cases in probe.comparisons for case in cases))


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


def evaluate(rule: str, cases: Cases, answers: Answers, scale: Rubric) -> Result:
    """Whether the answers to the cases of a comparison follow its rule."""
    given = [answers[case] for case in cases]
    verdicts = tuple(answer if isinstance(answer, Verdict) else None for answer in given)
    why = next(filter(None, map(api.missing_reason, given)), "")
    passed = None if why else passes(rule, [verdict for verdict in verdicts if verdict], scale)
    return Result(cases, passed, verdicts, why)


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

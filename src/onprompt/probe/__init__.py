"""Can a judge be trusted? It is asked about drawn pictures whose right answers are known."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from onprompt import api, plugins
from onprompt.errors import OnpromptError, UnreadableAnswer, UserError
from onprompt.probe.pictures import BLANK, NOISE, picture
from onprompt.report.statistics import wilson
from onprompt.report.tables import table_lines
from onprompt.rubrics import DEFAULT
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.types import JudgePlan, Rubric, Verdict

__all__ = ["PROBES", "Report", "Row", "plan", "probe"]

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
PROMPTS: dict[str, str] = DATA["prompts"]
SHIFTS = (1, 5)  # how far down the list the prompts are that a picture is shown with by mistake
MAX_LOW = 0.25  # share of the scale up to which a picture of nothing may score
TOLERANCE = 1e-9  # of floats
HEADER = ("probe", "passed", "of", "rate [95 % CI]", "no verdict", "passes if")


class Case(NamedTuple):
    """A picture, or an edit if there is one before it, with a prompt or instruction."""

    picture: str
    prompt: str
    before: str = ""
    fresh: bool = False  # never answered from the cache


@dataclass(frozen=True)
class Probe:
    """One case, or two to compare, each time by one rule for the values: low, higher, same or near."""

    name: str
    passes_if: str
    rule: str
    comparisons: tuple[tuple[Case, ...], ...]

    @property
    def edits(self) -> bool:
        """Whether it is about edits."""
        return bool(self.comparisons[0][0].before)


def make_probes() -> Iterator[Probe]:
    """All probes, by the tables of cases.toml."""
    empty = tuple((Case(each, PROMPTS[name]),) for each in (*BLANK, *NOISE) for name in DATA["nothing"])
    yield Probe("blank or noise", "it scores in the lowest quarter of the scale", "low", empty)
    names, own = list(PROMPTS), "a picture's own prompt has a higher value than another's"
    others = ((name, PROMPTS[names[(at + shift) % len(names)]]) for shift in SHIFTS for at, name in enumerate(names))
    yield Probe("shuffled prompts", own, "higher", tuple((Case(n, PROMPTS[n]), Case(n, other)) for n, other in others))
    for name, details in (("count", "counts"), ("color", "colors"), ("word", "words")):
        right_and_wrong = tuple(
            (Case(shown, PROMPTS[shown]), Case(shown, PROMPTS[shown].replace(right, wrong)))
            for shown, right, wrong in DATA[details]
        )
        yield Probe(f"wrong {name}", f"the right {name} has the higher value", "higher", right_and_wrong)
    edits = DATA["edits"]
    reversed_edits = tuple((Case(after, text, before), Case(before, text, after)) for before, after, text in edits)
    yield Probe("swapped before/after", "the edit has a higher value than its reverse", "higher", reversed_edits)
    unchanged = tuple((Case(before, text, before),) for before, _, text in edits)
    yield Probe("unchanged picture", "it scores in the lowest quarter of the scale", "low", unchanged)
    twice = tuple((Case(*case), Case(*case, fresh=True)) for case in PROMPTS.items())
    yield Probe("repeated question", "the score stays the same without the cache", "same", twice)
    step = "the value changes by at most one step of the scale"
    orders = tuple((Case(name, f"{a} and {b}"), Case(name, f"{b} and {a}")) for name, a, b in DATA["orders"])
    yield Probe("order of objects", step, "near", orders)
    filled = tuple((Case(name, f"{text}."), Case(name, f"{text}. {DATA['filler']}")) for name, text in PROMPTS.items())
    yield Probe("long prompt", step, "near", filled)


PROBES = tuple(make_probes())


@dataclass(frozen=True)
class Row:
    """The answers to a probe's comparisons; none if the judge doesn't support its rubric."""

    probe: Probe
    scale: Rubric
    results: tuple[tuple[Verdict | OnpromptError, ...], ...] = ()

    def passes(self, answers: Sequence[Verdict | OnpromptError]) -> bool | None:
        """Whether the answers to a comparison follow the rule; None if a verdict is missing."""
        verdicts = [each for each in answers if isinstance(each, Verdict) and not api.missing_reason(each)]
        if len(verdicts) < len(answers):
            return None
        first, last = verdicts[0], verdicts[-1]
        if self.probe.rule == "low":
            return (first.value if first.score is None else self.scale.share("score", first.score)) <= MAX_LOW
        if self.probe.rule == "higher":
            return first.value > last.value + TOLERANCE
        if self.probe.rule == "same" and first.score is not None:
            return first.score == last.score
        step = 0 if self.probe.rule == "same" else 1 / (len(self.scale.factors["score"]) - 1)
        return abs(first.value - last.value) <= step + TOLERANCE

    @property
    def outcomes(self) -> Counter[bool | None]:
        """How many comparisons passed, failed, and had no verdict (None)."""
        return Counter(map(self.passes, self.results))

    @property
    def judged(self) -> int:
        return self.outcomes[True] + self.outcomes[False]

    @property
    def rate(self) -> float | None:
        return self.outcomes[True] / self.judged if self.judged else None

    def cells(self) -> tuple[str, ...]:
        """The row of the table, under HEADER."""
        if not self.results:
            return (self.probe.name, "–", "–", "–", "unsupported", self.probe.passes_if)
        low, high = wilson(self.outcomes[True], self.judged) if self.judged else (0.0, 0.0)
        rate = "–" if self.rate is None else f"{self.rate:.2f} [{low:.2f}, {high:.2f}]"
        counts = (self.outcomes[True], self.judged, rate, self.outcomes[None])
        return (self.probe.name, *map(str, counts), self.probe.passes_if)

    def document(self) -> dict[str, Any]:
        """JSON, with every comparison."""
        comparisons = [
            {
                "passed": self.passes(answers),
                "no_verdict": next(filter(None, map(api.missing_reason, answers)), None),
                "asked": [
                    {"picture": case.picture, "prompt": case.prompt}
                    | ({"before": case.before} if case.before else {})
                    | ({"value": round(v.value, 4), "score": v.score} if isinstance(v, Verdict) else {})
                    for case, v in zip(cases, answers, strict=True)
                ],
            }
            for cases, answers in zip(self.probe.comparisons, self.results, strict=bool(self.results))
        ]
        rate = None if self.rate is None else round(self.rate, 4)
        return {
            **{"probe": self.probe.name, "passes_if": self.probe.passes_if, "supported": bool(self.results)},
            **{"passed": self.outcomes[True], "judged": self.judged, "rate": rate},
            **{"no_verdict": self.outcomes[None], "comparisons": comparisons},
        }


@dataclass(frozen=True)
class Report:
    """A judge's results."""

    judge: str
    model: str
    rubric: str
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[str]:
        """A table, and the reasons for missing verdicts."""
        yield f"judge: {self.judge}{f' ({self.model})' if self.model else ''}, rubric: {self.rubric}\n"
        yield from table_lines(HEADER, (row.cells() for row in self.rows))
        missing = (next(filter(None, map(api.missing_reason, each)), "") for row in self.rows for each in row.results)
        for reason, number in Counter(filter(None, missing)).most_common():
            yield f"{number} × no verdict: {reason}"

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
    answers: dict[Case, Verdict | OnpromptError] = {}
    for by, cases, used in batches(supported, scale, chosen):
        answers.update(zip(cases, api.judge_many(by.name, to_items(cases, by), settings=used), strict=True))
    if not any(isinstance(answer, Verdict | UnreadableAnswer) for answer in answers.values()):
        raise next(answer for answer in answers.values() if isinstance(answer, OnpromptError))
    rows = (
        Row(each, scale, tuple(tuple(answers[case] for case in cases) for cases in each.comparisons))
        if each in supported
        else Row(each, scale)
        for each in probes
    )
    return Report(chosen.judged_by, asked.model, rubric, tuple(rows))


def plan(rubric: str = DEFAULT, *, settings: Settings | None = None) -> JudgePlan:
    """The model calls, tokens and dollars that `probe` would take; nothing is asked."""
    chosen = api.judge_settings(settings, "", "")
    every = batches(select(PROBES, chosen), rubric_for_prompts(rubric), chosen)
    total, *others = (api.plan(by.name, to_items(cases, by), settings=used) for by, cases, used in every)
    for other in others:
        total = JudgePlan(total.model, total.calls + other.calls, total.known + other.known, total.usage + other.usage)
    return total


def batches(
    probes: Iterable[Probe], rubric: Rubric, settings: Settings
) -> Iterator[tuple[Rubric, list[Case], Settings]]:
    """Each case once, by rubric and settings, and with what is left of the budget; those without the cache last."""
    cases = dict.fromkeys(case for probe in probes for cases in probe.comparisons for case in cases)
    plain = [case for case in cases if not case.before and not case.fresh]
    edits, fresh = [case for case in cases if case.before], [case for case in cases if case.fresh]
    for by, batch, reuse in (
        (rubric, plain, settings.reuse_answers),
        (edit_rubric(), edits, True),
        (rubric, fresh, False),
    ):
        if batch:
            used = settings.model_copy(update={"reuse_answers": reuse})
            yield by, batch, used
            if settings.budget is not None:
                rest = max(settings.budget - api.judges.get(by, used).spent(), 0.0)
                settings = settings.model_copy(update={"budget": rest})


def to_items(cases: Iterable[Case], rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Cases as the API takes them."""
    for case in cases:
        source = {rubric.source_image: picture(case.before)} if case.before else {}
        yield {rubric.picture: picture(case.picture), rubric.prompt: case.prompt, **source}


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

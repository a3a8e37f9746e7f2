"""Can a judge be trusted? It is asked about drawn pictures whose right answers are known."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from onprompt import api
from onprompt.errors import OnpromptError, UnreadableAnswer, UserError
from onprompt.probe.pictures import BLANK, NOISE, picture
from onprompt.report.statistics import wilson
from onprompt.report.tables import table_lines
from onprompt.rubrics import DEFAULT
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.types import JudgePlan, Rubric, Verdict

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
PROMPTS: dict[str, str] = DATA["prompts"]
EDITS = "edit"  # the rubric for an instruction and the pictures before and after
SHIFTS = (1, 5)  # how far down the list the prompts are that a picture is shown with by mistake
MAX_LOW = 0.25  # share of the scale up to which a picture of nothing may score
TOLERANCE = 1e-9  # of floats
RULES = {
    "low": "it scores in the lowest quarter of the scale",
    "higher": "the right one has the higher value",
    "near": "the value changes by at most one step of the scale",
}
HEADER = ("probe", "passed", "of", "rate [95 % CI]", "no verdict", "passes if")
Result = Verdict | OnpromptError


class Case(NamedTuple):
    """A picture, or an edit if there is one before it, with a prompt or instruction."""

    picture: str
    prompt: str
    before: str = ""


class Probe(NamedTuple):
    """Comparisons of one case, or of two, each time by one of `RULES`."""

    name: str
    rule: str
    comparisons: Sequence[tuple[Case, ...]]


def make_probes() -> Iterator[Probe]:
    """All probes, by the tables of cases.toml."""
    nothing, names, edits = (*BLANK, *NOISE), list(PROMPTS), DATA["edits"]
    yield Probe("blank or noise", "low", [(Case(each, PROMPTS[n]),) for each in nothing for n in DATA["nothing"]])
    others = [(name, names[(at + shift) % len(names)]) for shift in SHIFTS for at, name in enumerate(names)]
    shuffled = [(Case(name, PROMPTS[name]), Case(name, PROMPTS[other])) for name, other in others]
    yield Probe("shuffled prompts", "higher", shuffled)
    for detail in ("count", "color", "word"):
        changed = [(name, PROMPTS[name].replace(right, wrong)) for name, right, wrong in DATA[f"{detail}s"]]
        yield Probe(
            f"wrong {detail}", "higher", [(Case(name, PROMPTS[name]), Case(name, text)) for name, text in changed]
        )
    swapped = [(Case(after, text, before), Case(before, text, after)) for before, after, text in edits]
    yield Probe("swapped before/after", "higher", swapped)
    yield Probe("unchanged picture", "low", [(Case(before, text, before),) for before, _, text in edits])
    orders = [(Case(name, f"{a} and {b}"), Case(name, f"{b} and {a}")) for name, a, b in DATA["orders"]]
    yield Probe("order of objects", "near", orders)
    filled = [(Case(name, f"{text}."), Case(name, f"{text}. {DATA['filler']}")) for name, text in PROMPTS.items()]
    yield Probe("long prompt", "near", filled)


PROBES = tuple(make_probes())


class Row(NamedTuple):
    """The results of a probe's comparisons; none if the judge doesn't judge what it is about."""

    probe: Probe
    passed: int = 0
    failed: int = 0
    missing: Sequence[str] = ()  # why there is no verdict

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table, under HEADER."""
        name, rule, judged = self.probe.name, RULES[self.probe.rule], self.passed + self.failed
        if not judged and not self.missing:
            return name, "–", "–", "–", "unsupported", rule
        low, high = wilson(self.passed, judged) if judged else (0.0, 0.0)
        rate = f"{self.passed / judged:.2f} [{low:.2f}, {high:.2f}]" if judged else "–"
        return name, str(self.passed), str(judged), rate, str(len(self.missing)), rule


def probe(rubric: str = DEFAULT, *, settings: Settings, probes: Sequence[Probe] = PROBES) -> list[Row]:
    """How many comparisons a judge gets right, by probe; edits use their own rubric, if the judge supports it."""
    scale, results = load_rubric(rubric), dict[Case, Result]()
    for by, cases, used in batches(probes, scale, settings):
        results.update(zip(cases, api.judge_many(by.name, to_items(cases, by), settings=used), strict=True))
    if not any(isinstance(result, Verdict | UnreadableAnswer) for result in results.values()):
        raise next(result for result in results.values() if isinstance(result, OnpromptError))
    return [row_of(each, results, scale) for each in probes]


def row_of(probe: Probe, results: Mapping[Case, Result], scale: Rubric) -> Row:
    """What the results of the cases come to."""
    passed, missing = Counter[bool](), list[str]()
    for cases in probe.comparisons if probe.comparisons[0][0] in results else ():
        verdicts = [results[case] for case in cases]
        if reason := next(filter(None, map(api.missing_reason, verdicts)), ""):
            missing.append(reason)
        else:
            passed[follows(probe.rule, [each for each in verdicts if isinstance(each, Verdict)], scale)] += 1
    return Row(probe, passed[True], passed[False], missing)


def follows(rule: str, verdicts: Sequence[Verdict], scale: Rubric) -> bool:
    """Whether the verdicts of a comparison follow its rule."""
    first, last = verdicts[0], verdicts[-1]
    if rule == "low":
        return (first.value if first.score is None else scale.share("score", first.score)) <= MAX_LOW
    if rule == "higher":
        return first.value > last.value + TOLERANCE
    return abs(first.value - last.value) <= 1 / (len(scale.factors["score"]) - 1) + TOLERANCE


def plan(rubric: str = DEFAULT, *, settings: Settings) -> JudgePlan:
    """The model calls, tokens and dollars that `probe` would take; nothing is asked."""
    every = batches(PROBES, load_rubric(rubric), settings)
    total, *others = (api.plan(by.name, to_items(cases, by), settings=used) for by, cases, used in every)
    for other in others:
        total = JudgePlan(total.model, total.calls + other.calls, total.known + other.known, total.usage + other.usage)
    return total


def batches(
    probes: Iterable[Probe], rubric: Rubric, settings: Settings
) -> Iterator[tuple[Rubric, list[Case], Settings]]:
    """Each case once, by rubric; edits, if the judge supports them, with what is left of the budget."""
    if rubric.source_image:
        raise UserError(f"probe takes a rubric for one picture and a prompt; edits are probed by {EDITS!r} in any case")
    cases = dict.fromkeys(case for probe in probes for cases in probe.comparisons for case in cases)
    judge = api.judges.get(rubric, settings)  # raises if the judge can't be asked at all
    yield rubric, [case for case in cases if not case.before], settings
    try:
        api.judges.get(edits := load_rubric(EDITS), settings)
    except UserError:
        return
    if settings.budget is not None:
        settings = settings.model_copy(update={"budget": max(settings.budget - judge.spent(), 0.0)})
    yield edits, [case for case in cases if case.before], settings


def to_items(cases: Iterable[Case], rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Cases as the API takes them."""
    for case in cases:
        source = {rubric.source_image: picture(case.before)} if case.before else {}
        yield {rubric.picture: picture(case.picture), rubric.prompt: case.prompt, **source}


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """A table, and the reasons for missing verdicts."""
    kept = list(rows)
    yield from table_lines(HEADER, (row.cells for row in kept))
    for reason, number in Counter(reason for row in kept for reason in row.missing).most_common():
        yield f"{number} × no verdict: {reason}"

"""Does a run pass? Conditions, the test against a baseline, JUnit XML, the summary in markdown."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.plugins import did_you_mean
from onprompt.report.comparison import SIGNIFICANCE, by_prompt, format_p, paired_differences, sign_flip_tests
from onprompt.report.statistics import Estimate, mean_of, mean_over_prompts, wilson
from onprompt.report.tables import markdown_table, markdown_text, shortened
from onprompt.runs.reading import Run, RunRow
from onprompt.types import Flag
from onprompt.wording import plural
from onprompt.wording.terminal import printable

COUNTS = ("errors", "not_verifiable", "flagged", "cost")  # what --fail-over takes
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
UNDER = re.compile(rf"(?P<metric>\w+)=(?P<limit>{NUMBER})(?:@(?P<share>{NUMBER})(?P<percent>%?))?")
OVER = re.compile(rf"(?P<metric>\w+)=(?P<limit>{NUMBER})(?P<percent>%?)")
ALMOST = 1e-9  # .9 of 10 samples is 9 of them, whatever the sum of floating-point numbers is


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition: `limit` on the mean, the count or, if `level` is given, on the share of samples that reach it."""

    text: str  # as it was given
    metric: str
    limit: float
    level: float | None = None
    over: bool = False  # whether it fails above the limit
    relative: bool = False  # whether the limit is a share of all samples


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a condition: in words what was asked for and measured, and the samples that missed the level."""

    name: str
    asked: str
    measured: str
    met: bool
    missed: tuple[str, ...] = ()


def parse_under(text: str) -> Rule:
    """`value=.7` (the mean) or `score=3@.9` (at least 90 % of the samples score 3 or more)."""
    match = UNDER.fullmatch(text.strip())
    if not match:
        raise UserError(
            f"--fail-under takes METRIC=LIMIT or METRIC=LEVEL@SHARE, such as value=.7 or score=3@.9: {text!r}"
        )
    limit = float(match["limit"])
    if match["share"] is None:
        return Rule(text.strip(), match["metric"], limit)
    share = float(match["share"]) / (100 if match["percent"] else 1)
    if not 0 < share <= 1:
        raise UserError(f"--fail-under {text.strip()}: the share must be above 0 and at most 1, such as .9 or 90%")
    return Rule(text.strip(), match["metric"], share, limit)


def parse_over(text: str) -> Rule:
    """`errors=0`, or with a share of all samples `errors=2%`."""
    match = OVER.fullmatch(text.strip())
    if not match:
        raise UserError(f"--fail-over takes METRIC=LIMIT, such as errors=0 or flagged=5%, not {text!r}")
    if match["metric"] not in COUNTS:
        raise UserError(f"--fail-over has no metric {match['metric']!r}{did_you_mean(match['metric'], COUNTS)}")
    if match["percent"] and match["metric"] == "cost":
        raise UserError(f"--fail-over {text.strip()}: cost is in US dollars, not in percent")
    limit = float(match["limit"])
    if limit < 0 or (match["percent"] and limit > 100):
        allowed = "0% to 100%" if match["percent"] else "0 or more"
        raise UserError(f"--fail-over {text.strip()}: the limit must be {allowed}")
    relative = bool(match["percent"])
    return Rule(text.strip(), match["metric"], limit / (100 if relative else 1), over=True, relative=relative)


def decide(rules: Sequence[Rule], rows: Sequence[RunRow], rubric: str = "") -> Iterator[Decision]:
    """Whether each condition is met."""
    for rule in rules:
        yield decide_count(rule, rows) if rule.over else decide_under(rule, rows, rubric)


def check_scale(rule: Rule, rubric: str) -> None:
    """Refuse a limit that no value, or no score of this rubric, can miss or reach."""
    scales = {"value": range(2), "coverage": range(2)}
    if rubric in plugins.names("rubrics"):
        scales |= plugins.load("rubrics", rubric).RUBRIC.factors
    limit, scale = rule.limit if rule.level is None else rule.level, scales.get(rule.metric)
    if scale and not scale[0] <= limit <= scale[-1]:
        raise UserError(
            f"--fail-under {rule.text}: {rule.metric} is {scale[0]} to {scale[-1]}, so {limit:g} is no limit"
        )


def metrics(row: RunRow) -> dict[str, float]:
    """The scores of the rubric's factors, value and coverage of a sample; empty without a verdict."""
    known = {**row.factors, "value": row.value, "coverage": row.coverage} if row.value is not None else {}
    return {name: float(number) for name, number in known.items() if number is not None}


def is_counted_as(what: str, row: RunRow) -> bool:
    """Whether a sample is one of the errors, of those that are not verifiable, or of the flagged."""
    counted = {
        "errors": row.value is None,
        "not_verifiable": Flag.NOT_VERIFIABLE in row.flags,
        "flagged": row.flagged,
    }
    return counted[what]


def decide_under(rule: Rule, rows: Sequence[RunRow], rubric: str) -> Decision:
    """A condition on a mean, or on the share of samples that reach a level."""
    check_scale(rule, rubric)
    judged = [(row, metrics(row)) for row in rows if row.counts]
    known = sorted({name for _, measured in judged for name in measured})
    if judged and rule.metric not in known:
        raise UserError(f"--fail-under has no metric {rule.metric!r} here{did_you_mean(rule.metric, known)}")
    if rule.level is not None:
        return decide_share(rule, {row.id: each[rule.metric] for row, each in judged if rule.metric in each})
    asked = f"mean {rule.metric} of at least {rule.limit:g}"
    mean = mean_over_prompts((row.group, each[rule.metric]) for row, each in judged if rule.metric in each)
    if mean.value is None:
        return Decision(rule.text, asked, "nothing to measure", met=False)
    return Decision(rule.text, asked, str(mean), (mean.value or 0.0) >= rule.limit - ALMOST)


def decide_share(rule: Rule, numbers: dict[str, float]) -> Decision:
    """Enough samples reach the level."""
    level = rule.level or 0.0
    asked = f"{rule.metric} of at least {level:g} in at least {rule.limit:.4g} of the samples"
    if not numbers:
        return Decision(rule.text, asked, "nothing to measure", met=False)
    missed = tuple(name for name, number in numbers.items() if number < level - ALMOST)
    reached = len(numbers) - len(missed)
    low, high = wilson(reached, len(numbers))
    measured = f"{reached / len(numbers):.3f} [{low:.3f}, {high:.3f}]: {reached:,} of {len(numbers):,}"
    return Decision(rule.text, asked, measured, reached >= rule.limit * len(numbers) - ALMOST, missed)


def decide_count(rule: Rule, rows: Sequence[RunRow]) -> Decision:
    """Not too many, or not too much."""
    if rule.metric == "cost":
        spent = math.fsum(row.cost for row in rows if row.cost is not None)
        return Decision(rule.text, f"cost of at most ${rule.limit:g}", f"${spent:.4f}", spent <= rule.limit + ALMOST)
    missed = tuple(row.id for row in rows if is_counted_as(rule.metric, row))
    words = rule.metric.replace("_", " ")
    limit = f"{rule.limit:.4g} of the samples" if rule.relative else f"{rule.limit:g}"
    allowed = rule.limit * len(rows) if rule.relative else rule.limit
    measured = f"{len(missed):,} of {len(rows):,}"
    return Decision(rule.text, f"{words}: at most {limit}", measured, len(missed) <= allowed + ALMOST, missed)


@dataclass(frozen=True, slots=True)
class GatedRun:
    """A run: who judged it, by which rubric, whether all of its data was read, and its samples."""

    path: Path
    rubric: str
    judge: str
    complete: bool
    rows: tuple[RunRow, ...]


def read(path: Path, configuration: int = 0) -> GatedRun:
    """A run file, of the configuration that ran last or of another."""
    run = Run(path, configuration)
    return GatedRun(path, run.rubric, run.judge, run.last.read_whole, tuple(run.rows()))


@dataclass(frozen=True, slots=True)
class Drop:
    """How far a run is below its baseline, by prompt: the mean with its interval, and what a test says of the limit."""

    size: Estimate  # negative where the run is better
    allowed: float
    p_worse: float  # of no drop beyond the limit: if small, the drop is larger
    p_fine: float  # of a drop beyond the limit: if small, it is not


def measure_drop(rows: Sequence[RunRow], baseline: Sequence[RunRow], allowed: float) -> Drop | None:
    """The drop on common prompts; None if there is none."""
    differences = paired_differences(by_prompt("baseline", baseline), by_prompt("run", rows))
    if not differences:
        return None
    beyond = {prompt: difference - allowed for prompt, difference in differences.items()}
    (both_sides,) = sign_flip_tests([beyond], seed=0)
    # The distribution of the sums is symmetric, so each side has half of the two-sided p-value.
    half = float(both_sides) / 2
    larger = sum(beyond.values()) > 0
    p_worse, p_fine = (half, 1 - half) if larger else (1 - half, half)
    if not any(beyond.values()):
        p_worse = p_fine = 1.0
    if not any(differences.values()):  # the same run: there is no drop to test
        p_worse, p_fine = 1.0, 0.0
    return Drop(mean_of(np.array(list(differences.values()))), allowed, p_worse, p_fine)


def decide_drop(run: GatedRun, baseline: GatedRun, allowed: float, strict: bool) -> tuple[Decision, tuple[str, ...]]:
    """Whether a run is good enough beside its baseline, and what to know before believing it.

    It fails where the test shows a drop of more than is allowed; if strict, wherever the test does not rule that out.
    """
    if run.rubric != baseline.rubric:
        raise UserError(f"can't compare a run of {run.rubric} with a baseline of {baseline.rubric}")
    drop = measure_drop(run.rows, baseline.rows, allowed)
    how = "shown to be no worse" if strict else "not significantly worse"
    asked = f"{how} than {baseline.path.name} by more than {allowed:g}"
    if drop is None:
        return Decision("baseline", asked, "the runs have no prompt in common", met=False), ()
    p = drop.p_fine if strict else drop.p_worse
    met = p < SIGNIFICANCE if strict else p >= SIGNIFICANCE
    prompts = plural(drop.size.n, "common prompt")
    measured = f"{turned(drop.size.value)}{interval(drop.size)} on {prompts} ({format_p(p)})"
    return Decision("baseline", asked, measured, met), tuple(notes(run, baseline, drop, met))


def interval(size: Estimate) -> str:
    """The interval of the change, which is the drop turned around."""
    return "" if size.low is None else f" [{turned(size.high)}, {turned(size.low)}]"


def turned(number: float | None) -> str:
    """A drop as a change: `-0.020`; `+0.000`, not `-0.000`, for none."""
    return f"{0.0 - round(number or 0.0, 3):+.3f}"


def notes(run: GatedRun, baseline: GatedRun, drop: Drop, met: bool) -> list[str]:
    """What to know before believing the comparison."""
    said = []
    if run.judge != baseline.judge:
        said.append(f"the runs are by different judges, whose values differ in meaning: {run.judge}, {baseline.judge}")
    if met and (drop.size.value or 0.0) > drop.allowed:
        said.append("the drop is larger than allowed, but may be chance: more prompts would tell")
    if not baseline.complete:
        said.append(f"{baseline.path.name} did not read all of its data")
    return said


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run has to meet."""

    rules: tuple[Rule, ...] = ()
    baseline: Path | None = None
    max_drop: float = 0.0  # of the mean value, against the baseline
    strict: bool = False  # whether the test has to rule out a larger drop
    unfinished: bool = False  # whether a run that did not read all of its data may pass


@dataclass(frozen=True, slots=True)
class GateResult:
    """The decisions on a run, and what to know before believing them."""

    run: GatedRun
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every condition is met."""
        return all(decision.met for decision in self.decisions)

    def broken_by(self, row: RunRow) -> list[Decision]:
        """The conditions that are not met and that this sample is to blame for."""
        return [each for each in self.decisions if not each.met and row.id in each.missed]

    @property
    def document(self) -> dict[str, object]:
        """JSON."""
        decisions = [asdict(decision) for decision in self.decisions]
        return {"format": "onprompt.gate/1", "passed": self.passed, "conditions": decisions, "notes": self.notes}


def conditions(
    under: Sequence[str] = (),
    over: Sequence[str] = (),
    against: Path | None = None,
    max_drop: float | None = None,
    strict: bool = False,
    unfinished: bool = False,
) -> Conditions:
    """Conditions as they are written on a command line; without one on errors, there may be none."""
    if against is None and (strict or max_drop is not None):
        raise UserError(f"{'--strict' if strict else '--max-drop'} needs a run to compare with: --baseline RUN")
    if max_drop is not None and not 0 <= max_drop <= 1:
        raise UserError(f"--max-drop {max_drop:g}: a drop of the mean value is 0 to 1")
    rules = (*map(parse_under, under), *map(parse_over, over))
    if not any(rule.metric == "errors" for rule in rules):
        rules = (*rules, parse_over("errors=0"))
    return Conditions(rules, against, max_drop or 0.0, strict, unfinished)


def check(run_file: Path, wanted: Conditions, configuration: int = 0) -> GateResult:
    """Whether a run meets its conditions."""
    run = read(run_file, configuration)
    decisions, notes = list(decide(wanted.rules, run.rows, run.rubric)), list(notes_on(run))
    if not run.complete and not wanted.unfinished:
        measured = "it stopped before the end; run it again, or use --allow-unfinished"
        decisions.append(Decision("finished", "all of the data read", measured, met=False))
    if wanted.baseline:
        decision, more = decide_drop(run, read(wanted.baseline), wanted.max_drop, wanted.strict)
        decisions.append(decision)
        notes += more
    return GateResult(run, tuple(decisions), tuple(notes))


def notes_on(run: GatedRun) -> Iterator[str]:
    """What is not in the means, and whether there is more to come."""
    left_out = sum(not row.counts for row in run.rows)
    if left_out:
        errors = sum(row.value is None for row in run.rows)
        yield f"not in means and shares: {errors:,} without a verdict, {left_out - errors:,} not verifiable"
    if not run.complete:
        yield "the run did not read all of its data"


FORBIDDEN = re.compile("[\ufffe\uffff]")  # in XML, beside what `printable` spells out


def write_junit(outcome: GateResult, path: Path) -> None:
    """Write the file that CI servers read."""
    root = Xml.Element("testsuites", name="onprompt")
    cases = {
        "conditions": [condition_case(decision) for decision in outcome.decisions],
        "samples": [sample_case(row, outcome) for row in outcome.run.rows],
    }
    for name, elements in cases.items():
        suite = Xml.SubElement(root, "testsuite", {"name": f"onprompt {name}"} | counts(elements))
        suite.extend(elements)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, 0)) for suite in root)))
    try:
        Xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error


def counts(cases: list[Xml.Element]) -> dict[str, str]:
    """The numbers that a suite states."""
    tags = Counter(child.tag for case in cases for child in case)
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(cases))} | {name: str(tags[tag]) for name, tag in names.items()}


def condition_case(decision: Decision) -> Xml.Element:
    """A condition, which failed if it is not met."""
    case = Xml.Element("testcase", classname="onprompt.conditions", name=clean(decision.name))
    line = f"asked for {decision.asked}; measured {decision.measured}"
    if decision.met:
        Xml.SubElement(case, "system-out").text = clean(line)
    else:
        Xml.SubElement(case, "failure", message=clean(line)).text = clean(line)
    return case


def sample_case(row: RunRow, outcome: GateResult) -> Xml.Element:
    """A sample: failed if a condition failed because of it, skipped if there is nothing to say."""
    case = Xml.Element("testcase", classname="onprompt.samples", name=clean(row.id))
    broken, error = outcome.broken_by(row), clean(row.why_none)
    text = clean("\n".join(filter(None, (f"prompt: {row.prompt}", numbers(row), row.summary, row.why_none))))
    message = clean("; ".join(decision.asked for decision in broken))
    if broken:
        message = f"{error} ({message})" if error else message
        Xml.SubElement(case, "error" if error else "failure", message=message).text = text
    elif not row.counts:
        Xml.SubElement(case, "skipped", message=error or "nothing in the prompt could be checked")
    else:
        Xml.SubElement(case, "system-out").text = text
    return case


def numbers(row: RunRow) -> str:
    """`score 2, value 0.44, coverage 1.00`."""
    decimals = {"value": ".2f", "coverage": ".2f"}
    return ", ".join(f"{name} {number:{decimals.get(name, 'g')}}" for name, number in metrics(row).items())


def clean(text: str) -> str:
    """A text that XML can hold."""
    return FORBIDDEN.sub("?", printable(text))


WORST = 10  # samples that are listed
LONGEST = 300  # characters of a text of others


def write_summary(outcome: GateResult, path: Path) -> None:
    """Write the summary; it is added to what a file holds, as GITHUB_STEP_SUMMARY expects."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write("\n".join(lines(outcome)) + "\n")
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error


def lines(outcome: GateResult) -> Iterator[str]:
    """The decisions as a table, then the samples with the lowest values, and those without a verdict."""
    run = outcome.run
    yield f"### onprompt: {'passed' if outcome.passed else '**failed**'}"
    yield ""
    yield f"{plural(len(run.rows), 'sample')}, {markdown_text(run.rubric)} by {markdown_text(run.judge)}"
    yield ""
    decisions = [("✅" if each.met else "❌", each.asked, each.measured) for each in outcome.decisions]
    yield from markdown_table(("", "condition", "measured [95 % CI]"), decisions)
    yield from (f"- {markdown_text(note)}" for note in outcome.notes)
    judged = sorted((row for row in run.rows if row.counts), key=lambda row: row.value or 0.0)
    errors = [row for row in run.rows if row.why_none]
    for title, rows in (("Lowest values", judged), ("No verdict", errors)):
        if rows:
            yield f"\n<details><summary>{title} ({min(WORST, len(rows))} of {len(rows):,})</summary>\n"
            cells = [(row.id, numbers(row), row.prompt, row.why_none or row.summary) for row in rows[:WORST]]
            shown = ([shortened(cell, LONGEST) for cell in row] for row in cells)
            yield from markdown_table(("sample", "scores", "prompt", "why"), shown)
            yield "</details>"

"""Does a run pass? Conditions, the test against a baseline, JUnit XML, the summary in markdown."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.plugins import did_you_mean
from onprompt.report.comparison import SIGNIFICANCE, by_prompt, format_p, paired_differences, sign_flip_tests
from onprompt.report.statistics import mean_of, mean_over_prompts, wilson
from onprompt.report.tables import markdown_table, markdown_text, shortened
from onprompt.runs.reading import Run, RunRow
from onprompt.types import Flag
from onprompt.wording import plural
from onprompt.wording.terminal import printable

COUNTED: Mapping[str, Callable[[RunRow], bool]] = {  # what --fail-over takes besides the cost
    "errors": lambda row: row.value is None,
    "not_verifiable": lambda row: Flag.NOT_VERIFIABLE in row.flags,
    "flagged": lambda row: bool(row.flags),
}
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
TAKES = (
    "METRIC=LIMIT or METRIC=LEVEL@SHARE, such as value=.7 or score=3@.9",
    "METRIC=LIMIT, such as errors=0 or flagged=5%",
)
CONDITION = re.compile(rf"(?P<metric>\w+)=(?P<limit>{NUMBER}%?)(?:@(?P<share>{NUMBER}%?))?")
ALMOST = 1e-9  # .9 of 10 samples is 9 of them, whatever the sum of floating-point numbers is
FORBIDDEN = re.compile("[\ufffe\uffff]")  # in XML, beside what `printable` spells out
WORST = 10  # samples that are listed
LONGEST = 300  # characters of a text of others


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
    """The result of a condition: in words what it asks for and what was measured, and the samples that missed it."""

    name: str
    asked: str
    measured: str
    met: bool
    missed: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """`mean value 0.729 [0.650, 0.801], at least 0.7 needed`."""
        return f"{self.measured}, {self.asked}"


@dataclass(frozen=True, slots=True)
class GatedRun:
    """A run: who judged it, by which rubric, whether all of its data was read, and its samples."""

    path: Path
    rubric: str
    judge: str
    complete: bool
    rows: tuple[RunRow, ...]

    @classmethod
    def read(cls, path: Path) -> GatedRun:
        """A run file, of the configuration that ran last."""
        run = Run(path)
        return cls(path, run.rubric, run.judge, run.last.read_whole, tuple(run.rows()))


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

    @property
    def document(self) -> dict[str, object]:
        """JSON."""
        decisions = [asdict(decision) for decision in self.decisions]
        return {"format": "onprompt.gate/1", "passed": self.passed, "conditions": decisions, "notes": self.notes}


def parse_rule(text: str, over: bool = False) -> Rule:
    """`value=.7` (the mean), `score=3@.9` (of at least 90 % of the samples); if over, `errors=0` or `errors=2%`."""
    text, option, known = text.strip(), "--fail-over" if over else "--fail-under", (*COUNTED, "cost")
    match = CONDITION.fullmatch(text)
    if not match or (match["share"] if over else match["limit"].endswith("%")):
        raise UserError(f"{option} takes {TAKES[over]}, not {text!r}")
    metric, (limit, relative) = match["metric"], number_of(match["limit"])
    share, _ = number_of(match["share"] or "1")
    if not 0 < share <= 1:
        raise UserError(f"{option} {text}: the share must be above 0 and at most 1, such as .9 or 90%")
    if over and metric not in known:
        raise UserError(f"{option} has no metric {metric!r}{did_you_mean(metric, known)}")
    if relative and metric == "cost":
        raise UserError(f"{option} {text}: cost is in US dollars, not in percent")
    if over and not 0 <= limit <= (1 if relative else math.inf):
        raise UserError(f"{option} {text}: the limit must be {'0% to 100%' if relative else '0 or more'}")
    if match["share"]:
        return Rule(text, metric, share, limit)
    return Rule(text, metric, limit, over=over, relative=relative)


def number_of(text: str) -> tuple[float, bool]:
    """A number, and whether it was given in percent."""
    return (float(text[:-1]) / 100, True) if text.endswith("%") else (float(text), False)


def check(
    run_file: Path,
    under: Sequence[str] = (),
    over: Sequence[str] = (),
    baseline: Path | None = None,
    max_drop: float | None = None,
    strict: bool = False,
    unfinished: bool = False,
) -> GateResult:
    """Whether a run meets its conditions, as they are written on a command line. Without one on errors, none may be.

    `unfinished`: whether a run that did not read all of its data may pass.
    """
    if baseline is None and (strict or max_drop is not None):
        raise UserError(f"{'--strict' if strict else '--max-drop'} needs a run to compare with: --baseline RUN")
    if max_drop is not None and not 0 <= max_drop <= 1:
        raise UserError(f"--max-drop {max_drop:g}: a drop of the mean value is 0 to 1")
    rules = [*map(parse_rule, under), *(parse_rule(text, over=True) for text in over)]
    if not any(rule.metric == "errors" for rule in rules):
        rules.append(parse_rule("errors=0", over=True))
    run = GatedRun.read(run_file)
    decisions = [decide(rule, run.rows, run.rubric) for rule in rules]
    notes = []
    if left_out := sum(not row.counts for row in run.rows):
        errors = sum(row.value is None for row in run.rows)
        parts = [f"{plural(errors, 'sample')} without a verdict"] if errors else []
        parts += [f"{plural(left_out - errors, 'sample')} not verifiable"] if left_out > errors else []
        notes.append(f"left out of means and shares: {', '.join(parts)}")
    if not run.complete:
        notes.append("the run did not read all of its data")
    if not run.complete and not unfinished:
        asked = "all of it needed: run it again, or use --allow-unfinished"
        decisions.append(Decision("finished", asked, "part of the data read", met=False))
    if baseline:
        decision, more = decide_drop(run, GatedRun.read(baseline), max_drop or 0.0, strict)
        decisions.append(decision)
        notes += more
    return GateResult(run, tuple(decisions), tuple(notes))


def metrics(row: RunRow) -> dict[str, float]:
    """The scores of the rubric's factors, value and coverage of a sample; empty without a verdict."""
    known = {**row.factors, "value": row.value, "coverage": row.coverage} if row.value is not None else {}
    return {name: float(number) for name, number in known.items() if number is not None}


def check_scale(rule: Rule, rubric: str) -> None:
    """Refuse a limit that no value, or no score of this rubric, can miss or reach."""
    scales = {"value": range(2), "coverage": range(2)}
    if rubric in plugins.names("rubrics"):
        scales |= plugins.load("rubrics", rubric).RUBRIC.factors
    limit, scale = rule.limit if rule.level is None else rule.level, scales.get(rule.metric)
    if scale and not scale[0] <= limit <= scale[-1]:
        raise UserError(f"--fail-under {rule.text}: the limit must be from {scale[0]} to {scale[-1]}")


def decide(rule: Rule, rows: Sequence[RunRow], rubric: str = "") -> Decision:
    """Whether a condition is met: on a number of samples, on a mean, or on the share of samples that reach a level."""
    if rule.over:
        return decide_count(rule, rows)
    check_scale(rule, rubric)
    judged = [(row, metrics(row)) for row in rows if row.counts]
    known = sorted({name for _, measured in judged for name in measured})
    if judged and rule.metric not in known:
        raise UserError(f"--fail-under has no metric {rule.metric!r} here{did_you_mean(rule.metric, known)}")
    if rule.level is not None:
        return decide_share(rule, rule.level, {row.id: m[rule.metric] for row, m in judged if rule.metric in m})
    mean = mean_over_prompts((row.group, each[rule.metric]) for row, each in judged if rule.metric in each)
    met = mean.value is not None and mean.value >= rule.limit - ALMOST
    measured = f"mean {rule.metric} {'unknown' if mean.value is None else mean}"
    return Decision(rule.text, f"at least {rule.limit:g} needed", measured, met)


def decide_share(rule: Rule, level: float, numbers: Mapping[str, float]) -> Decision:
    """Enough samples reach the level."""
    asked, reaches = f"at least {100 * rule.limit:.4g} % needed", f"{rule.metric} {level:g} or more"
    if not numbers:
        return Decision(rule.text, asked, f"{reaches}: no sample", met=False)
    missed = tuple(name for name, number in numbers.items() if number < level - ALMOST)
    reached = len(numbers) - len(missed)
    share, low, high = (100 * each for each in (reached / len(numbers), *wilson(reached, len(numbers))))
    number = f"{reached:,} of {plural(len(numbers), 'sample')}"
    measured = f"{reaches}: {number}, {share:.1f} % [{low:.1f}, {high:.1f} %]"
    return Decision(rule.text, asked, measured, reached >= rule.limit * len(numbers) - ALMOST, missed)


def decide_count(rule: Rule, rows: Sequence[RunRow]) -> Decision:
    """Not too many, or not too much."""
    if rule.metric == "cost":
        spent = math.fsum(row.cost for row in rows if row.cost is not None)
        asked, measured = f"at most ${rule.limit:g} allowed", f"cost ${spent:.4f}"
        return Decision(rule.text, asked, measured, spent <= rule.limit + ALMOST)
    missed = tuple(row.id for row in rows if COUNTED[rule.metric](row))
    limit = f"{100 * rule.limit:.4g} %" if rule.relative else f"{rule.limit:g}"
    allowed = rule.limit * len(rows) if rule.relative else rule.limit
    measured = f"{rule.metric.replace('_', ' ')}: {len(missed):,} of {plural(len(rows), 'sample')}"
    return Decision(rule.text, f"at most {limit} allowed", measured, len(missed) <= allowed + ALMOST, missed)


def decide_drop(run: GatedRun, baseline: GatedRun, allowed: float, strict: bool) -> tuple[Decision, list[str]]:
    """Whether a run is good enough beside its baseline, and what to know before believing it.

    It fails where the test shows a drop of more than is allowed; if strict, wherever the test does not rule that out.
    """
    if run.rubric != baseline.rubric:
        raise UserError(f"can't compare a run of {run.rubric} with a baseline of {baseline.rubric}")
    how = "must be shown to be no worse" if strict else "must not be significantly worse"
    asked = f"{how} than {baseline.path.name} by more than {allowed:g}"
    drops = paired_differences(by_prompt("baseline", baseline.rows), by_prompt("run", run.rows))
    if not drops:
        return Decision("baseline", asked, "the runs have no prompt in common", met=False), []
    p_worse, p_fine = drop_tests(drops, allowed)
    met = p_fine < SIGNIFICANCE if strict else p_worse >= SIGNIFICANCE
    change = mean_of(-np.array(list(drops.values())))
    mean, low, high = (f"{round(each or 0.0, 3) + 0.0:+.3f}" for each in (change.value, change.low, change.high))
    interval, prompts = "" if change.low is None else f" [{low}, {high}]", plural(change.n, "common prompt")
    p = format_p(p_fine if strict else p_worse)
    decision = Decision("baseline", asked, f"mean value changed by {mean}{interval} on {prompts} ({p})", met)
    notes = []
    if run.judge != baseline.judge:
        notes.append(f"the runs are by different judges, whose values differ in meaning: {run.judge}, {baseline.judge}")
    if met and -(change.value or 0.0) > allowed:
        notes.append("the drop is larger than allowed, but may be chance: more prompts would tell")
    if not baseline.complete:
        notes.append(f"{baseline.path.name} did not read all of its data")
    return decision, notes


def drop_tests(drops: Mapping[str, float], allowed: float) -> tuple[float, float]:
    """Two p-values by the drops of common prompts: of no drop beyond what is allowed, and of one."""
    beyond = {prompt: drop - allowed for prompt, drop in drops.items()}
    if not any(drops.values()):  # the same run: there is no drop to test
        return 1.0, 0.0
    if not any(beyond.values()):
        return 1.0, 1.0
    # The distribution of the sums is symmetric, so each side has half of the two-sided p-value.
    half = float(sign_flip_tests([beyond], seed=0)[0]) / 2
    return (half, 1 - half) if sum(beyond.values()) > 0 else (1 - half, half)


def write_junit(outcome: GateResult, path: Path) -> None:
    """Write the file that CI servers read: a suite of the conditions, and one of the samples."""
    root, total = Xml.Element("testsuites", name="onprompt"), Counter[str]()
    suites = {
        "conditions": [condition_case(decision) for decision in outcome.decisions],
        "samples": [sample_case(row, outcome) for row in outcome.run.rows],
    }
    for name, cases in suites.items():
        tags = Counter(child.tag for case in cases for child in case)
        counts = {"tests": len(cases), "failures": tags["failure"], "errors": tags["error"], "skipped": tags["skipped"]}
        about = {"name": f"onprompt {name}"} | {kind: str(number) for kind, number in counts.items()}
        suite = Xml.SubElement(root, "testsuite", about)
        suite.extend(cases)
        total.update(counts)
    root.attrib |= {name: str(number) for name, number in total.items()}
    try:
        Xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error


def condition_case(decision: Decision) -> Xml.Element:
    """A condition, which failed if it is not met."""
    case = Xml.Element("testcase", classname="onprompt.conditions", name=clean(decision.name))
    line = clean(decision.line)
    about = {} if decision.met else {"message": line}
    Xml.SubElement(case, "system-out" if decision.met else "failure", about).text = line
    return case


def sample_case(row: RunRow, outcome: GateResult) -> Xml.Element:
    """A sample: failed if a condition failed because of it, skipped if there is nothing to say."""
    case = Xml.Element("testcase", classname="onprompt.samples", name=clean(row.id))
    broken = [each.line for each in outcome.decisions if not each.met and row.id in each.missed]
    error, message = clean(row.why_none), clean("; ".join(broken))
    text = clean("\n".join(filter(None, (f"prompt: {row.prompt}", numbers(row), row.summary, row.why_none))))
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
    shares = ("value", "coverage")
    return ", ".join(f"{name} {number:{'.2f' if name in shares else 'g'}}" for name, number in metrics(row).items())


def clean(text: str) -> str:
    """A text that XML can hold."""
    return FORBIDDEN.sub("?", printable(text))


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
    decisions = [("✅" if each.met else "❌", each.measured, each.asked) for each in outcome.decisions]
    yield from markdown_table(("", "measured [95 % CI]", "condition"), decisions)
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

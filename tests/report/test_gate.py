"""A gate: what passes, what does not, what can't be decided, and what CI servers read of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from onprompt.api import judges
from onprompt.errors import UserError
from onprompt.report.gate import (
    Decision,
    GatedRun,
    GateResult,
    check,
    decide,
    decide_drop,
    drop_tests,
    parse_rule,
    write_junit,
    write_summary,
)
from onprompt.runs.reading import RunRow
from tests.cli.test_hostile_text import EVIL
from tests.runs.commands import onprompt
from tests.runs.test_run import judged, table

HOSTILE = f"<script>alert(1)</script> @everyone | [x](http://e) `code` \\| ]]> &amp; {EVIL}\ufffe\n\n# head"


@pytest.fixture(autouse=True)
def _answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    yield
    judges.close()


def sample(number: int, value: float, score: int = 3, **more: object) -> RunRow:
    return RunRow(str(number), f"prompt {number}", value, factors={"score": score}, **more)  # type: ignore[arg-type]


def values(*numbers: float) -> list[RunRow]:
    return [sample(number, value) for number, value in enumerate(numbers)]


def run_of(rows: list[RunRow], judge: str = "evidence") -> GatedRun:
    return GatedRun(Path("run.sqlite"), "verify", judge, True, tuple(rows))


def only(rule: str, rows: list[RunRow], over: bool = False) -> Decision:
    return decide(parse_rule(rule, over), rows)


# ---- conditions ----------------------------------------------------------------------------------------------------


def test_a_mean_is_over_prompts_and_meets_its_limit_exactly() -> None:
    rows = [*values(0.1, 0.2, 0.3), RunRow("x", "prompt 0", 0.3)]
    assert only("value=.2333333333333", rows).met, "(.2 + .2 + .3) / 3"
    assert not only("value=.24", rows).met
    assert only("value=.2", rows).measured.startswith("mean value 0.233")


def test_a_share_counts_the_samples_that_reach_a_level() -> None:
    rows = [sample(number, 0.5, score) for number, score in enumerate([4] * 9 + [2])]
    met = only("score=3@.9", rows)
    assert (met.met, met.missed) == (True, ("9",))
    assert met.line.startswith("score 3 or more: 9 of 10 samples, 90.0 % [")
    assert met.asked == "at least 90 % needed"
    assert not only("score=3@91%", rows).met


def test_what_has_no_verdict_is_in_no_mean_but_counted() -> None:
    rows = [
        *values(0.8, 0.8),
        RunRow("e", "p", error="ImageError", message="gone"),
        sample(8, 0.0, flags=("not_verifiable",)),
        sample(9, 0.8, flags=("low_confidence",), cost=0.5),
    ]
    assert only("value=.8", rows).met
    assert [only(f"{name}=0", rows, over=True).missed for name in ("errors", "not_verifiable", "flagged")] == [
        ("e",),
        ("8",),
        ("8", "9"),
    ]
    assert only("errors=20%", rows, over=True).met
    assert not only("errors=19%", rows, over=True).met
    assert not only("cost=.4", rows, over=True).met
    assert only("cost=.5", rows, over=True).met


def test_a_limit_off_the_scale_is_refused() -> None:
    for rule in ("value=1.5", "value=-.1", "coverage=2@.5", "score=5@.9", "score=-1", "score=4.1"):
        with pytest.raises(UserError, match=r"--fail-under .*: the limit must be from 0 to [14]$"):
            decide(parse_rule(rule), values(0.5), "verify")


def test_a_limit_is_not_met_by_nothing() -> None:
    for rows in ([], [RunRow("e", "p", error="gone")]):
        assert not [rule for rule in ("value=.1", "score=0@.5") if decide(parse_rule(rule), rows, "verify").met]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": ["errors=-1"]}, "--fail-over errors=-1: the limit must be 0"),
        ({"over": ["flagged=101%"]}, "--fail-over flagged=101%: the limit must be 0"),
        ({"over": ["cost=-.1"]}, "--fail-over cost=-.1: the limit must be 0"),
        ({"over": ["error=0"]}, "did you mean 'errors'"),
        ({"baseline": Path("b"), "max_drop": 2}, "--max-drop 2"),
        ({"max_drop": 0.1}, "--max-drop needs a run to compare with: --baseline"),
        ({"strict": True}, "--strict needs a run to compare with: --baseline"),
    ],
)
def test_conditions_that_can_not_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check(Path("a"), **options)


def test_a_bad_condition_says_what_it_should_be() -> None:
    for rule in ("value", "value=", "value=x", "score=3@0", "score=3@1.1", "score=3@.9@.8", "=1"):
        with pytest.raises(UserError, match="such as"):
            parse_rule(rule)
    with pytest.raises(UserError, match="did you mean 'value'"):
        only("valu=.5", values(0.5))


# ---- baseline ------------------------------------------------------------------------------------------------------


def noisy(n: int, shift: float, seed: int) -> list[RunRow]:
    generator = np.random.default_rng(seed)
    return values(*(0.6 + shift + 0.1 * generator.standard_normal(n)))


def against(new: list[RunRow], old: list[RunRow], allowed: float, strict: bool = False) -> bool:
    return decide_drop(run_of(new), run_of(old), allowed, strict)[0].met


def test_a_large_drop_fails_and_a_small_one_does_not() -> None:
    old = noisy(60, 0, 1)
    worse = [sample(int(r.id), (r.value or 0.0) - 0.1 + 0.01 * (int(r.id) % 3)) for r in old]
    assert not against(worse, old, 0.02)
    assert against(worse, old, 0.2)
    assert against(old, worse, 0.0), "better is never worse"
    assert against(old, old, 0.0), "the same run is no worse than itself"


def test_strict_wants_proof() -> None:
    old, few = noisy(60, 0, 1), noisy(4, 0, 2)
    same = [sample(int(r.id), (r.value or 0.0) + 0.001 * (-1) ** int(r.id)) for r in old]
    assert against(same, old, 0.02, strict=True)
    other = noisy(4, 0, 3)
    assert not against(few, other, 0.0, strict=True), "four prompts prove nothing"
    assert against(other, few, 0.3)


@pytest.mark.parametrize("number", [1, 4, 60])
def test_a_run_is_strictly_no_worse_than_itself(number: int) -> None:
    rows = noisy(number, 0, 1)
    assert [allowed for allowed in (0.0, 0.02) if not against(rows, rows, allowed, strict=True)] == []


def test_the_exact_p_value_by_hand() -> None:
    """Five prompts, all .1 lower: one of 2^5 sign combinations is as low."""
    assert drop_tests(dict.fromkeys("abcde", 0.1), 0.02) == pytest.approx((1 / 32, 31 / 32))


def test_what_can_not_be_compared_does_not_pass() -> None:
    others = [RunRow(f"o{n}", f"other {n}", 0.5) for n in range(5)]
    decision, _ = decide_drop(run_of(values(0.5)), run_of(others), 0.0, False)
    assert (decision.met, decision.measured) == (False, "the runs have no prompt in common")
    with pytest.raises(UserError, match="baseline of rate"):
        decide_drop(run_of([]), GatedRun(Path("b"), "rate", "evidence", True, ()), 0.0, False)
    _, notes = decide_drop(run_of(values(0.5)), run_of(values(0.5), "vlm m"), 0.0, False)
    assert "different judges" in notes[0]


# ---- files ---------------------------------------------------------------------------------------------------------


def hostile_outcome(met: bool) -> GateResult:
    rows = [
        RunRow(HOSTILE, HOSTILE, 0.1, summary=HOSTILE, factors={"score": 1}),
        RunRow("e", HOSTILE, error=HOSTILE),
        RunRow("n", "p", 0.0, flags=("not_verifiable",), factors={"score": 0}),
    ]
    decisions = (
        Decision("score=3@.9", "asked", HOSTILE, met, (HOSTILE,)),
        Decision("errors=0", "none", "1", met, ("e",)),
    )
    return GateResult(run_of(rows), decisions, (HOSTILE,))


@pytest.mark.parametrize("met", [True, False])
def test_junit_fails_where_the_gate_does(tmp_path: Path, met: bool) -> None:
    write_junit(hostile_outcome(met), tmp_path / "junit.xml")
    root = Xml.parse(tmp_path / "junit.xml").getroot()
    expected = {"tests": "5", "failures": "0", "errors": "0", "skipped": "2"}
    expected |= {} if met else {"failures": "3", "errors": "1", "skipped": "1"}
    assert {name: root.get(name) for name in expected} == expected
    assert len(root.findall(".//testcase")) == 5
    assert "<script>" in (root.findall(".//testcase")[2].get("name") or ""), "as text, which a reader escapes"


def test_markdown_holds_nothing_that_acts(tmp_path: Path) -> None:
    for _ in range(2):
        write_summary(hostile_outcome(False), tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text()
    assert text.count("### onprompt: **failed**") == 2, "GitHub's file is added to"
    assert not [acting for acting in ("<script", "@every", "](http", "`code`") if acting in text]
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {4, 5}
    assert "\x1b" not in text


def test_a_gate_on_100_recorded_verdicts(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 100))
    run = tmp_path / "run.sqlite"
    files = ("--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md")
    passed = onprompt("gate", run, "--fail-under", "score=1@.8", "--baseline", run, *files)
    assert passed.returncode == 0, passed.stderr
    assert passed.stdout.splitlines()[0].startswith("ok      score 1 or more: 80 of 100 samples, 80.0 % [")
    failed = onprompt("gate", run, "--fail-under", "score=3@.9", "--fail-over", "errors=0", "--json")
    assert failed.returncode == 7
    decisions = json.loads(failed.stdout)
    assert (decisions["passed"], [each["met"] for each in decisions["conditions"]]) == (False, [False, True])
    assert "fails 1 condition" in failed.stderr
    assert len(Xml.parse(tmp_path / "junit.xml").findall(".//testcase")) == 103, "100 samples, and errors=0 by itself"


def test_errors_pass_only_if_they_are_allowed(tmp_path: Path) -> None:
    data, out = table(tmp_path, 10, bad=["x,none.png,1 cats"]), tmp_path / "run.sqlite"
    assert onprompt("run", data, "--out", out, *said(tmp_path)).returncode == 1
    conditions = {
        "nothing said of errors": ("--fail-under", "value=.1"),
        "no condition at all": (),
        "errors allowed": ("--fail-over", "errors=1"),
        "a share of errors allowed": ("--fail-over", "errors=10%"),
        "a bad condition": ("--fail-under", "value"),
        "a limit off the scale": ("--fail-under", "score=5"),
    }
    codes = [onprompt("gate", out, *more).returncode for more in conditions.values()]
    assert codes == [7, 7, 0, 0, 2, 2]


def test_an_unfinished_run_passes_only_if_it_is_allowed(tmp_path: Path) -> None:
    data, out = table(tmp_path, 10), tmp_path / "run.sqlite"
    first = onprompt("run", data, "--out", out, "--limit", 4, *said(tmp_path))
    assert (first.returncode, first.stdout.split(",")[0]) == (0, "4 verdicts"), first.stderr
    failed = onprompt("gate", out, "--fail-under", "value=.1")
    assert failed.returncode == 7
    assert "FAILED  part of the data read, all of it needed" in failed.stdout
    assert onprompt("gate", out, "--fail-under", "value=.1", "--allow-unfinished").returncode == 0


def said(folder: Path) -> tuple[str, str]:
    return "--model", f"replay/{folder / 'said.jsonl'}"

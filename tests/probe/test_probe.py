"""Judges with known faults fail the right probes; the evidence judge is probed for real, on a few cases."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt import Settings, api
from onprompt.cli import app
from onprompt.errors import Rejected, UnreadableAnswer, UserError
from onprompt.judges.vlm import VlmJudge
from onprompt.probe import PROBES, Case, Result, Row, batches, probe, row_of
from onprompt.probe.pictures import BLANK, DATA, NOISE, picture
from onprompt.samples import load_rubric
from onprompt.types import FactorScore, Sample, Verdict
from onprompt.vision.image import open_picture

pytestmark = pytest.mark.slow

COMPARISONS = [(probe.rule, cases) for probe in PROBES for cases in probe.comparisons]
CASES = {case for _, cases in COMPARISONS for case in cases}
VERIFY = load_rubric("verify")
SHOWN = Sample("shown", "anything", open_picture(picture("open"), Settings()))


def rows(says: Callable[[Case], float | UnreadableAnswer]) -> dict[str, Row]:
    """What the values that a judge gives come to."""

    def verdict(case: Case) -> Result:
        value = says(case)
        if isinstance(value, UnreadableAnswer):
            return value
        factors = {} if case.before else {"score": FactorScore(round(value * 4))}
        return Verdict("verify", "fake", SHOWN, value, factors, "")

    results = {case: verdict(case) for case in CASES}
    return {each.name: row_of(each, results, VERIFY) for each in PROBES}


def test_a_judge_that_knows_the_answers_passes_all() -> None:
    no = {(cases[-1].picture, cases[-1].prompt) for rule, cases in COMPARISONS if rule in ("low", "higher")}
    found = rows(lambda case: 0.0 if (case.picture, case.prompt) in no else 1.0)
    assert {name: row.passed for name, row in found.items()} == {each.name: len(each.comparisons) for each in PROBES}
    assert {name for case in CASES for name in (case.picture, case.before) if name} == {
        *DATA["pictures"],
        *BLANK,
        *NOISE,
    }


def test_a_judge_that_always_says_yes_only_passes_the_probes_of_consistency() -> None:
    found = rows(lambda _: 1.0)
    assert {name for name, row in found.items() if row.passed} == {"order of objects", "long prompt"}
    assert all(row.passed + row.failed == len(row.probe.comparisons) for row in found.values())


def test_missing_verdicts_are_counted_apart() -> None:
    rambling = UnreadableAnswer("no_score", "it rambles")
    row = rows(lambda case: rambling if "cups" in case.prompt else 0.0)["blank or noise"]
    assert (row.passed, row.failed, row.missing) == (25, 0, [str(rambling)] * 5)
    assert row_of(PROBES[0], {}, VERIFY).cells[4] == "unsupported"


def command(tmp_path: Path, *options: str) -> str:
    """The command with a model that always says the same."""
    (tmp_path / "said.jsonl").write_text(json.dumps({"contains": "", "text": "All is there. (4)"}))
    settings = {"ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    result = CliRunner().invoke(app, ["probe", "--model", f"replay/{tmp_path / 'said.jsonl'}", *options], env=settings)
    assert (result.exit_code, result.exception) == (0, None)
    return result.stdout


def test_the_table_of_a_model_that_always_says_4_and_what_it_would_cost(tmp_path: Path) -> None:
    assert command(tmp_path, "--dry-run").startswith(f"{len(CASES)} calls to ")
    table = command(tmp_path)
    rows = {name: words.split() for name, words in (line.split("  ", 1) for line in table.splitlines() if "  " in line)}
    assert rows["blank or noise"][:3] == ["0", "30", "0.00"]
    assert rows["long prompt"][:3] == ["11", "11", "1.00"]
    assert rows["swapped before/after"][:4] == ["0", "0", "–", "6"], "that is no answer to an edit"
    assert "× no verdict: " in table


def test_edits_get_the_rest_of_the_budget_and_are_left_out_where_no_judge_takes_them(tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("")
    model, answers = f"replay/{tmp_path / 'said.jsonl'}", tmp_path / "answers.sqlite"
    settings = Settings(judge="vlm", model=model, answers=answers, price_in=1, price_out=1, budget=0.5)
    judge = api.judges.get(VERIFY, settings)
    assert isinstance(judge, VlmJudge)
    judge.client.budget.spent = 0.375
    (_, _, first), (rubric, cases, last) = batches(PROBES, VERIFY, settings)
    assert (first.budget, rubric.name, len(cases), last.budget) == (0.5, "edit", 18, 0.125)
    assert len(list(batches(PROBES, VERIFY, settings.model_copy(update={"judge": "claims"})))) == 1
    with pytest.raises(Rejected, match="no answer"):  # nothing is recorded: a judge that never answers
        probe(settings=settings.model_copy(update={"budget": None}), probes=PROBES[:1])
    with pytest.raises(UserError, match="a rubric for one picture and a prompt"):
        probe("edit", settings=settings)


def test_the_evidence_judge_is_probed_for_real(settings: Settings) -> None:
    wanted = ("blank or noise", "wrong count", "wrong word", "swapped before/after", "unchanged picture")
    some = [each._replace(comparisons=each.comparisons[:1]) for each in PROBES if each.name in wanted]
    found = probe(probes=some, settings=settings.model_copy(update={"judge": "evidence"}))
    assert {row.probe.name: row.passed for row in found} == dict.fromkeys(wanted, 1)

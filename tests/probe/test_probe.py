"""Judges with known faults fail the right probes; the evidence judge is probed for real, on a few cases."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt import Settings, api
from onprompt.cli import app
from onprompt.errors import Rejected, UnreadableAnswer, UserError
from onprompt.judges.vlm import VlmJudge
from onprompt.probe import PROBES, Case, Row, batches, probe
from onprompt.probe.pictures import BLANK, DATA, NOISE, picture
from onprompt.samples import Judges, load_rubric
from onprompt.types import FactorScore, Judge, Rubric, Sample, Verdict
from onprompt.vision.image import open_picture

pytestmark = pytest.mark.slow

Probed = Callable[[Callable[[Sample], float]], dict[str, Row]]
COMPARISONS = [(probe.rule, cases) for probe in PROBES for cases in probe.comparisons]


class Fake(Judge):
    """A judge whose value, 0 to 1, is computed by a function."""

    slots = 2

    def __init__(self, rubric: str, says: Callable[[Sample], float]) -> None:
        self.rubric, self.says = rubric, says

    @property
    def identity(self) -> dict[str, str]:
        return {"judge": "fake"}

    def judge(self, sample: Sample) -> Verdict:
        value = self.says(sample)
        factors = {} if self.rubric == "edit" else {"score": FactorScore(round(value * 4))}
        return Verdict(self.rubric, "fake", sample, value, factors, "")


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Probed:
    """The results of a judge whose value is computed by a function."""

    def run(says: Callable[[Sample], float]) -> dict[str, Row]:
        def load(rubric: Rubric, _: Settings) -> Judge:
            return Fake(rubric.name, says)

        monkeypatch.setattr("onprompt.samples.load_judge", load)
        monkeypatch.setattr(api, "judges", Judges())
        return {row.probe.name: row for row in probe(settings=Settings())}

    return run


@cache
def hashed(name: str) -> str:
    return open_picture(picture(name), Settings()).sha256


def test_cases_of_a_comparison_differ_and_every_picture_is_used() -> None:
    assert all(len(set(cases)) == len(cases) for _, cases in COMPARISONS)
    used = {name for _, cases in COMPARISONS for case in cases for name in (case.picture, case.before) if name}
    assert used == {*DATA["pictures"], *BLANK, *NOISE}


def test_a_judge_that_knows_the_answers_passes_all(probed: Probed) -> None:
    no = {(hashed(cases[-1].picture), cases[-1].prompt) for rule, cases in COMPARISONS if rule in ("low", "higher")}
    rows = probed(lambda sample: 0.0 if (sample.picture.sha256, sample.prompt) in no else 1.0)
    assert {name: row.passed for name, row in rows.items()} == {each.name: len(each.comparisons) for each in PROBES}


def test_a_judge_that_always_says_yes_only_passes_the_probes_of_consistency(probed: Probed) -> None:
    rows = probed(lambda _: 1.0)
    assert {name for name, row in rows.items() if row.passed} == {"order of objects", "long prompt"}
    assert all(row.passed + row.failed == len(row.probe.comparisons) for row in rows.values())


def test_missing_verdicts_are_counted_apart(probed: Probed) -> None:
    def says(sample: Sample) -> float:
        if "cups" in sample.prompt:
            raise UnreadableAnswer("no_score", "it rambles")
        return 0.0

    row = probed(says)["blank or noise"]
    assert (row.passed, row.failed) == (25, 0)
    assert row.missing == [str(UnreadableAnswer("no_score", "it rambles"))] * 5


def test_a_judge_that_never_answers_is_an_error(probed: Probed) -> None:
    def says(_: Sample) -> float:
        raise Rejected("the key is wrong")

    with pytest.raises(Rejected, match="the key is wrong"):
        probed(says)
    with pytest.raises(UserError, match="a rubric for one picture and a prompt"):
        probe("edit", settings=Settings())


def command(tmp_path: Path, answer: str, *options: str) -> str:
    """The command with a model that always says the same."""
    (tmp_path / "said.jsonl").write_text(json.dumps({"contains": "", "text": answer}))
    settings = {"ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    result = CliRunner().invoke(app, ["probe", "--model", f"replay/{tmp_path / 'said.jsonl'}", *options], env=settings)
    assert (result.exit_code, result.exception) == (0, None)
    return result.stdout


def test_the_table_of_a_model_that_always_says_4_and_what_it_would_cost(tmp_path: Path) -> None:
    cases: set[Case] = {case for _, cases in COMPARISONS for case in cases}
    assert command(tmp_path, "(4)", "--dry-run").startswith(f"{len(cases)} calls to ")
    table = command(tmp_path, "All is there. (4)")
    rows = {name: words.split() for name, words in (line.split("  ", 1) for line in table.splitlines() if "  " in line)}
    assert rows["blank or noise"][:3] == ["0", "30", "0.00"]
    assert rows["wrong count"][:3] == ["0", "10", "0.00"]
    assert rows["long prompt"][:3] == ["11", "11", "1.00"]
    assert rows["swapped before/after"][:4] == ["0", "0", "–", "6"], "that is no answer to an edit"
    assert "× no verdict: " in table


def test_edits_get_the_rest_of_the_budget_and_are_left_out_where_no_judge_takes_them(tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("")
    model, answers = f"replay/{tmp_path / 'said.jsonl'}", tmp_path / "answers.sqlite"
    settings = Settings(judge="vlm", model=model, answers=answers, price_in=1, price_out=1, budget=0.5)
    judge = api.judges.get(load_rubric("verify"), settings)
    assert isinstance(judge, VlmJudge)
    judge.client.budget.purse.spent = 0.375
    (_, _, first), (rubric, cases, last) = batches(PROBES, load_rubric("verify"), settings)
    assert (first.budget, rubric.name, len(cases), last.budget) == (0.5, "edit", 18, 0.125)
    claims = settings.model_copy(update={"judge": "claims"})
    assert len(list(batches(PROBES, load_rubric("verify"), claims))) == 1
    assert Row(PROBES[0]).cells[4] == "unsupported"


def test_the_evidence_judge_is_probed_for_real(settings: Settings) -> None:
    wanted = ("blank or noise", "wrong count", "wrong word", "swapped before/after", "unchanged picture")
    some = [each._replace(comparisons=each.comparisons[:1]) for each in PROBES if each.name in wanted]
    rows = probe(probes=some, settings=settings.model_copy(update={"judge": "evidence"}))
    assert {row.probe.name: row.passed for row in rows} == dict.fromkeys(wanted, 1)

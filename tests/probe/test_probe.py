"""Judges with known faults fail the right probes; the evidence judge is probed for real, on a few cases."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt import Settings, api
from onprompt.cli import app
from onprompt.errors import Rejected, UnreadableAnswer, UserError
from onprompt.judges.vlm import VlmJudge
from onprompt.probe import PROBES, PROMPTS, Case, Row, batches, probe
from onprompt.probe.pictures import NAMES, picture
from onprompt.samples import Judges, load_rubric
from onprompt.types import FactorScore, Judge, Rubric, Sample, Verdict
from onprompt.vision.image import open_picture

pytestmark = pytest.mark.slow

Answer = Callable[[Sample, Settings], float]
ALL = [probe.name for probe in PROBES]


class Fake(Judge):
    """A judge whose value, 0 to 1, is computed by a function."""

    slots = 2

    def __init__(self, rubric: str, settings: Settings, says: Answer) -> None:
        self.rubric, self.settings, self.says = rubric, settings, says

    @property
    def identity(self) -> dict[str, str]:
        return {"judge": "fake"}

    def judge(self, sample: Sample) -> Verdict:
        value = self.says(sample, self.settings)
        factors = {} if self.rubric == "edit" else {"score": FactorScore(round(value * 4))}
        return Verdict(self.rubric, "fake", sample, value, factors, "")


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], dict[str, Row]]:
    """The results of a judge whose value is computed by a function."""

    def run(says: Answer) -> dict[str, Row]:
        use_judge(monkeypatch, lambda rubric, settings: Fake(rubric.name, settings, says))
        return {row.probe.name: row for row in probe(settings=Settings()).rows}

    return run


def use_judge(monkeypatch: pytest.MonkeyPatch, load: Callable[[Rubric, Settings], Judge]) -> None:
    monkeypatch.setattr("onprompt.samples.load_judge", load)
    monkeypatch.setattr(api, "judges", Judges())


def key(case: Case) -> tuple[str, str]:
    return hashed(case.picture), case.prompt


@cache
def hashed(name: str) -> str:
    return open_picture(picture(name), Settings()).sha256


COMPARISONS = [(probe.rule, cases) for probe in PROBES for cases in probe.comparisons]


def wrong() -> set[tuple[str, str]]:
    """The cases whose right answer is no."""
    return {key(cases[-1]) for rule, cases in COMPARISONS if rule in ("low", "higher")}


def test_cases_of_a_comparison_differ_and_every_picture_is_used() -> None:
    assert all(len(set(cases)) == len(cases) for _, cases in COMPARISONS)
    used = {name for _, cases in COMPARISONS for case in cases for name in (case.picture, case.before) if name}
    assert used == set(NAMES)


def test_a_judge_that_knows_the_answers_passes_all(probed: Callable[[Answer], dict[str, Row]]) -> None:
    no = wrong()
    rows = probed(lambda sample, _: 0.0 if (sample.picture.sha256, sample.prompt) in no else 1.0)
    assert {name: row.rate for name, row in rows.items()} == dict.fromkeys(ALL, 1.0)
    assert all(row.judged == len(row.probe.comparisons) for row in rows.values())


def test_a_judge_that_always_says_yes_only_passes_the_probes_of_consistency(
    probed: Callable[[Answer], dict[str, Row]],
) -> None:
    rates = {name: row.rate for name, row in probed(lambda *_: 1.0).items()}
    steady = {"repeated question", "order of objects", "long prompt"}
    assert rates == {name: float(name in steady) for name in ALL}


def test_the_repeated_question_bypasses_the_cache(probed: Callable[[Answer], dict[str, Row]]) -> None:
    rows = probed(lambda _, settings: 1.0 if settings.reuse_answers else 0.5)
    assert rows["repeated question"].outcomes == {False: len(PROMPTS)}


def test_missing_verdicts_are_counted_apart(probed: Callable[[Answer], dict[str, Row]]) -> None:
    def says(sample: Sample, _: Settings) -> float:
        if "cups" in sample.prompt:
            raise UnreadableAnswer("no_score", "it rambles")
        return 0.0

    row = probed(says)["blank or noise"]
    assert row.outcomes == {True: 25, None: 5}
    missing = {each["no_verdict"] for each in row.document()["comparisons"] if each["passed"] is None}
    assert missing == {str(UnreadableAnswer("no_score", "it rambles"))}


def test_a_judge_that_never_answers_is_an_error(probed: Callable[[Answer], dict[str, Row]]) -> None:
    def says(*_: object) -> float:
        raise Rejected("the key is wrong")

    with pytest.raises(Rejected, match="the key is wrong"):
        probed(says)
    with pytest.raises(UserError, match="a rubric for one picture and a prompt"):
        probe("edit")


def command(tmp_path: Path, answer: str, *options: str) -> tuple[int, str]:
    """The command with a model that always says the same."""
    (tmp_path / "said.jsonl").write_text(json.dumps({"contains": "", "text": answer}))
    settings = {"ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    result = CliRunner().invoke(app, ["probe", "--model", f"replay/{tmp_path / 'said.jsonl'}", *options], env=settings)
    assert result.exception is None, repr(result.exception)
    return result.exit_code, result.stdout


def test_the_table_of_a_model_that_always_says_4(tmp_path: Path) -> None:
    code, table = command(tmp_path, "All is there. (4)")
    rows = {name: words.split() for name, words in (line.split("  ", 1) for line in table.splitlines() if "  " in line)}
    assert code == 0
    assert rows["blank or noise"][:3] == ["0", "30", "0.00"]
    assert rows["wrong count"][:3] == ["0", "10", "0.00"]
    assert rows["repeated question"][:3] == ["11", "11", "1.00"]
    assert rows["swapped before/after"][:4] == ["0", "0", "–", "6"], "that is no answer to an edit"


def test_a_dry_run_counts_the_calls(tmp_path: Path) -> None:
    code, text = command(tmp_path, "(4)", "--dry-run")
    assert (code, text.split(" to ")[0]) == (0, f"{len({case for _, cases in COMPARISONS for case in cases})} calls")
    command(tmp_path, "(4)")
    again = command(tmp_path, "(4)", "--dry-run")[1]
    assert again.startswith(f"{len(PROMPTS)} calls"), "all others are cached"


def test_repeated_questions_get_the_rest_of_the_budget(tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("")
    model, answers = f"replay/{tmp_path / 'said.jsonl'}", tmp_path / "answers.sqlite"
    settings = Settings(judge="vlm", model=model, answers=answers, price_in=1, price_out=1, budget=0.5)
    judge = api.judges.get(load_rubric("verify"), settings)
    assert isinstance(judge, VlmJudge)
    judge.client.budget.purse.spent = 0.375
    *_, (_, again, last) = batches(PROBES, load_rubric("verify"), settings)
    assert (len(again), last.reuse_answers, last.budget) == (len(PROMPTS), False, 0.125)


def test_the_evidence_judge_is_probed_for_real(settings: Settings) -> None:
    wanted = ("blank or noise", "wrong count", "wrong word", "swapped before/after", "unchanged picture")
    some = [replace(kind, comparisons=kind.comparisons[:1]) for kind in PROBES if kind.name in wanted]
    report = probe(probes=some, judge="evidence", settings=settings)
    assert {row.probe.name: row.rate for row in report.rows} == dict.fromkeys(wanted, 1.0)

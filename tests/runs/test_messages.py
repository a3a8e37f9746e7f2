"""What a run and its commands say, where they used to say nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt import api
from onprompt.api import judges
from onprompt.cli import app
from onprompt.cli.running import ProgressLine
from onprompt.errors import UserError
from onprompt.report import comparison
from onprompt.runs.reading import RunRow
from onprompt.runs.run import Summary
from onprompt.settings import Settings
from onprompt.wording import plan_words
from tests.models.backends.server import Reply, Scripted
from tests.runs.test_run import judged, table


@pytest.fixture(autouse=True)
def _closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    yield
    judges.close()


def onprompt(*arguments: object) -> tuple[int, str]:
    """A command's exit code, and all that it printed or raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    code = getattr(result.exception, "exit_code", result.exit_code)
    return code, f"{result.output}{result.exception or ''}"


def says(text: str) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Reply({"model": "m", "choices": [choice]})


BAD, GOOD = says("no idea"), says("Reasoning: fine\nScore: 4")


def test_a_bad_answer_out_of_the_cache_says_so_and_can_be_asked_for_again(tmp_path: Path) -> None:
    table(tmp_path, 1)
    with Scripted(BAD, BAD, GOOD) as server:
        model = ("--model", "openai/m", "--set", f"base_url={server.url}")
        command = ("rate", tmp_path / "cat.png", "a cat", *model)
        first, second = onprompt(*command), onprompt(*command)
        assert (first[0], second[0], len(server.requests)) == (5, 5, 2), "it was asked twice for one that can be read"
        assert "--ask-again" not in first[1]
        assert "this answer is from the answer cache: --ask-again asks the model anew" in second[1]
        assert onprompt(*command, "--ask-again")[0] == 0
        assert (onprompt(*command)[0], len(server.requests)) == (0, 3), "the new answer has replaced the old one"


def test_a_run_asks_again_for_what_it_could_not_read(tmp_path: Path) -> None:
    data = table(tmp_path, 1)
    with Scripted(BAD, BAD, GOOD) as server:
        model = ("--model", "openai/m", "--set", f"base_url={server.url}")
        command = ("run", data, "--rubric", "rate", "--out", tmp_path / "run.sqlite", *model)
        assert "0 verdicts, 1 error" in onprompt(*command)[1]
        assert "--ask-again asks the model anew" in onprompt(*command)[1]
        assert "1 verdict, 0 errors" in onprompt(*command, "--ask-again")[1]


def test_ids_that_repeat_are_mentioned(tmp_path: Path) -> None:
    data = table(tmp_path, 2)
    data.write_text(data.read_text().replace("\n1,", "\n0,"))
    command = ("run", data, "--out", tmp_path / "run.sqlite", "--model", f"replay/{tmp_path / 'said.jsonl'}")
    assert "'id' is not used as the id, since values repeat there; --column id=id uses it" in onprompt(*command)[1]


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    data = table(tmp_path, 0)
    code, text = onprompt("run", data, "--out", tmp_path / "run.sqlite")
    assert (code, "data.csv has no samples" in text) == (2, True)
    assert not (tmp_path / "run.sqlite").exists()


def test_progress_without_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    progress, summary = ProgressLine(10, every=0.02), Summary(tmp_path / "run.sqlite")
    for done in range(1, 4):
        summary.done = done
        progress(summary)
        time.sleep(0.03)
    told = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in told] == ["2 of 10", "3 of 10"]
    seldom = ProgressLine(10)
    seldom(summary)
    seldom(summary)
    assert capsys.readouterr().err == "", "every 30 s"


def test_a_judge_that_asks_nobody_costs_nothing(settings: Settings) -> None:
    plan = api.plan("verify", [], judge="evidence", settings=settings)
    assert (plan.calls, plan.usage.cost) == (0, 0.0)
    assert plan_words(plan) == "0 calls: this judge asks no model, so it costs nothing"
    assert json.dumps(plan.document)


def test_a_comparison_of_one_run_says_what_can_be_compared() -> None:
    with pytest.raises(UserError, match="--by model compares the models in a run"):
        comparison.compare({"run": [RunRow("a", "a cat", 1.0, 4)]})


def test_runs_by_different_judges(tmp_path: Path) -> None:
    data = table(tmp_path, 5)
    judged(tmp_path, data)
    (tmp_path / "run.sqlite").replace(tmp_path / "one.sqlite")
    judges.close()
    (tmp_path / "said.jsonl").replace(tmp_path / "other.jsonl")
    judged(tmp_path, data, model=f"replay/{tmp_path / 'other.jsonl'}")
    code, text = onprompt("compare", tmp_path / "one.sqlite", tmp_path / "run.sqlite")
    assert code == 0
    assert "these runs are by different judges, whose values differ in meaning: vlm replay/other.jsonl, vlm" in text

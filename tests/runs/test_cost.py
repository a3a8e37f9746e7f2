"""What a run has spent: every answered call, however the run ended, and never more than its budget."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from onprompt.api import judges
from onprompt.rubrics.rate import RUBRIC as RATE
from onprompt.runs import datasets
from onprompt.runs.reading import Run
from onprompt.runs.run import JudgeJob, Observer, Summary, run
from onprompt.settings import Settings
from tests.models.backends.server import Reply, Scripted

TOKENS_IN, TOKENS_OUT = 900, 100
CHILD = """
import os, sys
from pathlib import Path
from tests.runs.test_cost import judged
judged(Path(sys.argv[1]), sys.argv[2], lambda summary: os._exit(9) if summary.done == 5 else None)
"""


def completion(usage: Any) -> Reply:
    message = {"role": "assistant", "content": "Reasoning: fine\nScore: 4"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Reply({"model": "m", "choices": [choice], **({"usage": usage} if usage else {})}, delay=0.01)


USUAL = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}


def table(folder: Path, number: int) -> None:
    Image.fromarray(np.full((8, 8, 3), 99, np.uint8)).save(folder / "cat.png")
    lines = [f"{index},cat.png,cat number {index}" for index in range(number)]
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *lines]) + "\n")


def job(folder: Path, url: str, **more: Any) -> JudgeJob:
    prices = {"price_in": 1.0, "price_out": 1.0, "answer_tokens": 20_000, "concurrency": 8}
    own = {"model": "openai/m", "base_url": url, "answers": folder / "answers.sqlite"}
    return JudgeJob("rate", Settings(**{**own, **prices, **more}))


def judged(folder: Path, url: str, on_progress: Observer = lambda _: None, **more: Any) -> Summary:
    data = datasets.open_dataset(str(folder / "data.csv"), RATE, {})
    return run(data, folder / "run.sqlite", job(folder, url, **more), on_progress=on_progress)


def spent(folder: Path) -> tuple[int, float]:
    overview = Run(folder / "run.sqlite").overview
    return overview.tokens, round(overview.cost or 0.0, 9)


def answered(server: Scripted) -> int:
    return len(server.requests) * (TOKENS_IN + TOKENS_OUT)


def test_a_budget_is_used_up_and_every_answer_counted(tmp_path: Path) -> None:
    """An answer may cost .02 and costs .001: what eight hold is not taken for spent."""
    table(tmp_path, 200)
    with Scripted(completion(USUAL)) as server:
        summary = judged(tmp_path, server.url, budget=0.05)
        assert "budget" in summary.stopped
        assert 0.025 < summary.cost <= 0.05
        assert summary.tokens == answered(server)
        assert summary.cost == pytest.approx(answered(server) / 1e6)
    assert spent(tmp_path) == (summary.tokens, round(summary.cost, 9))


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": -900, "completion_tokens": -100}])
def test_a_server_that_does_not_say_what_it_counted(tmp_path: Path, usage: Any) -> None:
    table(tmp_path, 50)
    with Scripted(completion(usage)) as server:
        summary = judged(tmp_path, server.url, budget=0.1)
        assert len(server.requests) == 4, "of .02 and a little each"
        assert 0.08 < summary.cost <= 0.1
    assert {row.flags for row in Run(tmp_path / "run.sqlite").rows() if row.value} == {("usage_estimated",)}


def test_calls_of_a_run_that_was_killed_are_counted_when_it_is_resumed(tmp_path: Path) -> None:
    table(tmp_path, 30)
    with Scripted(completion(USUAL)) as server:
        command = [sys.executable, "-c", CHILD, str(tmp_path), server.url]
        paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        child = subprocess.run(command, capture_output=True, text=True, env=paths)
        assert child.returncode == 9, child.stderr
        assert 5 < len(server.requests) < 30
        judged(tmp_path, server.url)
        assert len(server.requests) <= 30 + 8, "all but those that were on their way are in the answer cache"
        assert Run(tmp_path / "run.sqlite").overview.verdicts == 30
        assert spent(tmp_path) == (30 * (TOKENS_IN + TOKENS_OUT), 0.03)


def test_calls_of_a_run_that_was_interrupted_are_counted(tmp_path: Path) -> None:
    table(tmp_path, 30)

    def interrupt(summary: Summary) -> None:
        if summary.done == 5:
            raise KeyboardInterrupt

    with Scripted(completion(USUAL)) as server:
        summary = judged(tmp_path, server.url, interrupt)
        judges.close()
        judged(tmp_path, server.url)
    assert summary.interrupted
    assert spent(tmp_path) == (30 * (TOKENS_IN + TOKENS_OUT), 0.03)

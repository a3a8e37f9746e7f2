"""A jury of real HTTP servers on loopback, and runs of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydantic import SecretStr
from typer.testing import CliRunner

from onprompt.api import judges
from onprompt.cli import app
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import datasets
from onprompt.runs.reading import Run, RunRow
from onprompt.runs.run import JudgeJob, Summary, run
from onprompt.settings import Settings
from tests.models.backends.server import KEY, Received, Reply, Scripted, Step
from tests.models.backends.test_openai import completion

NAMES = ("openai/a", "openai/b", "openai/c")
Serve = Callable[..., tuple[Settings, list[list[Received]]]]


def says(score: int, **more: Any) -> Reply:
    return Reply(completion(f"All is well.\n({score})"), **more)


@contextmanager
def jury_of_servers(folder: Path) -> Iterator[Serve]:
    """Settings for a jury of as many servers as there are scripts, and the requests of each."""
    servers: list[Scripted] = []

    def start(*scripts: Step | tuple[Step, ...], **settings: Any) -> tuple[Settings, list[list[Received]]]:
        started = [Scripted(*(script if isinstance(script, tuple) else (script,))) for script in scripts]
        servers.extend(server.__enter__() for server in started)
        models = tuple(f"{name}@{server.url}" for name, server in zip(NAMES, started, strict=False))
        usual = {"models": models, "api_key": SecretStr(KEY), "jury_evidence_weight": 0.0}
        quick = {"answers": folder / "answers.sqlite", "timeout": 5.0, "backoff": 0.01, "retries": 1}
        return Settings(**{**usual, **quick, **settings}), [server.requests for server in started]

    try:
        yield start
    finally:
        judges.close()
        for server in servers:
            server.__exit__()


def table(folder: Path, number: int, first: int = 0) -> Path:
    Image.fromarray(np.full((8, 8, 3), 99, np.uint8)).save(folder / "cat.png")
    lines = [f"{index},cat.png,{index} cats" for index in range(first, first + number)]
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *lines]) + "\n")
    return folder / "data.csv"


def judged(folder: Path, settings: Settings) -> Summary:
    data = datasets.open_dataset(str(folder / "data.csv"), RUBRIC, {})
    return run(data, folder / "run.sqlite", JudgeJob("verify", settings))


def rows(folder: Path) -> dict[str, RunRow]:
    return {row.id: row for row in Run(folder / "run.sqlite").rows()}


def prompt_of(request: Received) -> str:
    texts = [part.get("text", "") for part in request.json["messages"][0]["content"]]
    return "".join(texts).rpartition("Input Prompt: ")[2].splitlines()[0].strip().strip('"')


def prompts(requests: list[Received]) -> Counter[str]:
    return Counter(map(prompt_of, requests))


def command(*arguments: str, answers: Path) -> Any:
    environment = {"ONPROMPT_ANSWERS": str(answers), "ONPROMPT_API_KEY": KEY, "ONPROMPT_RETRIES": "0"}
    return CliRunner().invoke(app, arguments, env=environment)

"""llama.cpp's server, a real process with a small model by chance: what it says, and what is made of it."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.extras.harnesses import tiny_gguf

# Prints its address, and ends with its input.
SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.mmproj.path = sys.argv[1:]
parameters.n_ctx, parameters.n_parallel, parameters.port, parameters.warmup = 16384, 1, 0, False
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # several wait for each other, busily
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llama")
    model, vision = folder / "model.gguf", folder / "vision.gguf"
    tiny_gguf.language_model(model)
    tiny_gguf.vision_model(vision)
    command, pipe = [sys.executable, "-c", SERVER, str(model), str(vision)], subprocess.PIPE
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        assert process.stdout
        address = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
        assert address, (folder / "log").read_text()
        yield address


def judge(server: str, folder: Path, *options: str, rubric: str = "verify") -> subprocess.CompletedProcess[str]:
    Image.new("RGB", (64, 64), "red").save(folder / "cup.png")
    command = [sys.executable, "-m", "onprompt", rubric, "cup.png", "A cup on a table.", "--model", "openai/tiny"]
    own = {"ONPROMPT_ANSWERS": str(folder / "answers.sqlite"), "ONPROMPT_ANSWER_TOKENS": "256"}
    command += ["--set", f"base_url={server}/v1", *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=os.environ | own, timeout=300)


def test_claims_by_a_schema_that_the_server_enforces(server: str, tmp_path: Path) -> None:
    run = judge(server, tmp_path, "--judge", "claims")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] in ("(0)", "(1)", "(2)", "(3)", "(4)")
    assert "output tokens" in run.stdout, "which the server counted"


def test_the_server_gives_token_probabilities(server: str, tmp_path: Path) -> None:
    run = judge(server, tmp_path, rubric="vqascore")
    assert run.returncode == 5, run.stdout + run.stderr
    assert "the answer is neither yes nor no" in run.stderr, "and not that there are no probabilities"
    (answer,) = sqlite3.connect(tmp_path / "answers.sqlite").execute("SELECT answer FROM answers").fetchone()
    ((start, _, chances),) = json.loads(answer)["spots"]
    assert start == 0
    assert len(chances) > 5, "of twenty tokens, some of which are the same text"
    assert 0 < sum(chances.values()) <= 1.001


def test_what_it_babbles_is_no_score(server: str, tmp_path: Path) -> None:
    run = judge(server, tmp_path)
    assert run.returncode == 5, run.stdout + run.stderr
    assert "The model's last answer:" in run.stderr
    assert "unreadable answer" in run.stderr

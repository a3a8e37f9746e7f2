"""Trackers, each the real library in its offline mode: what was sent is read back with the library's own reader."""

import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onprompt.api import judges
from onprompt.errors import UserError
from onprompt.trackers import numbers, track
from tests.runs.test_run import judged, table

# What the libraries leave open or will do otherwise one day is theirs.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    judged(tmp_path, table(tmp_path, 20, bad=["x,none.png,1 cats"]))
    judges.close()
    return tmp_path / "run.sqlite"


def test_the_figures(run_file: Path) -> None:
    from onprompt.runs.reading import Run

    found = numbers(Run(run_file))
    assert found["score"] == pytest.approx(2.0)
    assert found["score_low"] < 2 < found["score_high"]
    assert (found["verdicts"], found["errors"]) == (20, 1)


def test_mlflow(run_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # the store that needs no server and no database
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    assert track(run_file, "mlflow").startswith("MLflow run ")
    (run,) = mlflow.search_runs(output_format="list")
    assert run.data.metrics["score"] == pytest.approx(2.0)
    assert run.data.metrics["value_low"] < run.data.metrics["value"] < run.data.metrics["value_high"]
    assert run.data.params["rubric"] == "verify"
    client = mlflow.MlflowClient()
    assert "run.sqlite" in [each.path for each in client.list_artifacts(run.info.run_id)]
    worst = [each.path for each in client.list_artifacts(run.info.run_id, "worst")]
    assert len([path for path in worst if path.endswith(".png")]) == 8


def test_wandb(run_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MODE": "offline", "DIR": str(tmp_path), "SILENT": "true"}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    assert track(run_file, "wandb").startswith("Weights & Biases run ")
    (folder,) = (tmp_path / "wandb").glob("offline-run-*")
    until = time.monotonic() + 20  # a process of the library writes the file, at times after its end
    while (
        not (records := list(logged(next(folder.glob("*.wandb"))))) or records[-1].WhichOneof("record_type") != "exit"
    ):
        assert time.monotonic() < until
        time.sleep(0.1)
    history = {
        item.key or "/".join(item.nested_key): json.loads(item.value_json)
        for record in records
        if record.WhichOneof("record_type") == "history"
        for item in record.history.item
    }
    assert history["score"] == pytest.approx(2.0)
    assert history["errors"] == 1
    assert history["worst/count"] == 8
    assert len(list((folder / "files" / "media" / "images").glob("*.png"))) == 8
    artefacts = [record for record in records if "onprompt-run" in str(record)]
    assert any("run.sqlite" in str(record) for record in artefacts), "to be synced"


def logged(path: Path) -> Iterator[Any]:
    """The records of an offline run: blocks of 32 KiB with chunks of a checksum, a length, a kind and the data."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, place, whole = path.read_bytes(), 7, b""  # after the header
    while place + 7 <= len(data):
        if 2**15 - place % 2**15 < 7:
            place += 2**15 - place % 2**15
            continue
        _, size, kind = struct.unpack_from("<IHB", data, place)
        whole += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):  # all of a record, or its end
            yield Record.FromString(whole)
            whole = b""


def test_tensorboard(run_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.setenv("TENSORBOARD_LOGDIR", str(tmp_path / "logs"))
    track(run_file, "tensorboard")
    events = EventAccumulator(str(tmp_path / "logs" / "run"))
    events.Reload()
    scalars = events.Tags()["scalars"]
    assert {"value", "value_low", "value_high", "score", "errors"} <= set(scalars)
    assert events.Scalars("score")[0].value == pytest.approx(2.0)
    assert len(events.Tags()["images"]) == 8
    assert (tmp_path / "logs" / "run" / "run.sqlite").read_bytes() == run_file.read_bytes()


def test_by_the_command(run_file: Path, tmp_path: Path) -> None:
    settings = {"TENSORBOARD_LOGDIR": str(tmp_path / "logs"), "ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    model = f"replay/{tmp_path / 'said.jsonl'}"
    command = [sys.executable, "-m", "onprompt", "run", "data.csv", "--out", "new.sqlite", "--model", model]
    environment = os.environ | settings
    subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment)
    send = [sys.executable, "-m", "onprompt", "export", "new.sqlite", "--to", "tensorboard"]
    sent = subprocess.run(send, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (sent.returncode, "logged to TensorBoard folder" in sent.stderr) == (0, True)


def test_a_tracker_that_fails_costs_no_run(run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORBOARD_LOGDIR", "/dev/null/none")
    with pytest.raises(UserError, match=r"the run is stored, and `onprompt export .* --to tensorboard` tries again"):
        track(run_file, "tensorboard")

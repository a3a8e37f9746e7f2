"""Trackers, each the real library in its offline mode: what was sent is read back with the library's own reader."""

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from onprompt.api import judges
from onprompt.cli import app
from onprompt.errors import UserError
from onprompt.trackers import track
from tests.extras.harnesses import THEIRS
from tests.runs.test_run import judged, table

pytestmark = THEIRS


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    judged(tmp_path, table(tmp_path, 20, bad=["x,none.png,1 cats"]))
    judges.close()
    return tmp_path / "run.sqlite"


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
    until, kinds = time.monotonic() + 20, [""]
    while kinds[-1:] != ["exit"]:  # a process of the library writes the file, at times after its end
        assert time.monotonic() < until
        time.sleep(0.1)
        records = list(logged(next(folder.glob("*.wandb"))))
        kinds = [record.WhichOneof("record_type") for record in records]
    history = {
        item.key or "/".join(item.nested_key): json.loads(item.value_json)
        for record, kind in zip(records, kinds, strict=True)
        if kind == "history"
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
    sent = CliRunner().invoke(app, ["export", str(run_file), "--to", "tensorboard"])
    assert (sent.exit_code, "logged to TensorBoard folder" in sent.stderr) == (0, True)
    events = EventAccumulator(str(tmp_path / "logs" / "run"))
    events.Reload()
    scalars = events.Tags()["scalars"]
    assert {"value", "value_low", "value_high", "score", "errors"} <= set(scalars)
    assert events.Scalars("score")[0].value == pytest.approx(2.0)
    assert len(events.Tags()["images"]) == 8
    assert (tmp_path / "logs" / "run" / "run.sqlite").read_bytes() == run_file.read_bytes()


def test_a_tracker_that_fails_costs_no_run(run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORBOARD_LOGDIR", "/dev/null/none")
    with pytest.raises(UserError, match=r"the run is stored, and `onprompt export .* --to tensorboard` tries again"):
        track(run_file, "tensorboard")

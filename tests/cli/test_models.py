"""`onprompt models` and the compiled networks."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt.cli import app
from onprompt.weights import blobs


def test_compiled_networks_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONPROMPT_HOME", str(tmp_path))
    assert "compiled network" not in CliRunner().invoke(app, ["models"]).output
    blobs.write(tmp_path / "compiled" / "a.blob", b"x" * 2_000_000)
    assert "and 1 compiled network, 2.0 MB" in CliRunner().invoke(app, ["models"]).output

"""The GitHub Action: its script as a runner would run it, and inputs that try to be commands."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from onprompt.api import judges
from tests.runs.test_run import judged, table

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
(STEP,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")


def act(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """The exit code, the outputs and what was printed."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "onprompt"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m onprompt "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    given = {name: about["default"] for name, about in ACTION["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    variables = {
        name: given[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, expression in STEP["env"].items()
    }
    files = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "output")}
    environment = os.environ | variables | files | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    (folder / "output").write_text("")
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEP["run"]]  # as GitHub starts it
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=120)
    return run.returncode, (folder / "output").read_text().strip(), run.stdout + run.stderr


def test_it_decides_on_a_run_file(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 20))
    judges.close()
    code, output, said = act(tmp_path, run_file="run.sqlite", fail_under="value=.4 score=1@.8", baseline="run.sqlite")
    assert (code, output) == (0, "passed=true"), said
    assert "### onprompt: passed" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "onprompt-junit.xml").is_file()
    code, output, said = act(tmp_path, run_file="run.sqlite", fail_under="value=.9", baseline="none.sqlite")
    assert (code, output) == (7, "passed=false")
    assert "::warning::no baseline" in said
    assert act(tmp_path, run_file="other.sqlite")[:2] == (2, "")


def test_it_judges_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(tmp_path, 5)
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    code, output, said = act(tmp_path, data=str(data), arguments=f"--model replay/{tmp_path / 'said.jsonl'}")
    assert (code, output) == (0, "passed=true"), said


def test_no_input_is_a_command(tmp_path: Path) -> None:
    evil = "$(touch owned) `touch owned`; touch owned #"
    assert act(tmp_path, **{name.replace("-", "_"): evil for name in ACTION["inputs"]})[0] == 2
    assert not (tmp_path / "owned").exists()
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert not [script for script in scripts if "${{" in script]

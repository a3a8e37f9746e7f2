"""The GitHub Action: its steps as a runner would run them, and inputs that try to be commands."""

import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from onprompt.api import judges
from tests.runs.test_run import judged, table

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
MODELS, CACHE, INSTALL, GATE = ACTION["runs"]["steps"]
PROGRAMS = {  # what the steps start: onprompt itself, and a pip that only writes down what it should install
    "onprompt": f'exec "{sys.executable}" -m onprompt "$@"',
    "python": 'printf "%s\\n" "$@" >> "$GITHUB_STEP_SUMMARY.pip"',
}


def act(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Judge and decide."""
    return take(GATE, folder, **inputs)


def take(step: dict[str, Any], folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Take a step: the exit code, the outputs and what was printed."""
    (folder / "bin").mkdir(exist_ok=True)
    for name, line in PROGRAMS.items():
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    given = {name: about["default"] for name, about in ACTION["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    variables = {
        name: given[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, expression in step.get("env", {}).items()
    }
    files = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "output")}
    files |= {"GITHUB_ACTION_PATH": str(ROOT), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    (folder / "output").write_text("")
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as GitHub starts it
    environment = os.environ | variables | files
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


@pytest.mark.parametrize("end", ["\r\n", "\n\n  "])
def test_conditions_on_several_lines_are_all_read(tmp_path: Path, end: str) -> None:
    judged(tmp_path, table(tmp_path, 20))
    judges.close()
    wanted = {"fail_under": f"value=.4{end}score=4@.9{end}", "fail_over": f"errors=0{end}flagged=5% cost=1"}
    code, output, said = act(tmp_path, run_file="run.sqlite", gate_arguments="--json\n--strict", **wanted)
    assert (code, "--strict needs" in said) == (2, True)
    code, output, said = act(tmp_path, run_file="run.sqlite", **wanted)
    assert (code, output) == (7, "passed=false"), said
    lines = [line for line in said.splitlines() if line.startswith(("ok ", "FAILED "))]
    assert [line.split()[0] for line in lines] == ["ok", "FAILED", "ok", "ok", "ok"]


def test_it_judges_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(tmp_path, 5, bad=["x,none.png,1 cats"])
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    arguments = f"--model\nreplay/{tmp_path / 'said.jsonl'}\n--limit 5\n"
    code, output, said = act(tmp_path, data=str(data), arguments=arguments)
    assert (code, output, "part of the data read" in said) == (7, "passed=false", True), said
    whole = arguments.replace("--limit 5\n", "")
    assert act(tmp_path, data=str(data), arguments=whole)[:2] == (7, "passed=false"), "a sample has no verdict"
    assert act(tmp_path, data=str(data), arguments=whole, fail_over="errors=1")[:2] == (0, "passed=true")


@pytest.mark.parametrize(("version", "installed"), [("own", str(ROOT)), ("onprompt==0.2.0", "onprompt==0.2.0")])
def test_it_installs_the_version_that_it_stands_in(tmp_path: Path, version: str, installed: str) -> None:
    assert take(INSTALL, tmp_path, version=version)[0] == 0
    assert (tmp_path / "summary.md.pip").read_text().split() == ["-m", "pip", "install", "--quiet", installed]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == "onprompt"
    assert ACTION["inputs"]["version"]["default"] == "own"


def test_it_caches_the_folder_of_every_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("platformdirs.windows.get_win_folder", lambda _: str(tmp_path / "AppData" / "Local"))
    systems = [system("onprompt", appauthor=False).user_cache_path for system in (Unix, MacOS, Windows)]
    assert CACHE["with"]["path"].split() == [f"~/{path.relative_to(tmp_path).as_posix()}" for path in systems]
    code, output, said = take(MODELS, tmp_path)
    assert (code, bool(re.fullmatch("hash=[0-9a-f]{40}", output))) == (0, True), said
    assert "${{ steps.models.outputs.hash }}" in CACHE["with"]["key"]


def test_no_input_is_a_command(tmp_path: Path) -> None:
    evil = "$(touch owned) `touch owned`; touch owned #"
    for step in (MODELS, INSTALL, GATE):
        take(step, tmp_path, **{name.replace("-", "_"): evil for name in ACTION["inputs"]})
    assert not (tmp_path / "owned").exists()
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert not [script for script in scripts if "${{" in script]

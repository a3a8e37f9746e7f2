"""What is printed on a terminal, on a dumb one, without colors, quietly, and through a pipe that is not UTF-8."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from onprompt.api import judges
from tests.runs.test_run import judged, table

pty = pytest.importorskip("pty", reason="terminals are made by a module of Unix")


def on_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints on a terminal, to both of its streams."""
    main, other = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    command = [sys.executable, "-m", "onprompt", *arguments]
    variables |= {"TERM": "xterm", "COLUMNS": "100"} | environment
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=variables):
        os.close(other)
        parts = []
        while True:
            try:
                parts.append(os.read(main, 65536))
            except OSError:  # Linux's way to say that nobody writes any more
                break
            if not parts[-1]:
                break
    os.close(main)
    return b"".join(parts).decode()


def piped(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return fed(b"", *arguments, **environment)


def fed(stdin: bytes, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "onprompt", *arguments]
    return subprocess.run(command, capture_output=True, input=stdin, env=os.environ | environment, timeout=60)


@pytest.fixture
def run_file(tmp_path: Path) -> str:
    judged(tmp_path, table(tmp_path, 5))
    judges.close()
    return str(tmp_path / "run.sqlite")


def test_colors_are_for_terminals_that_want_them(run_file: str) -> None:
    arguments = "gate", run_file, "--fail-under", "value=.9"
    assert "\x1b[31mFAILED" in on_terminal(*arguments)
    assert "\x1b[31mFAILED" in on_terminal(*arguments, NO_COLOR=""), "empty is not set (no-color.org)"
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = on_terminal(*arguments, **plain)
        assert "FAILED  mean value" in shown
        assert "\x1b" not in shown


def slow_run(folder: Path) -> tuple[str, ...]:
    """A run with progress to show: 300 samples, and an engine of one thread."""
    out = str(folder / "new.sqlite")
    return "run", str(table(folder, 300)), "--out", out, "--workers", "1", "--model", f"replay/{folder / 'said.jsonl'}"


def test_progress_is_one_line_without_control_sequences(tmp_path: Path) -> None:
    shown = on_terminal(*slow_run(tmp_path), ONPROMPT_ANSWERS=str(tmp_path / "a.sqlite"))
    assert "\r" in shown.replace("\r\n", "")
    assert "300 verdicts, 0 errors" in shown
    assert "\x1b" not in shown
    dumb = on_terminal(*slow_run(tmp_path), TERM="dumb", ONPROMPT_ANSWERS=str(tmp_path / "a.sqlite"))
    assert "\r" not in dumb.replace("\r\n", "")


def test_quiet_prints_results_and_errors_only(tmp_path: Path) -> None:
    answers = {"ONPROMPT_ANSWERS": str(tmp_path / "a.sqlite")}
    loud = piped(*slow_run(tmp_path), "--limit", "3", **answers)
    assert b"csv, 300 samples; columns: " in loud.stderr
    quiet = piped(*slow_run(tmp_path), "--limit", "3", "-q", **answers)
    assert (quiet.returncode, quiet.stderr) == (0, b"")
    assert b"0 verdicts, 3 already judged" in quiet.stdout
    assert on_terminal("--quiet", *slow_run(tmp_path), "--limit", "6", **answers).count("\n") == 1
    failed = piped("--quiet", "show", str(tmp_path / "none.sqlite"))
    assert (failed.returncode, b"no such run file" in failed.stderr) == (2, True)


def test_json_through_a_pipe_that_is_not_utf8_loses_nothing() -> None:
    prompt = "a 猫 and a naïve dog"
    shown = piped("parse", prompt, "--json", PYTHONIOENCODING="cp1252")
    assert json.loads(shown.stdout.decode("cp1252"))["prompt"] == prompt
    read = fed(f"{prompt}\n".encode(), "parse", "--input", "-", PYTHONIOENCODING="cp1252")
    assert json.loads(read.stdout)["prompt"] == prompt, "files and standard input are UTF-8 everywhere"


def test_the_run_file_is_not_overwritten_by_another_name_of_it(run_file: str) -> None:
    alias = Path(run_file).with_name("alias.csv")
    os.link(run_file, alias)  # as RUN.SQLITE is, where case is ignored
    refused = piped("export", run_file, "--out", str(alias))
    assert (refused.returncode, b"is the run file itself" in refused.stderr) == (2, True)
    assert piped("check", run_file).returncode == 0


def test_patterns_and_questions_reach_the_program_as_they_are(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "cup.png")
    command = [sys.executable, "-c", AS_ON_WINDOWS, "parse", "*"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert "the prompt '*' holds no word" in shown.stderr, "typer expands patterns on Windows unless told not to"


AS_ON_WINDOWS = """
import types, typer.core
import onprompt.cli, onprompt.settings, onprompt.api, onprompt.language
class Windows(types.ModuleType):
    name = "nt"
    def __getattr__(self, name):
        import os
        return getattr(os, name)
typer.core.os = Windows("os")
onprompt.cli.main()
"""

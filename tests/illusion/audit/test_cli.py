"""Both commands as people use them: what they print, what they write, how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from onprompt.cli.app import app
from onprompt.cli.illusion import audit_target
from onprompt.errors import UserError
from tests.illusion.audit.faithful import PYTHON, written

SEED = Path(__file__).parents[3] / "examples" / "illusion" / "arshia_utils.toml"


def onprompt(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def audit(*arguments: str | Path) -> Result:
    """The command of the illusion's own sub-application."""
    alone = typer.Typer()
    alone.command()(audit_target)
    return CliRunner().invoke(alone, [str(argument) for argument in arguments])


def test_a_faithful_copy_ends_with_0_and_another_with_1(tmp_path: Path) -> None:
    path = written(tmp_path / "it")
    assert audit(path).exit_code == 0
    assert "**Aligned in what was described and tried: none of 70 points changes the score.**" in audit(path).output
    assert audit(SEED).exit_code == 1
    assert json.loads(audit(SEED, "--json").output)["aligned"] is False


def test_both_reports_are_written(tmp_path: Path) -> None:
    result = audit(SEED, "--out", tmp_path / "report.v1")
    assert result.exit_code == 1
    assert result.output == "Not aligned: 3 of 68 points change the score.\n"
    result = audit(SEED, "--out", tmp_path / "report.v1", "--json")
    assert result.output == audit(SEED, "--json").output
    assert (tmp_path / "report.v1.md").read_text() == audit(SEED).output
    assert json.loads((tmp_path / "report.v1.json").read_text()) == json.loads(audit(SEED, "--json").output)


def test_a_function_that_removes_our_folder_is_no_verdict(tmp_path: Path) -> None:
    away = "    import shutil\n    shutil.rmtree(os.path.dirname(os.getcwd()))\n    os._exit(1)\n"
    python = PYTHON.replace("    prediction = prediction.lower()", away)
    with pytest.raises(UserError, match="the audit can't continue: No such file"):
        raise audit(written(tmp_path / "it", python=python)).exception or AssertionError


def test_invalid_options_are_errors(tmp_path: Path) -> None:
    for arguments, complaint in (
        ((SEED, "--limit", "0"), "--limit is a number of seconds above 0"),
        ((SEED, "--limit", "nan"), "--limit is a number of seconds above 0"),
        ((SEED, "--limit", "inf"), "--limit is a number of seconds above 0"),
        ((SEED, "--out", tmp_path / "no" / "where"), "can't write"),
        ((SEED, "--answers", SEED.with_name("answers.csv"), "--split", "sun"), "did you mean 'sin'"),
        ((tmp_path / "none.toml",), "can't read"),
    ):
        with pytest.raises(UserError, match=complaint):
            raise audit(*arguments).exception or AssertionError

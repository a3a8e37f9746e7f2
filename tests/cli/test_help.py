"""What a newcomer reads: help pages, and the errors for what is misspelt or unknown."""

import re
from pathlib import Path

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from onprompt.api import judges
from onprompt.cli import app
from onprompt.cli.app import GROUPS
from onprompt.errors import UserError
from tests.runs.test_run import judged, table
from tests.test_totals import commands


def output(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"}).output


def error(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code, result.output
    return str(result.exception) if isinstance(result.exception, UserError) else result.output


def test_commands_are_grouped_and_each_has_one_line_that_is_not_cut() -> None:
    text = output("--help")
    blocks = {block.partition(":\n")[0]: block.splitlines()[1:] for block in text.split("\n\n")}
    for title, names in GROUPS.items():
        assert [line.split()[0] for line in blocks[title]] == list(names), "a line for each"
    assert "..." not in text.partition("Judge one image:")[2]
    assert output("help") == text


def test_pages_of_help() -> None:
    """No page names a type of Python, all are in US spelling, and the help of an option is a short phrase."""
    below = {"models": ("pull", "path"), "illusion": ("run", "report", "audit")}
    pages = [[name] for group in GROUPS.values() for name in group]
    pages += [[group, name] for group, names in below.items() for name in names]
    for page in pages:
        text = output(*page, "--help")
        assert not re.search(r"<|list\[|\bstr\b|\bint\b|\bfloat\b|\bbool\b|\{", re.sub("<=|x<", "", text)), page
        assert not re.search(r"\bcolour|licen[c]e\b|\bcentre\b", text), page
    every = [each for command in commands(typer.main.get_command(app)) for each in command.params]
    texts = {each.help or "" for each in every if each.param_type_name == "option"}
    phrases = {re.split(r" Default: | \(default", text)[0] for text in texts}
    assert [phrase for phrase in phrases if len(phrase.split()) > 10] == []


def test_arguments_are_in_capitals() -> None:
    assert output("verify", "--help").startswith("Usage: root verify [OPTIONS] IMAGE PROMPT\n")
    assert output("parse", "--help").startswith("Usage: root parse [OPTIONS] [PROMPT]\n")
    assert output("compare", "--help").startswith("Usage: root compare [OPTIONS] RUN_FILES …\n")


VERIFY = ("verify", "a.png", "a cup")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Usage: "),
        (("verfy", "a.png", "a cup"), "no command 'verfy'; did you mean 'verify'?"),
        (("models", "pul"), "Did you mean 'pull'?"),
        (("strange",), "no command 'strange'; there are: agree, calibrate,"),
        (("verify",), "Missing argument 'IMAGE'"),
        (("run", "x.csv", "--out", "x", "--repeats=3"), "it is a setting: --set repeats=VALUE"),
        (("run", "x.csv", "--out", "x", "--workers", "2", "--engine", "ray"), "--workers is for the engine threads"),
        ((*VERIFY, "--modle", "x/y"), "--model"),
        ((*VERIFY, "--base-url", "http://x"), "verify has no option --base-url"),
        ((*VERIFY, "--set", "base-ulr=x"), "no setting 'base-ulr' (in --set); did you mean 'base_url'?"),
        ((*VERIFY, "--set", "repeats=0"), "--set repeats=0: should be greater than or equal to 1"),
        ((*VERIFY, "--set", "repeats=many"), "--set repeats=many: should be a valid integer"),
        ((*VERIFY, "--set", "repeats"), "--set takes NAME=VALUE"),
        ((*VERIFY, "--model", "openai/x", "--budget", "-1"), "--budget -1.0: should be greater than 0"),
        ((*VERIFY, "--model", "openai/x", "--set", "base_url=localhost:8000"), "http://"),
        ((*VERIFY, "--detector", "cocco"), "no detector 'cocco'; did you mean 'coco'?"),
        ((*VERIFY, "--model", "opnai/x"), "no backend 'opnai'; did you mean 'openai'?"),
        ((*VERIFY, "--model", "gpt-5.2"), "BACKEND/MODEL"),
        ((*VERIFY, "--judge", "vml", "--model", "openai/x"), "no judge 'vml'; did you mean 'vlm'?"),
        ((*VERIFY, "--judge", "vlm"), "BACKEND/MODEL"),
        ((*VERIFY, "--ask-again"), "--ask-again needs a model"),
    ],
)
def test_errors_say_what_was_meant_in_the_words_that_were_typed(arguments: tuple[str, ...], message: str) -> None:
    Image.new("RGB", (32, 32)).save("a.png")
    assert message in error(*arguments)


def test_an_unknown_id_names_the_nearest_three(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 120))
    judges.close()
    run = str(tmp_path / "run.sqlite")
    assert "no sample '1177'; did you mean '117' or '77' or '17'?" in error("show", run, "--id", "1177")
    assert error("show", run, "--id", "zzz").endswith("has no sample 'zzz'"), "and not a list of all"

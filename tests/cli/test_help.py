"""What a newcomer reads: help pages, and the errors for what is misspelt or unknown."""

import re
from pathlib import Path

import click
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

PAGES = [
    *(["--help"], ["models", "--help"], ["illusion", "--help"]),
    *([*group.split(), "--help"] for group in ("models pull", "models path", "models check")),
    *([*group.split(), "--help"] for group in ("illusion run", "illusion report", "illusion audit")),
    *([name, "--help"] for group in GROUPS.values() for name in group if name not in ("models", "illusion")),
]


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


def test_all_pages_are_read_here() -> None:
    every = commands(typer.main.get_command(app))
    assert len(PAGES) == len(every) + 2, "the group `models` is a command, too"
    assert isinstance(every[0], click.Command) or every[0].name


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_help_names_no_type_of_python(page: list[str]) -> None:
    text = output(*page)
    assert not re.search(r"<|list\[|\bstr\b|\bint\b|\bfloat\b|\bbool\b|\{", text.replace("<=", "").replace("x<", ""))
    assert not re.search(r"\bcolour|licen[c]e\b|\bcentre\b", text), "US spelling"


def test_help_of_an_option_is_a_phrase_and_then_the_default() -> None:
    every = [each for command in commands(typer.main.get_command(app)) for each in command.params]
    texts = {each.help or "" for each in every if each.param_type_name == "option"}
    phrases = {re.split(r" Default: | \(default", text)[0] for text in texts}
    assert [phrase for phrase in phrases if len(phrase.split()) > 10] == []


def test_help_is_what_the_word_help_gives() -> None:
    assert output("help") == output("--help")


def test_arguments_are_in_capitals() -> None:
    assert output("verify", "--help").startswith("Usage: root verify [OPTIONS] IMAGE PROMPT\n")
    assert output("parse", "--help").startswith("Usage: root parse [OPTIONS] [PROMPT]\n")
    assert output("compare", "--help").startswith("Usage: root compare [OPTIONS] RUN_FILES …\n")


VERIFY = ("verify", "a.png", "a cup")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verfy", "a.png", "a cup"), "no command 'verfy'; did you mean 'verify'?"),
        (("models", "pul"), "Did you mean 'pull'?"),
        (("strange",), "no command 'strange'; there are: agree, calibrate,"),
        (("verify", "a.png", "a cup", "--modle", "x/y"), "--model"),
        (("verify", "a.png", "a cup", "--base-url", "http://x"), "verify has no option --base-url"),
        (("run", "x.csv", "--out", "x", "--repeats=3"), "it is a setting: --set repeats=VALUE"),
        (
            ("verify", "a.png", "a cup", "--set", "base-ulr=x"),
            "no setting 'base-ulr' (in --set); did you mean 'base_url'?",
        ),
        (("verify", "a.png", "a cup", "--set", "repeats=0"), "--set repeats=0: should be greater than or equal to 1"),
        (
            ("verify", "a.png", "a cup", "--model", "openai/x", "--budget", "-1"),
            "--budget -1.0: should be greater than 0",
        ),
        (("run", "x.csv", "--out", "x", "--workers", "2", "--engine", "ray"), "--workers is for the engine threads"),
        ((*VERIFY, "--detector", "cocco"), "no detector 'cocco'; did you mean 'coco'?"),
        ((*VERIFY, "--model", "opnai/x"), "no backend 'opnai'; did you mean 'openai'?"),
        ((*VERIFY, "--model", "gpt-5.2"), "BACKEND/MODEL"),
        ((*VERIFY, "--judge", "vml", "--model", "openai/x"), "no judge 'vml'; did you mean 'vlm'?"),
        ((*VERIFY, "--judge", "vlm"), "BACKEND/MODEL"),
        ((*VERIFY, "--set", "repeat=3"), "no setting 'repeat' (in --set); did you mean 'repeats'?"),
        ((*VERIFY, "--set", "repeats"), "--set takes NAME=VALUE"),
        ((*VERIFY, "--set", "repeats=many"), "--set repeats=many: should be a valid integer"),
        ((*VERIFY, "--model", "openai/x", "--set", "base_url=localhost:8000"), "http://"),
        ((), "Usage: "),
        (("verify",), "Missing argument 'IMAGE'"),
    ],
)
def test_errors_say_what_was_meant_in_the_words_that_were_typed(arguments: tuple[str, ...], message: str) -> None:
    Image.new("RGB", (32, 32)).save("a.png")
    assert message in error(*arguments)


def test_an_unknown_id_names_the_nearest_three(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 120))
    judges.close()
    run = str(tmp_path / "run.sqlite")
    assert "no sample '1177'; did you mean '117', '77' or '17'?" in error("show", run, "--id", "1177")
    assert re.search(
        r"no sample '9x'; did you mean '9\d?', '\d?9\d?' or '\d?9\d?'\?$", error("show", run, "--id", "9x")
    )
    assert error("show", run, "--id", "zzz").endswith("has no sample 'zzz'"), "and not a list of all"


@pytest.mark.parametrize(
    ("words", "completed"), [("ver", "verify"), ("verify --pic", "--picture"), ("run --en", "--engine")]
)
def test_shells_complete_commands_and_options(words: str, completed: str) -> None:
    environment = {
        "_ROOT_COMPLETE": "complete_bash",
        "COMP_WORDS": f"root {words}",
        "COMP_CWORD": str(words.count(" ") + 1),
    }
    result = CliRunner().invoke(app, [], env=environment, prog_name="root")
    assert result.output.splitlines() == [completed]


def test_shells_complete_names() -> None:
    environment = {"_ROOT_COMPLETE": "complete_bash", "COMP_WORDS": "root verify --judge ", "COMP_CWORD": "3"}
    assert "evidence" in CliRunner().invoke(app, [], env=environment, prog_name="root").output.splitlines()

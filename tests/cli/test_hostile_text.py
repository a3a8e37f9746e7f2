"""What others wrote, in file names, answers and messages, does not steer the terminal or a spreadsheet."""

import csv
import json
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from onprompt.wording.terminal import printable
from tests.runs.commands import onprompt as command

EVIL = "\x1b]0;owned\x07\x9b31m\u202e"
SPELLED = r"\x1b]0;owned\x07\x9b31m\u202e"


def onprompt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command(*arguments, ONPROMPT_ANSWERS=str(folder / "answers.sqlite"), PYTHONIOENCODING="utf-8")


@pytest.fixture
def image(tmp_path: Path) -> str:
    path = tmp_path / f"{EVIL}.png"
    Image.new("RGB", (8, 8)).save(path)
    return str(path)


def model(folder: Path, *texts: str) -> str:
    (folder / "said.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    return f"replay/{folder / 'said.jsonl'}"


def test_answers_names_and_errors(tmp_path: Path, image: str) -> None:
    says = model(tmp_path, f"Reasoning: {EVIL} fine\nScore: 4")
    result, *others = (
        onprompt(tmp_path, "rate", image, f"a cup {EVIL}", "--model", says, "--json"),
        onprompt(tmp_path, "rate", image, f"a cup {EVIL}", "--model", says),
        onprompt(tmp_path, "verify", f"{image}x", "a cup"),
        onprompt(tmp_path, "rate", image, "a cup", "--model", model(tmp_path, f"no score {EVIL}")),
    )
    assert EVIL in json.loads(result.stdout)["prompt"]
    assert [each.returncode for each in (result, *others)] == [0, 0, 2, 5]
    for each in (result, *others):
        assert not set(EVIL) & set(each.stdout + each.stderr) - set("]0;owned31m")
    assert all(SPELLED in each.stderr for each in others[1:])


def test_a_csv_of_formulas(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "cup.png")
    prompts = ["=HYPERLINK(1)", "@SUM(1)", "+1", "-1", f"a {EVIL}"]
    lines = [f'{number},cup.png,"{prompt}"' for number, prompt in enumerate(prompts)]
    (tmp_path / "data.csv").write_text("\n".join(["id,image,prompt", *lines]) + "\n")
    says, run = model(tmp_path, "Reasoning: fine\nScore: 4"), str(tmp_path / "run.sqlite")
    assert onprompt(tmp_path, "run", str(tmp_path / "data.csv"), "--out", run, "--rubric", "rate", "--model", says)

    out = tmp_path / "out.csv"
    assert onprompt(tmp_path, "export", run, "--out", str(out)).returncode == 0
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["prompt"] for row in csv.DictReader(file)] == [*prompts[:4], f"a {SPELLED}"]


def test_what_is_spelled_out() -> None:
    assert printable("tab\there, line\nthere, naïve 猫 👩‍👧") == "tab\there, line\nthere, naïve 猫 👩‍👧"
    assert printable(EVIL + "\r\x00\ud800") == SPELLED + r"\r\x00\ud800"

"""A package with one of everything, joined by entry points, works wherever ours do."""

import csv
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

pytestmark = pytest.mark.models

PACKAGE = Path(__file__).parent.parent / "examples" / "plugin"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs Python with the package installed, as pip would leave it: its code, and its entry points."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    site = tmp_path / "site"
    info = site / "onprompt_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "onprompt_plugin").symlink_to(PACKAGE / "onprompt_plugin")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = (f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in names.items()) for group, names in groups)
    (info / "entry_points.txt").write_text("\n".join(lines))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]),
        "ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite"),
    }

    def call(*command: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        assert not ok or done.returncode == 0, done.stderr
        return done

    return call


@pytest.fixture(autouse=True)
def _pictures(tmp_path: Path) -> None:
    for name, colour in {"red": (220, 20, 20), "dark": (150, 20, 20), "blue": (20, 20, 220)}.items():
        image = Image.new("RGB", (120, 80), "white")
        ImageDraw.Draw(image).ellipse((30, 10, 90, 70), fill=colour)
        image.save(tmp_path / f"{name}.png")


CLI = ("-m", "onprompt")


def test_a_rubric_and_a_judge_of_another_package_on_the_command_line(run: Run) -> None:
    assert "Score how alike two pictures are" in run(*CLI, "--help").stdout
    same = run(*CLI, "likeness", "red.png", "red.png", "--judge", "pixels").stdout
    assert same.startswith("score: 10. The mean difference of pixels is 0.0 of 255.")
    document = json.loads(run(*CLI, "likeness", "red.png", "blue.png", "--judge", "pixels", "--json").stdout)
    assert document["format"].startswith("onprompt.likeness/")
    assert 0.5 < document["value"] < 1
    wrong = run(*CLI, "verify", "red.png", "a ball", "--judge", "pixels", ok=False)
    assert wrong.returncode == 2
    assert "which 'verify' does not take" in wrong.stderr


def test_their_rubric_is_asked_of_models_and_their_backend_answers(run: Run) -> None:
    asked = run(*CLI, "likeness", "red.png", "blue.png", "--model", "canned/Both show a disc. Score: 7").stdout
    assert asked.splitlines()[:2] == ["score: 7", "Both show a disc."]
    unreadable = run(*CLI, "likeness", "red.png", "blue.png", "--model", "canned/They are alike.", ok=False)
    assert unreadable.returncode == 5
    assert "there is no line `Score: n`" in unreadable.stderr


def test_their_rubric_and_judge_in_a_run(run: Run, tmp_path: Path) -> None:
    rows = [("a", "red.png", "red.png"), ("b", "red.png", "dark.png"), ("c", "red.png", "blue.png")]
    with (tmp_path / "pairs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "path", "target"), *rows])
    judge = ("--rubric", "likeness", "--judge", "pixels", "--engine", "serial")
    for begins in ("3 verdicts, 0 errors", "0 verdicts, 3 already judged"):
        assert run(*CLI, "run", "pairs.csv", "--out", "run.sqlite", *judge).stdout.startswith(begins)
    assert "likeness by pixels" in run(*CLI, "show", "run.sqlite").stdout
    printed = run(*CLI, "likeness", "red.png", "blue.png", "--judge", "pixels").stdout
    assert run(*CLI, "show", "run.sqlite", "--id", "c").stdout == printed
    run(*CLI, "export", "run.sqlite", "--to", "jsonl", "--out", "out.jsonl")
    exported = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    values = [row["value"] for row in exported]
    assert values == sorted(values, reverse=True)
    (tmp_path / "people.csv").write_text("id,r1,r2\na,5,5\nb,4,3\nc,1,2\n")
    figures = json.loads(run(*CLI, "agree", "run.sqlite", "--human", "people.csv", "--json").stdout)
    assert any(abs(value - 1) < 1e-9 for value in numbers(figures)), "the order is the people's"


def numbers(value: object) -> list[float]:
    """All numbers in a JSON value."""
    if isinstance(value, dict | list):
        return [number for entry in (value.values() if isinstance(value, dict) else value) for number in numbers(entry)]
    return [float(value)] if isinstance(value, int | float) else []


def test_their_matcher_makes_the_estimates(run: Run) -> None:
    code = """
import onprompt
print(*onprompt.match("blue.png", ["a red ball", "a blue ball"], settings=onprompt.Settings(matcher="colours")))
"""
    red, blue = map(float, run("-c", code).stdout.split())
    assert 0 == red < blue
    options = ("--detector", "red", "--set", "matcher=colours", "--json")
    verdict = json.loads(run(*CLI, "verify", "red.png", "a blue wooden ball", *options).stdout)
    whole = next(check for check in verdict["checks"] if check["claim"]["kind"] == "whole")
    assert (whole["source"], whole["finding"]["probability"]) == ("matcher", 0)
    assert verdict["provenance"]["settings"]["matcher"] == "colours"


def test_their_detector_dataset_and_engine_with_our_rubric(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("red.png\ta ball\nblue.png\ta ball\n")
    options = ("--detector", "red", "--engine", "serial")
    done = run(*CLI, "run", "lines:list.txt", "--out", "run.sqlite", *options)
    assert done.stdout.startswith("2 verdicts, 0 errors")
    rows = [json.loads(line) for line in run(*CLI, "show", "run.sqlite", "--json").stdout.splitlines()]
    assert rows[0]["value"] > rows[1]["value"]

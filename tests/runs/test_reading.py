"""A run file in Python, and ratings out of the data that it judged."""

from __future__ import annotations

from pathlib import Path

import pytest

import onprompt
from onprompt.errors import UserError
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs import datasets
from onprompt.runs.reading import Run
from onprompt.runs.run import run as judge
from tests.runs.commands import onprompt as ran
from tests.runs.test_run import job, judged, table


def test_a_run_is_a_table(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    judged(tmp_path, table(tmp_path, 12, bad=["x,none.png,1 cats"]))
    run = onprompt.load_run(tmp_path / "run.sqlite")
    assert len(run) == 13
    assert repr(run).endswith("12 of 13 samples judged>")
    frame = run.to_pandas()
    assert list(frame.index) == [*map(str, range(12)), "x"]
    assert frame.loc["3", "score"] == frame.loc["3", "factor_score"] == 3
    assert frame["score"].isna().sum() == frame["value"].isna().sum() == 1
    assert frame.loc["x", "error"] == "ImageError: missing"
    assert frame["score"].mean() == pytest.approx(sum(n % 10 % 5 for n in range(12)) / 12), "the missing one is no 0"
    assert run.verdict("3").score == 3
    with pytest.raises(UserError, match="no configuration 7"):
        onprompt.load_run(tmp_path / "run.sqlite", 7)


def grouped(folder: Path) -> Path:
    """A run with models, categories and ratings in its data."""
    data = table(folder, 0)
    lines = [
        f"{model}{n},cat.png,{n} cats of {n},{model},{'odd' if n % 2 else 'even'},{'' if n == 9 else n % 5 + 1},good"
        for model in "ab"
        for n in range(10)
    ]
    data.write_text("\n".join(["id,image,prompt,model,category,quality,note", *lines]) + "\n")
    judged(folder, data)
    return folder / "run.sqlite"


def test_tables_of_the_commands(tmp_path: Path) -> None:
    run = grouped(tmp_path)
    shown = ran("show", run, "--by", "model").stdout.splitlines()
    assert [line.split()[0] for line in shown[1:3]] == ["a", "b"]
    assert "mean score [95 % CI]" in shown[0]
    assert {line.split()[0] for line in ran("show", run, "--by", "category").stdout.splitlines()[1:3]} == {
        "odd",
        "even",
    }
    assert ran("show", run, "--by", "colour").returncode == 2
    compared = ran("compare", run, "--by", "category").stdout
    assert compared.startswith("even:\n")
    assert "no significant difference between a and b" in compared


def test_ratings_out_of_the_data(tmp_path: Path) -> None:
    run = grouped(tmp_path)
    agreed = ran("agree", run, "--human", "quality", "--human-scale", "1-5")
    assert agreed.returncode == 0, agreed.stderr
    assert "Spearman ρ" in agreed.stdout
    assert "1.000" in agreed.stdout, "what was rated as it was scored"
    wrong = ran("agree", run, "--human", "qualty")
    assert (wrong.returncode, "did you mean 'quality'?" in wrong.stderr) == (2, True)
    text = ran("agree", run, "--human", "note")
    assert "'good' is not a number" in text.stderr
    assert ran("agree", run).returncode == 2
    assert "--human-scale takes LOW-HIGH" in ran("agree", run, "--human", "quality", "--human-scale", "five").stderr
    both = ran("agree", run, "--human", "quality", "--human", "ratings.csv")
    assert (both.returncode, "one CSV, or columns of the judged data" in both.stderr) == (2, True)
    reported = ran("report", run, "--to", "markdown", "--human", "quality", "--human-scale", "1-5")
    spearman = next(line for line in agreed.stdout.splitlines() if line.startswith("Spearman"))
    assert f"| Spearman ρ | {spearman.split()[2][:4]} [" in reported.stdout


def test_a_run_keeps_the_columns_of_its_data(tmp_path: Path) -> None:
    data = table(tmp_path, 4)
    lines = [
        "name,file,what,seed,note",
        *(f"{n},cat.png,{n} cats of {n},{n + 7},{'x' * 2}" for n in range(4)),
        "4,,2,1,y",
    ]
    data.write_text("\n".join(lines) + "\n")
    named = {"id": "name", "image": "file", "prompt": "what"}
    judge(datasets.open_dataset(str(data), VERIFY, named), tmp_path / "run.sqlite", job(tmp_path))
    data.unlink()  # nothing of this needs the data again
    stored = Run(tmp_path / "run.sqlite")
    assert stored.last.columns == named
    assert [row.own for row in stored.rows()][2:] == [
        {"seed": "9", "note": "xx"},
        {"seed": "10", "note": "xx"},
        {"seed": "1", "note": "y"},
    ]
    agreed = ran("agree", stored.path, "--human", "seed")
    assert agreed.returncode == 0, agreed.stderr

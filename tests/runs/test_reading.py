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
from tests.runs.commands import told as ran
from tests.runs.test_run import job, judged, table


def test_a_run_is_a_table(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    judged(tmp_path, table(tmp_path, 12, bad=["x,none.png,1 cats"]))
    run = onprompt.load_run(tmp_path / "run.sqlite")
    assert repr(run).endswith("12 of 13 samples judged>")
    frame = run.to_pandas()
    assert list(frame.index) == [*map(str, range(12)), "x"]
    assert frame.loc["3", "score"] == frame.loc["3", "factor_score"] == 3
    assert frame["score"].isna().sum() == frame["value"].isna().sum() == 1
    assert frame.loc["x", "error"] == "ImageError: missing"
    assert frame["score"].mean() == pytest.approx(sum(n % 10 % 5 for n in range(12)) / 12), "the missing one is no 0"
    with pytest.raises(UserError, match="no configuration 7"):
        onprompt.load_run(tmp_path / "run.sqlite", 7)


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    """A run with models, categories and ratings in its data."""
    data = table(tmp_path, 0)
    lines = [
        f"{model}{n},cat.png,{n} cats of {n},{model},{'odd' if n % 2 else 'even'},{'' if n == 9 else n % 5 + 1},good"
        for model in "ab"
        for n in range(10)
    ]
    data.write_text("\n".join(["id,image,prompt,model,category,quality,note", *lines]) + "\n")
    judged(tmp_path, data)
    return tmp_path / "run.sqlite"


def test_tables_of_the_commands(grouped: Path) -> None:
    for by, names in (("model", ["a", "b"]), ("category", ["even", "odd"])):
        code, shown = ran("show", grouped, "--by", by)
        assert (code, sorted(line.split()[0] for line in shown.splitlines()[1:3])) == (0, names)
        assert "mean score [95 % CI]" in shown
    assert ran("show", grouped, "--by", "colour")[0] == 2
    compared = ran("compare", grouped, "--by", "category")[1]
    assert compared.startswith("even:\n")
    assert "no significant difference between a and b" in compared


def test_ratings_out_of_the_data(grouped: Path) -> None:
    code, agreed = ran("agree", grouped, "--human", "quality", "--human-scale", "1-5")
    assert code == 0
    spearman = next(line for line in agreed.splitlines() if line.startswith("Spearman"))
    assert spearman.split()[2] == "1.000", "what was rated as it was scored"
    reported = ran("report", grouped, "--to", "markdown", "--human", "quality", "--human-scale", "1-5")[1]
    assert "| Spearman ρ | 1.00 [" in reported
    for options, message in (
        (("--human", "qualty"), "did you mean 'quality'?"),
        (("--human", "note"), "'good' is not a number"),
        ((), "has no reviews"),
        (("--human", "quality", "--human-scale", "five"), "--human-scale takes LOW-HIGH"),
        (("--human", "quality", "--human", "ratings.csv"), "one CSV, or columns of the judged data"),
    ):
        code, told = ran("agree", grouped, *options)
        assert (code, message in told) == (2, True), told


def test_a_run_keeps_the_columns_of_its_data(tmp_path: Path) -> None:
    data = table(tmp_path, 4)
    lines = ["name,file,what,seed,note", *(f"{n},cat.png,{n} cats of {n},{n + 7},xx" for n in range(4)), "4,,2,1,y"]
    data.write_text("\n".join(lines) + "\n")
    named = {"id": "name", "image": "file", "prompt": "what"}
    judge(datasets.open_dataset(str(data), VERIFY, named), tmp_path / "run.sqlite", job(tmp_path))
    data.unlink()  # nothing of this needs the data again
    stored = Run(tmp_path / "run.sqlite")
    assert stored.last.columns == named
    owns = [{"seed": "9", "note": "xx"}, {"seed": "10", "note": "xx"}, {"seed": "1", "note": "y"}]
    assert [row.own for row in stored.rows()][2:] == owns
    assert ran("agree", stored.path, "--human", "seed")[0] == 0

"""One figure, one interval: wherever a mean is stated, it is the same."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from onprompt.cli import app
from onprompt.report.comparison import pair
from onprompt.report.statistics import mean_of
from onprompt.runs.reading import Run
from onprompt.trackers import numbers
from tests.pages.stored import four_models, stored_run

FIGURE = r"(\d\.\d+) \[(\d\.\d+), (\d\.\d+)\]"


def stated(*arguments: object) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def figures(pattern: str, text: str, digits: int = 2) -> tuple[float, ...]:
    """The mean and the ends of its interval that follow some words."""
    match = re.search(pattern + FIGURE, text)
    assert match, text
    return tuple(round(float(number), digits) for number in match.groups())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of four models whose values come in no order, in one category each."""
    samples = np.random.default_rng(2).permutation(np.array(four_models(12), object)).tolist()
    return stored_run(tmp_path / "run.sqlite", [replace(s, category=s.model) for s in samples])


def test_every_surface_states_the_same_mean_and_interval(run: Path) -> None:
    gate = stated("gate", run, "--fail-under", "value=.1", "--json")
    report, tracked = stated("report", run, "--to", "markdown"), numbers(Run(run))
    whole = figures("mean value ", stated("show", run), 3)
    assert whole == figures("", json.loads(gate)["conditions"][0]["measured"], 3)
    assert whole == tuple(round(tracked[name], 3) for name in ("value", "value_low", "value_high"))
    assert whole == pytest.approx(figures(r"\| run \| ", report), abs=0.0051)
    north = figures(r"north +", stated("show", run, "--by", "model"), 3)
    assert north == figures(r"north +", stated("show", run, "--by", "category"), 3)
    assert north == figures(r"1 +north +", stated("compare", run, "--by", "model"), 3)
    assert north == tuple(round(tracked[f"model/north/{name}"], 3) for name in ("value", "value_low", "value_high"))
    assert figures(r"\| 1 \| north \| ", report) == figures(r"\| north \| ", report)
    assert north == pytest.approx(figures(r"\| 1 \| north \| ", report), abs=0.0051)
    page = run.parent / "report.html"
    stated("report", run, "--out", page)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.read_text()))
    assert figures(r"mean value ", re.sub(r" \[ ?", " [", text)) == figures(r"\| run \| ", report)


@pytest.mark.parametrize("size", [40, 12_000])
def test_an_interval_depends_on_neither_order_nor_sign(size: int) -> None:
    values = np.random.default_rng(0).normal(0.1, 0.3, size)
    there, back = mean_of(values), mean_of(-values[::-1])
    assert mean_of(np.random.default_rng(1).permutation(values)) == there
    assert (back.value, back.low, back.high) == (-(there.value or 0), -(there.high or 0), -(there.low or 0))
    shown = pair(("a", "b"), {str(n): -float(value) for n, value in enumerate(values)}, 0.5, 0.5)
    assert (shown.better, shown.effect) == ("b", there)

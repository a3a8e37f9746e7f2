"""Sampling plans: how precise they are, whom they choose, and that all raters get the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from onprompt.api import judges
from onprompt.errors import UserError
from onprompt.runs import reviews
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import ReviewFile, draw, half_width, make_plan, size_for, stored_plan
from tests.runs.test_run import judged, table


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    judges.close()


@pytest.mark.parametrize("correlation", [0.5, 0.7, 0.85])
def test_the_precision_is_that_of_simulated_raters(correlation: float) -> None:
    generator = np.random.default_rng(0)
    size = size_for(0.1, correlation)
    pairs = generator.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=(1500, size))
    found = [stats.spearmanr(pair).statistic for pair in pairs]
    low, high = np.percentile(found, [2.5, 97.5])
    assert (high - low) / 2 == pytest.approx(0.1, abs=0.012)


def test_the_size_is_the_smallest_that_is_precise_enough() -> None:
    for precision, correlation in ((0.1, 0.7), (0.05, 0.3), (0.2, 0.9)):
        size = size_for(precision, correlation)
        assert half_width(size, correlation) <= precision < half_width(size - 1, correlation)
    with pytest.raises(UserError, match="precision"):
        size_for(0.001)
    with pytest.raises(UserError, match="correlation"):
        size_for(0.1, 1.0)


def test_every_stratum_has_its_share() -> None:
    strata = ["common"] * 700 + ["usual"] * 250 + ["rare"] * 50
    for seed in range(20):
        assert Counter(strata[place] for place in draw(strata, 60, seed)) == {"common": 42, "usual": 15, "rare": 3}
    firsts = [strata[draw(strata, 60, seed)[0]] for seed in range(300)]
    assert 180 < firsts.count("common") < 240, "shuffled: who stops early has a random part"
    assert sorted(draw(strata, 5000, 1)) == list(range(1000))
    chosen = Counter(place for seed in range(400) for place in draw(list("aabbccdd"), 2, seed))
    assert min(chosen.values()) > 60, "with fewer places than strata, chance decides"


def test_a_plan_is_stored_and_the_same_for_all(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 100))
    with ReviewFile(tmp_path / "run.sqlite") as file:
        run = Run(tmp_path / "run.sqlite")
        plan = make_plan(run, file, 20, seed=7)
        scores = dict(file.query("SELECT sample, score FROM verdicts"))
        assert Counter(scores[number] for number in plan.samples) == dict.fromkeys(range(5), 4)
        assert make_plan(run, file, 20, seed=8).samples != plan.samples
    judged(tmp_path, table(tmp_path, 140))
    with ReviewFile(tmp_path / "run.sqlite") as again:
        assert make_plan(run, again, 20, seed=7) == plan, "also once the run has grown"
    with RunFile(tmp_path / "run.sqlite") as file:
        assert stored_plan(file, 1) == reviews.SamplingPlan(stored_plan(file, 1).samples, 8)  # type: ignore[union-attr]
        assert stored_plan(file, 2) is None


def test_a_plan_in_words() -> None:
    words = reviews.plan_words(reviews.SamplingPlan(tuple(range(60))))
    assert words.startswith("60 verdicts, stratified by score and model: enough to measure Spearman's ρ to about ")
    assert "±0.11 if it is 0.8" in words

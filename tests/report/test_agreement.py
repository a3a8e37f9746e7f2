"""Each statistic by hand, by a library or by a textbook; resamples by repeating what they draw."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from onprompt.errors import UserError
from onprompt.report import agreement as module
from onprompt.report import statistics
from onprompt.report.agreement import TITLES, agreement
from onprompt.report.comparison import Figure, resampled
from onprompt.report.ratings import Item, Ratings, read

Array = NDArray[np.float64]
# a and b are of one prompt, c and d of another; the means of the ratings are 1, 3, 2 and 2.
CSV = "id,r1,r2\na,1,1\nb,3,3\nc,2,2\nd,1,3\n"
ITEMS = [
    Item("a", "p", 0.4, 2),
    Item("b", "p", 0.9, 3),
    Item("c", "q", 0.4, 2),
    Item("d", "q", 0.1, 1),
]
SCALE = range(1, 4)


def hand(tmp_path: Path) -> Ratings:
    (tmp_path / "people.csv").write_text(CSV)
    return read(tmp_path / "people.csv")


def noisy(n: int, seed: int = 0, levels: int = 4) -> tuple[Array, Array]:
    """A judge and people who mostly agree, with many ties on both sides."""
    generator = np.random.default_rng(seed)
    human = generator.integers(levels, size=n) / 2
    return np.round(human + generator.normal(size=n), 1), human


def crowd(n: int = 140) -> tuple[list[Item], Ratings]:
    """Items of seven a prompt with three raters."""
    generator = np.random.default_rng(3)
    truth = generator.normal(size=n)
    said = np.clip(np.round(truth[:, None] + generator.normal(size=(n, 3)) / 2 + 3), 1, 5)
    values = np.clip(truth / 6 + 0.5 + generator.normal(size=n) / 9, 0, 1).round(2)
    items = [
        Item(f"i{i}", f"prompt {i // 7}", float(v), int(v * 4), f"category {i // 70}") for i, v in enumerate(values)
    ]
    return items, Ratings({f"i{i}": dict(zip("xyz", map(float, row), strict=True)) for i, row in enumerate(said)})


# ---- one statistic at a time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [3, 10, 200])
def test_correlations_are_those_of_scipy(n: int, seed: int) -> None:
    x, y = noisy(n, seed)
    assert module.once(statistics.spearman(x, y), n) == pytest.approx(stats.spearmanr(x, y)[0])
    assert module.once(statistics.kendall(x, y, "b"), n) == pytest.approx(stats.kendalltau(x, y)[0])
    assert module.once(statistics.kendall(x, y, "c"), n) == pytest.approx(stats.kendalltau(x, y, variant="c")[0])
    a, b = np.random.default_rng(seed).normal(size=(2, n))  # as many levels as items
    assert module.once(statistics.kendall(a, b, "b"), n) == pytest.approx(stats.kendalltau(a, b)[0])


def test_auc_is_that_of_two_libraries() -> None:
    x, y = noisy(100)
    found = module.once(statistics.auc(x, y > 0.5), 100)
    good, bad = x[y > 0.5], x[y <= 0.5]
    assert found == pytest.approx(stats.mannwhitneyu(good, bad).statistic / len(good) / len(bad))
    metrics = pytest.importorskip("sklearn.metrics")
    assert found == pytest.approx(metrics.roc_auc_score(y > 0.5, x))


@pytest.mark.parametrize("seed", range(3))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    one, other = np.random.default_rng(seed).integers(5, size=(2, 60))
    other[:30] = one[:30]
    expected = metrics.cohen_kappa_score(one, other, weights="quadratic", labels=range(5))
    assert module.once(statistics.kappa(one, other, 5), 60) == pytest.approx(expected)


def test_alpha_is_that_of_the_textbook() -> None:
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section D: four observers, ordinal 0.815."""
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    counts = np.array([[sum(o[unit] == str(level) for o in observers) for level in range(1, 6)] for unit in range(12)])
    assert module.once(statistics.alpha(counts.astype(float)), 12) == pytest.approx(0.815, abs=5e-4)


def test_pair_accuracy_is_that_of_a_plain_loop() -> None:
    x, y = noisy(80)
    group = np.random.default_rng(1).integers(15, size=80)
    right, number = 0.0, 0
    for i, j in itertools.combinations(range(80), 2):
        if group[i] == group[j] and abs(y[i] - y[j]) >= 1:
            number += 1
            right += 0.5 if x[i] == x[j] else float((x[i] - x[j]) * (y[i] - y[j]) > 0)
    measure, counted = statistics.pair_accuracy(x, y, group, 1.0)
    assert module.once(measure, 80) == pytest.approx(right / number)
    assert counted == number
    thirds = np.array([2 / 3, 1.0])  # a third apart, less a hair
    assert statistics.pair_accuracy(thirds, thirds, np.zeros(2, np.intp), 1 / 3)[1] == 1


def test_a_resample_is_what_repeating_its_items_gives() -> None:
    x, y = noisy(60)
    group = np.arange(60) // 4
    scores = np.random.default_rng(2).integers(4, size=60)
    levels = (2 * y).astype(np.intp)
    counts = np.eye(4)[scores] + np.eye(4)[levels]
    for weights in resampled(15, 60, 5, seed=1):
        for row in weights[:, group]:
            drawn = np.repeat(np.arange(60), row.astype(int))
            a, b = x[drawn], y[drawn]
            for measure, again in [
                (statistics.spearman(x, y), stats.spearmanr(a, b)[0]),
                (statistics.kendall(x, y, "b"), stats.kendalltau(a, b)[0]),
                (statistics.kendall(x, y, "c"), stats.kendalltau(a, b, variant="c")[0]),
                (statistics.auc(x, y > 0.5), module.once(statistics.auc(a, b > 0.5), 60)),
                (
                    statistics.kappa(scores, levels, 4),
                    module.once(statistics.kappa(scores[drawn], levels[drawn], 4), 60),
                ),
                (statistics.alpha(counts), module.once(statistics.alpha(counts[drawn]), 60)),
            ]:
                assert measure(row[None])[0] == pytest.approx(again)


# ---- a run ---------------------------------------------------------------------------------------------------------


def test_a_small_file_by_hand(tmp_path: Path) -> None:
    found = agreement(ITEMS, hand(tmp_path), SCALE, (1, 3), threshold=1.5).overall
    assert {name: each.value for name, each in found.judge.items()} == {
        "spearman": pytest.approx(0.5),  # 2.25 / 4.5
        "kendall_b": pytest.approx(0.4),  # 3 alike, 1 not, 1 tie on each side: 2 / √(5 · 5)
        "kendall_c": pytest.approx(0.375),  # 2 · 2 / (4² · 2 / 3)
        "pair_accuracy": 1.0,  # only a and b are apart
        "auc": pytest.approx(0.5),  # a against b, c, d: won, tied, lost
        "alpha": pytest.approx(0.5625),  # 1 − 7 · 36 / 576
        "kappa": pytest.approx(0.5),  # 1 − 2 / 4
    }
    assert found.judge["pair_accuracy"].n == 1
    rater = found.ceiling["spearman"]
    assert rater.value == pytest.approx(1.75 / 4.5)
    assert (rater.n, rater.low, rater.why) == (2, None, "no interval: fewer than 5 prompts")
    assert found.ceiling["pair_accuracy"].value == 0.5  # both order a and b alike, c and d not


def test_one_rater_against_the_rest_is_what_a_short_script_gives() -> None:
    items, ratings = crowd()
    found = agreement(items, ratings, range(5), (1, 5), resamples=20).overall.ceiling
    table = np.array([[ratings.by_item[item.id][rater] for rater in "xyz"] for item in items])
    rests = [np.delete(table, rater, axis=1).mean(axis=1) for rater in range(3)]
    assert found["spearman"].value == pytest.approx(
        np.mean([stats.spearmanr(table[:, r], rests[r])[0] for r in range(3)])
    )
    taus = [stats.kendalltau(table[:, r], rests[r], variant="c")[0] for r in range(3)]
    assert found["kendall_c"].value == pytest.approx(np.mean(taus))
    assert {each.n for each in found.values()} == {3}


def test_intervals_are_of_resampled_prompts() -> None:
    items, ratings = crowd()
    found = agreement(items, ratings, range(5), (1, 5), resamples=100, seed=4).overall.judge["spearman"]
    names = sorted({item.group for item in items})
    x = np.array([item.value for item in items], float)
    y = np.array([np.mean(list(ratings.by_item[item.id].values())) for item in items]).round(9)
    group = np.array([names.index(item.group) for item in items])
    draws = []
    for row in np.concatenate(list(resampled(20, 140, 100, seed=4))):
        drawn = [
            place for prompt in np.repeat(np.arange(20), row.astype(int)) for place in np.flatnonzero(group == prompt)
        ]
        draws.append(stats.spearmanr(x[drawn], y[drawn])[0])
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(draws, [2.5, 97.5])))
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_the_order_of_items_changes_nothing_and_seeds_repeat() -> None:
    items, ratings = crowd()
    first = agreement(items, ratings, range(5), (1, 5), resamples=50)
    again = agreement(items[::-1], ratings, range(5), (1, 5), resamples=50)
    assert module.document(first) == module.document(again)


def test_categories_are_as_if_they_were_alone() -> None:
    items, ratings = crowd()
    found = agreement(items, ratings, range(5), (1, 5), resamples=20)
    assert list(found.categories) == ["category 0", "category 1"]
    alone = agreement(
        [item for item in items if item.category == "category 1"], ratings, range(5), (1, 5), resamples=20
    )
    assert found.categories["category 1"] == alone.overall
    assert alone.categories == {}


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    ratings = Ratings(dict(hand(tmp_path).by_item) | {"e": {"r1": 1.0}, "f": {}, "nobody's": {"r1": 1.0}})
    items = [*ITEMS, Item("e", "q", None), Item("f", "q", 0.5), Item("g", "q", None)]
    found = agreement(items, ratings, SCALE)
    assert (found.overall.n, found.no_verdict, found.no_rating, found.no_item) == (4, 1, 2, 1)
    assert found.overall.judge["spearman"].value == pytest.approx(0.5)


# ---- what can't be computed ----------------------------------------------------------------------------------------


def test_without_peoples_scale_there_is_no_kappa(tmp_path: Path) -> None:
    found = agreement(ITEMS, hand(tmp_path), SCALE).overall
    for name in ("auc", "alpha", "kappa"):
        assert found.judge[name] == Figure(None, None, None, 4, "people's scale is not known")
    assert agreement(ITEMS, hand(tmp_path), SCALE, threshold=1.5).overall.judge["auc"].value == pytest.approx(0.5)


def test_constant_opinions_have_no_figures_but_a_reason(tmp_path: Path) -> None:
    same = [Item(item.id, item.group, 0.3, 2) for item in ITEMS]
    found = agreement(same, hand(tmp_path), SCALE, (1, 3), threshold=9).overall.judge
    assert found["spearman"] == Figure(None, None, None, 4, "one side says the same of all items")
    assert found["kendall_c"].value is None
    assert found["auc"].why == "all ratings are on one side of 9"
    assert found["pair_accuracy"].value == 0.5  # all ties
    alike = Ratings({item.id: {"x": 2.0} for item in ITEMS})
    found = agreement(same, alike, SCALE, (1, 3)).overall.judge
    assert found["pair_accuracy"].why == "no two items of one prompt are 0.33 apart"
    assert found["alpha"].why == found["kappa"].why == "one side says the same of all items"


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 1e9])
def test_constants_are_never_a_correlation_of_rounding(constant: float) -> None:
    x, y = np.full(101, constant), np.arange(101.0)
    for measure in (statistics.spearman(x, y), statistics.kendall(x, y, "b"), statistics.kendall(x, y, "c")):
        assert math.isnan(module.once(measure, 101))


def test_too_few_items_raters_or_scores(tmp_path: Path) -> None:
    ratings = hand(tmp_path)
    assert agreement(ITEMS[:2], ratings, SCALE).overall.judge["spearman"].why == "only 2 items"
    none = agreement([Item("a", "p", None)], ratings, SCALE)
    assert (none.overall.n, none.no_verdict, none.overall.judge["kappa"].why) == (0, 1, "only 0 items")
    single = Ratings({name: {"mean": said["r1"]} for name, said in ratings.by_item.items()})
    assert agreement(ITEMS, single, SCALE).overall.ceiling["spearman"].why == "no item has two raters"
    bare = [Item(item.id, item.group, item.value) for item in ITEMS]
    assert agreement(bare, ratings, SCALE, (1, 3)).overall.judge["kappa"].why == "the judge gives no scores"


def test_a_rater_of_few_items_is_left_out_of_the_ceiling() -> None:
    items, ratings = crowd()
    said = {name: dict(each) for name, each in ratings.by_item.items()}
    said["i0"]["passer-by"] = 5.0
    found = agreement(items, Ratings(said), range(5), (1, 5), resamples=20)
    assert (found.raters, found.overall.ceiling["spearman"].n) == (4, 3)


def test_ratings_are_put_evenly_on_the_scale() -> None:
    terms = agreement(*crowd(21), range(5), (1, 5), resamples=1).terms
    thirds = module.Terms(range(5), (1, 4), None, 0.33, 1, 0)
    np.testing.assert_array_equal(module.onto(np.array([1, 2.5, 3, 5]), terms), [0, 2, 2, 4])
    np.testing.assert_array_equal(module.onto(np.array([1, 2, 2.5, 3, 4]), thirds), [0, 1, 2, 3, 4])  # 0 1.3 2 2.7 4
    np.testing.assert_array_equal(module.onto(np.array([1.375, 2.875]), thirds), [1, 3])  # .5 and 2.5 go up


@pytest.mark.parametrize(
    ("items", "scale", "told"),
    [
        (ITEMS, (1, 2), "a rating of 3 is not on people's scale, 1 to 2"),
        (ITEMS, (3, 1), "from its worst to a higher best"),
        ([*ITEMS, ITEMS[0]], (1, 3), "item 'a' is there twice"),
        ([Item("a", "p", 0.5, 7)], (1, 3), "item 'a' has the score 7, not 1 to 3"),
        ([Item("a", "p", math.nan, 1)], (1, 3), "item 'a' has the value nan"),
        ([Item("a.png", "p", 0.5, 1)], (1, 3), "the run has 'a.png', the ratings 'a'"),
        ([], (1, 3), "no item of the run is rated"),
    ],
)
def test_what_no_figure_should_rest_on(tmp_path: Path, items: list[Item], scale: tuple[int, int], told: str) -> None:
    with pytest.raises(UserError, match=told):
        agreement(items, hand(tmp_path), SCALE, scale)


# ---- for people and programs ---------------------------------------------------------------------------------------


def test_the_table_and_the_document_say_the_same(tmp_path: Path) -> None:
    items, ratings = crowd()
    found = agreement(items, ratings, range(5), (1, 5), resamples=50)
    entry = json.loads(json.dumps(module.document(found), allow_nan=False))
    text = list(module.lines(found))
    assert text[0] == "140 items of 20 prompts, 3 raters"
    for name, title in TITLES.items():
        line = next(each for each in text if each.startswith(title))
        for side in ("judge", "ceiling"):
            figure = entry["overall"][side][name]
            assert figure["low"] <= figure["value"] <= figure["high"]
            assert str(getattr(found.overall, side)[name]) in line
    assert "α (ordinal) and κ: ratings of 1 to 5 put evenly on 0 to 4 and rounded" in text
    assert entry["terms"]["scale"] == [0, 4]
    assert entry["categories"]["category 1"]["items"] == 70


def test_what_is_missing_is_a_dash_with_a_reason(tmp_path: Path) -> None:
    found = agreement(ITEMS, hand(tmp_path), SCALE)
    text = "\n".join(module.lines(found))
    assert "AUC             –                       –                       people's scale is not known" in text
    assert "nan" not in text.lower()
    assert module.document(found)["overall"]["judge"]["auc"] == {
        **{"value": None, "low": None, "high": None, "n": 4},
        "why": "people's scale is not known",
    }

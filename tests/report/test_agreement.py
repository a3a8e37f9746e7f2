"""A run against human ratings: by hand and against short scripts."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from onprompt.errors import UserError
from onprompt.report import agreement as module
from onprompt.report.agreement import NARROW, TITLES, Terms, agreement
from onprompt.report.ratings import Ratings, read
from onprompt.report.statistics import RESAMPLES, SEED, Estimate, bootstrap_weights, correlation, spearman
from onprompt.runs.reading import CheckRow, RunRow

# a and b are of one prompt, c and d of another; the means of the ratings are 1, 3, 2 and 2.
CSV = "id,r1,r2\na,1,1\nb,3,3\nc,2,2\nd,1,3\n"
ITEMS = [
    RunRow("a", "p", 0.4, 2),
    RunRow("b", "p", 0.9, 3),
    RunRow("c", "q", 0.4, 2),
    RunRow("d", "q", 0.1, 1),
]
SCALE = range(1, 4)


def hand(tmp_path: Path) -> Ratings:
    (tmp_path / "people.csv").write_text(CSV)
    return read(tmp_path / "people.csv")


def crowd(n: int = 140) -> tuple[list[RunRow], Ratings]:
    """Items of seven a prompt with three raters."""
    generator = np.random.default_rng(3)
    truth = generator.normal(size=n)
    said = np.clip(np.round(truth[:, None] + generator.normal(size=(n, 3)) / 2 + 3), 1, 5)
    values = np.clip(truth / 6 + 0.5 + generator.normal(size=n) / 9, 0, 1).round(2)
    items = [
        RunRow(f"i{i}", f"prompt {i // 7}", float(v), int(v * 4), f"category {i // 70}") for i, v in enumerate(values)
    ]
    return items, Ratings({f"i{i}": dict(zip("xyz", map(float, row), strict=True)) for i, row in enumerate(said)})


# ---- a run ---------------------------------------------------------------------------------------------------------


def test_a_small_file_by_hand(tmp_path: Path) -> None:
    result = agreement(ITEMS, hand(tmp_path), Terms(SCALE, (1, 3))).overall
    assert {name: estimate.value for name, estimate in result.judge.items()} == {
        "spearman": pytest.approx(0.5),  # 2.25 / 4.5
        "kendall_b": pytest.approx(0.4),  # 3 alike, 1 not, 1 tie on each side: 2 / √(5 · 5)
        "kendall_c": pytest.approx(0.375),  # 2 · 2 / (4² · 2 / 3)
        "pair_accuracy": 1.0,  # only a and b are apart
        "auc": 1.0,  # b, above the middle, against a, c, d: won
        "kappa": pytest.approx(0.5),  # 1 − 2 / 4
    }
    assert result.judge["pair_accuracy"].n == 1
    rater = result.ceiling["spearman"]
    assert rater.value == pytest.approx(1.75 / 4.5)
    assert (rater.n, rater.low, rater.why) == (2, None, "no interval: fewer than 5 prompts")
    assert result.ceiling["pair_accuracy"].value == 0.5  # both order a and b alike, c and d not


def test_the_ceiling_matches_a_short_script() -> None:
    items, ratings = crowd()
    result = agreement(items, ratings, Terms(range(5), (1, 5))).overall.ceiling
    table = np.array([[ratings.by_item[item.id][rater] for rater in "xyz"] for item in items])
    rests = [np.delete(table, rater, axis=1).mean(axis=1) for rater in range(3)]
    assert result["spearman"].value == pytest.approx(
        np.mean([stats.spearmanr(table[:, r], rests[r])[0] for r in range(3)])
    )
    assert {estimate.n for estimate in result.values()} == {3}


def test_intervals_are_of_resampled_prompts() -> None:
    items, ratings = crowd()
    result = agreement(items, ratings, Terms(range(5), (1, 5))).overall.judge["spearman"]
    names = sorted({item.group for item in items})
    x = np.array([item.value for item in items], float)
    y = np.array([np.mean(list(ratings.by_item[item.id].values())) for item in items]).round(9)
    group = np.array([names.index(item.group) for item in items])
    draws = []
    for row in np.concatenate(list(bootstrap_weights(20, 140, RESAMPLES, SEED))):
        drawn = [
            place for prompt in np.repeat(np.arange(20), row.astype(int)) for place in np.flatnonzero(group == prompt)
        ]
        draws.append(stats.spearmanr(x[drawn], y[drawn])[0])
    assert (result.low, result.high) == pytest.approx(tuple(np.percentile(draws, [2.5, 97.5])))
    assert result.low is not None
    assert result.value is not None
    assert result.high is not None
    assert result.low < result.value < result.high


def test_estimates_do_not_depend_on_the_order_of_items() -> None:
    items, ratings = crowd()
    first = agreement(items, ratings, Terms(range(5), (1, 5)))
    again = agreement(items[::-1], ratings, Terms(range(5), (1, 5)))
    assert module.document(first) == module.document(again)


def test_a_category_is_estimated_as_if_it_were_alone() -> None:
    items, ratings = crowd()
    result = agreement(items, ratings, Terms(range(5), (1, 5)))
    assert list(result.parts["categories"]) == ["category 0", "category 1"]
    alone = agreement([item for item in items if item.category == "category 1"], ratings, Terms(range(5), (1, 5)))
    part = result.parts["categories"]["category 1"]
    assert part.judge == {name: alone.overall.judge[name] for name in NARROW}
    assert "categories" not in alone.parts


def test_exclusions_are_counted(tmp_path: Path) -> None:
    ratings = Ratings(dict(hand(tmp_path).by_item) | {"e": {"r1": 1.0}, "f": {}, "nobody's": {"r1": 1.0}})
    items = [*ITEMS, RunRow("e", "q", None), RunRow("f", "q", 0.5), RunRow("g", "q", None)]
    result = agreement(items, ratings, Terms(SCALE))
    assert (result.overall.items, result.no_verdict, result.no_rating, result.no_item) == (4, 1, 2, 1)
    assert result.overall.judge["spearman"].value == pytest.approx(0.5)


def test_factors_are_measured_by_their_own_ratings_where_people_gave_any() -> None:
    items, ratings = crowd()
    means = {name: float(np.mean([*given.values()])) for name, given in ratings.by_item.items()}
    edits = [replace(item, factors={"good": round(10 * means[item.id]), "bad": -int(means[item.id])}) for item in items]
    result = agreement(edits, ratings, Terms(range(5)))
    assert list(result.parts["factors"]) == ["bad", "good"]
    assert result.parts["factors"]["good"].judge["spearman"].value == pytest.approx(1, abs=0.01)
    assert (result.parts["factors"]["bad"].judge["spearman"].value or 0) < -0.9
    upside_down = Ratings({name: {"x": -mean} for name, mean in means.items()})
    by_own = agreement(edits, ratings, Terms(range(5)), of_factors={"bad": upside_down}).parts["factors"]
    assert (by_own["bad"].judge["spearman"].value or 0) > 0.9
    assert by_own["good"] == result.parts["factors"]["good"]
    assert "factors" not in agreement(items, ratings, Terms(range(5))).parts, "a single factor is the verdict"


def test_kinds_of_claims_are_measured_by_their_mean_probability() -> None:
    items, ratings = crowd()
    items = [replace(item, number=number) for number, item in enumerate(items)]
    means = {item.number: float(np.mean([*ratings.by_item[item.id].values()])) / 5 for item in items}
    known = [("color", "matched", n, p) for n, mean in means.items() for p in (mean - 0.1, mean)]
    known += [("count", "matched", n, 1 - mean) for n, mean in means.items() if n < 40]
    known += [("count", "unverifiable", n, mean) for n, mean in means.items()]
    checks = [CheckRow(number, kind, "", "", outcome, p) for kind, outcome, number, p in known]
    kinds = agreement(items, ratings, Terms(range(5)), checks).parts["kinds"]
    assert [(kind, part.items) for kind, part in kinds.items()] == [("color", 140), ("count", 40)]
    assert [part.judge["spearman"].value for part in kinds.values()] == pytest.approx([1, -1])


def test_agreement_where_the_judge_is_most_certain() -> None:
    """Intervals that are narrow where the value is right: the curve falls from the most certain to all."""
    items, ratings = crowd()
    wrong = [float(abs((item.value or 0) * 4 + 1 - np.mean([*ratings.by_item[item.id].values()]))) for item in items]
    known = [replace(item, low=0.4 - 0.1 * error, high=0.5) for item, error in zip(items, wrong, strict=True)]
    curve = agreement(known, ratings, Terms(range(5))).parts["certain"]
    sizes = [("20%", 28), ("40%", 56), ("60%", 84), ("80%", 112), ("100%", 140)]
    assert [(share, part.items) for share, part in curve.items()] == sizes
    figures = [part.judge["spearman"].value or 0 for part in curve.values()]
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] == agreement(items, ratings, Terms(range(5))).overall.judge["spearman"].value
    assert "certain" not in agreement(items, ratings, Terms(range(5))).parts, "a model's verdicts have no intervals"


def test_voices_are_measured_beside_their_jury_on_the_same_samples() -> None:
    items, ratings = crowd()
    values = {item.id: item.value or 0.0 for item in items[:100]}
    said = {"same": values, "opposite": {k: -v for k, v in values.items()}}
    voices = agreement(items, ratings, Terms(range(5)), voices=said).parts["voices"]
    assert [part.items for part in voices.values()] == [100, 100, 100]
    same, opposite, jury = (voices[name].judge["spearman"].value for name in ("same", "opposite", "the jury"))
    assert same == jury == pytest.approx(-(opposite or 0))
    assert "voices" not in agreement(items, ratings, Terms(range(5))).parts


def test_intervals_of_very_many_items_are_those_of_resamples() -> None:
    """By parts of the prompts as by resamples of them, up to a fifth of their width."""
    generator = np.random.default_rng(1)
    truth = np.repeat(generator.normal(size=1000), 5)
    x, y = (truth + generator.normal(size=5000) for _ in range(2))
    names = [f"{prompt:04}" for prompt in range(1000) for _ in range(5)]
    parts = correlation(x.tolist(), y.tolist(), names)
    measure, group = spearman(x, y), np.repeat(np.arange(1000), 5)
    draws = np.concatenate([measure(w[:, group]) for w in bootstrap_weights(1000, 5000, 300, SEED)])
    low, high = np.percentile(draws, [2.5, 97.5])
    assert parts.value == pytest.approx(stats.spearmanr(x, y)[0])
    assert (parts.low, parts.high) == pytest.approx((low, high), abs=(high - low) / 5)


# ---- undefined and invalid ----------------------------------------------------------------------------------------


def test_what_is_undefined_is_explained(tmp_path: Path) -> None:
    ratings, scale = hand(tmp_path), Terms(SCALE, (1, 3))
    needs = agreement(ITEMS, ratings, Terms(SCALE)).overall.judge
    assert {needs[name] for name in ("auc", "kappa")} == {Estimate(n=4, why="needs --human-scale")}
    same = [RunRow(item.id, item.group, 0.3, 2) for item in ITEMS]
    constant = agreement(same, ratings, Terms(SCALE, (1, 17))).overall.judge
    assert constant["spearman"] == Estimate(None, None, None, 4, "one side is constant")
    assert constant["kendall_c"].value is None
    assert constant["auc"].why == "all ratings are on one side of 9"
    assert constant["pair_accuracy"].value == 0.5  # all ties
    alike = agreement(same, Ratings({item.id: {"x": 2.0} for item in ITEMS}), scale).overall.judge
    assert alike["pair_accuracy"].why == "no prompt has two items rated 0.33 apart"
    assert alike["kappa"].why == "one side is constant"
    assert agreement(ITEMS[:2], ratings, Terms(SCALE)).overall.judge["spearman"].why == "only 2 items"
    none = agreement([RunRow("a", "p", None)], ratings, Terms(SCALE))
    assert (none.overall.items, none.no_verdict, none.overall.judge["kappa"].why) == (0, 1, "only 0 items")
    single = Ratings({name: {"mean": said["r1"]} for name, said in ratings.by_item.items()})
    assert agreement(ITEMS, single, Terms(SCALE)).overall.ceiling["spearman"].why == "no item has two raters"
    bare = [RunRow(item.id, item.group, item.value) for item in ITEMS]
    assert agreement(bare, ratings, scale).overall.judge["kappa"].why == "the judge gives no scores"


def test_ratings_are_mapped_linearly() -> None:
    quarters, thirds = Terms(range(5), (1, 5)), Terms(range(5), (1, 4))
    assert module.to_scale(np.array([1, 2.5, 3, 5]), quarters).tolist() == [0, 2, 2, 4]
    assert module.to_scale(np.array([1, 2, 2.5, 3, 4]), thirds).tolist() == [0, 1, 2, 3, 4]  # 0 1.3 2 2.7 4
    assert module.to_scale(np.array([1.375, 2.875]), thirds).tolist() == [1, 3]  # .5 and 2.5 go up


def test_invalid_input(tmp_path: Path) -> None:
    ratings = hand(tmp_path)
    for items, scale, message in (
        (ITEMS, (1, 2), "a rating of 3 is outside the human scale, 1 to 2"),
        (ITEMS, (3, 1), "from a lower to a higher rating, not 3 to 1"),
        ([RunRow("a", "p", 0.5, 7)], (1, 3), "item 'a' has the score 7, not 1 to 3"),
        ([RunRow("a.png", "p", 0.5, 1)], (1, 3), "the run has 'a.png', the ratings have 'a'"),
    ):
        with pytest.raises(UserError, match=message):
            agreement(items, ratings, Terms(SCALE, scale))


# ---- output ---------------------------------------------------------------------------------------


def test_table_and_document_agree(tmp_path: Path) -> None:
    items, ratings = crowd()
    result = agreement(items, ratings, Terms(range(5), (1, 5)))
    entry = json.loads(json.dumps(module.document(result), allow_nan=False))
    text = "\n".join(module.lines(result)).splitlines()
    assert text[0] == "140 samples of 20 prompts, 3 raters"
    for name, title in TITLES.items():
        line = next(line for line in text if line.startswith(title))
        for side in ("judge", "ceiling"):
            figure = entry["overall"][side][name]
            assert figure["low"] <= figure["value"] <= figure["high"]
            assert str(getattr(result.overall, side)[name]) in line
    assert "κ: ratings of 1 to 5 mapped linearly to 0 to 4 and rounded" in text
    accuracy = [100 * entry["overall"][side]["pair_accuracy"]["value"] for side in ("judge", "ceiling")]
    agrees = "The judge agrees with people on {:.0f} % of {} pairs; one rater agrees with the others on {:.0f} %."
    assert agrees.format(accuracy[0], entry["overall"]["judge"]["pair_accuracy"]["n"], accuracy[1]) in text
    assert entry["terms"]["scale"] == [0, 4]
    assert entry["categories"]["category 1"]["items"] == 70
    missing = "\n".join(module.lines(agreement(ITEMS, hand(tmp_path), Terms(SCALE))))
    assert "quadratic κ – – needs --human-scale" in [" ".join(line.split()) for line in missing.splitlines()]
    assert "nan" not in missing.lower()

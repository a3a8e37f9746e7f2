"""Rankings, paired tests and their correction: by hand, against scipy, and by their error rate."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from onprompt.errors import UserError
from onprompt.report import comparison as module
from onprompt.report.comparison import Comparison, Pair, compare, systems
from onprompt.report.statistics import Estimate
from onprompt.runs.reading import RunRow


def system(values: list[float], first: int = 0) -> list[RunRow]:
    """One picture for each prompt."""
    return [RunRow(str(n), f"prompt {n}", value) for n, value in enumerate(values, first)]


def noise(n: int, shift: float = 0.0, seed: int = 0) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).normal(0.5 + shift, 0.1, n)]


def only(result: Comparison) -> Pair:
    assert len(result.pairs) == 1
    return result.pairs[0]


# ---- ranking -------------------------------------------------------------------------------------------------------


def test_groups_by_hand() -> None:
    items = [
        *(RunRow("1", "p", 0.2, 1, "", "a"), RunRow("2", "p", 0.4, 2, "", "a"), RunRow("3", "q", 0.9, 4, "", "a")),
        *(RunRow("4", "p", 0.1, 0, "", "b"), RunRow("5", "q", None, None, "", "b"), RunRow("6", "q", None, None)),
    ]
    a, b, rest = module.by_group(items, [item.model for item in items])
    assert a.name == "a"
    assert [a.mean.value, a.score.value] == pytest.approx([(0.3 + 0.9) / 2, (1.5 + 4) / 2])
    assert (a.items, a.no_verdict, a.mean.n) == (3, 0, 2)
    assert (b.mean.value, b.items, b.no_verdict) == (0.1, 1, 1)
    assert (rest.name, rest.mean.value, rest.no_verdict) == ("(none)", None, 1)
    lines = list(module.group_lines([a, b, rest], "model"))
    assert len({len(line) for line in lines[:4]}) == 1, "columns stand under their heads"
    (entry,) = module.group_document([a], "model")["groups"]
    assert (entry["score"]["value"], entry["samples"], entry["value"]["n"]) == (2.75, 3, 2)


def test_systems_are_ranked_by_their_mean_over_prompts() -> None:
    two = [RunRow("x", "p", 0.0), RunRow("y", "p", 1.0), RunRow("z", "q", 0.9), RunRow("w", "q", None)]
    result = compare({"low": system([0.5, 0.6]), "two": two, "empty": [RunRow("v", "p", None)]})
    assert [system.name for system in result.ranking] == ["two", "low", "empty"]
    best, _, last = result.ranking
    assert best.mean == Estimate((0.5 + 0.9) / 2, None, None, 2, "no interval: fewer than 5 prompts")
    assert (best.items, best.no_verdict) == (3, 1)
    assert (last.mean, last.items, last.no_verdict) == (Estimate(None, None, None, 0, "no verdict"), 0, 1)


# ---- pairs ---------------------------------------------------------------------------------------------------------


def test_pairs_by_hand() -> None:
    pair = only(compare({"b": system([0.1, 0.2, 0.5, 0.4]), "a": system([0.3, 0.3, 0.5, 0.3])}))
    assert (pair.better, pair.worse) == ("a", "b")
    assert pair.effect.value == pytest.approx(0.05)  # (.2 + .1 + 0 − .1) / 4
    assert (pair.wins, pair.ties, pair.losses) == (2, 1, 1)
    assert pair.p == pair.p_alone == 0.75  # ±.2 ±.1 ±.1 is .2 or more away from 0 in 6 of 8 cases
    assert pair.verdict == "no significant difference between a and b (+0.050, p = .75)"


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_test_matches_scipy(seed: int) -> None:
    differences = np.random.default_rng(seed).normal(0.05, 0.1, 9).round(2)
    expected = stats.permutation_test(
        (differences, np.zeros(9)), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    by_prompt = {str(n): difference for n, difference in enumerate(differences)}
    assert module.sign_flip_tests([by_prompt, {}], seed)[0] == pytest.approx(expected.pvalue)


def test_random_signs_agree_with_the_t_test_and_repeat() -> None:
    for seed, shift in enumerate((0.0, 0.01, 0.02)):
        a, b = noise(200, shift, seed), noise(200, 0.0, seed + 10)
        pair = only(compare({"a": system(a), "b": system(b)}))
        assert pair.p_alone == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.015)
        assert pair == only(compare({"a": system(a), "b": system(b)}))


def test_random_and_exact_signs_agree() -> None:
    differences = {str(n): value - 0.46 for n, value in enumerate(noise(12))}
    more = {f"more {n}": 0.0 for n in range(10)}
    exact, random = (module.sign_flip_tests([each], 0)[0] for each in (differences, differences | more))
    assert random == pytest.approx(exact, abs=0.01)
    p, none = module.sign_flip_tests([{str(n): 1.0 for n in range(40)}, {}], seed=0)
    assert p == 1 / (module.FLIPS + 1), "never 0"
    assert math.isnan(none)


def test_holm_by_hand() -> None:
    """The example of R's p.adjust: sorted .005 .01 .03 .04 times 4 3 2 1, and never falling."""
    corrected = module.holm(np.array([0.01, 0.04, np.nan, 0.03, 0.005]))
    np.testing.assert_allclose(corrected, [0.03, 0.06, np.nan, 0.06, 0.02])
    np.testing.assert_array_equal(module.holm(np.array([0.5, 0.9])), 1.0)


def test_the_same_pictures_are_compared_by_id() -> None:
    """Where one judge has no verdict on a picture, the other's verdict on it does not count."""
    one = [RunRow("x", "p", 0.2), RunRow("y", "p", 1.0), RunRow("z", "q", 0.5)]
    other = [RunRow("x", "p", 0.2), RunRow("y", "p", None), RunRow("z", "q", 0.4)]
    pair = only(compare({"one": one, "other": other}))
    assert pair.effect.value == pytest.approx(0.05)
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 0)


def test_only_common_prompts_are_compared() -> None:
    result = compare({"a": system([0.9, 0.8, 0.1]), "b": system([0.1, 0.2], first=2), "c": system([0.3], first=9)})
    pairs = {frozenset((pair.better, pair.worse)): pair for pair in result.pairs}
    assert pairs[frozenset("ab")].effect.n == 1
    alone = pairs[frozenset("ac")]
    assert (alone.p, alone.significant, alone.effect.n) == (None, False, 0)
    assert alone.verdict == "a and c are not compared: they have no prompt in common"
    assert result.warnings[0].startswith("the systems have different prompts")
    assert not compare({"a": system([0.1]), "b": system([0.2])}).warnings


def test_rounding_errors_are_ties() -> None:
    pair = only(compare({"a": [RunRow("x", "p", 0.1 + 0.2)], "b": [RunRow("x", "p", 0.3)]}))
    assert (pair.ties, pair.p) == (1, 1.0)


def test_categories_are_corrected_together() -> None:
    def system(shift: float) -> list[RunRow]:
        values = noise(40, shift), noise(40, shift, seed=1)
        return [
            RunRow(f"{c}{n}", f"{c} prompt {n}", value, None, c)
            for c, numbers in zip("xy", values, strict=True)
            for n, value in enumerate(numbers)
        ]

    one = [*system(0.1), RunRow("z", "z", 0.5, None, "z")]
    found = module.compare_categories({"a": one, "b": system(0.0)})
    assert list(found) == ["x", "y"], "z has one system only"
    (x,), (y,) = (result.pairs for result in found.values())
    assert (x.better, y.better) == ("a", "a")
    assert x.p_alone is not None
    assert x.p == pytest.approx(2 * x.p_alone)
    text = "\n".join(module.lines(found))
    assert text.startswith("x:\n")
    assert "(pairs: 2)" in text
    with pytest.raises(UserError, match="no sample names one"):
        module.compare_categories({"a": [RunRow("1", "p", 0.5)], "b": []})


# ---- which systems -------------------------------------------------------------------------------------------------


def test_systems_are_runs_or_models() -> None:
    one = [RunRow("1", "p", 0.1, model="sd"), RunRow("2", "p", 0.1, model="dalle")]
    two = [RunRow("1", "p", 0.1, model="sd"), RunRow("3", "p", 0.1, model="flux")]
    runs = {"mon": one, "tue": two}
    assert systems(runs) == runs
    by_model = systems(runs, by_model=True)
    assert {name: [item.id for item in items] for name, items in by_model.items()} == {
        **{"sd (mon)": ["1"], "dalle": ["2"]},
        **{"sd (tue)": ["1"], "flux": ["3"]},
    }


def test_invalid_comparisons() -> None:
    with pytest.raises(UserError, match="only 'a' to compare: name another run, or use --by model"):
        compare({"a": system([0.1])})
    with pytest.raises(UserError, match="a: two items have the id 'x'"):
        compare({"a": [RunRow("x", "p", 0.1), RunRow("x", "p", 0.2)], "b": []})
    with pytest.raises(UserError, match="don't name the model"):
        systems({"a": system([0.1])}, by_model=True)


# ---- output ---------------------------------------------------------------------------------------


def test_table_and_document_agree() -> None:
    result = compare({"sdxl": system(noise(30, 0.2)), "b": system([*noise(29, 0.0, 1), 0.5]), "c": system([1.0], 99)})
    entry = json.loads(json.dumps(module.document(result), allow_nan=False))
    text = list(module.lines({"": result}))
    names = [system["name"] for system in entry["ranking"]]
    assert [line.split()[1] for line in text[1:4]] == names == ["c", "sdxl", "b"]
    for line, pair in zip(text[5:8], entry["pairs"], strict=True):
        assert line.startswith(pair["verdict"])
    assert text[7].endswith(f": wins {entry['pairs'][2]['wins']}, ties 0, losses {entry['pairs'][2]['losses']}")
    assert text[8].startswith("warning: the systems")
    assert "Holm-corrected (pairs: 1); significant below 0.05" in text[9]
    assert entry["pairs"][0]["p"] is None
    assert entry["pairs"][2]["shown"] is True


def test_p_values_are_formatted() -> None:
    words = {0.0004: "p < .001", 0.003: "p = .003", 0.41: "p = .41", 1: "p = 1.00"}
    assert {p: module.format_p(p) for p in words} == words

"""Weights that are fitted: to ratings, and to how voices agree with each other."""

import math

import numpy as np
import pytest

from onprompt.errors import UserError
from onprompt.fitting.validation import MIN_PROMPTS, MIN_RATED, fit_and_validate, folds
from onprompt.fitting.weights import (
    SMALLEST,
    Voices,
    as_settings,
    equal_weights,
    fit,
    jury_values,
    one_factor_weights,
)
from onprompt.models.voices import EVIDENCE, mean_value, with_shares
from onprompt.report.statistics import Array, Levels
from onprompt.settings import Settings
from onprompt.types import Voice

NAMES = ("openai/good", "openai/fair", "openai/bad")
NOISE = (0.3, 1.0, 8.0)


def made(
    samples: int = 400, per_prompt: int = 4, evidence: bool = False, seed: int = 0
) -> tuple[Voices, Array, Levels]:
    """Voices that see the truth, each with its own noise, and ratings of it."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=samples)
    values = 0.5 + 0.05 * np.array([truth + noise * generator.normal(size=samples) for noise in NOISE]).T
    beside = 0.5 + 0.05 * (truth + 1.0 * generator.normal(size=samples))[:, None]
    voices = Voices(NAMES, np.clip(values, 0, 1), np.ones(3))
    if evidence:
        voices = Voices((*NAMES, EVIDENCE), np.column_stack([voices.values, beside]), np.array([1.0, 1.0, 1.0, 0.2]))
    human = np.round(2 + truth + 0.5 * generator.normal(size=samples))
    return voices, human, np.arange(samples, dtype=np.intp) // per_prompt


def test_values_are_those_of_the_jury_itself() -> None:
    voices, *_ = made(50, evidence=True)
    voices.values[3, 1] = voices.values[4, 0] = voices.values[5, 3] = math.nan
    weights = np.array([2.0, 0.5, 0.1, 0.7])
    settings = Settings(jury_weights=tuple(zip(NAMES, weights.tolist(), strict=False)), jury_evidence_weight=0.7)
    for place, value in enumerate(jury_values(voices, weights)):
        row = zip(voices.names, voices.values[place].tolist(), strict=True)
        heard = [Voice(name, value=None if math.isnan(said) else said) for name, said in row]
        assert value == pytest.approx(mean_value(with_shares(heard, settings)))


def test_good_voices_get_more_weight_and_the_gain_is_real() -> None:
    voices, human, prompt = made(evidence=True)
    found = fit_and_validate(voices, human, prompt)
    good, fair, bad, measured = found.weights
    assert good > fair > bad > 0
    assert good + fair + bad == pytest.approx(3)
    assert measured == pytest.approx(fair / 3, rel=0.3), "as noisy as the second of three models"
    assert found.helps
    values = {name: each.value or 0.0 for name, each in found.figures.items()}
    assert (found.figures["over_defaults"].low or 0.0) > 0.05
    assert values["over_defaults"] == pytest.approx(values["fitted"] - values["defaults"])
    assert values["over_equal"] == pytest.approx(values["fitted"] - values["equal"])
    fresh, ratings, _ = made(5000, evidence=True, seed=1)
    ranks = [
        np.corrcoef(jury_values(fresh, weights), ratings)[0, 1]
        for weights in (found.weights, fresh.defaults, equal_weights(fresh))
    ]
    assert ranks[0] > ranks[1] + 0.05, "also on samples that nobody fitted or tested anything on"
    assert ranks[0] > ranks[2] + 0.05


def test_fewer_prompts_stay_nearer_to_the_defaults() -> None:
    voices, human, _ = made()
    steps = [np.abs(np.log(fit(voices, human, prompts))).max() for prompts in (1, 10, 100)]
    assert steps == sorted(steps)
    assert steps[0] < 0.3 < steps[2]


def test_ratings_that_mean_nothing_bring_nothing() -> None:
    """On prompts left out, weights that were fitted to noise are rarely better, and never surely so."""
    surely = 0
    for seed in range(10):
        voices, human, prompt = made(80, seed=seed)
        np.random.default_rng(seed).shuffle(human)
        surely += (fit_and_validate(voices, human, prompt).figures["over_defaults"].low or 0.0) > 0
    assert surely <= 1


def test_folds_leave_out_whole_prompts() -> None:
    _, _, prompt = made(100)
    tested = []
    for train, test in folds(prompt):
        assert not set(prompt[train]) & set(prompt[test])
        tested += test.tolist()
    assert sorted(tested) == list(range(100))


def test_a_voice_that_failed_on_many_samples() -> None:
    voices, human, prompt = made()
    voices.values[50:, 0] = math.nan
    found = fit_and_validate(voices, human, prompt)
    assert np.isfinite(found.weights).all()
    assert found.weights[1] > found.weights[2]
    voices.values[:, 0] = math.nan
    assert np.isfinite(fit_and_validate(voices, human, prompt).weights).all()


@pytest.mark.parametrize(
    ("samples", "per_prompt", "why"),
    [
        (MIN_RATED - 1, 2, "too few ratings to fit weights: 49 rated samples"),
        (MIN_RATED, 10, "too few prompts to fit weights: 5, and at least 8"),
    ],
)
def test_too_few_ratings_are_refused(samples: int, per_prompt: int, why: str) -> None:
    with pytest.raises(UserError, match=why):
        fit_and_validate(*made(samples, per_prompt))
    fit_and_validate(*made(MIN_RATED, MIN_RATED // MIN_PROMPTS))


def test_what_can_not_be_fitted_is_refused() -> None:
    voices, human, prompt = made(80)
    with pytest.raises(UserError, match="all mean ratings are 3"):
        fit_and_validate(voices, np.full(80, 3.0), prompt)
    single = Voices(NAMES[:1], voices.values[:, :1], np.ones(1))
    with pytest.raises(UserError, match="a single voice has no weight"):
        fit_and_validate(single, human, prompt)


def test_without_ratings_voices_that_agree_count_more() -> None:
    voices, *_ = made(2000, evidence=True)
    found = one_factor_weights(voices)
    good, fair, bad, measured = found
    assert good > fair > bad
    assert good + fair + bad == pytest.approx(3)
    assert measured == pytest.approx(fair / 3, rel=0.2), "as noisy as the second model"


def test_a_constant_voice_has_no_weight_without_ratings() -> None:
    voices, *_ = made(200, evidence=True)
    voices.values[:, 2] = 0.5
    found = one_factor_weights(voices)
    assert found[2] == 0
    assert as_settings(voices, found)["jury_weights"][NAMES[2]] == SMALLEST, "a jury's weights are above 0"


def test_too_little_to_compare_is_refused() -> None:
    voices, *_ = made(200)
    two = Voices(NAMES[:2], voices.values[:, :2], np.ones(2))
    with pytest.raises(UserError, match="at least 3 voices"):
        one_factor_weights(two)
    with pytest.raises(UserError, match="too few samples to fit weights: 49 samples scored by all"):
        one_factor_weights(voices.take(np.arange(49)))
    voices.values[49:, 0] = math.nan
    with pytest.raises(UserError, match="49 samples scored by all"):
        one_factor_weights(voices)
    voices.values[:] = 0.5
    with pytest.raises(UserError, match="fewer than 3 voices give different scores"):
        one_factor_weights(voices)

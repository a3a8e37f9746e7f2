"""Calibration on captions: vectors whose cosines are known stand for a model."""

from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from onprompt.errors import UserError
from onprompt.settings import Settings
from onprompt.vision.boxes import Floats
from onprompt_hub.caption_calibration import Example, area_under_curve, calibrate, read_captions
from onprompt_hub.match_curve import Curve

ANIMALS = ("dog", "cat", "horse", "cow", "bird", "sheep", "zebra", "bear", "duck", "mouse")
COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "grey", "orange", "pink")
CAPTIONS = [f"a {colour} {animal}" for colour in COLOURS for animal in ANIMALS]
NOTHING = Curve(0.0, 0.0)


def embed(texts: Sequence[str]) -> Floats:
    """A text's words, as ones at the words' places."""
    places = {word: place for place, word in enumerate((*COLOURS, *ANIMALS))}
    rows = np.full((len(texts), len(places)), 0.02)
    for row, text in zip(rows, texts, strict=True):
        row[[places[word] for word in text.split() if word in places]] = 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def examples(captions: Sequence[str], noise: float = 0.3) -> list[Example]:
    """Images whose vectors are those of their captions, with noise; the views after the first show something else."""
    random = np.random.default_rng(0)
    vectors = embed(captions) + noise * random.normal(size=(len(captions), 20)) / np.sqrt(20)
    views = np.stack([vectors, random.normal(size=vectors.shape) * 0.05], axis=1)
    views /= np.linalg.norm(views, axis=2, keepdims=True)
    return [Example(str(i), views[i].astype(np.float32), text) for i, text in enumerate(captions)]


def test_own_captions_are_told_from_others_and_held_out_images_profit(settings: Settings) -> None:
    fitted, counts = calibrate(examples(CAPTIONS), embed, NOTHING, settings)
    assert counts == {"images": 100, "captions": 100, "phrases": 300 - 100}
    for each in fitted.values():
        assert each.curve.slope > 0
        assert each.auc > 0.9
        assert each.log_loss < 0.4
        assert each.log_loss_before == pytest.approx(np.log(2))
    whole = fitted["whole"].curve.probabilities(np.array([1.0, 0.5, 0.0]))
    assert whole[0] > 0.9 > whole[1] > whole[2]


def test_a_worse_model_gets_a_flatter_curve(settings: Settings) -> None:
    clear, noisy = (calibrate(examples(CAPTIONS, noise), embed, NOTHING, settings)[0]["whole"] for noise in (0.3, 2.0))
    assert noisy.auc < clear.auc
    assert noisy.curve.slope < clear.curve.slope
    assert clear.log_loss < noisy.log_loss < np.log(2)


def test_captions_that_belong_to_other_images_are_refused(settings: Settings) -> None:
    shuffled = [example._replace(caption=CAPTIONS[i - 33]) for i, example in enumerate(examples(CAPTIONS))]
    with pytest.raises(UserError, match=r"own captions from those of others \(AUC 0\.\d\d\)"):
        calibrate(shuffled, embed, NOTHING, settings)


def test_too_few_images_are_refused(settings: Settings) -> None:
    with pytest.raises(UserError, match="49 images with English captions are too few"):
        calibrate(examples(CAPTIONS[:49]), embed, NOTHING, settings)
    with pytest.raises(UserError, match="0 images with captions of their own are too few"):
        calibrate(examples(["a red dog"] * 80), embed, NOTHING, settings)
    german = ["ein Hund läuft über die Wiese und der Himmel ist blau"] * 30
    with pytest.raises(UserError, match="40 images with English captions are too few"):
        calibrate(examples([*CAPTIONS[:40], *german]), embed, NOTHING, settings)


def test_captions_of_one_image_are_not_wrong_for_it(settings: Settings) -> None:
    pairs = [example for example in examples(CAPTIONS) for _ in range(2)]
    twice = [example._replace(caption=example.caption + " ." * (i % 2)) for i, example in enumerate(pairs)]
    _, counts = calibrate(twice, embed, NOTHING, settings)
    assert (counts["images"], counts["captions"]) == (100, 200)


def test_what_must_not_be_there_is_no_phrase_of_an_image(settings: Settings) -> None:
    texts, phrases = read_captions({"a": ["a red dog and no cat"]}, settings)
    assert phrases["a"] == ["a red dog", "dog"]
    assert "cat" not in texts["a"][0]


def test_the_area_under_the_curve() -> None:
    right, wrong = np.array([0.3, 0.5, 0.5, 0.9]), np.array([0.1, 0.5, 0.4])
    y = np.repeat([1, 0], [4, 3])
    assert area_under_curve(right, wrong) == pytest.approx(roc_auc_score(y, np.concatenate([right, wrong])))

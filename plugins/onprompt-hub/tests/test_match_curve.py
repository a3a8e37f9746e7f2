"""Curves from cosines to probabilities, against scikit-learn."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import log_loss  # type: ignore[import-untyped]

from onprompt.errors import UserError
from onprompt_hub.match_curve import Calibration, Cosines, Curve, fit_curve, read_calibration

RANDOM = np.random.default_rng(0)
RIGHT, WRONG = RANDOM.normal(0.3, 0.04, 4000), RANDOM.normal(0.2, 0.04, 12_000)
MADE = Calibration("owner/model", "abc", Curve(40.5, -9.25), Curve(30.0, -7.0), {"images": 60, "whole_auc": 0.97})


def both(right: Cosines, wrong: Cosines) -> tuple[Cosines, Cosines, Cosines]:
    y = np.repeat([1, 0], [len(right), len(wrong)])
    return np.concatenate([right, wrong]), y, np.where(y, 0.5 / len(right), 0.5 / len(wrong))


def test_the_curve_is_that_of_a_logistic_regression_with_equal_classes() -> None:
    x, y, weight = both(RIGHT, WRONG)
    theirs = LogisticRegression(C=1e12, tol=1e-8, max_iter=1000).fit(x[:, None] * 25, y, sample_weight=weight * 1e4)
    slope, intercept = fit_curve(RIGHT, WRONG)
    assert slope == pytest.approx(theirs.coef_[0, 0] * 25, rel=0.02)  # our targets are not quite 0 and 1
    assert intercept == pytest.approx(theirs.intercept_[0], rel=0.02)
    assert -intercept / slope == pytest.approx(0.25, abs=0.003)


def test_probabilities_and_their_log_loss() -> None:
    curve = fit_curve(RIGHT, WRONG)
    x, y, weight = both(RIGHT, WRONG)
    assert curve.log_loss(RIGHT, WRONG) == pytest.approx(log_loss(y, curve.probabilities(x), sample_weight=weight))
    assert Curve(0, 0).log_loss(RIGHT, WRONG) == pytest.approx(np.log(2))
    far = np.array([-1.0, 0.0, 1.0], dtype=np.float32)
    assert Curve(1e6, 0).probabilities(far).tolist() == pytest.approx([0, 0.5, 1])


def test_scores_that_do_not_overlap_have_a_finite_slope() -> None:
    curve = fit_curve(np.linspace(0.4, 0.5, 60), np.linspace(0.1, 0.2, 60))
    assert 20 < curve.slope < 1000
    assert curve.probabilities(np.array([0.3]))[0] == pytest.approx(0.5, abs=0.05)


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    MADE.write(tmp_path / "curve.toml")
    assert read_calibration(tmp_path / "curve.toml") == MADE
    odd = MADE._replace(model='C:\\models\\"mine" é')
    odd.write(tmp_path / "odd.toml")
    assert read_calibration(tmp_path / "odd.toml") == odd


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = 'a'\nrevision = 'b'\nwhole = [1, 2]", "no 'phrase'"),
        ("model = 'a'\nrevision = 'b'\nwhole = [1, 2]\nphrase = [0, 1]", "above 0"),
        ("model = 'a'\nrevision = 'b'\nwhole = [1, 2]\nphrase = [inf, 1]", "above 0"),
        ("model = 'a'\nrevision = 'b'\nwhole = [1, 2]\nphrase = 3", "not a calibration"),
        ("model =", "not a calibration"),
        (b"\xff\xfe", "not a calibration"),
    ],
)
def test_another_file_is_no_calibration(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "curve.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=message):
        read_calibration(path)
    path.unlink()
    with pytest.raises(UserError, match=r"can't read the calibration .*curve\.toml: No such file"):
        read_calibration(path)

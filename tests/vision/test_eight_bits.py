"""Networks in eight bits: close to full precision, without overflow, the same on one core and on many."""

from typing import Any

import numpy as np
import openvino as ov
import pytest
from numpy.typing import NDArray
from openvino import opset13 as op

from onprompt.settings import load
from onprompt.vision import backbone, runtime
from onprompt.vision.image import load_picture
from onprompt.weights.cache import paths

CHANNELS = 64


def convolution(weights: NDArray[np.float32]) -> ov.Model:
    x = op.parameter([1, weights.shape[1], 8, 8], np.float32)
    return ov.Model([op.convolution(x, weights, [1, 1], [1, 1], [1, 1], [1, 1])], [x], "one layer")


def run(model: ov.Model, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    result: NDArray[np.float32] = runtime.compile_model(model, runtime.FULL_PRECISION)([pixels])[0]
    return result


def both(weights: NDArray[np.float32], inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    places = (0, 2, 3)
    measured = runtime.Activation(inputs.min(axis=places), inputs.max(axis=places), inputs.mean(axis=places))
    return run(convolution(weights), inputs), run(runtime.quantize(convolution(weights), [measured]), inputs)


@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0])
def test_eight_bits_are_close_to_full_precision(shift: float) -> None:
    random = np.random.default_rng(0)
    weights = random.normal(size=(32, CHANNELS, 3, 3)).astype(np.float32)
    inputs = (random.normal(size=(1, CHANNELS, 8, 8)) + shift).astype(np.float32)
    exact, rounded = both(weights, inputs)
    assert not np.array_equal(exact, rounded)
    inner = np.s_[..., 1:-1, 1:-1]  # at the border, where less is added up, the correction is too large
    assert np.linalg.norm(rounded[inner] - exact[inner]) / np.linalg.norm(exact[inner]) < 0.02
    assert abs((rounded - exact)[inner].mean(axis=(0, 2, 3))).max() < 0.02 * exact.std()


def test_a_channel_with_large_values_leaves_steps_to_the_others() -> None:
    random = np.random.default_rng(0)
    weights = random.normal(size=(32, CHANNELS, 3, 3)).astype(np.float32)
    inputs = random.random((1, CHANNELS, 8, 8)).astype(np.float32)
    inputs[:, 0] *= 100
    weights[:, 0] /= 100
    exact, rounded = both(weights, inputs)
    inner = np.s_[..., 1:-1, 1:-1]
    assert np.linalg.norm(rounded[inner] - exact[inner]) / np.linalg.norm(exact[inner]) < 0.02


def test_the_largest_sums_do_not_overflow() -> None:
    weights = np.ones((32, CHANNELS, 3, 3), dtype=np.float32)
    weights[0] = -1
    inputs = np.full((1, CHANNELS, 8, 8), 3, dtype=np.float32)
    exact, rounded = both(weights, inputs)
    assert np.allclose(exact, rounded, rtol=1e-3)


@pytest.mark.parametrize("ends", [(0.0, 6.0), (-0.375, 9.0), (-3.0, 2.0), (-5.0, 0.0), (1.0, 2.0), (0.0, 0.0)])
def test_zero_is_a_step_and_the_range_is_covered(ends: tuple[float, float]) -> None:
    low, high = map(float, runtime.whole_zero(*ends))
    assert low <= ends[0] + 1e-6
    assert high >= ends[1] - 1e-6
    step = (high - low) / runtime.STEPS
    assert abs(low / step - round(low / step)) < 1e-3


@pytest.mark.models
def test_features_are_nearly_the_same_and_the_same_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load()
    picture = load_picture(paths(["chelsea.png"], settings)["chelsea.png"], settings)

    def features(precision: str) -> Any:
        chosen = settings.model_copy(update={"precision": precision})
        return backbone.run_backbone([backbone.shrink(picture.pixels)], chosen)[0]

    rounded, exact = features("int8"), features("f32")
    assert 0.01 < np.linalg.norm(rounded - exact) / np.linalg.norm(exact) < 0.12
    monkeypatch.setattr(runtime.thread_state, "single_core", True, raising=False)
    assert np.array_equal(features("int8"), rounded)

"""Networks: the same alone and as one of many, from the cache folder, and nearly the same in eight bits."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from numpy.typing import NDArray
from openvino import opset13 as op

from onprompt.settings import load
from onprompt.vision import backbone, runtime
from onprompt.vision.image import load_picture
from onprompt.weights import blobs
from onprompt.weights.cache import paths


def test_constants_are_folded() -> None:
    x = op.parameter([2], np.float32)
    weights = op.multiply(op.convert(op.constant(np.array([3, 4], dtype=np.int8)), "f32"), np.float32(0.5))
    model = runtime.fold_constants(ov.Model([op.add(op.multiply(x, weights), weights)], [x], "small"))
    assert {node.get_type_name() for node in model.get_ops()} == {"Parameter", "Constant", "Multiply", "Add", "Result"}
    assert runtime.Network(model).run([np.array([1, 2], dtype=np.float32)])[0].tolist() == [3.0, 6.0]


def test_a_view_that_cannot_be_read_waits_for_the_others() -> None:
    x = op.parameter([1, 8, 200, 200], np.float32)
    layer = op.convolution(x, np.ones((8, 8, 9, 9), dtype=np.float32), [1, 1], [0, 0], [0, 0], [1, 1])
    network = runtime.Network(ov.Model([layer], [x], "slow"), views=2)
    waited = []

    class Request:
        """A request that tells when it was waited for."""

        def __init__(self, number: int) -> None:
            self.number, self.own = number, network.compiled_for(False).create_infer_request()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.own, name)

        def wait(self) -> None:
            self.own.wait()
            waited.append(self.number)

    network.idle[False] += [Request(2), Request(1)]
    views = [[np.zeros((1, 8, 200, 200), dtype=np.float32)] for _ in range(2)]
    with pytest.raises(ZeroDivisionError):
        network.read_all(views, lambda _: 1 / 0)
    assert set(waited) == {1, 2}, "it would read inputs that are gone"
    assert not network.idle[False], "nobody knows what they are doing"


def test_requests_are_used_again_outputs_stay_and_a_released_network_runs_on() -> None:
    x = op.parameter([-1], np.float32)
    network = runtime.Network(ov.Model([op.multiply(x, np.float32(2))], [x], "double"))
    first = network.run([np.array([1, 2], dtype=np.float32)])[0]
    second = network.run([np.array([3, 4, 5], dtype=np.float32)])[0]
    assert {single: len(idle) for single, idle in network.idle.items()} == {False: 1, True: 0}
    network.release()
    assert not network.idle[False], "a request keeps its inputs and outputs"
    third = network.run([np.array([6], dtype=np.float32)])[0]
    assert [each.tolist() for each in (first, second, third)] == [[2.0, 4.0], [6.0, 8.0, 10.0], [12.0]]


@pytest.mark.parametrize("processor", [{}, {"ONEDNN_MAX_CPU_ISA": "AVX2"}])
def test_few_kernels_are_kept_and_only_here(processor: dict[str, str]) -> None:
    mine = [name for name in os.environ if not name.endswith("PRIMITIVE_CACHE_CAPACITY")]
    code = "from onprompt.vision import runtime; runtime.openvino_core(); import os; print(sorted(os.environ))"
    env = {**{name: os.environ[name] for name in mine}, "ONEDNN_VERBOSE": "all", **processor}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "create:cache_miss" in done.stdout, "oneDNN reads how many it keeps when it makes the first"
    assert "PRIMITIVE_CACHE_CAPACITY" not in done.stdout.splitlines()[-1], "torch has a oneDNN of its own"


def test_images_are_opened_without_loading_networks() -> None:
    code = "import sys, onprompt.vision.image; print({'openvino', 'cv2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_openvino_reports_nothing_and_nothing_stays_hidden(tmp_path: Path) -> None:
    (tmp_path / "openvino_telemetry").mkdir()
    (tmp_path / "openvino_telemetry" / "__init__.py").write_text("print('reports')")
    code = "import sys, onprompt.vision.runtime; print('openvino' in sys.modules); import openvino_telemetry"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "reports"], "first ours, then the user's own import"


# ---- compiled networks in a folder ---------------------------------------------------------------------------------

INPUT = np.linspace(-1, 1, 8, dtype=np.float32)[None]


def never() -> ov.Model:
    raise AssertionError("built again")


def graph() -> ov.Model:
    x = op.parameter([1, 8], np.float32)
    weights = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float16)
    return ov.Model([op.softmax(op.matmul(x, op.convert(weights, "f32"), False, False), 1)], [x], "small")


def made_of(folder: Path, *hashes: str) -> runtime.Source:
    return runtime.Source((Path("small.onnx"),), hashes, "int8", folder)


def result(source: runtime.Source, build: Callable[[], ov.Model]) -> Any:
    return runtime.network("small", source, build).run([INPUT])[0]


def test_the_second_process_builds_nothing_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = result(made_of(tmp_path, "a"), graph)
    assert np.array_equal(first, runtime.Network(graph()).run([INPUT])[0])
    assert np.array_equal(first, result(made_of(tmp_path, "a"), never))
    monkeypatch.setattr(runtime.thread_state, "single_core", True, raising=False)
    assert np.array_equal(first, result(made_of(tmp_path, "a"), never))


def test_another_file_or_name_is_another_network(tmp_path: Path) -> None:
    result(made_of(tmp_path, "a"), graph)
    with pytest.raises(AssertionError, match="built again"):
        result(made_of(tmp_path, "b"), never)
    with pytest.raises(AssertionError, match="built again"):
        runtime.network("small int8", made_of(tmp_path, "a"), never).run([INPUT])


@pytest.mark.parametrize("isa", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"])
def test_another_processor_is_another_network(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = runtime.key("small", ["a"])
    runtime.machine.cache_clear()
    monkeypatch.setenv(isa, "AVX2")
    assert runtime.key("small", ["a"]) != usual
    runtime.machine.cache_clear()


def test_what_openvino_can_not_read_is_compiled_again(tmp_path: Path) -> None:
    first = result(made_of(tmp_path, "a"), graph)
    (path,) = blobs.files(tmp_path)
    blobs.write(path, b"of another program")  # with a right hash
    assert np.array_equal(first, result(made_of(tmp_path, "a"), graph))
    assert np.array_equal(first, result(made_of(tmp_path, "a"), never))


# ---- eight bits ----------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(("shift", "large"), [(0.0, 1), (1.0, 1), (4.0, 1), (0.0, 100)])
def test_eight_bits_are_close_to_full_precision(shift: float, large: float) -> None:
    """Even if one channel has much larger values than the others."""
    random = np.random.default_rng(0)
    weights = random.normal(size=(32, CHANNELS, 3, 3)).astype(np.float32)
    inputs = (random.normal(size=(1, CHANNELS, 8, 8)) + shift).astype(np.float32)
    inputs[:, 0] *= large
    weights[:, 0] /= large
    exact, rounded = both(weights, inputs)
    assert not np.array_equal(exact, rounded)
    inner = np.s_[..., 1:-1, 1:-1]  # at the border, where less is added up, the correction is too large
    assert np.linalg.norm(rounded[inner] - exact[inner]) / np.linalg.norm(exact[inner]) < 0.02
    assert abs((rounded - exact)[inner].mean(axis=(0, 2, 3))).max() < 0.02 * exact.std()


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

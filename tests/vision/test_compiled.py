"""A network from the cache folder gives the very numbers that it gave when it was compiled."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from onprompt.vision import runtime
from onprompt.weights import blobs

INPUT = np.linspace(-1, 1, 8, dtype=np.float32)[None]


def never() -> ov.Model:
    raise AssertionError("built again")


def graph() -> ov.Model:
    x = op.parameter([1, 8], np.float32)
    weights = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float16)
    return ov.Model([op.softmax(op.matmul(x, op.convert(weights, "f32"), False, False), 1)], [x], "small")


def source(folder: Path, *hashes: str) -> runtime.Source:
    return runtime.Source((Path("small.onnx"),), hashes, "int8", folder)


def result(source: runtime.Source, build: Callable[[], ov.Model]) -> Any:
    return runtime.network("small", source, build).run([INPUT])[0]


def test_the_second_process_builds_nothing_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = result(source(tmp_path, "a"), graph)
    assert np.array_equal(first, runtime.Network(graph()).run([INPUT])[0])
    assert np.array_equal(first, result(source(tmp_path, "a"), never))
    monkeypatch.setattr(runtime.thread_state, "single_core", True, raising=False)
    assert np.array_equal(first, result(source(tmp_path, "a"), never))


def test_another_file_or_name_is_another_network(tmp_path: Path) -> None:
    result(source(tmp_path, "a"), graph)
    with pytest.raises(AssertionError, match="built again"):
        result(source(tmp_path, "b"), never)
    with pytest.raises(AssertionError, match="built again"):
        runtime.network("small int8", source(tmp_path, "a"), never).run([INPUT])


@pytest.mark.parametrize("isa", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"])
def test_another_processor_is_another_network(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = runtime.key("small", ["a"])
    runtime.machine.cache_clear()
    monkeypatch.setenv(isa, "AVX2")
    assert runtime.key("small", ["a"]) != usual
    runtime.machine.cache_clear()


def test_what_openvino_can_not_read_is_compiled_again(tmp_path: Path) -> None:
    first = result(source(tmp_path, "a"), graph)
    (path,) = blobs.files(tmp_path)
    blobs.write(path, b"of another program")  # with a right hash
    assert np.array_equal(first, result(source(tmp_path, "a"), graph))
    assert np.array_equal(first, result(source(tmp_path, "a"), never))

"""A network gives the same alone and as one of many; else a run in threads would find other things than one look."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from onprompt import Verdict, judge_many, verify
from onprompt.vision import runtime
from tests.conftest import photo_path

pytestmark = pytest.mark.models

PROMPT = "a smiling woman waving, a red cup, a round table"


def test_what_threads_see_is_what_one_sees() -> None:
    alone = verify(photo_path("astronaut.png"), PROMPT)
    for other in judge_many("verify", [{"image": photo_path("astronaut.png"), "prompt": PROMPT}] * 2):
        assert isinstance(other, Verdict)
        assert [check.outcome for check in other.checks] == [check.outcome for check in alone.checks]
        assert [check.probability for check in other.checks] == pytest.approx(
            [check.probability for check in alone.checks], abs=1e-3
        )


def test_constants_are_folded() -> None:
    x = op.parameter([2], np.float32)
    weights = op.multiply(op.convert(op.constant(np.array([3, 4], dtype=np.int8)), "f32"), np.float32(0.5))
    model = runtime.fold_constants(ov.Model([op.add(op.multiply(x, weights), weights)], [x], "small"))
    assert {node.get_type_name() for node in model.get_ops()} == {"Parameter", "Constant", "Multiply", "Add", "Result"}
    assert runtime.Network(model).run([np.array([1, 2], dtype=np.float32)])[0].tolist() == [3.0, 6.0]


def test_requests_are_used_again_and_outputs_stay_as_they_were() -> None:
    x = op.parameter([-1], np.float32)
    network = runtime.Network(ov.Model([op.multiply(x, np.float32(2))], [x], "double"))
    first = network.run([np.array([1, 2], dtype=np.float32)])[0]
    second = network.run([np.array([3, 4, 5], dtype=np.float32)])[0]
    assert (first.tolist(), second.tolist()) == ([2.0, 4.0], [6.0, 8.0, 10.0])
    assert {single: len(idle) for single, idle in network.idle.items()} == {False: 1, True: 0}


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


def test_a_released_network_runs_on() -> None:
    x = op.parameter([-1, 2], np.float32)
    network = runtime.Network(ov.Model([op.multiply(x, np.float32(2))], [x], "double"))
    for number in (1, 3):
        (found,) = network.run([np.ones((number, 2), dtype=np.float32)])
        assert found.tolist() == [[2.0, 2.0]] * number
        network.release()
        assert not network.idle[False], "a request keeps its inputs and outputs"


@pytest.mark.parametrize("processor", [{}, {"ONEDNN_MAX_CPU_ISA": "AVX2"}])
def test_few_kernels_are_kept_and_only_here(processor: dict[str, str]) -> None:
    mine = [name for name in os.environ if not name.endswith("PRIMITIVE_CACHE_CAPACITY")]
    code = "from onprompt.vision import runtime; runtime.openvino_core(); import os; print(sorted(os.environ))"
    env = {**{name: os.environ[name] for name in mine}, "ONEDNN_VERBOSE": "all", **processor}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "create:cache_miss" in done.stdout, "oneDNN reads how many it keeps when it makes the first"
    assert "PRIMITIVE_CACHE_CAPACITY" not in done.stdout.splitlines()[-1], "torch has a oneDNN of its own"


def test_openvino_reports_nothing_and_nothing_stays_hidden(tmp_path: Path) -> None:
    (tmp_path / "openvino_telemetry").mkdir()
    (tmp_path / "openvino_telemetry" / "__init__.py").write_text("print('reports')")
    code = "import sys, onprompt.vision.runtime; print('openvino' in sys.modules); import openvino_telemetry"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "reports"], "first ours, then the user's own import"

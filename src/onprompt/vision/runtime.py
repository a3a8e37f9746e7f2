"""OpenVINO, set up once: full precision, since half moves scores by up to .13."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray


@cache
def core() -> ov.Core:
    """The process's one OpenVINO core."""
    return ov.Core()


def taking_pixels(model: ov.Model, index: int, mean: Sequence[float], spread: Sequence[float]) -> ov.Model:
    """The model with its image input changed to take pixels as they are (height × width × RGB, 0 to 255)."""
    steps = ov.preprocess.PrePostProcessor(model)
    image = steps.input(index)
    image.tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    image.model().set_layout(ov.Layout("NCHW"))
    image.preprocess().convert_element_type(ov.Type.f32).mean(list(mean)).scale(list(spread))
    return steps.build()


class Network:
    """A compiled model; safe to run from several threads."""

    def __init__(self, model: ov.Model) -> None:
        options = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        self.compiled = core().compile_model(model, "CPU", options)

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
        """The outputs, in the model's order."""
        request = self.compiled.create_infer_request()
        request.infer(list(inputs), share_inputs=True)
        return [np.array(request.get_output_tensor(index).data) for index in range(len(self.compiled.outputs))]

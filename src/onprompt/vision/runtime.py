"""OpenVINO, set up once: full precision, since half moves scores by up to .13."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

PRECISE = {"INFERENCE_PRECISION_HINT": "f32"}
Made = TypeVar("Made")
# OpenVINO fills its tables of number types when they are first used. Two threads that do so at the same moment wait for
# each other for ever, so it is done here, where only one can be.
ov.Type(np.dtype(np.float32)).to_dtype()


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


def worked_out(model: ov.Model) -> ov.Model:
    """The model with all that depends on no input computed, so that its weights stand in it as they are used."""
    fixed: set[str] = set()
    for node in model.get_ordered_ops():
        needs = {each.get_source_output().get_node().get_name() for each in node.inputs()}
        if node.get_type_name() == "Constant" or (needs and needs <= fixed):
            fixed.add(node.get_name())
    ends = [
        output
        for node in model.get_ordered_ops()
        if node.get_name() in fixed and node.get_type_name() != "Constant"
        for output in node.outputs()
        if any(use.get_node().get_name() not in fixed for use in output.get_target_inputs())
    ]
    if ends:
        part = ov.Model([op.result(each) for each in ends], [], "fixed")
        request = core().compile_model(part, "CPU", PRECISE).create_infer_request()
        request.infer()
        for index, each in enumerate(ends):
            each.replace(op.constant(np.array(request.get_output_tensor(index).data)).output(0))
    return model


here = threading.local()


@cache
def limit_threads(cores: int) -> None:
    """Run the networks of this process on so many cores, wherever the machine has room.

    By default OpenVINO takes all, and pins its threads to the first: there the processes of a machine would meet.
    """
    core().set_property("CPU", {"INFERENCE_NUM_THREADS": cores, "ENABLE_CPU_PINNING": False})


def share_the_cores() -> None:
    """From now on this thread is one of several that run networks: each gets a core, not all of them."""
    here.among_many = True


def once(make: Callable[[Path], Made]) -> Callable[[Path], Made]:
    """`make` called once for a path in a process, whichever thread asks first."""
    made: dict[Path, Made] = {}
    lock = threading.Lock()

    @wraps(make)
    def get(path: Path) -> Made:
        with lock:
            if path not in made:
                made[path] = make(path)
            return made[path]

    return get


class Network:
    """A compiled model; safe to run from several threads."""

    def __init__(self, model: ov.Model) -> None:
        self.model = model
        self.compiled = core().compile_model(model, "CPU", {**PRECISE, "PERFORMANCE_HINT": "LATENCY"})
        self.making = threading.Lock()

    @cached_property
    def of_many(self) -> ov.CompiledModel:
        """The same for many pictures at a time, a core for each; made when it is first needed."""
        # Streams share weights by their place in memory. Those that OpenVINO works out for a stream are in memory that
        # it frees and uses again, so that a layer may get the weights of another one, and nothing says so.
        model = worked_out(self.model.clone())
        # Pinned, the first streams of all networks are on one core, which threads that run different ones would share.
        streams = {"NUM_STREAMS": str(os.cpu_count() or 1), "ENABLE_CPU_PINNING": "NO"}
        return core().compile_model(model, "CPU", {**PRECISE, **streams})

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
        """The outputs, in the model's order."""
        compiled = self.compiled
        if getattr(here, "among_many", False):
            with self.making:
                compiled = self.of_many
        request = compiled.create_infer_request()
        request.infer(list(inputs), share_inputs=True)
        return [np.array(request.get_output_tensor(index).data) for index in range(len(self.compiled.outputs))]

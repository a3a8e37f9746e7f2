"""Networks in eight bits: about two thirds of the processor time, for a little accuracy.

The inputs of a network's convolutions are rounded to 256 steps of a range, and their weights to 128 steps: with those,
sums of products do not overflow on processors without instructions for eight bits. `training/eight_bits/measure.py`
measured the ranges on photos, and the mean of each channel: what rounding the weights adds to the sums on average is
taken off again, which halves the error.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino as ov
from openvino import opset13 as op

from onprompt.vision.boxes import Floats

FOLDER = Path(__file__).with_name("activations")
STEPS = 255  # of an activation's range
# Two products of an activation (up to 255) and a weight are added in sixteen bits where a processor knows no better: a
# weight may be 64 at most.
LARGEST_WEIGHT = 63
Node = Any  # OpenVINO's nodes carry no types


class Activation(NamedTuple):
    """What a convolution is given: the range of all values (NaN: it stays in 32 bits), and the mean of each channel."""

    low: float
    high: float
    mean: Floats


@cache
def load_activations(network: str) -> tuple[Activation, ...]:
    """The measured activations of a network's convolutions in their order; none of a network that was not measured."""
    path = FOLDER / f"{network}.npz"
    if not path.exists():
        return ()
    with np.load(path, allow_pickle=False) as file:
        means = np.split(file["means"].astype(np.float32), np.cumsum(file["channels"])[:-1])
        return tuple(
            Activation(low, high, mean) for (low, high), mean in zip(file["ranges"].tolist(), means, strict=True)
        )


def convolutions(model: ov.Model) -> list[Node]:
    """The convolutions that take most of the time: those that combine channels, on more than a single place."""
    return [node for node in model.get_ordered_ops() if node.get_type_name() == "Convolution" and not is_tiny(node)]


def is_tiny(layer: Node) -> bool:
    """Whether a convolution is known to see a single place, or its weights are computed."""
    height = layer.input_value(0).get_partial_shape()[2]
    single = height.is_static and height.get_length() == 1
    return bool(single or layer.input_value(1).get_node().get_type_name() != "Constant")


def quantize(model: ov.Model, activations: Sequence[Activation]) -> ov.Model:
    """The model with its convolutions in eight bits, as OpenVINO will run them."""
    rounded: dict[tuple[str, int], Node] = {}  # an output that several convolutions use is rounded once
    for layer, activation in zip(convolutions(model), activations, strict=True):
        if np.isnan(activation.low):
            continue
        source = layer.input_value(0)
        key = source.get_node().get_name(), source.get_index()
        if key not in rounded:
            rounded[key] = fake_quantize(source, *whole_zero(activation.low, activation.high), STEPS + 1)
        layer.input(0).replace_source_output(rounded[key].output(0))
        quantize_weights(layer, activation.mean)
    model.validate_nodes_and_infer_types()
    return model


def quantize_weights(layer: Node, mean: Floats) -> None:
    """Round a convolution's weights, each output channel in its own range, and correct its output."""
    weights = np.array(layer.input_value(1).get_node().get_data(), dtype=np.float32)
    largest = np.maximum(np.abs(weights).max(axis=(1, 2, 3), keepdims=True), np.float32(1e-12))
    step = largest / np.float32(LARGEST_WEIGHT)
    bound = step * np.float32(STEPS // 2)  # eight bits, of which the weights use half
    layer.input(1).replace_source_output(fake_quantize(op.constant(weights), -bound, bound, STEPS).output(0))
    error = (np.round(weights / step) * step - weights).sum(axis=(2, 3))
    users = list(layer.output(0).get_target_inputs())
    corrected = op.subtract(layer.output(0), (error @ mean).astype(np.float32).reshape(1, -1, 1, 1))
    for user in users:
        user.replace_source_output(corrected.output(0))


def fake_quantize(source: Any, low: Any, high: Any, levels: int) -> Node:
    """Round to so many levels of a range; OpenVINO then computes with their numbers."""
    ends = op.constant(low), op.constant(high)
    return op.fake_quantize(source, *ends, *ends, levels)


def whole_zero(low: float, high: float) -> tuple[np.float32, np.float32]:
    """The range, widened so that zero, the border of every convolution, is one of its steps."""
    low, high = min(low, 0.0), max(high, 1e-6)
    below = min(max(round(STEPS * -low / (high - low)), 1), STEPS - 1) if low else 0
    step = max(-low / below if below else 0.0, high / (STEPS - below))
    return np.float32(-step * below), np.float32(step * (STEPS - below))

"""Networks in eight bits: a third to two thirds of the processor time, by the processor, for a small error.

The inputs of a network's convolutions are rounded to 256 steps of a range, and their weights to 128 steps: with those,
sums of products do not overflow on processors without instructions for eight bits. `training/eight_bits/measure.py`
measured the range and the mean of each channel on photos. Channels with large values are scaled down, and what rounding
the weights adds to the sums on average is taken off again.
"""

from collections import defaultdict
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
BALANCE = 0.25  # exponent of a channel's range; its weights have the rest. 0.5 is hardly worse, 0.75 is
Node = Any  # OpenVINO's nodes carry no types


class Activation(NamedTuple):
    """What a convolution is given: the lowest, highest and mean value of each channel (NaN: it stays in 32 bits)."""

    low: Floats
    high: Floats
    mean: Floats


@cache
def load_activations(network: str) -> tuple[Activation, ...]:
    """The measured activations of a network's convolutions in their order; none of a network that was not measured."""
    path = FOLDER / f"{network}.npz"
    if not path.exists():
        return ()
    with np.load(path, allow_pickle=False) as file:
        layers = np.split(file["values"].astype(np.float32), np.cumsum(file["channels"])[:-1], axis=1)
        return tuple(Activation(*layer) for layer in layers)


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
    by_source = defaultdict(list)  # an output that several convolutions use is rounded once
    for layer, activation in zip(convolutions(model), activations, strict=True):
        if not np.isnan(activation.low[0]):
            source = layer.input_value(0)
            by_source[source.get_node().get_name(), source.get_index()].append((layer, activation))
    for users in by_source.values():
        layers, (low, high, mean) = [layer for layer, _ in users], users[0][1]
        scale = balance(np.maximum(-low, high), np.max([channel_weights(layer) for layer in layers], axis=0))
        ends = whole_zero(float((low / scale).min()), float((high / scale).max()))
        rounded = round_channels(layers[0].input_value(0), scale, *ends)
        for layer in layers:
            layer.input(0).replace_source_output(rounded.output(0))
            quantize_weights(layer, scale, mean)
    model.validate_nodes_and_infer_types()
    return model


def channel_weights(layer: Node) -> Floats:
    """The largest weight of each input channel of a convolution."""
    largest: Floats = np.abs(layer.input_value(1).get_node().get_data()).max(axis=(0, 2, 3))
    return largest


def balance(largest: Floats, weights: Floats) -> Floats:
    """What each channel is divided by before it is rounded, and its weights are multiplied by.

    All channels share one range: without this scaling, a few with large values would leave few steps to the others.
    """
    largest, weights = (np.maximum(each, 1e-3 * each.max() + 1e-9) for each in (largest, weights))
    scale = largest**BALANCE / weights ** (1 - BALANCE)
    return np.asarray(scale / np.exp(np.log(scale).mean()), dtype=np.float32)


def round_channels(source: Any, scale: Floats, low: np.float32, high: np.float32) -> Node:
    """Divide each channel by its scale and round it to the steps of a range."""
    channels = scale.reshape(1, -1, 1, 1)
    return op.fake_quantize(
        source,
        op.constant(low * channels),
        op.constant(high * channels),
        op.constant(low),
        op.constant(high),
        STEPS + 1,
    )


def quantize_weights(layer: Node, scale: Floats, mean: Floats) -> None:
    """Multiply and round a convolution's weights, each output channel in its own range, and correct its output."""
    weights = layer.input_value(1).get_node().get_data() * scale.reshape(1, -1, 1, 1)
    largest = np.maximum(np.abs(weights).max(axis=(1, 2, 3), keepdims=True), np.float32(1e-12))
    step = largest / np.float32(LARGEST_WEIGHT)
    bound = op.constant(step * np.float32(STEPS // 2))  # eight bits, of which the weights use half
    below = op.constant(-step * np.float32(STEPS // 2))
    rounded = op.fake_quantize(op.constant(weights), below, bound, below, bound, STEPS)
    layer.input(1).replace_source_output(rounded.output(0))
    error = (np.round(weights / step) * step - weights).sum(axis=(2, 3))
    users = list(layer.output(0).get_target_inputs())
    corrected = op.subtract(layer.output(0), (error @ (mean / scale)).astype(np.float32).reshape(1, -1, 1, 1))
    for user in users:
        user.replace_source_output(corrected.output(0))


def whole_zero(low: float, high: float) -> tuple[np.float32, np.float32]:
    """The range, widened so that zero, the border of every convolution, is one of its steps."""
    low, high = min(low, 0.0), max(high, 1e-6)
    below = min(max(round(STEPS * -low / (high - low)), 1), STEPS - 1) if low else 0
    step = max(-low / below if below else 0.0, high / (STEPS - below))
    return np.float32(-step * below), np.float32(step * (STEPS - below))

"""Blocks of YOLO networks as OpenVINO nodes, built from their tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import opset13 as op

from onprompt.weights.torchfile import Tensors

Node = Any  # OpenVINO's nodes carry no types
STRIDES = (8, 16, 32)


class Blocks:
    """A prefix such as `model.12.` finds a block's tensors and its shapes."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors

    def get(self, name: str) -> NDArray[np.float32]:
        return self.tensors[name].astype(np.float32)

    def has(self, name: str) -> bool:
        return name in self.tensors

    def plain_conv(self, x: Node, prefix: str) -> Node:
        """A 1 × 1 convolution with bias."""
        y = op.convolution(x, self.get(prefix + "weight"), [1, 1], [0, 0], [0, 0], [1, 1])
        return op.add(y, self.get(prefix + "bias").reshape(1, -1, 1, 1))

    def conv(self, x: Node, prefix: str, stride: int = 1, act: bool = True) -> Node:
        """Convolution with its batch norm folded in, then SiLU."""
        bn = prefix + "bn."
        scale = self.get(bn + "weight") / np.sqrt(self.get(bn + "running_var") + 1e-3)
        kernel = self.get(prefix + "conv.weight") * scale.reshape(-1, 1, 1, 1)
        shift = self.get(bn + "bias") - self.get(bn + "running_mean") * scale
        pad = [kernel.shape[-1] // 2] * 2
        if kernel.shape[1] == 1:  # channel by channel
            y = op.group_convolution(x, kernel[:, None], [stride] * 2, pad, pad, [1, 1])
        else:
            y = op.convolution(x, kernel, [stride] * 2, pad, pad, [1, 1])
        y = op.add(y, shift.reshape(1, -1, 1, 1))
        return op.swish(y) if act else y

    def sppf(self, x: Node, prefix: str, act: bool = True) -> Node:
        """Each pixel beside the strongest of its surroundings, near and far."""
        parts = [self.conv(x, prefix + "cv1.", act=act)]
        for _ in range(3):
            pool = op.max_pool(parts[-1], [1, 1], [1, 1], [2, 2], [2, 2], [5, 5], "floor", "explicit", "i32", 0)
            parts.append(pool.output(0))
        return self.conv(op.concat(parts, 1), prefix + "cv2.")


def upsample(x: Node) -> Node:
    """Twice as wide and high, nearest neighbour."""
    scales = np.array([2, 2], dtype=np.float32)
    return op.interpolate(
        x,
        scales,
        "nearest",
        "scales",
        axes=np.array([2, 3]),
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )

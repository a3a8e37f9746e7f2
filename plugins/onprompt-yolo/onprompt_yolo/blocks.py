"""Blocks of YOLO networks as OpenVINO nodes, built from their tensors."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onprompt.vision.boxes import Floats
from onprompt.vision.runtime import op
from onprompt_yolo.torchfile import Tensors

Node = Any  # OpenVINO's nodes carry no types
STRIDES = (8, 16, 32)


class Blocks:
    """A prefix such as `model.12.` names a block's tensors, which have its shapes."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors

    def get(self, name: str) -> Floats:
        return self.tensors[name].astype(np.float32)

    def has(self, name: str) -> bool:
        return name in self.tensors

    def children(self, prefix: str, tensor: str) -> Iterator[str]:
        """The prefixes of a list of blocks that each have a tensor: `model.2.m.0.`, `model.2.m.1.`, …"""
        prefixes = (f"{prefix}{index}." for index in itertools.count())
        return itertools.takewhile(lambda child: self.has(child + tensor), prefixes)

    def conv_with_bias(self, x: Node, prefix: str) -> Node:
        """A 1 × 1 convolution with bias."""
        y = op.convolution(x, self.get(prefix + "weight"), [1, 1], [0, 0], [0, 0], [1, 1])
        return op.add(y, self.get(prefix + "bias").reshape(1, -1, 1, 1))

    def conv(self, x: Node, prefix: str, stride: int = 1, act: bool = True) -> Node:
        """A convolution with its batch norm folded in, then SiLU."""
        bn = prefix + "bn."
        scale = self.get(bn + "weight") / np.sqrt(self.get(bn + "running_var") + 1e-3)
        kernel = self.get(prefix + "conv.weight") * scale.reshape(-1, 1, 1, 1)
        shift = self.get(bn + "bias") - self.get(bn + "running_mean") * scale
        pad = [kernel.shape[-1] // 2] * 2
        if kernel.shape[1] == 1:  # depthwise
            y = op.group_convolution(x, kernel[:, None], [stride] * 2, pad, pad, [1, 1])
        else:
            y = op.convolution(x, kernel, [stride] * 2, pad, pad, [1, 1])
        y = op.add(y, shift.reshape(1, -1, 1, 1))
        return op.swish(y) if act else y

    def sppf(self, x: Node, prefix: str, act: bool = True) -> Node:
        """Spatial pyramid pooling: maxima over growing neighbourhoods."""
        parts = [self.conv(x, prefix + "cv1.", act=act)]
        for _ in range(3):
            pool = op.max_pool(parts[-1], [1, 1], [1, 1], [2, 2], [2, 2], [5, 5], "floor", "explicit", "i32", 0)
            parts.append(pool.output(0))
        return self.conv(op.concat(parts, 1), prefix + "cv2.")

    def backbone(self, image: Node, block: Callable[[Node, str], Node]) -> list[Node]:
        """The outputs of the first nine layers: strided convolutions, and blocks of the network's own kind."""
        layers = [image]
        for index in range(9):
            x, prefix = layers[-1], f"model.{index}."
            is_block = self.has(prefix + "cv1.conv.weight")
            layers.append(block(x, prefix) if is_block else self.conv(x, prefix, stride=2))
        return layers[1:]

    def upsampled(self, x: Node, skip: Node) -> Node:
        """A coarse level enlarged, beside a finer one."""
        return op.concat([upsample(x), skip], 1)

    def downsampled(self, x: Node, prefix: str, skip: Node) -> Node:
        """A fine level scaled down, beside a coarser one."""
        return op.concat([self.conv(x, prefix, stride=2), skip], 1)

    def head(self, x: Node, prefix: str) -> Node:
        """Three convolutions, the last with bias."""
        return self.conv_with_bias(self.conv(self.conv(x, prefix + "0."), prefix + "1."), prefix + "2.")


def upsample(x: Node) -> Node:
    """Twice as wide and high, nearest neighbour."""
    scales, axes = np.array([2, 2], dtype=np.float32), np.array([2, 3])
    how = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
    return op.interpolate(x, scales, "nearest", "scales", axes=axes, **how)

"""YOLO26 as an OpenVINO graph, any of its sizes, built from its tensors."""

from __future__ import annotations

import itertools

import numpy as np
import openvino as ov
from openvino import opset13 as op

from onprompt.vision.blocks import Blocks, Node, upsample
from onprompt.weights.torchfile import Tensors

HEAD = 64  # channels of one attention head; a query and a key have half of them


class Graph(Blocks):
    """What YOLO26 adds: nested bottlenecks, and pixels that look at each other."""

    def bottleneck(self, x: Node, prefix: str) -> Node:
        return op.add(x, self.conv(self.conv(x, prefix + "cv1."), prefix + "cv2."))

    def c3k(self, x: Node, prefix: str) -> Node:
        """Some bottlenecks, beside the way around them."""
        y = self.conv(x, prefix + "cv1.")
        for index in itertools.takewhile(lambda i: self.has(f"{prefix}m.{i}.cv1.conv.weight"), itertools.count()):
            y = self.bottleneck(y, f"{prefix}m.{index}.")
        return self.conv(op.concat([y, self.conv(x, prefix + "cv2.")], 1), prefix + "cv3.")

    def attention(self, x: Node, prefix: str) -> Node:
        """Each pixel takes from the pixels that it is like, and from its neighbours."""
        heads = self.get(prefix + "proj.conv.weight").shape[0] // HEAD
        mixed = op.reshape(
            self.conv(x, prefix + "qkv.", act=False), [heads, 2 * HEAD, -1], False
        )  # one image at a time
        query, key, value = op.variadic_split(mixed, 1, [HEAD // 2, HEAD // 2, HEAD]).outputs()
        weights = op.softmax(op.multiply(op.matmul(query, key, True, False), np.float32((HEAD // 2) ** -0.5)), -1)
        shape = op.shape_of(x)
        seen = op.reshape(op.matmul(value, weights, False, True), shape, False)
        near = self.conv(op.reshape(value, shape, False), prefix + "pe.", act=False)
        return self.conv(op.add(seen, near), prefix + "proj.", act=False)

    def psa(self, x: Node, prefix: str) -> Node:
        x = op.add(x, self.attention(x, prefix + "attn."))
        return op.add(x, self.conv(self.conv(x, prefix + "ffn.0."), prefix + "ffn.1.", act=False))

    def inner(self, x: Node, prefix: str) -> Node | None:
        """One step of a C3k2 block, whichever of the three kinds its tensors tell; None after the last."""
        if self.has(prefix + "cv3.conv.weight"):
            return self.c3k(x, prefix)
        if self.has(prefix + "0.cv1.conv.weight"):
            return self.psa(self.bottleneck(x, prefix + "0."), prefix + "1.")
        return self.bottleneck(x, prefix) if self.has(prefix + "cv1.conv.weight") else None

    def c3k2(self, x: Node, prefix: str) -> Node:
        parts = list(op.split(self.conv(x, prefix + "cv1."), 1, 2).outputs())
        while (y := self.inner(parts[-1], f"{prefix}m.{len(parts) - 2}.")) is not None:
            parts.append(y)
        return self.conv(op.concat(parts, 1), prefix + "cv2.")

    def c2psa(self, x: Node, prefix: str) -> Node:
        kept, y = op.split(self.conv(x, prefix + "cv1."), 1, 2).outputs()
        for index in itertools.takewhile(lambda i: self.has(f"{prefix}m.{i}.attn.qkv.conv.weight"), itertools.count()):
            y = self.psa(y, f"{prefix}m.{index}.")
        return self.conv(op.concat([kept, y], 1), prefix + "cv2.")

    def boxes(self, x: Node, prefix: str) -> Node:
        """Distances left, top, right, bottom of each cell, in cells."""
        y = self.plain_conv(self.conv(self.conv(x, prefix + "0."), prefix + "1."), prefix + "2.")
        return op.reshape(y, [4, -1], False)

    def kinds(self, x: Node, prefix: str) -> Node:
        """Probability of each kind at each cell."""
        for step in ("0.0.", "0.1.", "1.0.", "1.1."):
            x = self.conv(x, prefix + step)
        y = op.sigmoid(self.plain_conv(x, prefix + "2."))
        return op.reshape(y, [len(self.get(prefix + "2.bias")), -1], False)


def build(tensors: Tensors) -> ov.Model:
    """`image` 1 × 3 × H × W in 0..1 in; `distances` 4 × cells and `scores` kinds × cells out, duplicates included."""
    g = Graph(tensors)
    image = op.parameter([1, 3, -1, -1], np.float32, "image")
    x, at = image, {}
    for index in range(9):
        prefix = f"model.{index}."
        x = g.c3k2(x, prefix) if g.has(prefix + "cv1.conv.weight") else g.conv(x, prefix, stride=2)
        at[index] = x
    at[9] = op.add(x, g.sppf(x, "model.9.", act=False))
    at[10] = g.c2psa(at[9], "model.10.")
    at[13] = g.c3k2(op.concat([upsample(at[10]), at[6]], 1), "model.13.")
    at[16] = g.c3k2(op.concat([upsample(at[13]), at[4]], 1), "model.16.")
    at[19] = g.c3k2(op.concat([g.conv(at[16], "model.17.", stride=2), at[13]], 1), "model.19.")
    at[22] = g.c3k2(op.concat([g.conv(at[19], "model.20.", stride=2), at[10]], 1), "model.22.")
    levels = [at[16], at[19], at[22]]
    boxes = [g.boxes(level, f"model.23.cv2.{i}.") for i, level in enumerate(levels)]
    scores = [g.kinds(level, f"model.23.cv3.{i}.") for i, level in enumerate(levels)]
    return ov.Model([op.concat(boxes, 1), op.concat(scores, 1)], [image], "yolo26")

"""YOLO26 as an OpenVINO graph, any of its sizes, built from its tensors."""

import numpy as np

from onprompt.vision.runtime import op, ov
from onprompt_yolo.blocks import Blocks, Node
from onprompt_yolo.torchfile import Tensors

HEAD = 64  # channels of one attention head; a query and a key have half of them


class Graph(Blocks):
    """The blocks that YOLO26 adds: nested bottlenecks, and self-attention."""

    def bottleneck(self, x: Node, prefix: str) -> Node:
        return op.add(x, self.conv(self.conv(x, prefix + "cv1."), prefix + "cv2."))

    def c3k(self, x: Node, prefix: str) -> Node:
        """Bottlenecks, beside a bypass."""
        y = self.conv(x, prefix + "cv1.")
        for child in self.children(prefix + "m.", "cv1.conv.weight"):
            y = self.bottleneck(y, child)
        return self.conv(op.concat([y, self.conv(x, prefix + "cv2.")], 1), prefix + "cv3.")

    def attention(self, x: Node, prefix: str) -> Node:
        """Self-attention between pixels, with a convolution as positional encoding."""
        heads = self.get(prefix + "proj.conv.weight").shape[0] // HEAD
        qkv = self.conv(x, prefix + "qkv.", act=False)
        qkv = op.reshape(qkv, [heads, 2 * HEAD, -1], False)  # one image at a time
        query, key, value = op.variadic_split(qkv, 1, [HEAD // 2, HEAD // 2, HEAD]).outputs()
        weights = op.softmax(op.multiply(op.matmul(query, key, True, False), np.float32((HEAD // 2) ** -0.5)), -1)
        shape = op.shape_of(x)
        attended = op.reshape(op.matmul(value, weights, False, True), shape, False)
        positions = self.conv(op.reshape(value, shape, False), prefix + "pe.", act=False)
        return self.conv(op.add(attended, positions), prefix + "proj.", act=False)

    def psa(self, x: Node, prefix: str) -> Node:
        x = op.add(x, self.attention(x, prefix + "attn."))
        return op.add(x, self.conv(self.conv(x, prefix + "ffn.0."), prefix + "ffn.1.", act=False))

    def c3k2_step(self, x: Node, prefix: str) -> Node | None:
        """One step of a C3k2 block, whichever of the three kinds its tensors show; None after the last."""
        if self.has(prefix + "cv3.conv.weight"):
            return self.c3k(x, prefix)
        if self.has(prefix + "0.cv1.conv.weight"):
            return self.psa(self.bottleneck(x, prefix + "0."), prefix + "1.")
        return self.bottleneck(x, prefix) if self.has(prefix + "cv1.conv.weight") else None

    def c3k2(self, x: Node, prefix: str) -> Node:
        parts = list(op.split(self.conv(x, prefix + "cv1."), 1, 2).outputs())
        while (y := self.c3k2_step(parts[-1], f"{prefix}m.{len(parts) - 2}.")) is not None:
            parts.append(y)
        return self.conv(op.concat(parts, 1), prefix + "cv2.")

    def c2psa(self, x: Node, prefix: str) -> Node:
        bypass, y = op.split(self.conv(x, prefix + "cv1."), 1, 2).outputs()
        for child in self.children(prefix + "m.", "attn.qkv.conv.weight"):
            y = self.psa(y, child)
        return self.conv(op.concat([bypass, y], 1), prefix + "cv2.")

    def box_distances(self, x: Node, prefix: str) -> Node:
        """Distances left, top, right, bottom of each cell, in cells."""
        return op.reshape(self.head(x, prefix), [4, -1], False)

    def class_scores(self, x: Node, prefix: str) -> Node:
        """The probability of each class at each cell."""
        for step in ("0.0.", "0.1.", "1.0.", "1.1."):
            x = self.conv(x, prefix + step)
        y = op.sigmoid(self.conv_with_bias(x, prefix + "2."))
        return op.reshape(y, [len(self.get(prefix + "2.bias")), -1], False)


def build(tensors: Tensors) -> ov.Model:
    """`image` 1 × 3 × H × W in 0..1 in; `distances` 4 × cells and `scores` classes × cells out, duplicates included."""
    g = Graph(tensors)
    image = op.parameter([1, 3, -1, -1], np.float32, "image")
    *_, p3, _, p4, _, top = g.backbone(image, g.c3k2)
    p5 = g.c2psa(op.add(top, g.sppf(top, "model.9.", act=False)), "model.10.")
    middle = g.c3k2(g.upsampled(p5, p4), "model.13.")
    fine = g.c3k2(g.upsampled(middle, p3), "model.16.")
    medium = g.c3k2(g.downsampled(fine, "model.17.", middle), "model.19.")
    coarse = g.c3k2(g.downsampled(medium, "model.20.", p5), "model.22.")
    levels = list(enumerate((fine, medium, coarse)))
    boxes = [g.box_distances(level, f"model.23.cv2.{i}.") for i, level in levels]
    scores = [g.class_scores(level, f"model.23.cv3.{i}.") for i, level in levels]
    return ov.Model([op.concat(boxes, 1), op.concat(scores, 1)], [image], "yolo26")

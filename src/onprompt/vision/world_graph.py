"""YOLO-World (v1, small) as an OpenVINO graph whose vocabulary is an input, built from its tensors."""

from __future__ import annotations

import math

import numpy as np
import openvino as ov
from openvino import opset13 as op

from onprompt.vision.blocks import Blocks, Node, upsample
from onprompt.weights.torchfile import Tensors

BINS = 16  # a box side is a distribution over 16 distances
TEXT_WIDTH = 512


class Graph(Blocks):
    """What YOLO-World adds: blocks that look at the words."""

    def bottlenecks(self, x: Node, prefix: str, shortcut: bool) -> list[Node]:
        """The split halves of `cv1` and each bottleneck after them."""
        parts = list(op.split(self.conv(x, prefix + "cv1."), 1, 2).outputs())
        index = 0
        while self.has(f"{prefix}m.{index}.cv1.conv.weight"):
            inner = f"{prefix}m.{index}."
            y = self.conv(self.conv(parts[-1], inner + "cv1."), inner + "cv2.")
            parts.append(op.add(parts[-1], y) if shortcut else y)
            index += 1
        return parts

    def c2f(self, x: Node, prefix: str) -> Node:
        return self.conv(op.concat(self.bottlenecks(x, prefix, shortcut=True), 1), prefix + "cv2.")

    def c2f_attn(self, x: Node, text: Node, prefix: str) -> Node:
        parts = self.bottlenecks(x, prefix, shortcut=False)
        parts.append(self.text_gate(parts[-1], text, prefix + "attn."))
        return self.conv(op.concat(parts, 1), prefix + "cv2.")

    def text_gate(self, x: Node, text: Node, prefix: str) -> Node:
        """Each pixel, head by head, is weighed by its likeness to the word that fits it best."""
        heads = len(self.get(prefix + "bias"))
        width = self.get(prefix + "gl.weight").shape[0]
        each = width // heads
        guide = op.reshape(self.linear(text, prefix + "gl."), [-1, heads, each], False)
        guide = op.transpose(guide, [1, 0, 2])  # head, word, channel
        pixels = op.reshape(x, [heads, each, -1], False)  # one image at a time
        best = op.reduce_max(op.matmul(guide, pixels, False, False), np.array([1]), True)
        gate = op.sigmoid(
            op.add(op.divide(best, np.float32(math.sqrt(each))), self.get(prefix + "bias").reshape(-1, 1, 1))
        )
        y = self.conv(x, prefix + "proj_conv.", act=False)
        gated = op.multiply(op.reshape(y, [heads, each, -1], False), gate)
        return op.reshape(gated, op.shape_of(y), False)

    def linear(self, x: Node, prefix: str) -> Node:
        return op.add(op.matmul(x, self.get(prefix + "weight"), False, True), self.get(prefix + "bias"))

    def norm_linear(self, x: Node, prefix: str) -> Node:
        """Layer norm, then a linear layer."""
        y = op.mvn(x, np.array([-1]), True, 1e-5, "inside_sqrt")
        y = op.add(op.multiply(y, self.get(prefix + "0.weight")), self.get(prefix + "0.bias"))
        return self.linear(y, prefix + "1.")

    def picture_into_text(self, levels: list[Node], text: Node, prefix: str) -> Node:
        """The words look at a 3 × 3 summary of the picture on each level (image pooling attention)."""
        width, heads = self.get(prefix + "proj.weight").shape[1], 8
        patches = []
        for index, level in enumerate(levels):
            y = self.plain_conv(level, f"{prefix}projections.{index}.")
            patches.append(op.reshape(op.adaptive_max_pool(y, [3, 3], "i32").output(0), [width, 9], False))
        x = op.transpose(op.concat(patches, 1), [1, 0])

        def by_head(y: Node) -> Node:
            return op.transpose(op.reshape(y, [-1, heads, width // heads], False), [1, 0, 2])

        query = by_head(self.norm_linear(text, prefix + "query."))
        key = by_head(self.norm_linear(x, prefix + "key."))
        value = by_head(self.norm_linear(x, prefix + "value."))
        weights = op.softmax(op.divide(op.matmul(query, key, False, True), np.float32(math.sqrt(width // heads))), -1)
        seen = op.transpose(op.matmul(weights, value, False, False), [1, 0, 2])
        return op.add(self.linear(op.reshape(seen, [-1, width], False), prefix + "proj."), text)

    def boxes(self, x: Node, prefix: str) -> Node:
        """Distances left, top, right, bottom of each cell, in cells."""
        y = self.plain_conv(self.conv(self.conv(x, prefix + "0."), prefix + "1."), prefix + "2.")
        bins = op.softmax(op.reshape(y, [4, BINS, -1], False), 1)
        return op.reduce_sum(
            op.multiply(bins, np.arange(BINS, dtype=np.float32).reshape(1, -1, 1)), np.array([1]), False
        )

    def likeness(self, x: Node, text: Node, prefix: str, head: str) -> Node:
        """Probability of each word at each cell."""
        y = self.plain_conv(self.conv(self.conv(x, prefix + "0."), prefix + "1."), prefix + "2.")
        pixels = op.normalize_l2(op.reshape(y, [TEXT_WIDTH, -1], False), np.array([0]), 1e-12, "add")
        words = op.normalize_l2(text, np.array([1]), 1e-12, "add")
        scale = np.exp(self.get(head + "logit_scale"))
        return op.sigmoid(op.add(op.multiply(op.matmul(words, pixels, False, False), scale), self.get(head + "bias")))


def build(tensors: Tensors) -> ov.Model:
    """`image` 1 × 3 × H × W in 0..1 and `text` N × 512 in; `distances` 4 × cells and `scores` N × cells out."""
    g = Graph(tensors)
    image = op.parameter([1, 3, -1, -1], np.float32, "image")
    text = op.parameter([-1, TEXT_WIDTH], np.float32, "text")
    x, at = image, {}
    for index in range(9):
        prefix = f"model.{index}."
        x = g.c2f(x, prefix) if g.has(prefix + "cv1.conv.weight") else g.conv(x, prefix, stride=2)
        at[index] = x
    at[9] = g.sppf(x, "model.9.")
    at[12] = g.c2f_attn(op.concat([upsample(at[9]), at[6]], 1), text, "model.12.")
    at[15] = g.c2f_attn(op.concat([upsample(at[12]), at[4]], 1), text, "model.15.")
    seen = g.picture_into_text([at[15], at[12], at[9]], text, "model.16.")
    at[19] = g.c2f_attn(op.concat([g.conv(at[15], "model.17.", stride=2), at[12]], 1), seen, "model.19.")
    at[22] = g.c2f_attn(op.concat([g.conv(at[19], "model.20.", stride=2), at[9]], 1), seen, "model.22.")
    levels = [at[15], at[19], at[22]]
    boxes = [g.boxes(level, f"model.23.cv2.{i}.") for i, level in enumerate(levels)]
    # The head compares with the words as given, not as the picture changed them.
    scores = [g.likeness(level, text, f"model.23.cv3.{i}.", f"model.23.cv4.{i}.") for i, level in enumerate(levels)]
    return ov.Model([op.concat(boxes, 1), op.concat(scores, 1)], [image, text], "yolo-world")

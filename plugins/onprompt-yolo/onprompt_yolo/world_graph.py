"""YOLO-World (v1, small) as an OpenVINO graph whose vocabulary is an input, built from its tensors."""

import math

import numpy as np

from onprompt.vision.runtime import op, ov
from onprompt_yolo.blocks import Blocks, Node
from onprompt_yolo.torchfile import Tensors

BINS = 16  # a box side is a distribution over 16 distances
TEXT_WIDTH = 512


class Graph(Blocks):
    """The blocks that YOLO-World adds: attention to the words."""

    def bottlenecks(self, x: Node, prefix: str, shortcut: bool) -> list[Node]:
        """The split halves of `cv1` and each bottleneck after them."""
        parts = list(op.split(self.conv(x, prefix + "cv1."), 1, 2).outputs())
        for child in self.children(prefix + "m.", "cv1.conv.weight"):
            y = self.conv(self.conv(parts[-1], child + "cv1."), child + "cv2.")
            parts.append(op.add(parts[-1], y) if shortcut else y)
        return parts

    def c2f(self, x: Node, prefix: str) -> Node:
        return self.conv(op.concat(self.bottlenecks(x, prefix, shortcut=True), 1), prefix + "cv2.")

    def c2f_attn(self, x: Node, text: Node, prefix: str) -> Node:
        parts = self.bottlenecks(x, prefix, shortcut=False)
        parts.append(self.max_sigmoid_attention(parts[-1], text, prefix + "attn."))
        return self.conv(op.concat(parts, 1), prefix + "cv2.")

    def max_sigmoid_attention(self, x: Node, text: Node, prefix: str) -> Node:
        """Each pixel, head by head, is weighted by its similarity to the best-fitting word."""
        bias = self.get(prefix + "bias").reshape(-1, 1, 1)
        heads, width = len(bias), self.get(prefix + "gl.weight").shape[0] // len(bias)
        guide = op.reshape(self.linear(text, prefix + "gl."), [-1, heads, width], False)
        guide = op.transpose(guide, [1, 0, 2])  # head, word, channel
        pixels = op.reshape(x, [heads, width, -1], False)  # one image at a time
        best = op.reduce_max(op.matmul(guide, pixels, False, False), np.array([1]), True)
        gate = op.sigmoid(op.add(op.divide(best, np.float32(math.sqrt(width))), bias))
        y = self.conv(x, prefix + "proj_conv.", act=False)
        gated = op.multiply(op.reshape(y, [heads, width, -1], False), gate)
        return op.reshape(gated, op.shape_of(y), False)

    def linear(self, x: Node, prefix: str) -> Node:
        return op.add(op.matmul(x, self.get(prefix + "weight"), False, True), self.get(prefix + "bias"))

    def norm_linear(self, x: Node, prefix: str) -> Node:
        """Layer norm, then a linear layer."""
        y = op.mvn(x, np.array([-1]), True, 1e-5, "inside_sqrt")
        y = op.add(op.multiply(y, self.get(prefix + "0.weight")), self.get(prefix + "0.bias"))
        return self.linear(y, prefix + "1.")

    def image_pooling_attention(self, levels: list[Node], text: Node, prefix: str) -> Node:
        """The words attend to a 3 × 3 summary of the image on each level."""
        width, heads = self.get(prefix + "proj.weight").shape[1], 8
        patches = []
        for index, level in enumerate(levels):
            y = self.conv_with_bias(level, f"{prefix}projections.{index}.")
            patches.append(op.reshape(op.adaptive_max_pool(y, [3, 3], "i32").output(0), [width, 9], False))
        x = op.transpose(op.concat(patches, 1), [1, 0])

        def by_head(y: Node, name: str) -> Node:
            projected = op.reshape(self.norm_linear(y, prefix + name), [-1, heads, width // heads], False)
            return op.transpose(projected, [1, 0, 2])

        query, key, value = by_head(text, "query."), by_head(x, "key."), by_head(x, "value.")
        weights = op.softmax(op.divide(op.matmul(query, key, False, True), np.float32(math.sqrt(width // heads))), -1)
        attended = op.transpose(op.matmul(weights, value, False, False), [1, 0, 2])
        return op.add(self.linear(op.reshape(attended, [-1, width], False), prefix + "proj."), text)

    def box_distances(self, x: Node, prefix: str) -> Node:
        """Distances left, top, right, bottom of each cell, in cells."""
        bins = op.softmax(op.reshape(self.head(x, prefix), [4, BINS, -1], False), 1)
        distances = op.multiply(bins, np.arange(BINS, dtype=np.float32).reshape(1, -1, 1))
        return op.reduce_sum(distances, np.array([1]), False)

    def word_scores(self, x: Node, text: Node, prefix: str, contrast: str) -> Node:
        """The probability of each word at each cell."""
        pixels = op.reshape(self.head(x, prefix), [TEXT_WIDTH, -1], False)
        pixels = op.normalize_l2(pixels, np.array([0]), 1e-12, "add")
        words = op.normalize_l2(text, np.array([1]), 1e-12, "add")
        scaled = op.multiply(op.matmul(words, pixels, False, False), np.exp(self.get(contrast + "logit_scale")))
        return op.sigmoid(op.add(scaled, self.get(contrast + "bias")))


def build(tensors: Tensors) -> ov.Model:
    """`image` 1 × 3 × H × W in 0..1 and `text` N × 512 in; `distances` 4 × cells and `scores` N × cells out."""
    g = Graph(tensors)
    image = op.parameter([1, 3, -1, -1], np.float32, "image")
    text = op.parameter([-1, TEXT_WIDTH], np.float32, "text")
    *_, p3, _, p4, _, top = g.backbone(image, g.c2f)
    p5 = g.sppf(top, "model.9.")
    middle = g.c2f_attn(g.upsampled(p5, p4), text, "model.12.")
    fine = g.c2f_attn(g.upsampled(middle, p3), text, "model.15.")
    attended = g.image_pooling_attention([fine, middle, p5], text, "model.16.")
    medium = g.c2f_attn(g.downsampled(fine, "model.17.", middle), attended, "model.19.")
    coarse = g.c2f_attn(g.downsampled(medium, "model.20.", p5), attended, "model.22.")
    levels = list(enumerate((fine, medium, coarse)))
    boxes = [g.box_distances(level, f"model.23.cv2.{i}.") for i, level in levels]
    # The head compares with the words as given, not as the image changed them.
    scores = [g.word_scores(level, text, f"model.23.cv3.{i}.", f"model.23.cv4.{i}.") for i, level in levels]
    return ov.Model([op.concat(boxes, 1), op.concat(scores, 1)], [image, text], "yolo-world")

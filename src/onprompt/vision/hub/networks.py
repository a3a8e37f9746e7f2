"""Three kinds of networks that a model hub has for finding things: open detectors, closed ones, and segmenters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from onprompt.types import Name
from onprompt.vision.boxes import Floats
from onprompt.vision.hub import grounding
from onprompt.vision.vocabulary import plain

Inputs = Mapping[str, Any]


class Ask(NamedTuple):
    """A question to a network: a picture made ready, its height and width before, and names to look for in it."""

    look: int
    inputs: Inputs
    shape: tuple[int, ...]
    names: Sequence[Name]


class Found(NamedTuple):
    """What a network makes of a question: boxes in shares of the picture, scores, words, and masks of the boxes."""

    boxes: Floats
    scores: Floats
    words: list[str]
    masks: Sequence[NDArray[np.bool_] | None]


class Open:
    """OWL, Grounding DINO, OmDet-Turbo and their kin: any name is known."""

    words = None

    def __init__(self, net: Any, tokenizer: Any) -> None:
        self.net, self.tokenizer = net, tokenizer
        self.family = grounding.FAMILIES[net.config.model_type]

    def parts(self, names: Sequence[Name]) -> list[Sequence[Name]]:
        """The names that can be asked at once; as many questions as there are lists."""
        if not names or not self.family.joined:
            return [names] if names else []
        return [names[part] for part in grounding.parts(self.net, self.tokenizer, [name.label for name in names])]

    def answer(self, inputs: Inputs, asks: Sequence[Ask], least: float) -> list[Found]:
        """One pass over a batch; what scores less than `least` is left out."""
        asked = [[name.label for name in ask.names] for ask in asks]
        scores, boxes = self.family.ask(self.net, self.tokenizer, inputs, asked)
        return [self.read(*each, least) for each in zip(scores.cpu().numpy(), boxes.cpu().numpy(), asks, strict=True)]

    def read(self, scores: Floats, boxes: Floats, ask: Ask, least: float) -> Found:
        """A place answers for a name unless another wins it that can't be said of the same thing."""
        scores = scores[:, : len(ask.names)]
        content = np.array([[one is other or one.may_be(other.label) for one in ask.names] for other in ask.names])
        places, names = np.nonzero(content[scores.argmax(axis=1)] & (scores >= least))
        height, width = ask.shape
        side = max(height, width) / np.array([width, height]) if self.family.square else np.ones(2)
        centre, half = boxes[places, :2], boxes[places, 2:] / 2
        corners = np.concatenate([(centre - half) * side, (centre + half) * side], axis=1).astype(np.float32)
        words = [ask.names[int(name)].label for name in names]
        return Found(corners, scores[places, names], words, [None] * len(words))


class Closed:
    """RT-DETR, D-FINE, DETR, YOLOS and their kin: the words of their training are looked for, whatever the names."""

    def __init__(self, net: Any, images: Any) -> None:
        self.net, self.images = net, images
        self.words = {index: plain(word) for index, word in net.config.id2label.items()}

    def parts(self, names: Sequence[Name]) -> list[Sequence[Name]]:
        """All at once."""
        return [names]

    def answer(self, inputs: Inputs, asks: Sequence[Ask], least: float) -> list[Found]:
        """One pass over a batch; what scores less than `least` is left out."""
        return self.read(self.net(**inputs), [tuple(ask.inputs["pixel_values"].shape[1:]) for ask in asks], least)

    def read(self, out: Any, sizes: Sequence[tuple[int, ...]], least: float) -> list[Found]:
        """By the model's own rule, softmax or sigmoid; some lists of words have holes, "N/A"."""
        whole = [(1, 1)] * len(sizes)  # so that boxes come out in shares of the picture
        found = []
        for result in self.images.post_process_object_detection(out, least, whole):
            boxes, scores, kinds = (result[key].cpu().numpy() for key in ("boxes", "scores", "labels"))
            real = [row for row, kind in enumerate(kinds) if self.words[int(kind)] != "n/a"]
            words = [self.words[int(kind)] for kind in kinds[real]]
            found.append(Found(boxes[real], scores[real], words, [None] * len(words)))
        return found


class Segmenter(Closed):
    """Mask2Former and MaskFormer: a mask for each thing, and its box from the mask."""

    def read(self, out: Any, sizes: Sequence[tuple[int, ...]], least: float) -> list[Found]:
        """A place's likeliest word, as sure as the word and the mask are; masks as fine as the network's input."""
        sure, kinds = out.class_queries_logits.softmax(-1)[..., :-1].max(-1)  # the last word stands for nothing
        found = []
        for masks, scores, words, size in zip(out.masks_queries_logits, sure, kinds, sizes, strict=True):
            likely = scores >= least
            fine = torch.nn.functional.interpolate(masks[likely][None], size=size, mode="bilinear")[0]
            inside = fine > 0
            firm = (fine.sigmoid() * inside).sum((1, 2)) / inside.sum((1, 2)).clamp(min=1)
            found.append(self.outlined(inside, scores[likely] * firm, words[likely], least))
        return found

    def outlined(self, inside: Any, sure: Any, kinds: Any, least: float) -> Found:
        """The masks that hold anything, cut out, with the boxes around them."""
        kept = inside.any(-1).any(-1) & (sure >= least)
        boxes, cut = [], []
        for mask in inside[kept].cpu().numpy():
            across, down = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
            left, top, right, bottom = across[0], down[0], across[-1] + 1, down[-1] + 1
            boxes.append((left / mask.shape[1], top / mask.shape[0], right / mask.shape[1], bottom / mask.shape[0]))
            cut.append(mask[top:bottom, left:right].copy())
        words = [self.words[int(kind)] for kind in kinds[kept]]
        return Found(np.array(boxes, dtype=np.float32).reshape(-1, 4), sure[kept].cpu().numpy(), words, cut)

"""Three kinds of hub models that locate objects: open-vocabulary detectors, closed-set detectors and segmenters."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from onprompt.types import Name
from onprompt.vision.boxes import Floats
from onprompt_hub import grounding

Inputs = Mapping[str, Any]


class Query(NamedTuple):
    """A query to a network: a preprocessed image, its original height and width, and names to look for in it."""

    inputs: Inputs
    shape: tuple[int, ...]
    names: Sequence[Name]


class ModelDetections(NamedTuple):
    """A network's answer to a query: boxes as fractions of the image, scores, words, and masks of the boxes."""

    boxes: Floats
    scores: Floats
    words: list[str]
    masks: Sequence[NDArray[np.bool_] | None]


def normalize_name(name: str) -> str:
    """`crow_(bird)` → `crow`, `Infant bed` → `infant bed`."""
    return " ".join(re.sub(r"\(.*?\)", "", name.replace("_", " ")).lower().split())


class OpenVocabulary:
    """OWL, Grounding DINO, OmDet-Turbo and their variants: any name is known."""

    words = None

    def __init__(self, net: Any, tokenizer: Any) -> None:
        self.net, self.tokenizer = net, tokenizer
        self.family = grounding.FAMILIES[net.config.model_type]

    def split(self, names: Sequence[Name]) -> list[Sequence[Name]]:
        """The names of each query."""
        if not names or not self.family.joined:
            return [names] if names else []
        labels = [name.label for name in names]
        return [names[part] for part in grounding.split_words(self.net, self.tokenizer, labels)]

    def run(self, inputs: Inputs, queries: Sequence[Query], min_score: float) -> list[ModelDetections]:
        """One pass over a batch."""
        words = [[name.label for name in query.names] for query in queries]
        scores, boxes = self.family.run(self.net, self.tokenizer, inputs, words)
        outputs = zip(scores.cpu().numpy(), boxes.cpu().numpy(), queries, strict=True)
        return [self.decode(*output, min_score) for output in outputs]

    def decode(self, scores: Floats, boxes: Floats, query: Query, min_score: float) -> ModelDetections:
        """A box counts for a name unless the best name for it is incompatible."""
        scores = scores[:, : len(query.names)]
        names = query.names
        compatible = np.array([[name is best or name.may_be(best.label) for name in names] for best in names])
        rows, columns = np.nonzero(compatible[scores.argmax(axis=1)] & (scores >= min_score))
        height, width = query.shape
        side = max(height, width) / np.array([width, height]) if self.family.square else np.ones(2)
        centre, half = boxes[rows, :2], boxes[rows, 2:] / 2
        corners = np.concatenate([(centre - half) * side, (centre + half) * side], axis=1).astype(np.float32)
        words = [names[int(column)].label for column in columns]
        return ModelDetections(corners, scores[rows, columns], words, [None] * len(words))


class ClosedSet:
    """RT-DETR, D-FINE, DETR, YOLOS and their variants: all classes of their training, whatever the names."""

    def __init__(self, net: Any, processor: Any) -> None:
        self.net, self.processor = net, processor
        self.words = {index: normalize_name(word) for index, word in net.config.id2label.items()}

    def split(self, names: Sequence[Name]) -> list[Sequence[Name]]:
        """One query for all names."""
        return [names]

    def run(self, inputs: Inputs, queries: Sequence[Query], min_score: float) -> list[ModelDetections]:
        """One pass over a batch."""
        sizes = [tuple(query.inputs["pixel_values"].shape[1:]) for query in queries]
        return self.decode(self.net(**inputs), sizes, min_score)

    def decode(self, out: Any, sizes: Sequence[tuple[int, ...]], min_score: float) -> list[ModelDetections]:
        """By the model's own post-processing, softmax or sigmoid; some class lists have gaps, "N/A"."""
        unit = [(1, 1)] * len(sizes)  # so that boxes come out as fractions of the image
        detections = []
        for result in self.processor.post_process_object_detection(out, min_score, unit):
            boxes, scores, classes = (result[key].cpu().numpy() for key in ("boxes", "scores", "labels"))
            named = [row for row, index in enumerate(classes) if self.words[int(index)] != "n/a"]
            words = [self.words[int(index)] for index in classes[named]]
            detections.append(ModelDetections(boxes[named], scores[named], words, [None] * len(words)))
        return detections


class Segmenter(ClosedSet):
    """Mask2Former and MaskFormer: a mask for each object, and its box from the mask."""

    def decode(self, out: Any, sizes: Sequence[tuple[int, ...]], min_score: float) -> list[ModelDetections]:
        """The likeliest class of each mask, scored by class and mask; masks have the resolution of the input."""
        best, classes = out.class_queries_logits.softmax(-1)[..., :-1].max(-1)  # the last class is "no object"
        detections = []
        for masks, scores, indices, size in zip(out.masks_queries_logits, best, classes, sizes, strict=True):
            likely = scores >= min_score
            fine = torch.nn.functional.interpolate(masks[likely][None], size=size, mode="bilinear")[0]
            inside = fine > 0
            mask_scores = (fine.sigmoid() * inside).sum((1, 2)) / inside.sum((1, 2)).clamp(min=1)
            detections.append(self.crop(inside, scores[likely] * mask_scores, indices[likely], min_score))
        return detections

    def crop(self, inside: Any, scores: Any, classes: Any, min_score: float) -> ModelDetections:
        """The masks that are not empty, cropped to the boxes around them."""
        kept = inside.any(-1).any(-1) & (scores >= min_score)
        boxes, crops = [], []
        for mask in inside[kept].cpu().numpy():
            columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
            left, top, right, bottom = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
            boxes.append((left / mask.shape[1], top / mask.shape[0], right / mask.shape[1], bottom / mask.shape[0]))
            crops.append(mask[top:bottom, left:right].copy())
        words = [self.words[int(index)] for index in classes[kept]]
        return ModelDetections(
            np.array(boxes, dtype=np.float32).reshape(-1, 4), scores[kept].cpu().numpy(), words, crops
        )

"""Detectors of a model hub or a folder, by transformers: `hf:IDEA-Research/grounding-dino-tiny`, `hf:/my/folder`.

Open-vocabulary detectors look for any name, closed-set ones for the classes of their training, segmenters for
these with masks. Scores are the networks' own: unlike those of the other detectors, they are not calibrated.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from transformers import (
    AutoModelForObjectDetection,
    AutoModelForUniversalSegmentation,
    AutoModelForZeroShotObjectDetection,
)
from transformers.models.auto import modeling_auto as auto

from onprompt.errors import ImageError, UserError
from onprompt.settings import Settings
from onprompt.types import Box, Detections, Name, NameMatch, Picture, Sighting
from onprompt.vision.boxes import non_max_suppression
from onprompt.vision.vocabulary import resolve_all
from onprompt_hub import grounding, loading
from onprompt_hub.networks import ClosedSet, Inputs, ModelDetections, OpenVocabulary, Query, Segmenter

BATCH = 8  # queries in one pass of the network
# Of the segmenters in transformers, OneFormer needs a task, and others return masks in other ways.
SEGMENTERS = ("mask2former", "maskformer")


class LoadedModel(NamedTuple):
    """A model in memory, the files that it was loaded from, and a lock."""

    network: OpenVocabulary | ClosedSet
    processor: Any
    files: tuple[str, ...]
    lock: threading.Lock  # tokenizers, and OmDet's cache of words, are not thread-safe


class HubDetector:
    """A model of the hub behind the detector protocol."""

    packages = loading.PACKAGES

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.network, self.processor, self.files, self.lock = load_model(settings.detector.partition(":")[2])

    def see(self, picture: Picture, names: Sequence[Name]) -> Detections:
        """What the network sees in an image; more names than one text holds are several queries."""
        inputs, answers = self.preprocess(picture), list[ModelDetections]()
        with self.lock, torch.inference_mode():
            queries = [Query(inputs, picture.pixels.shape[:2], part) for part in self.network.split(names)]
            for start in range(0, len(queries), BATCH):
                batch = queries[start : start + BATCH]
                stacked = {key: torch.stack([value] * len(batch)) for key, value in inputs.items()}
                on_device = {key: value.to(self.network.net.device) for key, value in stacked.items()}
                answers += self.network.run(on_device, batch, self.settings.min_confidence)
        known = self.known(names)
        return Detections(self.sightings(answers, known), known)

    def preprocess(self, picture: Picture) -> Inputs:
        """An image as the network takes it."""
        try:
            inputs = self.processor(images=[picture.pixels], input_data_format="channels_last", return_tensors="pt")
        except ValueError as error:  # mostly a side of 0 pixels
            size = "{} × {}".format(*picture.size)
            message = f"{self.settings.detector} can't process an image of {size}: {loading.first_line(error)}"
            raise ImageError(message) from error
        return {key: inputs[key][0] for key in ("pixel_values", "pixel_mask") if key in inputs}

    def known(self, names: Sequence[Name]) -> dict[str, NameMatch]:
        """How the names are resolved, those that can be."""
        if self.network.words is None:
            return {name.label: NameMatch((name.label,)) for name in names}
        return resolve_all(names, set(self.network.words.values()), self.settings.subtype_score)

    def sightings(self, answers: Sequence[ModelDetections], known: Mapping[str, NameMatch]) -> tuple[Sighting, ...]:
        """The sightings in one image by descending confidence, after non-maximum suppression for each word."""
        if not (words := [word for answer in answers for word in answer.words]):
            return ()
        boxes = np.clip(np.concatenate([answer.boxes for answer in answers]), 0, 1)
        scores = np.concatenate([answer.scores for answer in answers])
        masks = [mask for answer in answers for mask in answer.masks]
        classes = np.unique(words, return_inverse=True)[1]
        return tuple(
            Sighting(label, words[i], box, float(scores[i]), self.settings.detector, mask=masks[i])
            for i in non_max_suppression(boxes, scores, classes, self.settings.duplicate_overlap)
            if (box := Box(*map(float, boxes[i]))).area > 0  # some are beyond the edge
            for label in labels_of(words[i], known)
        )


def labels_of(word: str, known: Mapping[str, NameMatch]) -> list[str]:
    """The labels that a word was resolved from; the word itself where there are none."""
    return [label for label, resolved in known.items() if word in resolved.words] or [word]


@cache
def load_model(model: str) -> LoadedModel:
    """Loaded once per process, whatever the settings, in full precision, on the fastest device."""
    loading.silence()
    folder = loading.model_folder(model)
    files = loading.weight_files(folder)
    with loading.loading_errors(f"hf:{model}"):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        kind, auto_class = model_kind(model, config)
        # By Pillow, whether or not torchvision is installed: the same pixels everywhere.
        processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil", trust_remote_code=False)
        net = loading.load_weights(auto_class, folder, config)
        is_open = kind is OpenVocabulary
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False) if is_open else None
    network = kind(net, tokenizer if is_open else processor)
    return LoadedModel(network, processor, files, threading.Lock())


def model_kind(model: str, config: Any) -> tuple[type[OpenVocabulary | ClosedSet], Any]:
    """Which of the three kinds a model is, by the architecture in its configuration; and the class that loads it."""
    kinds: tuple[tuple[type[OpenVocabulary | ClosedSet], Any, str, Collection[str]], ...] = (
        (OpenVocabulary, AutoModelForZeroShotObjectDetection, "ZERO_SHOT_OBJECT_DETECTION", grounding.FAMILIES),
        (ClosedSet, AutoModelForObjectDetection, "OBJECT_DETECTION", (config.model_type,)),
        (Segmenter, AutoModelForUniversalSegmentation, "UNIVERSAL_SEGMENTATION", SEGMENTERS),
    )
    for kind, auto_class, task, supported in kinds:
        architectures = getattr(auto, f"MODEL_FOR_{task}_MAPPING_NAMES")
        if architectures.get(config.model_type) in (config.architectures or ()) and config.model_type in supported:
            return kind, auto_class
    raise UserError(
        f"hf:{model} is not a supported detector: it is {', '.join(config.architectures or [config.model_type])}. "
        "Supported are open-vocabulary detectors (OWL-ViT, OWLv2, Grounding DINO, MM Grounding DINO, LLMDet, "
        "OmDet-Turbo), closed-set detectors (RT-DETR, D-FINE, DETR, YOLOS … ForObjectDetection) and segmenters "
        "(Mask2Former, MaskFormer)"
    )


def load(settings: Settings) -> HubDetector:
    """The detector, with its model fetched and loaded."""
    loading.check_licence(settings.detector, settings)
    return HubDetector(settings)

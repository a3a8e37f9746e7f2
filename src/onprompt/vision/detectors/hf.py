"""Detectors of a model hub or of a folder, by transformers: `hf:IDEA-Research/grounding-dino-tiny`, `hf:/my/folder`.

Open detectors look for any name, closed ones for the words of their training, segmenters for these with masks. Scores
are the networks' own: no one has measured here how often they are right, as for the other detectors.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import huggingface_hub
import numpy as np
import torch
import transformers
from transformers.models.auto import modeling_auto as auto

from onprompt.errors import ImageError, UntrustedFile, UserError
from onprompt.settings import Settings
from onprompt.types import Box, Known, Look, Name, Picture, Seen, Sighting
from onprompt.vision.boxes import distinct
from onprompt.vision.hub import grounding
from onprompt.vision.hub.networks import Ask, Closed, Found, Inputs, Open, Segmenter
from onprompt.vision.vocabulary import asked_by, resolve_all
from onprompt.weights.hub import clear_errors, first_line, folder_of, weight_files

BATCH = 8  # pictures in one pass of the network
WINDOW = 4 * BATCH  # pictures made ready at a time; those of one size among them go together
# Of the segmenters that transformers has, OneFormer wants a task named, and others put their masks in other ways.
SEGMENTERS = ("mask2former", "maskformer")


class Loaded(NamedTuple):
    """A model in memory, the files that it came from, and a lock."""

    network: Open | Closed
    images: Any
    device: str
    files: tuple[str, ...]
    alone: threading.Lock  # tokenizers, and OmDet's memory of words, don't bear two threads at once


class Hub:
    """A model of the hub behind the detector protocol."""

    batch = BATCH

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.network, self.images, self.device, self.files, self.alone = loaded(settings.detector.partition(":")[2])

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """Several pictures in one pass of the network, each with names of its own."""
        starts = range(0, len(looks), WINDOW)
        return [seen for start in starts for seen in self.see_some(looks[start : start + WINDOW])]

    def see_some(self, looks: Sequence[Look]) -> list[Seen]:
        """As many pictures as are made ready at a time."""
        found: list[list[Found]] = [[] for _ in looks]
        pictures = self.made_ready(looks)
        with self.alone, torch.inference_mode():
            for batch in batches([ask for index, look in enumerate(looks) for ask in self.asks(index, look, pictures)]):
                inputs = {key: torch.stack([ask.inputs[key] for ask in batch]) for key in batch[0].inputs}
                on_device = {key: value.to(self.device) for key, value in inputs.items()}
                answers = self.network.answer(on_device, batch, self.settings.faintest)
                for ask, answer in zip(batch, answers, strict=True):
                    found[ask.look].append(answer)
        known = [self.known(look.names) for look in looks]
        return [Seen(self.sightings(each, words), words) for each, words in zip(found, known, strict=True)]

    def made_ready(self, looks: Sequence[Look]) -> list[Inputs]:
        """The pictures as the network takes them, by several threads: scaling may take longer than a GPU's pass."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda look: self.ready(look.picture), looks))

    def ready(self, picture: Picture) -> Inputs:
        """A picture as the network takes it."""
        try:
            found = self.images(images=[picture.pixels], input_data_format="channels_last", return_tensors="pt")
        except ValueError as error:  # a side of no pixels, for most
            size = "{} × {}".format(*picture.size)
            raise ImageError(f"{self.settings.detector} can't take a picture of {size}: {first_line(error)}") from error
        return {key: found[key][0] for key in ("pixel_values", "pixel_mask") if key in found}

    def asks(self, index: int, look: Look, pictures: Sequence[Inputs]) -> list[Ask]:
        """A look's questions: one, unless its names are too many for one text."""
        shape = look.picture.pixels.shape[:2]
        return [Ask(index, pictures[index], shape, part) for part in self.network.parts(look.names)]

    def known(self, names: Sequence[Name]) -> dict[str, Known]:
        """How the names are understood, those that are."""
        if self.network.words is None:
            return {name.label: Known((name.label,)) for name in names}
        return resolve_all(names, set(self.network.words.values()), self.settings.subtype_score)

    def sightings(self, found: Sequence[Found], known: Mapping[str, Known]) -> tuple[Sighting, ...]:
        """What the answers about one picture add up to, the surest first; a word's duplicates are merged."""
        if not (words := [word for each in found for word in each.words]):
            return ()
        boxes = np.clip(np.concatenate([each.boxes for each in found]), 0, 1)
        scores = np.concatenate([each.scores for each in found])
        masks = [mask for each in found for mask in each.masks]
        groups = np.unique(words, return_inverse=True)[1]
        return tuple(
            Sighting(label, words[i], box, float(scores[i]), self.settings.detector, mask=masks[i])
            for i in distinct(boxes, scores, groups, self.settings.duplicate_overlap)
            if (box := Box(*map(float, boxes[i]))).area > 0  # some are seen beyond the edge
            for label in asked_by(words[i], known)
        )


def batches(asks: Sequence[Ask]) -> Iterator[list[Ask]]:
    """Questions about pictures of one size: a picture padded to its neighbour's would be seen differently."""
    alike: dict[tuple[int, ...], list[Ask]] = defaultdict(list)
    for ask in asks:
        alike[tuple(ask.inputs["pixel_values"].shape)].append(ask)
    for group in alike.values():
        yield from (group[start : start + BATCH] for start in range(0, len(group), BATCH))


@cache
def loaded(model: str) -> Loaded:
    """Loaded once in a process, whatever the settings, in full precision, on the quickest device there is."""
    quiet()
    folder = folder_of(model)
    files = weight_files(folder)
    with clear_errors(f"hf:{model}"):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        kind, maker = kind_of(model, config)
        # By Pillow, whether or not torchvision is here: the same pixels everywhere.
        images = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil", trust_remote_code=False)
        net = weighted(maker, folder, config).eval().to(device())
        reader = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False) if kind is Open else images
    return Loaded(kind(net, reader), images, device(), files, threading.Lock())


def kind_of(model: str, config: Any) -> tuple[type[Open | Closed], Any]:
    """Which of the three kinds a model is, by the architecture that its configuration names; and what loads it."""
    kinds: tuple[tuple[type[Open | Closed], Any, Mapping[str, str]], ...] = (
        (
            Open,
            transformers.AutoModelForZeroShotObjectDetection,
            auto.MODEL_FOR_ZERO_SHOT_OBJECT_DETECTION_MAPPING_NAMES,
        ),
        (Closed, transformers.AutoModelForObjectDetection, auto.MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES),
        (
            Segmenter,
            transformers.AutoModelForUniversalSegmentation,
            auto.MODEL_FOR_UNIVERSAL_SEGMENTATION_MAPPING_NAMES,
        ),
    )
    served = {Open: tuple(grounding.FAMILIES), Segmenter: SEGMENTERS, Closed: (config.model_type,)}
    for kind, maker, architectures in kinds:
        if architectures.get(config.model_type) in (config.architectures or ()) and config.model_type in served[kind]:
            return kind, maker
    raise UserError(
        f"hf:{model} is no detector that serves: it is {', '.join(config.architectures or [config.model_type])}. What "
        f"serves: open detectors (OWL-ViT, OWLv2, Grounding DINO, MM Grounding DINO, LLMDet, OmDet-Turbo), closed ones "
        f"(RT-DETR, D-FINE, DETR, YOLOS … ForObjectDetection) and segmenters (Mask2Former, MaskFormer)"
    )


def weighted(maker: Any, folder: Path, config: Any) -> Any:
    """The network with its weights, all of them: transformers would make up those that the files lack."""
    net, report = maker.from_pretrained(
        folder, config=config, use_safetensors=True, dtype=torch.float32, output_loading_info=True
    )
    lacking = {name for name, _ in net.named_parameters()} & set(report["missing_keys"])
    if lacking or report["mismatched_keys"]:
        raise UntrustedFile(
            f"the weights in {folder} are not those of its config.json: no {min(lacking, default='fit')}"
        )
    return net


def device() -> str:
    """CUDA, else Apple's, else the processor."""
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def quiet() -> None:
    """No hints and no moving bars: standard output belongs to the result."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    huggingface_hub.utils.disable_progress_bars()


def load(settings: Settings) -> Hub:
    """The detector, with its model fetched and loaded."""
    if settings.permissive:
        raise UserError(f"permissive = true allows files of known licence only, and that of {settings.detector} is not")
    return Hub(settings)

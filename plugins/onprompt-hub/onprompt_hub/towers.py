"""CLIP, SigLIP and SigLIP 2: an image tower and a text tower, whose vectors can be compared."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

import torch

from onprompt.errors import ImageError
from onprompt.types import Picture
from onprompt.vision.backbone import corner_crops, resize
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.runtime import LatestValues
from onprompt_hub.loading import first_line
from onprompt_hub.match_curve import Curve

FAMILIES = {"clip": "CLIP", "siglip": "SigLIP", "siglip2": "SigLIP 2"}
IMAGE_INPUTS = ("pixel_values", "pixel_attention_mask", "spatial_shapes")  # the last two of SigLIP 2's NaFlex variant
BATCH = 40  # texts in one pass of the text tower
CACHED = 4096  # pictures and texts whose vectors are kept
MAX_ASPECT = 8  # longer images are squeezed to this: scaled to CLIP's height, a strip would fill the memory
# CLIP is trained to rank, and has no probability of its own. Captions of an image mostly have cosines of about .3 and
# others of .15, so this is even in between and less steep than CLIP's own temperature of 100. Not fitted to data.
CLIP_CURVE = Curve(40.0, -9.6)


class TextVector(NamedTuple):
    """A text's vector, and whether the text was longer than the model reads."""

    vector: Floats
    truncated: bool


class Towers:
    """A model in memory, used by one thread at a time."""

    def __init__(self, net: Any, processor: Any, tokenizer: Any) -> None:
        self.net, self.processor, self.tokenizer = net, processor, tokenizer
        self.window = int(net.config.text_config.max_position_embeddings)  # tokens
        self.lock = Lock()
        self.pictures: LatestValues[Any, Floats] = LatestValues(CACHED)
        self.texts: LatestValues[str, TextVector] = LatestValues(CACHED)

    @property
    def curve(self) -> Curve:
        """SigLIP's own sigmoid, which its training fitted; for CLIP a guess."""
        if self.net.config.model_type == "clip":
            return CLIP_CURVE
        return Curve(self.net.logit_scale.exp().item(), self.net.logit_bias.item())

    def embed_picture(self, picture: Picture) -> Floats:
        """The vectors of the whole image and of four crops, computed once."""
        key = picture.sha256, picture.frame, picture.side
        if (found := self.pictures.get(key)) is None:
            inputs = self.preprocess(picture)
            with self.lock:
                found = self.run(self.net.get_image_features, inputs)
            self.pictures.put(key, found)
        return found

    def embed_texts(self, texts: Sequence[str]) -> list[TextVector]:
        """The vectors of texts, each computed once."""
        found = {text: value for text in texts if (value := self.texts.get(text))}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        for start in range(0, len(new), BATCH):
            with self.lock:  # tokenizers are not thread-safe
                batch = self.run_texts(new[start : start + BATCH])
            found |= batch
            for text, value in batch.items():
                self.texts.put(text, value)
        return [found[text] for text in texts]

    def preprocess(self, picture: Picture) -> Mapping[str, Any]:
        """The image and its crops as the image tower takes them."""
        whole = squeeze(picture.pixels)
        views = [whole, *corner_crops(whole)]
        try:
            inputs = self.processor(images=views, input_data_format="channels_last", return_tensors="pt")
        except ValueError as error:
            size = "{} × {}".format(*picture.size)
            raise ImageError(f"the matcher can't process an image of {size}: {first_line(error)}") from error
        return {name: inputs[name] for name in IMAGE_INPUTS if name in inputs}

    def run_texts(self, texts: Sequence[str]) -> dict[str, TextVector]:
        """The vectors of texts in one pass.

        In lower case, and padded to the whole window, as in SigLIP's training, which had no attention mask either.
        """
        valid = [text.lower().encode("utf-8", "replace").decode() for text in texts]  # lone surrogates are no text
        lengths = [len(ids) for ids in self.tokenizer(valid)["input_ids"]]
        encoded = self.tokenizer(
            valid, padding="max_length", truncation=True, max_length=self.window, return_tensors="pt"
        )
        names = ("input_ids", "attention_mask") if self.net.config.model_type == "clip" else ("input_ids",)
        vectors = self.run(self.net.get_text_features, {name: encoded[name] for name in names})
        rows = zip(texts, vectors, lengths, strict=True)
        return {text: TextVector(vector, length > self.window) for text, vector, length in rows}

    def run(self, tower: Callable[..., Any], inputs: Mapping[str, Any]) -> Floats:
        """A tower's output as vectors of length 1."""
        with torch.inference_mode():
            output = tower(**{name: value.to(self.net.device) for name, value in inputs.items()}).pooler_output
            vectors: Floats = torch.nn.functional.normalize(output, dim=-1).cpu().numpy()
            return vectors


def squeeze(pixels: Pixels) -> Pixels:
    """An image whose longer side is at most MAX_ASPECT times the shorter."""
    height, width = pixels.shape[:2]
    limit = MAX_ASPECT * min(height, width)
    return resize(pixels, (min(width, limit), min(height, limit))) if max(height, width) > limit else pixels

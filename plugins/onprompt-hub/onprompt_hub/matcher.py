"""Matchers of a model hub or a folder, by transformers: `hf:google/siglip2-base-patch16-224`, `hf:/my/folder`.

`hf:FILE.toml` is a model with its calibration, as `onprompt calibrate` writes it. Without one, SigLIP's own
sigmoid gives the probabilities, and for CLIP a curve that was not fitted to data.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import transformers

from onprompt.errors import UserError
from onprompt.settings import Settings
from onprompt.types import Matcher, Picture
from onprompt.vision.boxes import Floats
from onprompt_hub import loading
from onprompt_hub.match_curve import Curve, read_calibration
from onprompt_hub.towers import FAMILIES, Towers

CALIBRATION = ".toml"


class LoadedModel(NamedTuple):
    """A model in memory, the files that it was loaded from, and their revision."""

    towers: Towers
    files: tuple[str, ...]
    revision: str


class HubMatcher(Matcher):
    """A model of the hub behind the matcher protocol."""

    packages = loading.PACKAGES

    def __init__(self, settings: Settings) -> None:
        chosen = settings.matcher.partition(":")[2]
        self.settings, self.file = settings, Path(chosen) if chosen.endswith(CALIBRATION) else None
        self.calibration = read_calibration(self.file.expanduser()) if self.file else None
        self.model = self.calibration.model if self.calibration else chosen
        wanted = self.calibration.revision if self.calibration else None
        self.towers, self.files, self.revision = load_model(self.model, wanted)
        if wanted and wanted != self.revision:
            raise UserError(
                f"{self.file} calibrates the revision {wanted} of {self.model}, and this is {self.revision}: "
                "run `onprompt calibrate` again"
            )

    @property
    def calibrated(self) -> bool:
        return self.calibration is not None

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model with its revision, and the curves; of folders and files only their names."""
        folder = Path(self.model).expanduser()
        return {
            "model": folder.name if folder.is_dir() else self.model,
            "revision": self.revision,
            "calibration": self.file.name if self.file else "none",
            "whole": list(self.curve("whole")),
            "phrase": list(self.curve("phrase")),
        }

    def curve(self, kind: str) -> Curve:
        """The fitted curve for a `whole` image or a `phrase`, or else the model's own."""
        curve: Curve = getattr(self.calibration, kind) if self.calibration else self.towers.curve
        return curve

    def embed_picture(self, picture: Picture) -> Floats:
        """The vectors of the whole image and of four crops."""
        return self.towers.embed_picture(picture)

    def embed_texts(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts."""
        return np.stack([text.vector for text in self.towers.embed_texts(texts)])

    def probabilities(self, picture: Picture, texts: Sequence[str]) -> list[float]:
        """The probability that each text describes this image as a whole rather than another one."""
        if not texts:
            return []
        cosines = self.embed_texts(texts) @ self.embed_picture(picture)[0]
        return [round(float(value), 4) for value in self.curve("whole").probabilities(cosines)]

    def phrase_probabilities(self, picture: Picture, phrases: Sequence[str]) -> list[float]:
        """The probability that each phrase is true of the image or of a part of it."""
        if not phrases:
            return []
        cosines = (self.embed_texts(phrases) @ self.embed_picture(picture).T).max(axis=1)
        return [round(float(value), 4) for value in self.curve("phrase").probabilities(cosines)]

    def truncates(self, text: str) -> bool:
        return self.towers.embed_texts([text])[0].truncated


@cache
def load_model(model: str, revision: str | None) -> LoadedModel:
    """Loaded once per process, in full precision."""
    loading.silence()
    folder = loading.model_folder(model, revision)
    files = loading.weight_files(folder)
    with loading.loading_errors(f"hf:{model}"):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if config.model_type not in FAMILIES:
            raise UserError(
                f"hf:{model} is not a supported matcher: its type is {config.model_type}. Supported are "
                f"{', '.join(FAMILIES.values())} models with both an image and a text tower"
            )
        # By Pillow, whether or not torchvision is installed: the same pixels everywhere.
        processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil", trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        net = loading.load_weights(transformers.AutoModel, folder, config)
    return LoadedModel(Towers(net, processor, tokenizer), files, loading.fingerprint(folder, files))


def load(settings: Settings) -> HubMatcher:
    """The matcher, with its model fetched and loaded."""
    loading.check_licence(settings.matcher, settings)
    return HubMatcher(settings)

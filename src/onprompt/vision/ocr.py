"""Text in an image, read by OCR, and how well it fits what was asked for."""

import unicodedata
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Picture, Sighting
from onprompt.vision.boxes import Pixels
from onprompt.vision.runtime import Network, Source, network, openvino_core, return_free_memory, thread_safe_cache
from onprompt.weights import blobs
from onprompt.weights.cache import file_hash

# Its inputs are of any size. What OpenVINO keeps for each would be 2 MB a picture, and no picture is faster for it.
NO_SHAPES = {"CPU_RUNTIME_CACHE_CAPACITY": "0"}
MAX_ASPECT_RATIO = 8


@thread_safe_cache
def load_ocr(folder: Path) -> Callable[[Pixels], Any]:
    """PP-OCR with the models that its package includes, its networks kept in a folder of a size."""
    import rapidocr
    from rapidocr.inference_engine import openvino as engine
    from rapidocr.inference_engine.base import FileInfo

    networks: list[Network] = []

    class Session(engine.OpenVINOInferSession):
        """A network of rapidocr; unlike its own, safe to run from several threads, in a precision that we choose."""

        def __init__(self, options: Any) -> None:
            kinds = "engine_type", "ocr_version", "task_type", "lang_type", "model_type"
            url = self.get_model_url(FileInfo(**{kind: options[kind] for kind in kinds}))["model_dir"]
            self.path = Path(options.model_root_dir) / Path(url).name
            made_of = Source((self.path,), (file_hash(str(self.path)),), "f32", folder)
            self.network = network(self.path.stem, made_of, lambda: self.model, options=NO_SHAPES)
            networks.append(self.network)

        @property
        def model(self) -> Any:
            """The graph, with the alphabet; not kept, since it takes memory."""
            return openvino_core().read_model(self.path)

        def __call__(self, pixels: NDArray[Any]) -> NDArray[np.float32]:
            return self.network.run([pixels])[0]

    chosen = {f"{part}.engine_type": rapidocr.EngineType.OPENVINO for part in ("Det", "Cls", "Rec")}
    ocr = rapidocr.RapidOCR(params={"Global.log_level": "error", **chosen})
    theirs = engine.OpenVINOInferSession
    try:  # no parameter chooses another class
        setattr(engine, theirs.__name__, Session)
        for part in ("det", "cls", "rec"):
            getattr(ocr, f"_load_{part}_model")()
    finally:
        setattr(engine, theirs.__name__, theirs)

    def read(pixels: Pixels) -> Any:
        """What PP-OCR reads; its networks keep nothing of it, since the next image has other sizes."""
        try:
            return ocr(pixels)
        finally:
            for each in networks:
                each.release()
            return_free_memory()

    return read


def pad_thin_image(pixels: Pixels) -> Pixels:
    """A thin image with its edge repeated: PP-OCR enlarges the short side, which would fill the memory."""
    height, width = pixels.shape[:2]
    down, across = max(0, width // MAX_ASPECT_RATIO - height), max(0, height // MAX_ASPECT_RATIO - width)
    return np.pad(pixels, ((0, down), (0, across), (0, 0)), mode="edge")


def read_text(picture: Picture, settings: Settings) -> tuple[Sighting, ...]:
    """Each line of text with its box."""
    read = load_ocr(blobs.folder(settings))
    result = read(pad_thin_image(picture.pixels)[..., ::-1])
    if result.txts is None:
        return ()
    height, width = picture.pixels.shape[:2]
    lines = []
    for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
        xs, ys = corners[:, 0] / width, corners[:, 1] / height
        box = Box(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))
        lines.append(Sighting("text", "text", box, float(score), "pp-ocr", text=text))
    return tuple(lines)


def normalized_words(text: str) -> list[str]:
    """The words, letters and digits only, without case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char if char.isalnum() else " " for char in folded if not unicodedata.combining(char)).split()


def similarity(asked: str, read: str) -> float:
    """1 where the asked words are among those that were read, however spaced; less for each letter that differs."""
    wanted, words = normalized_words(asked), normalized_words(read)
    if not wanted or not words:
        return 0.0
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2("".join(wanted))
    best, step = 0.0, max(1, len(wanted) // 4)  # a long text need not be tried at every position
    for size in range(max(1, len(wanted) - 1), len(wanted) + 2):  # OCR may join two words or split one
        for start in range(0, max(1, len(words) - size + 1), step):
            matcher.set_seq1("".join(words[start : start + size]))
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
                best = max(best, matcher.ratio())
    return best

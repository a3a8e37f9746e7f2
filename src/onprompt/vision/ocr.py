"""PP-OCR, whose networks rapidocr brings: run as all others, in full precision, kept compiled, safe in threads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.vision.boxes import Pixels
from onprompt.vision.compiled import Source, network
from onprompt.vision.runtime import Network, openvino_core, return_free_memory, thread_safe_cache
from onprompt.weights import blobs
from onprompt.weights.cache import file_hash

# Its inputs are of any size. What OpenVINO keeps for each would be 2 MB a picture, and no picture is faster for it.
NO_SHAPES = {"CPU_RUNTIME_CACHE_CAPACITY": "0"}


def load_ocr(settings: Settings) -> Callable[[Pixels], Any]:
    """PP-OCR, with the models that its package includes; one for all settings that keep networks in one folder."""
    return load_kept((blobs.folder(settings), settings.compiled_megabytes))


@thread_safe_cache
def load_kept(kept: tuple[Path, int]) -> Callable[[Pixels], Any]:
    """PP-OCR, with its networks kept in a folder of a size."""
    import rapidocr
    from rapidocr.inference_engine import openvino as engine
    from rapidocr.inference_engine.base import FileInfo

    networks: list[Network] = []

    class Session(engine.OpenVINOInferSession):
        """A network of rapidocr, which makes it when it first needs it; safe to run from several threads."""

        def __init__(self, options: Any) -> None:
            kinds = "engine_type", "ocr_version", "task_type", "lang_type", "model_type"
            url = self.get_model_url(FileInfo(**{kind: options[kind] for kind in kinds}))["model_dir"]
            path = Path(options.model_root_dir) / Path(url).name
            self.model = openvino_core().read_model(path)  # which holds the alphabet, too
            made_of = Source((path,), (file_hash(str(path)),), "f32", *kept)
            self.network = network(path.stem, made_of, lambda: self.model, options=NO_SHAPES)
            networks.append(self.network)

        def __call__(self, pixels: NDArray[Any]) -> NDArray[np.float32]:
            return self.network.run([pixels])[0]

    # Its own has one request, which threads can't share, and leaves the precision to the processor.
    setattr(engine, "OpenVINOInferSession", Session)  # noqa: B010 a class, which mypy would not let be assigned
    chosen = {f"{part}.engine_type": rapidocr.EngineType.OPENVINO for part in ("Det", "Cls", "Rec")}
    ocr = rapidocr.RapidOCR(params={"Global.log_level": "error", **chosen})

    def read(pixels: Pixels) -> Any:
        """What PP-OCR reads; its networks keep nothing of it, since the next image has other sizes."""
        try:
            return ocr(pixels)
        finally:
            for each in networks:
                each.release()
            return_free_memory()

    return read

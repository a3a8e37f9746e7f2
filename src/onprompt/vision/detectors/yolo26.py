"""The 80 COCO classes by YOLO26: the medium network, or the largest if `models pull largest` has fetched it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from onprompt.settings import Settings
from onprompt.vision import yolo26_graph
from onprompt.vision.boxes import Pixels, RawDetections
from onprompt.vision.closed_set import ClosedSetDetector
from onprompt.vision.letterbox import run_letterboxed
from onprompt.vision.runtime import Network, thread_safe_cache, with_pixel_input
from onprompt.weights.cache import is_cached, paths
from onprompt.weights.torchfile import read_tensors

MEDIUM, LARGE = "yolo26m.pt", "yolo26x.pt"


@thread_safe_cache
def load_network(path: Path) -> Callable[[Pixels], RawDetections]:
    """The network, built once per process, whatever the settings."""
    model = yolo26_graph.build(read_tensors(path))
    return partial(run_letterboxed, Network(with_pixel_input(model, 0, (0, 0, 0), (255, 255, 255))))


def load(settings: Settings) -> ClosedSetDetector:
    """The detector, with its file fetched and its network built."""
    file = LARGE if is_cached(LARGE, settings) else MEDIUM
    network = load_network(paths([file], settings)[file])
    return ClosedSetDetector((file,), [network], file.removesuffix(".pt"), settings)

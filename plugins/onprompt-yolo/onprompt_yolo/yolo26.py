"""The 80 COCO classes by YOLO26: the medium network, or the largest if `models pull largest` has fetched it."""

from collections.abc import Callable, Sequence

from onprompt.settings import Settings
from onprompt.vision.boxes import Boxes, Pixels, likely_boxes, load_curves
from onprompt.vision.closed_set import ClosedSetDetector
from onprompt.vision.runtime import Source, network, ov, source, thread_safe_cache, with_pixel_input
from onprompt.weights.cache import is_cached
from onprompt_yolo import CODE, CURVES, PACKAGES, yolo26_graph
from onprompt_yolo.letterbox import run_letterboxed
from onprompt_yolo.torchfile import read_tensors

MEDIUM, LARGE = "yolo26m.pt", "yolo26x.pt"


@thread_safe_cache
def load_network(made_of: Source) -> Callable[[Pixels], Sequence[Boxes]]:
    """The network, built once per process, whatever the settings."""
    built = network(made_of.file.stem, made_of, lambda: build(made_of))
    return lambda pixels: [likely_boxes(*run_letterboxed(built, pixels))]


def build(made_of: Source) -> ov.Model:
    """The graph, from pixels on."""
    return with_pixel_input(yolo26_graph.build(read_tensors(made_of.file)), 0, (0, 0, 0), (255, 255, 255))


def load(settings: Settings) -> ClosedSetDetector:
    """The detector, with its file fetched and its network built."""
    return load_with(LARGE if is_cached(LARGE, settings) else MEDIUM, settings)


def load_with(file: str, settings: Settings) -> ClosedSetDetector:
    """The detector with the medium network or the largest."""
    curve = load_curves(CURVES)[file.removesuffix(".pt")]
    networks = [load_network(source([file, *CODE], settings))]
    return ClosedSetDetector((file,), networks, curve, settings, PACKAGES)

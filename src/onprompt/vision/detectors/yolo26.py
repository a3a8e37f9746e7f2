"""The 80 COCO kinds by YOLO26: the medium network, or the largest where `models pull strong` has brought it."""

from __future__ import annotations

from pathlib import Path

from onprompt.settings import Settings
from onprompt.vision import yolo26_graph
from onprompt.vision.closed import Closed
from onprompt.vision.letterbox import decoded, letterboxed
from onprompt.vision.runtime import Network, once, taking_pixels
from onprompt.vision.tiles import Pixels, Raw
from onprompt.weights.cache import is_here, paths
from onprompt.weights.torchfile import read_tensors

MEDIUM, LARGE = "yolo26m.pt", "yolo26x.pt"


class Yolo26:
    """Boxes and scores of a picture."""

    def __init__(self, path: Path) -> None:
        model = yolo26_graph.build(read_tensors(path))
        self.network = Network(taking_pixels(model, 0, (0, 0, 0), (255, 255, 255)))

    def __call__(self, pixels: Pixels) -> Raw:
        padded, inner = letterboxed(pixels)
        distances, scores = self.network.run([padded[None]])
        return decoded(distances, padded.shape[:2], inner), scores.T


@once
def network(path: Path) -> Yolo26:
    """Built once in a process, whatever the settings."""
    return Yolo26(path)


def load(settings: Settings) -> Closed:
    """The detector, with its file fetched and its network built."""
    file = LARGE if is_here(LARGE, settings) else MEDIUM
    return Closed((file,), [network(paths([file], settings)[file])], file.removesuffix(".pt"), settings)

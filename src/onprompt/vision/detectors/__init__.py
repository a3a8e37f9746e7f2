"""Detectors, one file each; the file's name is the detector's name."""

from onprompt import plugins
from onprompt.settings import Settings
from onprompt.types import Detector
from onprompt.vision.runtime import thread_safe_cache


@thread_safe_cache
def load_detector(settings: Settings) -> Detector:
    """The detector that the settings name, loaded once for each set of settings; networks are shared between them."""
    name = settings.detector.partition(":")[0]  # `hf:IDEA-Research/grounding-dino-tiny` names a model too
    detector: Detector = plugins.load("vision.detectors", name).load(settings)
    return detector

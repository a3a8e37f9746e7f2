"""Networks read in the background while the prompt is parsed: a command's first verdict comes sooner."""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

from onprompt.settings import Settings
from onprompt.vision import backbone, masks, pose
from onprompt.vision.detection import load_detector
from onprompt.vision.matching import load_matcher
from onprompt.vision.runtime import openvino_core, source, thread_state
from onprompt.weights import blobs


@cache
def load_ahead(settings: Settings) -> None:
    """Begin to load what every verdict needs, once per process."""
    loads: list[Callable[[], object]] = [partial(load_detector, settings)]
    if settings.matcher:
        loads += [partial(load_matcher, settings), lambda: backbone.load_backbone(source(backbone.FILES, settings))]
    in_background(loads, settings)


@cache
def measure_ahead(settings: Settings) -> None:
    """Begin to load what measures the appearance of objects, once per process."""
    loads: list[Callable[[], object]] = [
        lambda: masks.load_segmenter(source(masks.FILES, settings)),
        lambda: pose.load_joints(source(pose.FILES, settings)),
    ]
    in_background(loads, settings)


def in_background(loads: list[Callable[[], object]], settings: Settings) -> None:
    """Call some functions in a thread, if networks were compiled before; else the files may have to be fetched first.

    What fails there fails again where it is needed, and is reported then.
    """
    # What loads models may import torch, which is best imported by one thread alone.
    if settings.names_a_model or not settings.compiled_megabytes or not blobs.files(blobs.folder(settings)):
        return
    single_core = getattr(thread_state, "single_core", False)

    def work() -> None:
        thread_state.single_core, thread_state.at_once = single_core, True
        for load in loads:
            with suppress(Exception):
                load()

    openvino_core()  # which sets a variable of the environment for a moment: no other thread should run then
    threading.Thread(target=work, name="onprompt-ahead").start()

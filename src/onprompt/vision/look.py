"""Step 2: from a picture to what is in it. Detect, then measure."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from onprompt import plugins
from onprompt.settings import Settings
from onprompt.types import Detector, Look, Name, Picture, Seen, Sighting
from onprompt.vision import colour, geometry

loaded: dict[Settings, Detector] = {}
loading = threading.Lock()


def detector(settings: Settings) -> Detector:
    """The detector that the settings name, made once for each set of settings; networks are shared between them."""
    with loading:
        if settings not in loaded:
            name = settings.detector.partition(":")[0]  # `hf:IDEA-Research/grounding-dino-tiny` names a model too
            loaded[settings] = plugins.load("vision.detectors", name).load(settings)
        return loaded[settings]


def look(picture: Picture, names: Sequence[Name], settings: Settings) -> Seen:
    """What the detector sees, each sighting measured; colours are read only of what was asked for."""
    seen = detector(settings).see([Look(picture, names)])[0]
    measured = (measure(sighting, picture, settings, sighting.label in seen.known) for sighting in seen.sightings)
    return Seen(tuple(measured), seen.known)


def measure(sighting: Sighting, picture: Picture, settings: Settings, with_colour: bool) -> Sighting:
    """Size, place, colour and whether the edge cuts it."""
    return replace(
        sighting,
        size=geometry.size_of(sighting.box, settings),
        position=geometry.position_of(sighting.box),
        truncated=geometry.truncated(sighting.box),
        colours=colour.dominant(picture, sighting.box, settings) if with_colour else (),
    )

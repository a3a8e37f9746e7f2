"""A detector: finds the red part of a picture, whatever it is called. `--detector red`."""

from collections.abc import Sequence

import numpy as np

from onprompt.settings import Settings
from onprompt.types import Box, Detections, Name, NameMatch, Picture, Sighting

LEAST = 0.01  # share of the picture that must be red


def load(settings: Settings) -> "RedDetector":  # noqa: ARG001 every detector is given them
    """The detector."""
    return RedDetector()


class RedDetector:
    """One box around all that is red."""

    files = ()  # the model files that it uses

    def see(self, picture: Picture, names: Sequence[Name]) -> Detections:
        """What was found of each name, and which names are known: here all."""
        return Detections(sightings(picture, names), {name.label: NameMatch((name.label,)) for name in names})


def sightings(picture: Picture, names: Sequence[Name]) -> tuple[Sighting, ...]:
    """The red part, for each name that is looked for."""
    red, green, blue = np.moveaxis(picture.pixels.astype(int), 2, 0)
    mask = (red > 150) & (green < 80) & (blue < 80)
    if mask.mean() < LEAST:
        return ()
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    height, width = mask.shape
    box = Box(columns[0] / width, rows[0] / height, (columns[-1] + 1) / width, (rows[-1] + 1) / height)
    return tuple(Sighting(name.label, name.label, box, 0.9, "red") for name in names)

"""Small pictures in the folders and under the file names of the benchmark, one color a picture."""

import colorsys
from pathlib import Path

from PIL import Image

from onprompt.illusion.protocol import SCENES, Split

STRENGTHS = (("Easy", "1.25"), ("Hard", "1.05"), ("Easy", "1.4"), ("Hard", "0.85"))


def draw(folder: Path, split: Split, per_class: int) -> None:
    """Pictures of each shape, with scenes and strengths in rotation."""
    for place, shape in enumerate(split.shapes):
        for number in range(per_class):
            scene = SCENES[(number + place) % len(SCENES)]
            difficulty, strength = STRENGTHS[(number + place) % len(STRENGTHS)]
            fields = (shape.lower(), "kind") if split.name == "icon" else (shape.lower(),)  # icons have one more
            name = "-".join((*fields, scene, difficulty, strength, str(number + 1)))
            path = folder / shape / difficulty / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            hue = (place * per_class + number) / (len(split.shapes) * per_class)
            color = tuple(round(255 * part) for part in colorsys.hsv_to_rgb(hue, 0.8, 0.9))
            Image.new("RGB", (64, 64), color).save(path)

"""Small pictures in the folders and under the file names of the benchmark, one color a picture."""

from itertools import product
from pathlib import Path

from PIL import Image

from onprompt.illusion.protocol import SCENES, Split

STRENGTHS = ("Easy-1.25", "Hard-1.05", "Easy-1.4", "Hard-0.85")


def draw(folder: Path, split: Split, per_class: int) -> None:
    """Pictures of each shape, with scenes and strengths in rotation."""
    for (place, shape), number in product(enumerate(split.shapes), range(per_class)):
        scene, strength = SCENES[(number + place) % len(SCENES)], STRENGTHS[(number + place) % len(STRENGTHS)]
        kind = "-kind" if split.name == "icon" else ""  # icons have one field more
        path = folder / shape / "any" / f"{shape.lower()}{kind}-{scene}-{strength}-{number + 1}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (64, 64), (10 * place, 100 * number, 99)).save(path)

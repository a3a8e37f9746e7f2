"""Whether people would describe a pictured person as female or male, as a child or an adult.

Trained by training/people/train.py on photos with captions; PERSON_KIND.md beside this file is the model card.
"""

from functools import cache
from pathlib import Path

import numpy as np

from onprompt.settings import Settings
from onprompt.types import Box, Name, Picture, Trait
from onprompt.vision import backbone
from onprompt.vision.boxes import Floats, Pixels

FILES = backbone.FILES
WEIGHTS = Path(__file__).with_name("person_kind.npz")
KINDS = {"sex": ("male", "female"), "age": ("adult", "child")}  # what a probability of 0 and of 1 stands for
MALE, FEMALE, CHILD = ("sex", "male"), ("sex", "female"), ("age", "child")
# What each word says. "girl" and "boy" are also said of adults, so that age never speaks against them.
WORDS = {
    "man": (MALE,),
    "woman": (FEMALE,),
    "boy": (MALE, CHILD),
    "girl": (FEMALE, CHILD),
    "child": (CHILD,),
    "baby": (CHILD,),
}
MARGIN = 0.1  # of a box's width and height, added on each side
GREY = 124  # about the mean of ImageNet
DECIDED = 0.75  # probability from which a side is told
MIN_SIDE = 32  # pixels of a box's shorter side; in a smaller one it can't be told


def traits_said(name: Name) -> tuple[tuple[str, str], ...]:
    """The kinds and values that a name says, by itself or as a kind of another: a bride is a woman."""
    return next((WORDS[word] for word in (name.label, *name.broader) if word in WORDS), ())


@cache
def load_weights() -> dict[str, Floats]:
    """A weight for each feature and an intercept, for each kind."""
    with np.load(WEIGHTS, allow_pickle=False) as data:
        return {name: data[name].astype(np.float32) for name in data.files}


def traits(picture: Picture, box: Box, settings: Settings) -> list[Trait]:
    """The sex and age of the person in a box with calibrated probabilities, as far as they can be told."""
    height, width = picture.pixels.shape[:2]
    if min(box.width * width, box.height * height) < MIN_SIDE:
        return []
    features = person_features(picture.pixels, box, settings)
    kinds = [likelier(kind, probability(features, kind)) for kind in KINDS]
    return [trait for trait in kinds if trait.confidence >= DECIDED]


def likelier(kind: str, chance: float) -> Trait:
    """The side of a kind that is the more probable."""
    return Trait(kind, KINDS[kind][chance >= 0.5], round(max(chance, 1 - chance), 4))


def probability(features: Floats, kind: str) -> float:
    """The probability of the second side: female, or child."""
    weights, intercept = load_weights()[kind], load_weights()[f"{kind}.intercept"]
    return float(1 / (1 + np.exp(-(features @ weights + intercept))))


def person_features(pixels: Pixels, box: Box, settings: Settings) -> Floats:
    """The backbone's features of the whole person, then of head and shoulders; in 32 bits, as it was trained."""
    precise = settings.model_copy(update={"precision": "f32"})
    hidden, _ = backbone.run_backbone(person_crops(pixels, box), precise)
    return hidden.ravel()


def person_crops(pixels: Pixels, box: Box) -> list[Pixels]:
    """The box with a margin, padded to a square, and its top, as high as it is wide.

    Both have the resolution of the training photos.
    """
    height, width = pixels.shape[:2]
    crop = pixels[span(box.top, box.bottom, height), span(box.left, box.right, width)]
    whole = backbone.recompress(backbone.shrink(crop))
    return [pad_to_square(whole), np.ascontiguousarray(whole[: whole.shape[1]])]


def span(low: float, high: float, length: int) -> slice:
    """The pixels between two fractions of a side, with the margin."""
    margin = MARGIN * (high - low)
    first = min(max(0, round((low - margin) * length)), length - 1)
    return slice(first, max(first + 1, min(length, round((high + margin) * length))))


def pad_to_square(pixels: Pixels) -> Pixels:
    """The image in the middle of a grey square."""
    height, width = pixels.shape[:2]
    side = max(height, width)
    top, left = (side - height) // 2, (side - width) // 2
    square = np.full((side, side, 3), GREY, dtype=np.uint8)
    square[top : top + height, left : left + width] = pixels
    return square

"""Which adjustments of the image as a whole an instruction asks for, by its words."""

from __future__ import annotations

import re

from onprompt.types import Edit

# Words of an instruction → the adjustments that carry it out; the first word that occurs decides.
ASKED: dict[str, tuple[str, ...]] = {
    "black and white|monochrome|grayscale|greyscale": ("black and white",),
    "sepia": ("sepia",),
    "contrast": ("more contrast",),
    "desaturated": ("less saturated", "black and white"),
    "saturat|vivid|vibrant": ("more saturated",),
    "blur|out of focus": ("blurred",),
    "sharp": ("sharper",),
    "warm": ("warmer",),
    "cool|cold": ("cooler",),
    "bright|lighter": ("brighter",),
    "dark|dim": ("darker",),
    "invert|negative": ("inverted",),
    "upside down": ("upside down", "turned by 180°"),
    "vertically": ("upside down",),
    "mirror|flip|horizontally": ("mirrored",),
    "180": ("turned by 180°",),
    "degrees": ("turned left", "turned right"),
    "rotate": ("turned left", "turned right", "turned by 180°"),
    "zoomed out|zoom out": ("zoomed out",),
    "zoom|crop": ("cropped",),
}
OPPOSITES = {
    **{"brighter": "darker", "darker": "brighter", "warmer": "cooler", "cooler": "warmer"},
    "more contrast": "less contrast",
    **{"more saturated": "less saturated", "blurred": "sharper", "sharper": "blurred"},
}
LESS = ("less ", "lower", "reduce", "decrease")
FRAME = (  # no objects
    *("image", "picture", "photo", "color", "contrast", "brightness", "saturation", "degree"),
    *("tone", "tint", "filter", "effect", "look"),
)
ARTWORK = ("painting", "drawing", "sketch", "watercolor", "cartoon", "anime", "comic", "art", "style")


def asked_for(edit: Edit) -> tuple[str, ...]:
    """The adjustments that would carry out an operation on the image as a whole; none if it names an object."""
    named = edit.target is not None and edit.target.canonical not in FRAME
    objects = [thing for thing in edit.result.things if thing.canonical not in FRAME]
    if named or (objects and edit.operation not in ("restyle", "recolor")):
        return ()
    words = f"{edit.value} {edit.phrase}".lower()
    if re.search(rf"\b({'|'.join(ARTWORK)})\b", words):  # a dark fantasy painting is more than a darker image
        return ()
    found = next((names for word, names in ASKED.items() if re.search(rf"\b(?:{word})", words)), ())
    if {"turned left", "turned right"} <= set(found):
        left = any(word in words for word in ("left", "counter", "anti"))
        right = any(word in words for word in ("right", "clockwise"))
        found = ("turned left",) if left else ("turned right",) if right else found
    less = any(word in words for word in LESS)
    return tuple(OPPOSITES.get(name, name) for name in found) if less else found

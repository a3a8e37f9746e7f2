"""What a prompt says of the picture as a whole, against what is measured of it."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.types import Attribute, Scene, Trait

# What a prompt may say of the picture as a whole → what can be measured of it: its kind, and the value that fits.
WHOLE = {
    **dict.fromkeys(("black and white", "monochrome", "grayscale", "greyscale"), ("style", "black and white")),
    **dict.fromkeys(("night", "nighttime", "dark", "midnight"), ("lighting", "dark")),
    **dict.fromkeys(("day", "daytime", "daylight", "bright", "sunny"), ("lighting", "light")),
    **dict.fromkeys(("blurry", "blurred", "out of focus"), ("quality", "blurry")),
    **dict.fromkeys(("sharp", "sharp focus", "in focus"), ("quality", "sharp")),
    **dict.fromkeys(("photo", "film still", "polaroid"), ("medium", "photo")),
    **dict.fromkeys(
        ("painting", "oil painting", "watercolor", "drawing", "illustration", "sketch", "pencil sketch", "cartoon"),
        ("medium", "artwork"),
    ),
    **dict.fromkeys(("anime", "pixel art", "comic", "engraving", "woodcut", "line art"), ("medium", "artwork")),
}
SURELY = 0.8  # how sure a measure of the whole picture must be to speak against the prompt


def measured(asked: Attribute, whole: Sequence[Trait]) -> Trait | None:
    """What was surely measured of the picture as a whole that bears on a property; None if nothing was."""
    kind, _ = WHOLE.get(asked.value, ("", ""))
    return next((trait for trait in whole if trait.kind == kind and trait.confidence >= SURELY), None)


def about_the_medium(asked: Attribute) -> bool:
    """Whether a property says that the picture is a photo, or that it is none."""
    return WHOLE.get(asked.value, ("", ""))[0] == "medium"


def not_measured(scene: Scene, whole: Sequence[Trait]) -> list[str]:
    """What the prompt says of the picture as a whole and no measure is sure of. That it is a photo needs no saying."""
    asked = (each for each in scene.properties if each.kind not in {"parameter", "quality"} and each.value != "photo")
    return [f"{each.kind} {each.value}" for each in asked if measured(each, whole) is None]


def belied(scene: Scene, whole: Sequence[Trait]) -> list[tuple[str, str]]:
    """What the prompt says of the picture as a whole, and what a measure says instead."""
    pairs = ((each, measured(each, whole)) for each in scene.properties)
    return [
        (f"the picture: {each.kind} {each.value}", found.value)
        for each, found in pairs
        if found and found.value != WHOLE[each.value][1]
    ]

"""What a prompt says of the picture as a whole, against what is measured of it."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.types import Attribute, Scene, Trait

# What a prompt may say of the picture as a whole → what can be measured of it: its kind, and the value that fits.
MEASURABLE = {
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
CONFIDENT = 0.8  # confidence from which a measurement of the whole picture may contradict the prompt
NOT_SHOWN = frozenset({"parameter", "quality"})  # no claim about what the picture shows


def measurement(asked: Attribute, properties: Sequence[Trait]) -> Trait | None:
    """The confident measurement that bears on a property of the picture; None if there is none."""
    kind, _ = MEASURABLE.get(asked.value, ("", ""))
    return next((trait for trait in properties if trait.kind == kind and trait.confidence >= CONFIDENT), None)


def is_medium(asked: Attribute) -> bool:
    """Whether a property says that the picture is a photo, or that it is none."""
    return MEASURABLE.get(asked.value, ("", ""))[0] == "medium"


def not_measured(scene: Scene, properties: Sequence[Trait]) -> list[Attribute]:
    """What the prompt says of the picture as a whole and nothing measures. "Photo" goes without saying."""
    asked = (attribute for attribute in scene.properties if attribute.kind not in NOT_SHOWN)
    return [each for each in asked if each.value != "photo" and measurement(each, properties) is None]


def contradictions(scene: Scene, properties: Sequence[Trait]) -> list[tuple[Attribute, str]]:
    """What the prompt says of the picture as a whole, and what was measured instead."""
    pairs = ((attribute, measurement(attribute, properties)) for attribute in scene.properties)
    return [
        (attribute, trait.value)
        for attribute, trait in pairs
        if trait and trait.value != MEASURABLE[attribute.value][1]
    ]

"""What a prompt says about the image as a whole, against what is measured."""

from collections.abc import Sequence

from onprompt.types import Attribute, Scene, Trait

# Words about the image as a whole → the property that can be measured: its kind, and the value that fits.
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
CONFIDENT = 0.8  # confidence from which a measurement may contradict the prompt
NOT_SHOWN = frozenset({"parameter", "quality"})  # not about what the image shows


def measurement(asked: Attribute, properties: Sequence[Trait]) -> Trait | None:
    """The confident measurement of a property of the image, if there is one."""
    kind, _ = MEASURABLE.get(asked.value, ("", ""))
    return next((trait for trait in properties if trait.kind == kind and trait.confidence >= CONFIDENT), None)


def is_medium(asked: Attribute) -> bool:
    """Whether a property says that the image is a photo or an artwork."""
    return MEASURABLE.get(asked.value, ("", ""))[0] == "medium"


def unmeasured(scene: Scene, properties: Sequence[Trait]) -> list[Attribute]:
    """What the prompt says about the image as a whole without a measurement for it."""
    asked = (attribute for attribute in scene.properties if attribute.kind not in NOT_SHOWN)
    return [attribute for attribute in asked if measurement(attribute, properties) is None]


def not_measured(scene: Scene, properties: Sequence[Trait]) -> list[Attribute]:
    """The same without "photo", which goes without saying."""
    return [attribute for attribute in unmeasured(scene, properties) if attribute.value != "photo"]


def contradictions(scene: Scene, properties: Sequence[Trait]) -> list[tuple[Attribute, str]]:
    """What the prompt says about the image as a whole, and what was measured instead."""
    pairs = ((asked, measurement(asked, properties)) for asked in scene.properties)
    return [(asked, trait.value) for asked, trait in pairs if trait and trait.value != MEASURABLE[asked.value][1]]

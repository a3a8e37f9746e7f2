"""Step 3: does a sighting have an attribute? One function per kind; a kind without one is unverifiable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onprompt.evidence.grading import MINOR
from onprompt.settings import Settings
from onprompt.types import Attribute, Relation, Scene, Sighting, Thing
from onprompt.vision import color, geometry, ocr
from onprompt.vision.people import NOT_SMILING, SMILING, posture_of

MIN_LETTERS, CLEARLY_READ, MIN_LETTER_HEIGHT = 3, 0.8, 0.04  # of text that something bears; height of the image
TEXT_MATCH, TEXT_NEAR = 0.8, 0.5  # similarity from which text matches, or is a minor mismatch


@dataclass(frozen=True, slots=True)
class Measured:
    """How well an attribute fits (1 match, less for a minor mismatch, 0 mismatch), and the measured value."""

    score: float
    value: str
    confidence: float = 1.0


def check_color(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The nearest of the object's dominant colors counts, in the protocol's ΔE bands."""
    if sighting.mask is None and not sighting.colors:
        return None  # not measured
    if asked in color.MULTICOLORED:
        many = any(trait.value == "multicolored" for trait in sighting.traits)
        return Measured(float(many), "many colors" if many else "few colors", 0.6 if many else 0.4)
    if not color.can_check(asked):
        return None
    if not sighting.colors:
        return Measured(MINOR, "many colors", confidence=0.3)
    likeness = [color.likeness(swatch, asked, settings.color_match, settings.color_near) for swatch in sighting.colors]
    score = (0.0, MINOR, 1.0)[int(2 * max(likeness))]
    # A matching color is there, even if it is not the only one; a mismatch is as certain as the clearest other color.
    names = " and ".join(swatch.name for swatch in sighting.colors)
    return Measured(score, names, 0.95 if score == 1 else max(map(color.swatch_confidence, sighting.colors)))


def check_size(asked: str, sighting: Sighting, _: Settings) -> Measured | None:
    """The same size class matches, the next one is a minor mismatch; a comparative such as `larger` is unverifiable."""
    size = geometry.SIZE_WORDS.get(asked)
    if size is None:
        return None
    steps = abs(geometry.SIZES.index(size) - geometry.SIZES.index(sighting.size))
    return Measured((1.0, MINOR, 0.0)[steps], sighting.size, trait_confidence(sighting, "size"))


def check_position(asked: str, sighting: Sighting, _: Settings) -> Measured | None:
    """A cell of a 3 × 3 grid, with a small tolerance; `background` is not one of them."""
    if any(word not in (*geometry.COLUMNS, *geometry.ROWS) for word in asked.split("-")):
        return None
    score = geometry.position_score(sighting.box, asked)
    return Measured(score, sighting.position, trait_confidence(sighting, "position"))


def trait_confidence(sighting: Sighting, kind: str) -> float:
    """The confidence of a trait that every sighting has."""
    return next((trait.confidence for trait in sighting.traits if trait.kind == kind), 1.0)


def check_action(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """A posture by a person's joints; a mismatch only if they show another one."""
    if asked in SMILING | NOT_SMILING:
        return check_expression(asked, sighting, settings)
    posture = posture_of(asked)
    if posture is None or not sighting.joints:
        return None
    shown = {trait.value: trait.confidence for trait in sighting.traits if trait.kind == "action"}
    if posture in shown:
        return Measured(1.0, posture, shown[posture])
    if not shown:
        return Measured(MINOR, "an unclear posture", 0.3)
    return Measured(0.0, max(shown, key=shown.__getitem__), max(shown.values()))


def check_expression(asked: str, sighting: Sighting, _: Settings) -> Measured | None:
    """Smiling or not: a smile contradicts sadness, but no smile proves no other expression."""
    shown = next((trait for trait in sighting.traits if trait.kind == "expression"), None)
    if shown is None or asked not in SMILING | NOT_SMILING:
        return None
    if asked in NOT_SMILING:
        return Measured(0.0, shown.value, shown.confidence) if shown.value == "smiling" else None
    return Measured(float(shown.value == "smiling"), shown.value, shown.confidence)


CHECKS: dict[str, Callable[[str, Sighting, Settings], Measured | None]] = {
    "color": check_color,
    "size": check_size,
    "position": check_position,
    "action": check_action,
    "expression": check_expression,
}
BY_RULE = frozenset({"color", "size", "position"})  # the protocol's rules apply, whatever a detector says


def measure(attribute: Attribute, sighting: Sighting, settings: Settings) -> Measured | None:
    """How well an attribute fits a sighting, by a trait that the detector named or by a check; None if unverifiable."""
    if attribute.negated:
        return None
    if attribute.kind not in BY_RULE:
        for trait in sighting.traits:
            if (trait.kind, trait.value) == (attribute.kind, attribute.value):
                return Measured(1.0, trait.value, trait.confidence)
    check = CHECKS.get(attribute.kind)
    return check(attribute.value, sighting, settings) if check else None


def measure_text(asked: str, lines: Sequence[Sighting]) -> Measured:
    """The most similar line of text; all lines together also count as one."""
    texts = [(line.text, line.confidence) for line in lines]
    texts.append((" ".join(line.text for line in lines), min((line.confidence for line in lines), default=1.0)))
    ranked = [(ocr.similarity(asked, words), confidence, -len(words), words) for words, confidence in texts]
    similarity, confidence, _, words = max(ranked, key=lambda entry: entry[:3])
    score = 0.0 if similarity < TEXT_NEAR else MINOR
    score = 1.0 if similarity >= TEXT_MATCH else score
    return Measured(score, f'"{words}"' if words else "no text", confidence if score else 1.0)


def is_text(thing: Thing) -> bool:
    """Whether the object is text itself: words without anything that bears them."""
    return thing.canonical == "text" and any(attribute.kind == "text" for attribute in thing.attributes)


def texts_on(index: int, scene: Scene) -> list[str]:
    """The texts asked for on an object: "a sign that says …", "a sign with the words …", "the words … on a sign"."""
    thing = scene.things[index]
    texts = [other for other in scene.things if is_text(other) and not other.absent]
    own = [scene.things[relation.target] for relation in thing.relations if relation.name == "with"]
    on_it = [text for text in texts if any(r == Relation("on", index) for r in text.relations)]
    bearing = [thing, *(text for text in own if text in texts), *on_it]
    said = [attribute for part in bearing for attribute in part.attributes if attribute.kind == "text"]
    return [attribute.value for attribute in said if not attribute.negated]


def is_lettering(line: Sighting) -> bool:
    """Whether a line of text is more than a watermark or a misread pattern."""
    letters = sum(map(str.isalpha, line.text))
    return letters >= MIN_LETTERS and line.confidence >= CLEARLY_READ and line.box.height >= MIN_LETTER_HEIGHT

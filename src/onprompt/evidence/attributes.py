"""Step 3: is an attribute true of a sighting? One small function a kind; a kind without one is unverifiable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onprompt.settings import Settings
from onprompt.types import Attribute, Sighting
from onprompt.vision import colour, face, geometry, pose, shape, text


@dataclass(frozen=True, slots=True)
class Measured:
    """How well an attribute fits (1 match, less for a minor mismatch, 0 mismatch), what was found, how sure we are."""

    score: float
    found: str
    confidence: float = 1.0


def check_colour(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The nearest of the object's dominant colours counts, in the seed's ΔE bands."""
    if sighting.mask is None and not sighting.colours:
        return None  # nobody looked
    if asked in colour.MULTICOLORED:
        many = any(trait.value == "multicolored" for trait in sighting.traits)
        return Measured(float(many), "many colours" if many else "few colours", 0.6 if many else 0.4)
    if not colour.can_check(asked):
        return None
    if not sighting.colours:
        return Measured(settings.minor_score, "many colours", confidence=0.3)
    nearest = min(colour.distance(swatch, asked) for swatch in sighting.colours)
    score = (
        1.0 if nearest <= settings.colour_match else settings.minor_score if nearest <= settings.colour_near else 0.0
    )
    # A dominant colour that matches is surely there, if not the only one; against it speaks the largest colour instead.
    found = " and ".join(swatch.name for swatch in sighting.colours)
    return Measured(score, found, 0.95 if score == 1 else max(map(colour.swatch_confidence, sighting.colours)))


def check_size(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The same bucket matches, the next one is a minor mismatch; `larger` than what, a bucket can't tell."""
    bucket = geometry.SIZE_WORDS.get(asked)
    if bucket is None:
        return None
    apart = abs(geometry.SIZES.index(bucket) - geometry.SIZES.index(sighting.size))
    return Measured((1.0, settings.minor_score, 0.0)[apart], sighting.size, sure(sighting, "size"))


def check_position(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The asked part of a 3 × 3 grid, with a small offset tolerated; `background` is none of its parts."""
    if not geometry.is_grid_position(asked):
        return None
    score = geometry.position_score(sighting.box, asked, settings)
    return Measured(score, sighting.position, sure(sighting, "position"))


def sure(sighting: Sighting, kind: str) -> float:
    """How sure a trait is that every sighting has."""
    return next((trait.confidence for trait in sighting.traits if trait.kind == kind), 1.0)


def check_action(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """A posture that a person's joints show. One that they do not show is a mismatch only if they show another."""
    if asked in face.SMILING | face.NOT_SMILING:
        return check_expression(asked, sighting, settings)
    posture = pose.posture_of(asked)
    if posture is None or not sighting.joints:
        return None
    shown = {trait.value: trait.confidence for trait in sighting.traits if trait.kind == "action"}
    if posture in shown:
        return Measured(1.0, posture, shown[posture])
    others = {value: sure for value, sure in shown.items() if {value, posture} <= set(pose.EXCLUSIVE)}
    if not others:
        return Measured(settings.minor_score, "a posture that joints can't tell", 0.3)
    return Measured(0.0, max(others, key=others.__getitem__), max(others.values()))


def check_expression(asked: str, sighting: Sighting, _: Settings) -> Measured | None:
    """A smile, or none. Who smiles is not sad; who does not may be anything else."""
    shown = next((trait for trait in sighting.traits if trait.kind == "expression"), None)
    if shown is None or asked not in face.SMILING | face.NOT_SMILING:
        return None
    if asked in face.NOT_SMILING:
        return Measured(0.0, shown.value, shown.confidence) if shown.value == "smiling" else None
    return Measured(float(shown.value == "smiling"), shown.value, shown.confidence)


def check_shape(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """A plain shape of the outline; the outline of what is seen in part, or aslant, tells little against it."""
    wanted = shape.SHAPE_WORDS.get(asked)
    if wanted is None or sighting.mask is None:
        return None
    shown = {trait.value: trait.confidence for trait in sighting.traits if trait.kind == "shape"}
    if wanted in shown:
        return Measured(1.0, wanted, shown[wanted])
    return Measured(settings.minor_score, " or ".join(shown) or "no plain shape", 0.3)


CHECKS: dict[str, Callable[[str, Sighting, Settings], Measured | None]] = {
    "color": check_colour,
    "size": check_size,
    "position": check_position,
    "action": check_action,
    "expression": check_expression,
    "shape": check_shape,
}


BY_RULE = frozenset({"color", "size", "position"})  # by rules of the seed, whatever a trait may be called


def measure(attribute: Attribute, sighting: Sighting, settings: Settings) -> Measured | None:
    """How well one attribute fits one sighting; None where it can't be told."""
    check = CHECKS.get(attribute.kind)
    said = None if attribute.kind in BY_RULE else by_trait(attribute, sighting)
    return said or (check(attribute.value, sighting, settings) if check else None)


def by_trait(attribute: Attribute, sighting: Sighting) -> Measured | None:
    """Whatever a detector says of what it saw; of what it does not say nothing can be told."""
    said = (each for each in sighting.traits if (each.kind, each.value) == (attribute.kind, attribute.value))
    return next((Measured(1.0, each.value, each.confidence) for each in said), None)


def measure_text(asked: str, lines: Sequence[Sighting], settings: Settings) -> Measured:
    """The line of text that is most like what was asked for; all lines together also count as one."""
    whole = " ".join(line.text for line in lines)
    read = [(text.similarity(asked, line.text), line.text, line.confidence) for line in lines]
    read.append((text.similarity(asked, whole), whole, min((line.confidence for line in lines), default=1.0)))
    likeness, found, confidence = max(read, key=lambda each: (each[0], each[2], -len(each[1])))
    score = 1.0 if likeness >= settings.text_match else settings.minor_score if likeness >= settings.text_near else 0.0
    return Measured(score, f'"{found}"' if found else "no text", confidence if score else 1.0)

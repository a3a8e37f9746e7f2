"""Step 3: is an attribute true of a sighting? One small function a kind; a kind without one is unverifiable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onprompt.settings import Settings
from onprompt.types import Attribute, Sighting
from onprompt.vision import colour, geometry, text


@dataclass(frozen=True, slots=True)
class Measured:
    """How well an attribute fits (1 match, less for a minor mismatch, 0 mismatch), what was found, how sure we are."""

    score: float
    found: str
    confidence: float = 1.0


def check_colour(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The nearest of the object's dominant colours counts, in the seed's ΔE bands."""
    if not colour.can_check(asked):
        return None
    if not sighting.colours:
        return Measured(settings.minor_score, "many colours", confidence=0.3)
    nearest = min(colour.distance(swatch, asked) for swatch in sighting.colours)
    score = (
        1.0 if nearest <= settings.colour_match else settings.minor_score if nearest <= settings.colour_near else 0.0
    )
    return Measured(score, " and ".join(swatch.name for swatch in sighting.colours))


def check_size(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The same bucket matches, the next one is a minor mismatch; `larger` than what, a bucket can't tell."""
    bucket = geometry.SIZE_WORDS.get(asked)
    if bucket is None:
        return None
    apart = abs(geometry.SIZES.index(bucket) - geometry.SIZES.index(sighting.size))
    return Measured((1.0, settings.minor_score, 0.0)[apart], sighting.size)


def check_position(asked: str, sighting: Sighting, settings: Settings) -> Measured | None:
    """The asked part of a 3 × 3 grid, with a small offset tolerated; `background` is none of its parts."""
    if not geometry.is_place(asked):
        return None
    return Measured(geometry.position_score(sighting.box, asked, settings), sighting.position)


CHECKS: dict[str, Callable[[str, Sighting, Settings], Measured | None]] = {
    "color": check_colour,
    "size": check_size,
    "position": check_position,
}


def measure(attribute: Attribute, sighting: Sighting, settings: Settings) -> Measured | None:
    """How well one attribute fits one sighting; None where it can't be told."""
    check = CHECKS.get(attribute.kind)
    return check(attribute.value, sighting, settings) if check else None


def measure_text(asked: str, lines: Sequence[Sighting], settings: Settings) -> Measured:
    """The line of text that is most like what was asked for; all lines together also count as one."""
    whole = " ".join(line.text for line in lines)
    read = [(text.similarity(asked, line.text), line.text, line.confidence) for line in lines]
    read.append((text.similarity(asked, whole), whole, min((line.confidence for line in lines), default=1.0)))
    likeness, found, confidence = max(read, key=lambda each: (each[0], each[2], -len(each[1])))
    score = 1.0 if likeness >= settings.text_match else settings.minor_score if likeness >= settings.text_near else 0.0
    return Measured(score, f'"{found}"' if found else "no text", confidence if score else 1.0)

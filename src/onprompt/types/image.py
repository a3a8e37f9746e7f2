"""What is seen: pictures, boxes, sightings and their traits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy import bool_, uint8
    from numpy.typing import NDArray


class Box(NamedTuple):
    """A rectangle in shares of the picture's width and height, from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return max(0.0, self.right - self.left)

    @property
    def height(self) -> float:
        return max(0.0, self.bottom - self.top)

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def overlap(self, other: Box) -> Box:
        """The part that two boxes share; its area is 0 where they share none."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def iou(self, other: Box) -> float:
        """Shared area over joint area."""
        shared = self.overlap(other).area
        joint = self.area + other.area - shared
        return shared / joint if joint else 0.0


class Decoded(NamedTuple):
    """An image made ready: RGB pixels, upright; `size` is what the file had (width, height) after turning."""

    pixels: NDArray[uint8]
    size: tuple[int, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """An image by its name and bytes; it is decoded when somebody first looks at it."""

    name: str
    sha256: str
    decode: Callable[[], Decoded] = field(repr=False, compare=False)
    frame: int = 0
    side: int = 0  # its longest side is cut to this when it is decoded
    encoded: dict[str, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)  # as sent to models
    opened: list[Decoded] = field(default_factory=list, init=False, repr=False, compare=False)  # none or one

    @property
    def decoded(self) -> Decoded:
        if not self.opened:  # no cached_property: until Python 3.12, one lock held up all other pictures
            self.opened.append(self.decode())
        return self.opened[0]

    @property
    def pixels(self) -> NDArray[uint8]:
        return self.decoded.pixels

    @property
    def size(self) -> tuple[int, int]:
        return self.decoded.size

    @property
    def notes(self) -> tuple[str, ...]:
        return self.decoded.notes


@dataclass(frozen=True, slots=True)
class Swatch:
    """One of an object's dominant colors."""

    name: str
    rgb: tuple[int, int, int]
    lab: tuple[float, float, float]
    share: float


@dataclass(frozen=True, slots=True)
class Trait:
    """A property that was measured in the picture, and how sure that is: ("action", "sitting", .9)."""

    kind: str
    value: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Sighting:
    """An object found in the picture: `label` is the name it was asked by, `word` the detector's own word for it."""

    label: str
    word: str
    box: Box
    confidence: float
    source: str
    colors: tuple[Swatch, ...] = ()
    size: str = ""
    position: str = ""
    text: str = ""
    truncated: bool = False
    traits: tuple[Trait, ...] = ()
    joints: tuple[tuple[str, tuple[float, float]], ...] = field(default=(), compare=False, repr=False)  # of a person
    mask: NDArray[bool_] | None = field(default=None, compare=False, repr=False)  # what it fills of its box, in cells

    def __repr__(self) -> str:
        corners = ", ".join(f"{corner:.2f}" for corner in self.box)
        return f"<Sighting {self.word!r}: confidence {self.confidence:.2f}, box ({corners}), {self.source}>"


@dataclass(frozen=True, slots=True)
class NameMatch:
    """How a detector understands a name: by which words of its own, and how closely (1: the same thing)."""

    words: tuple[str, ...]
    closeness: float = 1.0
    calibrated: bool = True  # whether the confidence is that of a class, not of any word: then silence says much


@dataclass(frozen=True, slots=True)
class Detections:
    """A detector's answer: the sightings, and how it understood each name that it knows."""

    sightings: tuple[Sighting, ...]
    known: Mapping[str, NameMatch]


@dataclass(frozen=True, slots=True)
class View:
    """What a picture holds: objects, lines of text, and what is true of it as a whole."""

    picture: Picture
    sightings: tuple[Sighting, ...]
    lines: tuple[Sighting, ...] = ()
    properties: tuple[Trait, ...] = ()
    unknown: tuple[str, ...] = ()  # names that were to be looked for and no detector here knows

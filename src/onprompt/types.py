"""The nouns. This module imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from numpy import bool_, uint8
    from numpy.typing import NDArray


class Outcome(StrEnum):
    """What became of a claim."""

    MATCHED = "matched"
    PARTIAL = "partial"
    MISMATCH = "mismatch"
    MISSING = "missing"
    LOW_CONFIDENCE = "low_confidence"
    UNVERIFIABLE = "unverifiable"


# ---- what is asked -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """How many are asked for: `low` to `high`; `high` is None where there is no upper bound."""

    low: int = 1
    high: int | None = 1
    words: str = ""
    explicit: bool = False
    confidence: float = 1.0

    @property
    def exact(self) -> int | None:
        """The number, where there is just one."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property that the prompt gives to an object: ("color", "red")."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Relation:
    """How an object stands to another, given by its index in the scene."""

    name: str
    target: int


@dataclass(frozen=True, slots=True)
class Thing:
    """An object that the prompt mentions."""

    phrase: str
    canonical: str
    count: Count = Count()
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()
    absent: bool = False
    importance: float = 1.0  # its weight among the objects
    confidence: float = 1.0
    part_of: int | None = None  # the group that it is taken from: "two cats, one black"
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What the prompt asks for: things, and what is said of the picture as a whole ("a watercolor", "at night")."""

    prompt: str
    things: tuple[Thing, ...] = ()
    flags: tuple[str, ...] = ()
    properties: tuple[Attribute, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The words that are to be read in the picture."""
        there = (thing for thing in self.things if not thing.absent)
        return tuple(each.value for thing in there for each in thing.attributes if each.kind == "text")


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that an instruction wants done to a picture.

    `operation` is add, remove, replace, recolour, restyle (medium, material, season, light), move, resize, count,
    background, action (what is done, or the state that something is in), text, or `other` where it can't be told.
    """

    operation: str
    phrase: str
    target: Thing | None = None  # what it is done to; its relations point into `source`
    source: Scene = Scene("")  # what the words say of the picture as it is
    scope: str = ""  # "all", "one", "left", "the woman's"
    value: str = ""  # the colour, text, style, size, number or place, as written
    result: Scene = Scene("")  # what should be seen afterwards; what must be gone is an absent thing
    keep: tuple[Thing, ...] = ()  # what must stay as it is
    confidence: float = 1.0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """What is to be looked for, with what is known of the word.

    `same` are its synonyms with itself first, `members` what is a kind of it, `broader` what it is a kind of, `rivals`
    what it is easily taken for, and `split` a kind with the members that it is told from (person: man, woman, …).
    """

    label: str
    same: tuple[str, ...]
    members: frozenset[str] = frozenset()
    broader: tuple[str, ...] = ()
    rivals: frozenset[str] = frozenset()
    split: tuple[str, tuple[str, ...]] | None = None
    fine: bool = False  # small or many, so worth a closer look

    def may_be(self, word: str) -> bool:
        """Whether a word may be said of the same thing."""
        return word in self.same or word in self.members or word in self.broader


# ---- what is there -------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Picture:
    """An image made ready: RGB pixels, upright; `size` is what the file had (width, height) after turning."""

    pixels: NDArray[uint8]
    size: tuple[int, int]
    name: str
    sha256: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Swatch:
    """One of an object's dominant colours."""

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
    colours: tuple[Swatch, ...] = ()
    size: str = ""
    position: str = ""
    text: str = ""
    truncated: bool = False
    traits: tuple[Trait, ...] = ()
    count: tuple[int, int] = (1, 1)  # more where it stands for a crowd: at least and at most
    joints: tuple[tuple[str, tuple[float, float]], ...] = field(default=(), compare=False, repr=False)  # of a person
    mask: NDArray[bool_] | None = field(default=None, compare=False, repr=False)  # what it fills of its box, in cells


@dataclass(frozen=True, slots=True)
class Known:
    """How a detector understands a name: by which words of its own, and how closely (1: the same thing)."""

    words: tuple[str, ...]
    closeness: float = 1.0


class Look(NamedTuple):
    """A picture, and the names to look for in it."""

    picture: Picture
    names: Sequence[Name]


@dataclass(frozen=True, slots=True)
class Seen:
    """A detector's answer: the sightings, and how it understood each name that it knows."""

    sightings: tuple[Sighting, ...]
    known: Mapping[str, Known]


@dataclass(frozen=True, slots=True)
class View:
    """What a picture holds: objects, lines of text, and what is true of it as a whole."""

    picture: Picture
    sightings: tuple[Sighting, ...]
    lines: tuple[Sighting, ...] = ()
    properties: tuple[Trait, ...] = ()
    unknown: tuple[str, ...] = ()  # names that were to be looked for and no detector here knows


# ---- the verdict ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """One claim of the prompt and what became of it. Reports only draw checks."""

    kind: str
    asked: str
    found: str
    outcome: Outcome
    score: float
    confidence: float
    source: str
    thing: int
    box: Box | None = None
    chosen: tuple[Sighting, ...] = ()
    candidates: tuple[Sighting, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: asked for {self.asked}, {self.found}"

    @property
    def weight(self) -> float:
        """How much it counts: all, or as much as it is sure where it is of low confidence."""
        return self.confidence if self.outcome is Outcome.LOW_CONFIDENCE else 1.0

    @property
    def goes_on(self) -> bool:
        """Whether it is about what an object does, or how it stands to another."""
        return self.kind in ("relation", "action")

    def about(self, name: str) -> str:
        """The claim in words that may stand alone: `two owls`, `2 × owl`, `owl on a branch`, `brown owl`."""
        if self.kind == "object":
            return self.asked
        if self.kind == "count":
            return f"{self.asked} × {name}"
        return f"{name} {self.asked}" if self.goes_on else f"{self.asked} {name}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer: `score` on the rubric's scale, `value` in 0..1, and the evidence."""

    rubric: str
    score: int
    value: float
    presence: float
    attribute_accuracy: float
    coverage: float  # the share of the claims that could be checked
    guessed: float  # the share that only the matcher has an opinion on, which is part of the coverage
    flags: tuple[str, ...]
    checks: tuple[Check, ...]
    pairs: tuple[tuple[str, str], ...]
    differences: tuple[tuple[str, str], ...]
    summary: str
    scene: Scene
    picture: Picture
    sightings: tuple[Sighting, ...]
    extras: tuple[Sighting, ...]
    guesses: tuple[
        Check, ...
    ] = ()  # of the matcher, beside the evidence: at the whole, and at what the prompt says of it
    shares: Mapping[str, float | None] = field(default_factory=dict)  # of elements and relations shown (rate)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def sentence(self, check: Check) -> str:
        """What was asked, found and how sure that is: `asked for 2 × owl: found 1 (sure to 0.71, by yolo26m)`."""
        asked = check.about(self.scene.things[check.thing].canonical)
        sure = "" if check.source == "none" else f" (sure to {check.confidence:.2f}, by {check.source})"
        return f"asked for {asked}: {'none' if check.found == 'MISSING' else check.found}{sure}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One question to a judge."""

    id: str
    prompt: str
    picture: Picture
    major: tuple[str, ...] = ()  # names of objects that weigh more


@dataclass(frozen=True, slots=True)
class Rubric:
    """A protocol as data: what is asked, on which scale."""

    name: str
    version: str
    scale: range


# ---- the parts that can be exchanged -------------------------------------------------------------------------------


class Detector(Protocol):
    """Finds objects by name, in one picture or in a batch; one that likes batches says in `batch` how large."""

    @property
    def files(self) -> Sequence[str]:
        """The model files that it uses, by their names in the manifest."""
        ...

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """For each picture the sightings of its names, and of whatever else was noticed."""
        ...


class Judge(Protocol):
    """Answers a sample."""

    def judge(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        ...

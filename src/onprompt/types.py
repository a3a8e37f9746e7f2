"""The nouns. This module imports nothing of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

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

    @cached_property
    def decoded(self) -> Decoded:
        return self.decode()

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
    score: int | None  # None where the rubric has several factors and no word on how they add up
    value: float
    flags: tuple[str, ...]
    checks: tuple[Check, ...]
    pairs: tuple[tuple[str, str], ...]
    differences: tuple[tuple[str, str], ...]
    summary: str
    scene: Scene
    picture: Picture
    before: Picture | None = None  # the picture before the edit
    # Of a judge that looks for evidence; others leave it out.
    presence: float | None = None
    attribute_accuracy: float | None = None
    coverage: float | None = None  # the share of the claims that could be checked
    guessed: float | None = None  # the share that only the matcher has an opinion on, which is part of the coverage
    sightings: tuple[Sighting, ...] = ()
    extras: tuple[Sighting, ...] = ()
    guesses: tuple[
        Check, ...
    ] = ()  # of the matcher, beside the evidence: at the whole, and at what the prompt says of it
    shares: Mapping[str, float | None] = field(default_factory=dict)  # of elements and relations shown (rate)
    # Of a judge that asks a model.
    factors: Mapping[str, Factor] = field(default_factory=dict)
    yes: float | None = None  # the chance of "yes" to whether the picture shows the prompt
    answers: tuple[Answer, ...] = ()  # raw, in the order in which they came
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """What all the answers took; what came out of the store cost nothing again."""
        return sum((answer.usage for answer in self.answers if not answer.cached), Usage())

    def sentence(self, check: Check) -> str:
        """What was asked, found and how sure that is: `asked for 2 × owl: found 1 (sure to 0.71, by yolo26m)`."""
        if check.thing < 0:
            return f"asked for {check.asked}: {check.found}"
        asked = check.about(self.scene.things[check.thing].canonical)
        sure = "" if check.source == "none" else f" (sure to {check.confidence:.2f}, by {check.source})"
        return f"asked for {asked}: {'none' if check.found == 'MISSING' else check.found}{sure}"


@dataclass(frozen=True, slots=True)
class Factor:
    """One score of a model's: what it said, and finer where there is more to go by."""

    score: int  # of several askings the middle one
    why: str = ""
    expected: float | None = None  # over the scale, by the probabilities of the tokens
    all: tuple[int, ...] = ()  # of each asking that could be read
    spread: float | None = None  # their standard deviation


@dataclass(frozen=True, slots=True)
class Sample:
    """One case for a judge: a prompt and a picture; for an edit the instruction, and the picture before it."""

    id: str
    prompt: str
    picture: Picture
    major: tuple[str, ...] = ()  # names of objects that weigh more
    before: Picture | None = None
    mask: Picture | None = None  # where the edit may change something


# ---- what a model is asked, and what it says -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture in a question, and how it is sent: its longest side, format and quality."""

    picture: Picture
    side: int
    format: str
    quality: int

    @property
    def key(self) -> str:
        """What tells it from others, without a look at the pixels."""
        of = self.picture
        return f"{of.sha256}#{of.frame} {of.side} {self.side} {self.format} {self.quality}"


Part = str | Shown


class Message(NamedTuple):
    """Texts and pictures, in order, by the `user` or by the `assistant`."""

    role: str
    parts: tuple[Part, ...]

    @property
    def joined(self) -> list[Part]:
        """The parts as they are sent: texts that follow each other are one."""
        found: list[Part] = []
        for part in self.parts:
            if isinstance(part, str) and found and isinstance(found[-1], str):
                found[-1] += part
            else:
                found.append(part)
        return found


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked, and how it shall answer."""

    messages: tuple[Message, ...]
    schema: str = ""  # of a JSON answer, as JSON, for servers that can hold a model to one
    longest: int = 2048  # tokens of the answer, at most
    temperature: float = 0.0
    chances: bool = False  # whether the probabilities of digits are wanted
    choices: tuple[str, ...] = ()  # words of which the answer's first is wanted with their probabilities, no more
    repeat: int = 0  # which of several askings


class Spot(NamedTuple):
    """A place in an answer where a number or a choice stands, and the probabilities of what might have stood there."""

    start: int
    end: int
    chances: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Usage:
    """What answers took: tokens, seconds, and US dollars where the price is known."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [each.cost for each in (self, other) if each.cost is not None]
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.seconds + other.seconds,
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, raw. `stop` says why it ended: `end`, `length`, `filter` or `refusal`."""

    text: str
    stop: str = "end"
    model: str = ""  # as the server calls it
    usage: Usage = Usage()
    spots: tuple[Spot, ...] = ()
    structured: bool = False  # whether the server held the model to the schema
    refused: tuple[str, ...] = ()  # options that the server would not take
    cached: bool = False  # whether it came out of the store
    key: str = ""  # its place in the store
    rest: float = 0.0  # seconds for which the server wants no further question


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says: a score for each factor, where it stands in the text, and the reasons given."""

    scores: Mapping[str, int]
    starts: Mapping[str, int] = field(default_factory=dict)
    whys: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    checks: tuple[Check, ...] = ()
    differences: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rubric:
    """A protocol as data: on which scale, the judge's text word for word, what is asked, and how an answer is read."""

    name: str
    version: str
    scale: range
    text: str
    ask: Callable[[Sample, Callable[[Picture], Shown]], tuple[Part, ...]] = field(repr=False)
    read: Callable[[str, Sample], Reading] = field(repr=False)  # raises UnreadableAnswer
    schema: str = field(repr=False)  # of an answer in JSON, as JSON

    def share(self, score: float) -> float:
        """A score as a share of the scale, 0 to 1."""
        return (score - self.scale[0]) / (self.scale[-1] - self.scale[0])


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


class Backend(Protocol):
    """Asks a model. Its file in `backends` has `load(model, settings)`, which gives one.

    One that answers in batches says in `slots` how many questions it likes to have under way.
    """

    @property
    def identity(self) -> Mapping[str, str]:
        """What tells its answers from those of other models: goes into the store's key."""
        ...

    def ask(self, question: Question) -> Answer:
        """The answer; ServerTrouble where asking again may help, Rejected where it won't."""
        ...

    def close(self) -> None:
        """Let go of what it holds: connections, a model."""
        ...


Given = TypeVar("Given", contravariant=True)
Made = TypeVar("Made", covariant=True)


class Work(Protocol[Given, Made]):
    """What an engine does with each task. It can be sent to other processes."""

    @property
    def slots(self) -> int:
        """How many tasks it likes to have under way in one process."""
        ...

    @property
    def bound_by(self) -> str:
        """What limits them: the `cores`, a `model` in the process, or a `server` that all processes share."""
        ...

    def begin(self) -> None:
        """Called once by every thread that works."""
        ...

    def stop(self) -> None:
        """Called when all shall end: nobody waits for a server any more."""
        ...

    def __call__(self, task: Given, /) -> Made:
        """What becomes of a task."""
        ...

    def lost(self, task: Given, why: str) -> Made:
        """What becomes of a task on which every process died that had it."""
        ...


class Judge(Protocol):
    """Answers a sample. Its file in `judges` has `load(settings, rubric)`, which gives one."""

    slots: int  # how many samples it likes to have under way at a time

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its verdicts depend on beside the settings: weights, a model, the text of a rubric."""
        ...

    def judge(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        ...

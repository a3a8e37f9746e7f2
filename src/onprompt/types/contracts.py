"""The parts that can be exchanged: rubrics, judges, detectors, backends, engines. One new file adds one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from onprompt.types.image import Detections, Picture
from onprompt.types.question import Answer, JudgePlan, Part, Question, SentImage
from onprompt.types.scene import Name
from onprompt.types.verdict import Check, FactorScore, Sample, Verdict

if TYPE_CHECKING:
    from onprompt.settings import Settings

IMAGE, TEXT, NAMES, FRAME = "image", "text", "names", "frame"  # the kinds of inputs
Line = tuple[str, str]  # a line for the terminal and its style


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a rubric, and the columns of a table in which it is usually found."""

    name: str
    kind: str  # image, text, names (a list), or frame (of an animation)
    help: str = ""
    required: bool = True
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model's answer says: a score for each factor, where it stands in the text, and the reasons."""

    scores: Mapping[str, int]
    starts: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    checks: tuple[Check, ...] = ()
    flags: tuple[str, ...] = ()
    stated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what the model listed: prompt, image
    expected: Mapping[str, float] = field(default_factory=dict)  # finer scores than those that are written


class Graded(NamedTuple):
    """What the evidence comes to by a rubric."""

    factors: Mapping[str, FactorScore]
    value: float
    summary: str
    measures: Mapping[str, float | None] = {}
    interval: tuple[float, float] | None = None  # the middle 80 % of what `value` may be


def geometric_mean(shares: Mapping[str, float]) -> float:
    """The geometric mean of all factors: one that fails can't be made up for by the others."""
    return math.prod(shares.values()) ** (1 / len(shares))


def not_asked(*_: object) -> Any:
    """In the place of a question that a rubric does not have."""
    raise TypeError("this rubric has no question for a model")


@dataclass(frozen=True, slots=True)
class Rubric:
    """All there is to know of a protocol. Its file in `rubrics` has one as `RUBRIC`."""

    name: str
    version: str
    help: str  # one line for the command of this name
    inputs: tuple[Input, ...]
    factors: Mapping[str, range]  # each with its scale; an overall score is the factor `score`
    text: str = ""  # what a model is asked, word for word; empty where `vlm` can't serve it
    ask: Callable[[Sample, Callable[[Picture], SentImage]], tuple[Part, ...]] = field(default=not_asked, repr=False)
    read: Callable[[str, Sample], Reading] = field(default=not_asked, repr=False)  # raises UnreadableAnswer
    choices: tuple[str, ...] = ()  # of which a model answers one word: its probabilities count, the text is not read
    read_choice: Callable[[Answer], Reading] = field(default=not_asked, repr=False)  # what the probabilities say
    picture: str = "image"  # the input that is judged
    prompt: str = "prompt"  # the input that says what it should show
    schema: str = field(default="", repr=False)  # of an answer in JSON, as JSON
    asks_for_json: bool = False  # whether the text itself asks for it: only then is the schema sent by default
    value: Callable[[Mapping[str, float]], float] = field(default=geometric_mean, repr=False)  # of shares of the scales
    observe: Callable[[Sample, Settings], Any] | None = field(default=None, repr=False)  # if not a prompt and one image
    grade: Callable[[Any, Settings], Graded] | None = field(default=None, repr=False)  # by evidence: what was observed
    lines: Callable[[Verdict], Iterable[Line]] | None = field(default=None, repr=False)  # for the terminal
    protocol: Callable[[Verdict], str] | None = field(default=None, repr=False)  # the output that the text asks for
    explain: Callable[[Verdict, Settings], Iterable[str]] | None = field(default=None, repr=False)  # the arithmetic
    configure: Callable[[Rubric, Settings], Rubric] | None = field(default=None, repr=False)  # a variant, by settings
    folder_reader: str = "folder"  # the dataset reader for a folder

    def share(self, factor: str, score: float) -> float:
        """A score as a share of its scale, 0 to 1."""
        scale = self.factors[factor]
        return (score - scale[0]) / (scale[-1] - scale[0])

    @property
    def image_inputs(self) -> tuple[str, ...]:
        """The names of the inputs that are pictures."""
        return tuple(each.name for each in self.inputs if each.kind == IMAGE)

    @property
    def source_image(self) -> str:
        """The input for the picture that was edited; empty where only one picture is needed."""
        return next((name for name in self.image_inputs if name in self.required and name != self.picture), "")

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the inputs that can't be left out."""
        return tuple(each.name for each in self.inputs if each.required)


class Asks(Enum):
    """How many models a judge asks."""

    NONE = 0
    ONE = 1
    SEVERAL = 2


class Judge(Protocol):
    """Answers samples by a rubric. Its file in `judges` has `load(settings, rubric)`, which returns one.

    A judge that asks no model only needs `judge` and `identity`: inherit the rest. Of one that does, the file says how
    many, as `ASKS`.
    """

    slots: int = 1  # how many samples it likes to have in progress
    bound_by: str = "cores"  # what limits it: the `cores`, a `model` in the process, or a `server`
    model: str = ""  # the model that it asks

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its verdicts depend on beside the settings: weights, a model, the text of a rubric."""

    def judge(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""

    def plan(self, samples: Iterable[Callable[[], Sample]]) -> JudgePlan | None:  # noqa: ARG002
        """What it would ask a model about some samples, and the cost; None for a judge that asks none."""
        return None

    def spent(self) -> float:
        """US dollars that it has spent so far."""
        return 0.0

    def stop(self) -> None:
        """Stop waiting for a server, now and from now on."""
        return

    def close(self) -> None:
        """Close connections and files; it is not asked again."""
        return


class Detector(Protocol):
    """Finds objects by name. Its file in `vision/detectors` has `load(settings)`, which returns one.

    `packages` may name packages whose versions belong into the provenance.
    """

    @property
    def files(self) -> Sequence[str]:
        """The model files that it uses, by their names in the manifest."""

    def see(self, picture: Picture, names: Sequence[Name]) -> Detections:
        """The sightings of the names, and of whatever else was noticed."""


class Matcher(Protocol):
    """Estimates how likely texts describe a picture. Its file in `vision/matchers` has `load(settings)`.

    Only the two estimates are needed: inherit the rest.
    """

    files: Sequence[str] = ()  # the model files that it uses, by their names in the manifest or by their paths
    packages: Sequence[str] = ()  # packages whose versions belong into the provenance

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its estimates depend on beside its files: a model and its revision, a calibration."""
        return {}

    @property
    def calibrated(self) -> bool:
        """Whether its probabilities were fitted to data."""
        return True

    def probabilities(self, picture: Picture, texts: Sequence[str]) -> list[float]:
        """The probability that each text describes the picture as a whole."""

    def phrase_probabilities(self, picture: Picture, phrases: Sequence[str]) -> list[float]:
        """The probability that each phrase is true of the picture or of a part of it."""

    def truncates(self, text: str) -> bool:  # noqa: ARG002
        """Whether a text is longer than it reads."""
        return False


class Backend(Protocol):
    """Asks a model. Its file in `models/backends` has `load(model, settings)`, which returns one.

    One that runs a model in this process says in `slots` how many questions it likes to have in progress, and in
    `keeps_images` whether it keeps what it computes of an image: claims are then questions of their own.
    """

    @property
    def identity(self) -> Mapping[str, str]:
        """What tells its answers from those of other models: part of the cache key."""

    def ask(self, question: Question) -> Answer:
        """The answer; ServerTrouble where asking again may help, Rejected where it won't."""

    def close(self) -> None:
        """Release what it holds: connections, a model."""


Given = TypeVar("Given")
Made = TypeVar("Made")
TaskType = TypeVar("TaskType", contravariant=True)
ResultType = TypeVar("ResultType", covariant=True)


class Job(Protocol[TaskType, ResultType]):
    """What an engine does with each task. It can be sent to other processes."""

    @property
    def slots(self) -> int:
        """How many tasks it likes to have in progress in one process."""

    @property
    def bound_by(self) -> str:
        """What limits them: the `cores`, a `model` in the process, or a `server` that all processes share."""

    def begin(self, cores: int = 0) -> None:
        """Called by every worker thread before it works; `cores` says how many its process may use, if not all."""

    def stop(self) -> None:
        """Called when all should end: stop waiting for a server."""

    def __call__(self, task: TaskType, /) -> ResultType:
        """The result of a task."""

    def lost(self, task: TaskType, why: str) -> ResultType:
        """The result of a task whose every worker process died."""


class Engine(Protocol):
    """Keeps many tasks in progress. Its file in `runs/engines` has `load(settings)`, which returns one."""

    def run(self, job: Job[Given, Made], tasks: Iterable[Given]) -> Iterator[Made]:
        """The results as they get ready, in any order."""

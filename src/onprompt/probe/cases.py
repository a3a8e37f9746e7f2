"""The probes: what is asked about which pictures, and what a judge that is fit to judge says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onprompt.probe.pictures import BLANK, NOISE


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to the judge: pictures by their names; an edit has one before it."""

    picture: str
    prompt: str
    before: str = ""
    again: bool = False  # whether the store must not answer it


@dataclass(frozen=True, slots=True)
class Comparison:
    """One or two questions, and the rule by which the answers pass: low, higher, same or near."""

    rule: str
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """Comparisons of one kind; `about` says what passes."""

    name: str
    about: str
    comparisons: tuple[Comparison, ...]

    @property
    def edits(self) -> bool:
        """Whether it is about edits."""
        return any(asked.before for each in self.comparisons for asked in each.asked)


PROMPTS = {
    "red-cups": "three red cups",
    "blue-clocks": "two clocks",
    "stop-sign": "a red stop sign",
    "yellow-kites": "four yellow kites",
    "umbrella-kite": "a yellow umbrella and a red kite",
    "cup-clock": "a green cup to the left of a clock",
    "light-stop": "a traffic light and a stop sign",
    "open": 'a blue sign that says "OPEN"',
    "exit": 'a green sign that says "EXIT"',
    "circles-square": "two blue circles and a red square",
    "triangle": "a green triangle",
    "stars": "five yellow stars",
    "house-trees": "a yellow house between two trees",
}
# A mosaic may well hold a red square: shapes are not asked of noise.
PLAIN = ("red-cups", "blue-clocks", "stop-sign", "umbrella-kite", "open", "house-trees")
STEPS = (1, 5)  # how far off in the list the prompts are that a picture gets by mistake

# What in a picture's own prompt is exchanged for what.
COUNTS = (
    ("red-cups", "three", "two"),
    ("red-cups", "three", "five"),
    ("blue-clocks", "two", "three"),
    ("blue-clocks", "two", "six"),
    ("stop-sign", "a red stop sign", "three red stop signs"),
    ("yellow-kites", "four", "two"),
    ("yellow-kites", "four", "seven"),
    ("light-stop", "a stop sign", "two stop signs"),
    ("circles-square", "two blue circles", "four blue circles"),
    ("stars", "five", "three"),
    ("stars", "five", "nine"),
    ("house-trees", "two trees", "four trees"),
)
COLOURS = (
    ("red-cups", "red", "green"),
    ("stop-sign", "red", "blue"),
    ("yellow-kites", "yellow", "purple"),
    ("umbrella-kite", "yellow umbrella and a red kite", "red umbrella and a yellow kite"),
    ("cup-clock", "green", "red"),
    ("open", "blue", "red"),
    ("circles-square", "two blue circles and a red square", "two red circles and a blue square"),
    ("triangle", "green", "yellow"),
    ("stars", "yellow", "blue"),
    ("house-trees", "yellow", "blue"),
)
WORDS = (
    ("open", "OPEN", "CLOSED"),
    ("open", "OPEN", "BAKERY"),
    ("open", "OPEN", "TAXI"),
    ("exit", "EXIT", "OPEN"),
    ("exit", "EXIT", "HOTEL"),
    ("exit", "EXIT", "SALE"),
)
# Before, after, and what was to be done.
EDITS = (
    ("red-cup", "blue-cup", "Make the cup blue."),
    ("red-cup", "red-cup-clock", "Add a clock to the right of the cup."),
    ("three-kites", "two-kites", "Remove the kite in the middle."),
    ("triangle-square", "triangle-circle", "Replace the square with a circle."),
    ("open", "closed", 'Change the word on the sign to "CLOSED".'),
    ("red-light", "green-light", "Turn the traffic light from red to green."),
    ("one-clock", "three-clocks", "Add two more clocks."),
    ("umbrella-field", "umbrella-white", "Replace the background by plain white."),
)
# Two things to be named in either order; in the last four one of them is not there.
ORDERS = (
    ("umbrella-kite", "a yellow umbrella", "a red kite"),
    ("light-stop", "a traffic light", "a stop sign"),
    ("circles-square", "two blue circles", "a red square"),
    ("red-cup-clock", "a red cup", "a clock"),
    ("triangle-square", "a green triangle", "a blue square"),
    ("house-trees", "a yellow house", "two green trees"),
    ("red-cup-clock", "a red cup", "a dog"),
    ("light-stop", "a traffic light", "a bicycle"),
    ("umbrella-kite", "a red kite", "a banana"),
    ("triangle-square", "a blue square", "a yellow star"),
)
IDLE = (
    "It is drawn in a plain and simple way, with flat colours and clear edges, so that everybody can tell at a glance "
    "what is meant. Nothing in it is hidden, nothing is cut off, and nothing is meant as a riddle. It was not made to "
    "be beautiful, nor to be looked at for long; it was made to be understood by whoever sees it for the first time, "
    "without any help and without any further explanation. More than this need not be said about it here, and what "
    "has been said so far is all that matters."
)
# How a long prompt begins, and how it ends: rightly and wrongly.
ENDS = (
    ("red-cups", "Three cups.", "All the cups are red.", "All the cups are green."),
    ("stop-sign", "A road sign.", 'The sign says "STOP".', 'The sign says "SLOW".'),
    ("yellow-kites", "Yellow kites.", "There are four kites.", "There are two kites."),
    ("umbrella-kite", "An umbrella and a kite.", "The kite is red.", "The kite is green."),
    ("cup-clock", "A green cup.", "Beside the cup there is a clock.", "Beside the cup there is a dog."),
    ("light-stop", "A traffic light.", "There is also a stop sign.", "There is also a bicycle."),
    ("open", "A blue sign.", 'The sign says "OPEN".', 'The sign says "SALE".'),
    ("circles-square", "Two blue circles.", "Between them is a red square.", "Between them is a yellow star."),
    ("house-trees", "A house between two trees.", "The house is yellow.", "The house is blue."),
)


def nothing(pictures: Sequence[str]) -> tuple[Comparison, ...]:
    """Pictures that show nothing, with prompts that ask for something."""
    return tuple(Comparison("low", (Asked(each, PROMPTS[name]),)) for each in pictures for name in PLAIN)


def better(picture: str, right: str, wrong: str) -> Comparison:
    """A prompt that fits and one that does not."""
    return Comparison("higher", (Asked(picture, right), Asked(picture, wrong)))


def shuffled() -> tuple[Comparison, ...]:
    """Every picture with its own prompt, and with those of others."""
    own = list(PROMPTS)
    pairs = [(name, own[(place + step) % len(own)]) for step in STEPS for place, name in enumerate(own)]
    return tuple(better(name, PROMPTS[name], PROMPTS[other]) for name, other in pairs)


def exchanged(details: Sequence[tuple[str, str, str]]) -> tuple[Comparison, ...]:
    """A picture's own prompt, and the same with one detail exchanged."""
    return tuple(better(name, PROMPTS[name], PROMPTS[name].replace(right, wrong)) for name, right, wrong in details)


def swapped() -> tuple[Comparison, ...]:
    """An edit as it was made, and backward."""
    return tuple(
        Comparison("higher", (Asked(after, words, before), Asked(before, words, after)))
        for before, after, words in EDITS
    )


def repeated() -> tuple[Comparison, ...]:
    """Every picture with its own prompt, twice."""
    return tuple(Comparison("same", (Asked(*each), Asked(*each, again=True))) for each in PROMPTS.items())


def reordered() -> tuple[Comparison, ...]:
    """Two things, in either order."""
    return tuple(
        Comparison("near", (Asked(name, f"{one} and {other}"), Asked(name, f"{other} and {one}")))
        for name, one, other in ORDERS
    )


def lengthened() -> tuple[Comparison, ...]:
    """Every picture with its own prompt, and with a long one that asks for no more."""
    return tuple(
        Comparison("near", (Asked(name, f"{words}."), Asked(name, f"{words}. {IDLE}")))
        for name, words in PROMPTS.items()
    )


def ended() -> tuple[Comparison, ...]:
    """Long prompts whose last words fit, or do not."""
    return tuple(
        better(name, f"{begin} {IDLE} {right}", f"{begin} {IDLE} {wrong}") for name, begin, right, wrong in ENDS
    )


PROBES = (
    Probe("blank picture", "scores in the lowest quarter of the scale", nothing(list(BLANK))),
    Probe("noise", "scores in the lowest quarter of the scale", nothing(list(NOISE))),
    Probe("shuffled prompts", "a picture's own prompt has a higher value than another's", shuffled()),
    Probe("wrong count", "the right number has the higher value", exchanged(COUNTS)),
    Probe("wrong colour", "the right colour has the higher value", exchanged(COLOURS)),
    Probe("wrong word", "the word on the sign has the higher value", exchanged(WORDS)),
    Probe("swapped before/after", "the edit has a higher value than its reverse", swapped()),
    Probe("repeated question", "the same score, asked anew", repeated()),
    Probe("order of objects", "the value moves by a step of the scale at most", reordered()),
    Probe("long prompt", "idle words move the value by a step at most", lengthened()),
    Probe("wrong end of a long one", "the right end has the higher value", ended()),
)

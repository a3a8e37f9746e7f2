"""Answers that tell scorings apart: every shape and every scene of every split, in the ways in which models answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from onprompt.illusion.protocol import SCENES, SPLITS, Split

# Words that hold an option; where English has none, one is made up.
WITHIN = {
    "car": "scarf",
    "cat": "education",
    "mug": "smuggler",
    "fork": "forklift",
    "bird": "birdcage",
    "bear": "beard",
    "oven": "woven",
    "dog": "dogma",
    "apple": "pineapple",
    "sport": "transport",
    "city": "velocity",
    "ocean": "oceanic",
    "forest": "afforestation",
    "cloud": "cloudless",
    "animal": "animalistic",
    "boat": "boathouse",
    "chair": "chairman",
    "nasa": "nasal",
    "bottle": "bottleneck",
}
FILLER = "There is a picture with many small things in it. " * 8


class Case(NamedTuple):
    """An answer to a question about an image, of which shape and scene are known."""

    split: str
    shape: str
    scene: str
    answer: str
    question: str = "shape"


class Pair(NamedTuple):
    """A shape and a scene, with another one of each to name instead."""

    split: Split
    shape: str
    scene: str
    shape2: str
    scene2: str


class Family(NamedTuple):
    """Answers of one sort, and what the original makes of them."""

    title: str
    original: str
    answers: Callable[[Pair], Iterable[str]]
    labels: Callable[[Pair], Iterable[tuple[str, str]]] = lambda pair: [(pair.shape, pair.scene)]
    harmless: bool = False  # no model answers so, no file is named so


def pairs(split: Split) -> Iterator[Pair]:
    """Each shape and each scene at least once; a cue conflict's scene is a texture, less the end of its number."""
    scenes = [f"{each}{'1' * (place % 2)}" for place, each in enumerate(split.shapes)]
    scenes = scenes[5:] + scenes[:5] if split.name == "old_sin" else list(SCENES)
    for place in range(max(len(split.shapes), len(scenes))):
        shapes = [split.shapes[(place + step) % len(split.shapes)] for step in (0, 1)]
        two = [scenes[(place + step) % len(scenes)] for step in (0, 1)]
        yield Pair(split, shapes[0], two[0], shapes[1], two[1])


def cases(family: Family) -> list[Case]:
    """All answers of a family, for all splits."""
    found = (
        Case(split.name, shape, scene, answer)
        for split in SPLITS.values()
        for pair in pairs(split)
        for shape, scene in family.labels(pair)
        for answer in family.answers(pair)
    )
    return list(dict.fromkeys(found))


def both(pair: Pair, *patterns: str) -> Iterator[str]:
    """Patterns filled with the shape, and with the scene."""
    for pattern in patterns:
        yield pattern.format(pair.shape)
        yield pattern.format(pair.scene)


def forms(name: str) -> Iterator[str]:
    """An option of two words with something else between them, in three cases."""
    words = re.split(r"[_ -]", name)
    if len(words) > 1:
        for between in ("_", " ", "-", ""):
            joined = between.join(words)
            yield from (joined, joined.lower(), joined.upper(), f"It is a {joined.lower()}.")


def within(name: str) -> str:
    """A word that holds an option without being it."""
    return WITHIN.get(name.lower(), f"x{name.lower()}x")


def cased(pair: Pair) -> Iterator[str]:
    """Both names in other cases."""
    for name in (pair.shape, pair.scene):
        yield from (name.lower(), name.upper(), name.swapcase(), name.title())


def together(pair: Pair) -> Iterator[str]:
    """Shape and scene in one answer."""
    yield f"{pair.shape}, {pair.scene}"
    yield f"{pair.scene} {pair.shape}"
    yield f"A {pair.shape.lower()} in the {pair.scene.lower()}"


def several(pair: Pair) -> Iterator[str]:
    """The right option beside another one, or wrong ones alone."""
    for one, other in ((pair.shape, pair.shape2), (pair.scene, pair.scene2)):
        yield from (f"{one} or {other}", f"{other}, {one}", f"{one}, {other}", f"not {other} but {one.lower()}")
    yield from (f"{pair.shape2}, {pair.scene}", f"{pair.shape}, {pair.scene2}", f"{pair.shape2} {pair.scene2}")


def spelt(pair: Pair) -> Iterator[tuple[str, str]]:
    """Labels as folders and files may spell them; the generator writes Stationary."""
    for shape in dict.fromkeys((pair.shape, pair.shape.replace("Stationery", "Stationary"), pair.shape.upper())):
        yield from ((shape, pair.scene), (shape.lower(), pair.scene.lower()), (shape, pair.scene.upper()))


def odd(pair: Pair) -> Iterator[str]:
    """Letters that are others in lower case, or once folded; blanks of other kinds."""
    name = pair.shape.lower()
    yield from (name.replace("s", "ſ"), name.replace("k", "K"), f"\u200b{name}\u200b", name.replace("_", "\u00a0"))
    yield from (pair.scene.replace("s", "ſ"), pair.scene.replace("_", "\u00a0").lower(), "\x00", "ﬀ İ ß")


def no_label(pair: Pair) -> Iterator[tuple[str, str]]:
    """One of the two is missing, or none."""
    yield from (("", pair.scene), (pair.shape, ""), (pair.shape, pair.scene))


BOTH = "an answer that names shape and scene"
SHAPE_FORMS = "another form of a shape of two words"
SCENE_FORMS = "another form of a scene of two words"
INSIDE = "an option inside a longer word"
EMPTY = "an empty answer"
LINES = "an answer of more than one line or sentence"
CASE = "lower and upper case"

FAMILIES = (
    Family(
        "the option as it is spelt",
        "the label in lower case is looked for in the answer in lower case; nothing else is right",
        lambda pair: (pair.shape, pair.scene, pair.shape2, pair.scene2),
    ),
    Family(CASE, "case makes no difference", cased),
    Family(
        "a sentence",
        "the label may stand anywhere",
        lambda pair: both(pair, "The image shows a {}.", "{} is what I see", "I think that the answer is {}"),
    ),
    Family("a plural", "a substring, so it counts", lambda pair: both(pair, "{}s", "many {}s")),
    Family(
        SHAPE_FORMS,
        "a shape is found in its own spelling alone: paper clip and mercedes-benz miss",
        lambda pair: forms(pair.shape),
        lambda pair: [(pair.shape, pair.scene), (pair.shape.lower(), pair.scene)],
    ),
    Family(
        SCENE_FORMS,
        "the form with a space is not put in lower case before it is looked for, so sand dune is rest",
        lambda pair: forms(pair.scene),
    ),
    Family(BOTH, "if/elif: it counts for the shape and not for the scene", together),
    Family("two options of one kind", "other options in the answer do no harm", several),
    Family(
        INSIDE,
        "a substring, so a scarf is a car",
        lambda pair: (within(pair.shape), within(pair.scene), f"It is a {within(pair.shape)}."),
    ),
    Family(
        "white space and marks around it",
        "no difference, for nothing is cut off",
        lambda pair: both(pair, " {}", "{} ", "{}.", "{}\n", "\t{},", "**{}**", '"{}"', "1. {}", "({})"),
    ),
    Family(
        LINES,
        "all of the answer is looked at",
        lambda pair: both(pair, "I see it\n{}", "\n{}", "Let me look. {}", "Is it art? No.\n\nAnswer: {}", ".{}"),
    ),
    Family("a long answer", "all of it is looked at", lambda pair: both(pair, FILLER + "{}", "{} " + FILLER)),
    Family(EMPTY, "rest", lambda _: ("", " ", "\n")),
    Family(
        "a refusal or a denial",
        "rest, unless a label is in it: a denied label counts",
        lambda pair: (
            *("I'm sorry, I can't help with that.", "None", "unknown", "N/A"),
            *both(pair, "This is not a {}.", "I can't see any {}"),
        ),
    ),
    Family(
        "a label as the folder or the file spells it",
        "the label is what folder and file name say, in whatever spelling",
        lambda pair: (pair.shape, pair.scene, pair.shape.lower()),
        spelt,
    ),
    Family(
        "a scene of two words whose file is named in lower case",
        "here the form with a space is found too, as long as the answer has it",
        lambda pair: forms(pair.scene),
        lambda pair: [(pair.shape, pair.scene.lower())],
    ),
    Family("letters that no option has", "str.lower(), and no more", odd, harmless=True),
    Family("a label that is empty", "it is in every answer", lambda pair: ("", pair.shape, "x"), no_label, True),
)

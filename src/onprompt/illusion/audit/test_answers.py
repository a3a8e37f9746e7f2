"""Answers that tell scorings apart: every shape and every scene of every split, in the ways in which models answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from onprompt.illusion.audit import answer_variants as forms
from onprompt.illusion.audit.answer_variants import Pair, both
from onprompt.illusion.protocol import SCENES, SPLITS, Split

FILLER = "There is a picture with many small things in it. " * 100  # some 5,000 characters


class Case(NamedTuple):
    """An answer to a question about an image, of which shape and scene are known."""

    split: str
    shape: str
    scene: str
    answer: str
    question: str = "shape"


class Family(NamedTuple):
    """Answers of one sort, and what the original makes of them."""

    title: str
    original: str
    answers: Callable[[Pair], Iterable[str]]
    labels: Callable[[Pair], Iterable[tuple[str, str]]] = lambda pair: [pair.names]
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


BARE = "the option as it is spelt"
CASE = "lower and upper case"
SENTENCE = "a sentence"
PLURAL = "a plural"
SHAPE_FORMS = "another form of a shape of two words"
SCENE_FORMS = "another form of a scene of two words"
SPELLING = "another spelling of it, or another word for it"
PIECE = "a part of an option"
MARKED = "marks between its letters"
BOTH = "an answer that names shape and scene"
SEVERAL = "two options of one kind"
LISTED = "a list of options"
INSIDE = "an option inside a longer word"
AROUND = "white space and marks around it"
LINES = "an answer of more than one line or sentence"
COLON = "words before or after a colon"
TAGS = "tags, brackets and quotation marks"
LONG = "a long answer"
EMPTY = "an empty answer"
DENIAL = "a refusal or a denial"
FOLDER = "a label as the folder or the file spells it"
LOWER_SCENE = "a scene of two words whose file is named in lower case"
ODD = "letters that no option has"
NO_LABEL = "a label that is empty"

FAMILIES = (
    Family(
        BARE,
        "the label in lower case is looked for in the answer in lower case; nothing else is right",
        lambda pair: (pair.shape, pair.scene, pair.shape2, pair.scene2),
    ),
    Family(CASE, "case makes no difference", forms.recased),
    Family(
        SENTENCE,
        "the label may stand anywhere",
        lambda pair: both(pair, "The image shows a {}.", "{} is what I see", "I think that the answer is {}"),
    ),
    Family(PLURAL, "a substring, so it counts", lambda pair: both(pair, "{}s", "many {}s")),
    Family(
        SHAPE_FORMS,
        "a shape is found in its own spelling alone: paper clip and mercedes-benz miss",
        lambda pair: forms.respaced(pair.shape),
        lambda pair: [pair.names, (pair.shape.lower(), pair.scene)],
    ),
    Family(
        SCENE_FORMS,
        "the form with a space is not put in lower case before it is looked for, so sand dune is rest",
        lambda pair: forms.respaced(pair.scene),
    ),
    Family(SPELLING, "no other spelling or word is known", forms.respelt),
    Family(PIECE, "the whole label is looked for", forms.pieces),
    Family(MARKED, "nothing is cut out of an answer, so McDonald's is no Mcdonalds", forms.marked),
    Family(BOTH, "if/elif: it counts for the shape and not for the scene", forms.together),
    Family(SEVERAL, "other options in the answer do no harm", forms.several),
    Family(LISTED, "other options in the answer do no harm, be they all", forms.listed),
    Family(
        INSIDE,
        "a substring, so a scarf is a car",
        lambda pair: (*map(forms.within, pair.names), f"It is a {forms.within(pair.shape)}."),
    ),
    Family(
        AROUND,
        "no difference, for nothing is cut off",
        lambda pair: both(pair, " {}", "{} ", "{}.", "{}\n", "\t{},", "**{}**", '"{}"', "1. {}", "({})"),
    ),
    Family(
        LINES,
        "all of the answer is looked at",
        lambda pair: both(
            pair,
            *("I see it\n{}", "\n{}", "I see it\r\n{}", "{}\r\nThat is all", "{}\nThat is all"),
            *("Let me look. {}", "{}. That is all", "Is it art? No.\n\nAnswer: {}", ".{}"),
        ),
    ),
    Family(
        COLON,
        "all of the answer is looked at",
        lambda pair: both(
            pair,
            *("Answer: {}", "{}: that is it", "{}. Answer: none", "USER: {} ASSISTANT: none", "{}\nFinal answer: none"),
        ),
    ),
    Family(
        TAGS,
        "they are no different from other marks",
        lambda pair: (
            *both(pair, "<think>It may be a {}.</think> No idea", "<answer>{}</answer>", "\\boxed{{{}}}", "`{}`"),
            *(f"('{name.upper()}')" for name in pair.names),
        ),
    ),
    Family(
        LONG,
        "all of it is looked at",
        lambda pair: both(pair, FILLER + "{}", "{} " + FILLER, FILLER + "{} " + FILLER),
    ),
    Family(EMPTY, "rest", lambda _: ("", " ", "\n")),
    Family(
        DENIAL,
        "rest, unless a label is in it: a denied label counts",
        lambda pair: (
            *("I'm sorry, I can't help with that.", "None", "unknown", "N/A"),
            *both(pair, "This is not a {}.", "I can't see any {}", "I'm sorry, but I see a {}"),
            *both(pair, "I cannot tell, perhaps a {}", "Unable to say; maybe {}", "It doesn't look like a {}"),
        ),
    ),
    Family(
        FOLDER,
        "the label is what folder and file name say, in whatever spelling",
        lambda pair: (pair.shape, pair.scene, pair.shape.lower()),
        forms.spelt,
    ),
    Family(
        LOWER_SCENE,
        "here the form with a space is found too, as long as the answer has it",
        lambda pair: forms.respaced(pair.scene),
        lambda pair: [(pair.shape, pair.scene.lower())],
    ),
    Family(ODD, "str.lower(), and no more", forms.odd, harmless=True),
    Family(NO_LABEL, "it is in every answer", lambda pair: ("", pair.shape, "x"), forms.no_label, harmless=True),
)

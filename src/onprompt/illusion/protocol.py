"""What the original asks, byte for byte: its splits, its options, its two questions; and the published figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.plugins import did_you_mean

SIMPLE = ("Ocean", "Origami", "Forest", "Cloud", "Sand_dune")
COMPLEX = ("Medieval_Village", "City", "Underwater_ruins", "Museum", "Bazaar_market", "Time_square")
SCENES = SIMPLE + COMPLEX
IN = (
    *("Airplane", "Bicycle", "Bird", "Bottle", "Car", "Cat", "Dog", "Dolphin"),
    *("Fork", "Guitar", "Mug", "Panda", "Paper_clip", "Sailboat", "Scooter", "Teapot"),
)
LOGO = (
    *("Adidas", "Amazon", "Apple", "Audi", "BMW", "Mercedes Benz", "Facebook", "Google", "Instagram", "Mcdonalds"),
    *("Nasa", "Nike", "Olympics", "Playstation", "Puma", "Reebok", "Spotify", "Starbucks", "Tesla", "Telegram"),
    "Ubuntu",
)
ICON = ("Animal", "Face_Emoji", "Music", "Sport", "Stationery", "Vehicle")
OLD = (
    *("airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat"),
    *("chair", "clock", "dog", "elephant", "keyboard", "knife", "oven", "truck"),
)
# Other spellings of an option, no other words for it: a plane may be meant as Airplane, but that would be a guess.
ALSO: Mapping[str, tuple[str, ...]] = {
    "Airplane": ("aeroplane", "air plane"),
    "airplane": ("aeroplane", "air plane"),
    "Paper_clip": ("paperclip",),
    "Sailboat": ("sail boat",),
    "Teapot": ("tea pot",),
    "keyboard": ("key board",),
    "knife": ("knives",),
    "Stationery": ("stationary",),
    "Face_Emoji": ("emoji face",),
    "Mercedes Benz": ("mercedes",),
    "Facebook": ("face book",),
    "Mcdonalds": ("mcdonald", "mc donald"),
    "Olympics": ("olympic",),
    "Playstation": ("play station",),
    "City": ("cities",),
    "Medieval_Village": ("mediaeval village",),
    "Underwater_ruins": ("underwater ruin",),
    "Time_square": ("times square",),
}
# Read off the paper's figure: model, split, recall of shape and of scene in %.
PUBLISHED: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "GPT-4o": {"IN": (35.1, 41.9), "LOGO": (22.0, 53.3), "ICON": (21.4, 64.1)},
    "Gemini-Flash": {"IN": (31.5, 47.8), "LOGO": (34.0, 38.5), "ICON": (27.3, 55.3)},
    "LLaVA-1.5-7B": {"IN": (26.4, 53.7), "LOGO": (24.6, 54.2), "ICON": (11.8, 72.6)},
    "CogVLM": {"IN": (17.7, 65.3), "LOGO": (21.6, 66.7), "ICON": (12.3, 74.3)},
    "Qwen-VL": {"IN": (16.9, 54.1), "LOGO": (21.7, 34.3), "ICON": (6.0, 68.5)},
}


@dataclass(frozen=True, slots=True)
class Split:
    """A part of the benchmark: its name in the original's code and in the paper, its shapes, its two questions."""

    name: str
    paper: str  # "" where the paper has no such split
    shapes: tuple[str, ...]
    shape_question: str
    scene_question: str

    @property
    def options(self) -> tuple[str, ...]:
        """What may be answered: the shapes, then the scenes."""
        return self.shapes + SCENES


class Wording(NamedTuple):
    """What one of the two questions says where they differ."""

    article: str
    whole: str  # what the background forms
    identify: str
    stop: str  # after the options
    answer: str  # what the class name represents


def question(wording: Wording, options: str) -> str:
    """A question as the original puts it."""
    return (
        f"This image contains {wording.article} icon integrated into a background, "
        f"where elements of the background contribute to forming the {wording.whole}. "
        f"Identify the {wording.identify} that is represented in the image "
        f"by choosing exclusively among the following options:{options}{wording.stop} "
        f"Provide your response by stating only the single, most accurate class name "
        f"that represents the {wording.answer}. You have to respond with a single word."
    )


def make(name: str, paper: str, shapes: tuple[str, ...], noun: str, identify: str, separator: str = ", ") -> Split:
    """A split with its questions."""
    options = f"{separator.join(shapes)},{', '.join(SCENES)}"
    shape = question(Wording("a", noun, identify, "", noun), options)
    scene = question(Wording("an", noun, "background", ".", "background"), options)
    return Split(name, paper, shapes, shape, scene)


SPLITS: Mapping[str, Split] = {
    each.name: each
    for each in (
        make("sin", "IN", IN, "icon", "shape"),
        make("logo", "LOGO", LOGO, "logo", "logo"),
        make("icon", "ICON", ICON, "icon", "icon"),
        make("old_sin", "", OLD, "icon", "icon", ","),
    )
}


def split(name: str) -> Split:
    """A split by its name in the original's code."""
    if name not in SPLITS:
        raise UserError(f"no split {name!r}{did_you_mean(name, SPLITS)}")
    return SPLITS[name]


def spelling(words: str) -> str:
    """A name without case, spaces, underscores and hyphens."""
    return re.sub(r"[\W_]+", "", words).lower()


@cache
def spellings(name: str) -> Mapping[str, str]:
    """The options of a split by their spellings."""
    options = SPLITS[name].options
    known = {spelling(other): option for option in options for other in ALSO.get(option, ())}
    return known | {spelling(option): option for option in options}


def option(words: str, split: Split) -> str:
    """The option that a name is a spelling of, or nothing: `stationary` is `Stationery`."""
    return spellings(split.name).get(spelling(words), "")

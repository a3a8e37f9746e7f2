"""Annotated photos for `plain.py`: what is beyond doubt there, and beyond doubt not there."""

import json
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cases import with_article

UNCOUNTED = ("skis", "scissors", "broccoli")
PEOPLE = "person|people|man|men|woman|women|male|female|guy|lady|boy|girl|child|kid|baby|player|skier|surfer|biker|chef"
CLEAR = 0.02  # share of the photo that an object needs to be beyond doubt there
EDGE = 0.01  # how far from the edge of the photo an object is whole
COVERED = 0.2  # share of an object's box that other boxes may cover for it to be cut out
TWOFOLD = 0.7  # overlap of two boxes, both ways, that are one object
GROUPS = {
    "person": ("person",),
    "vehicle": ("bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"),
    "street": ("traffic light", "fire hydrant", "stop sign", "parking meter", "bench"),
    "animal": ("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "teddy bear"),
    "bag": ("backpack", "umbrella", "handbag", "tie", "suitcase"),
    "sport": (
        *("frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard"),
        *("surfboard", "tennis racket"),
    ),
    "tableware": ("bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl"),
    "food": (*("banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake"),),
    "furniture": ("chair", "couch", "potted plant", "bed", "dining table", "toilet"),
    "electronic": ("tv", "laptop", "mouse", "remote", "keyboard", "cell phone"),
    "appliance": ("microwave", "oven", "toaster", "sink", "refrigerator"),
    "indoor": ("book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush"),
}
# Groups that are hardly ever annotated in full where another one is there.
TOGETHER = (
    {"vehicle", "street"},
    {"tableware", "food", "furniture", "appliance"},
    {"furniture", "electronic", "appliance", "indoor"},
)
# Kinds that nobody overlooks: what is said to be absent is one of these.
PLAIN = (
    *("airplane", "bus", "train", "boat", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra"),
    *("giraffe", "umbrella", "kite", "surfboard", "skateboard", "banana", "pizza", "bed", "couch", "toilet", "laptop"),
    *("motorcycle", "bicycle", "refrigerator"),
)

# Kinds that keep their look when they are cut out (cats lie about).
TELLING = (
    *("bear", "bird", "bus", "chair", "cow", "dog", "elephant", "giraffe", "horse", "laptop", "microwave"),
    *("motorcycle", "sheep", "stop sign", "teddy bear", "toilet", "train", "zebra", "airplane", "pizza"),
)


@dataclass(frozen=True)
class Case:
    """A picture and a prompt, with the scores that the protocol allows."""

    kind: str
    detail: str
    source: str
    prompt: str
    allowed: frozenset[int]
    picture: Callable[[], Any]


class Photo:
    """A COCO photo with its boxes (as shares of its sides) and captions."""

    def __init__(self, data: Path, row: dict[str, Any]) -> None:
        self.path, self.captions = data / "coco" / row["image"], [text.lower() for text in row["captions"]]
        self.size, self.of = (row["width"], row["height"]), defaultdict(list)
        for thing in row["objects"]:
            self.of[thing["category"]].append(thing)

    def case(self, kind, prompt, allowed, detail="", picture=None):
        picture = picture or (lambda: self.path)
        return Case(kind, detail, self.path.stem, prompt, frozenset(allowed), picture)

    def box(self, thing):
        """Left, top, right, bottom."""
        (width, height), (x, y, w, h) = self.size, thing["bbox"]
        return x / width, y / height, (x + w) / width, (y + h) / height

    def area(self, thing):
        left, top, right, bottom = self.box(thing)
        return (right - left) * (bottom - top)

    @cached_property
    def clear(self):
        """Kinds of which every object is large enough and none is a crowd."""
        return {
            kind: things
            for kind, things in self.of.items()
            if not any(thing["crowd"] for thing in things) and all(self.area(thing) > CLEAR for thing in things)
        }

    @cached_property
    def single(self):
        """Kinds of which exactly one object is there, and clearly so.

        An annotated person may be no more than a hand, so a caption must name one. An object that is annotated as two
        kinds (a chair or a couch) counts as neither.
        """
        return {
            kind: things[0]
            for kind, things in self.clear.items()
            if len(things) == 1 and (kind != "person" or self.said(PEOPLE)) and not self.is_twofold(things[0])
        }

    def is_twofold(self, thing):
        others = (other for things in self.of.values() for other in things if other is not thing)
        return any(min(self.overlap(thing, other), self.overlap(other, thing)) > TWOFOLD for other in others)

    def is_lone(self, kind):
        """Whether nothing else of its group is there that could be taken for it."""
        return all(
            other == kind or other not in self.of for kinds in GROUPS.values() if kind in kinds for other in kinds
        )

    @cached_property
    def whole(self):
        """The same without tables, which may be no more than a surface, and books, which may be leaflets."""
        return {kind: thing for kind, thing in self.single.items() if kind not in ("dining table", "book")}

    @cached_property
    def groups(self):
        """Groups of which something may be there: annotated, named in a caption, or usual beside those."""
        there = {name for name, kinds in GROUPS.items() if any(kind in self.of or self.said(kind) for kind in kinds)}
        return there.union(*(together for together in TOGETHER if together & there))

    @cached_property
    def absent(self):
        """Kinds that are beyond doubt not there: nothing of their group is."""
        return [kind for kind in PLAIN if not any(kind in GROUPS[name] for name in self.groups)]

    def said(self, pattern, times=1):
        """Whether so many captions hold a word."""
        return sum(bool(re.search(rf"\b(?:{pattern})(?:s|es)?\b", caption)) for caption in self.captions) >= times

    @cached_property
    def cut_outs(self):
        """Objects that anybody would name when cut out: of a telling kind, whole, and with nothing in front of them."""
        everything = [thing for things in self.of.values() for thing in things]
        return [
            (kind, thing)
            for kind in TELLING
            for thing in self.of.get(kind, ())
            if self.is_whole(thing)
            and all(other is thing or self.overlap(thing, other) < COVERED for other in everything)
        ]

    def is_whole(self, thing):
        """Whether an object is large, has one outline, not too slender, and does not reach the edge."""
        left, top, right, bottom = self.box(thing)
        (width, height), outline = thing["bbox"][2:], thing["segmentation"]
        inside = min(left, top, 1 - right, 1 - bottom) > EDGE and self.area(thing) > 2 * CLEAR
        return inside and isinstance(outline, list) and len(outline) == 1 and 0.4 < width / height < 2.5

    def overlap(self, thing, other):
        """How much of an object's box another box covers."""
        left, top, right, bottom = zip(self.box(thing), self.box(other), strict=True)
        width, height = min(right) - max(left), min(bottom) - max(top)
        return max(0.0, width) * max(0.0, height) / self.area(thing)


def named(kind):
    """A name with its article, if it takes one."""
    return kind if kind in UNCOUNTED else with_article(kind)


def photos(data):
    return [Photo(data, json.loads(line)) for line in (data / "coco/photos.jsonl").open()]

"""Two detectors that look at the same picture, YOLO26 and YOLO-World: what both know, both tell, and are fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onprompt.settings import Settings
from onprompt.types import Known, Look, Name, Picture, Seen, Sighting
from onprompt.vision.closed import Closed
from onprompt.vision.detectors import coco, world, yolo26
from onprompt.vision.ranking import Finds, sightings
from onprompt.vision.vocabulary import COCO


class Fused:
    """A closed detector that sees 80 kinds well, and an open one that knows many more names."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.closed = yolo26.load(settings)
        self.open = world.load(settings)
        self.files = (*self.closed.files, *self.open.files)

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One picture after the other: each already keeps all cores busy."""
        return [self.see_one(look.picture, look.names) for look in looks]

    def see_one(self, picture: Picture, names: Sequence[Name]) -> Seen:
        """What both see; where one knows a name more closely it speaks alone, so no mere person passes for a woman."""
        closed, free = self.closed.known(names), self.open.known(names)
        ours, theirs = closest(closed, free), closest(free, closed)
        scored = self.open.scored(picture, names)
        found = sightings_of_both(
            self.closed.finds(picture, ours, any(name.fine for name in names)),
            self.open.finds(scored, [name for name in names if name.label in theirs], theirs),
            (self.closed.curve, "yolo-world"),
            self.settings.faintest,
        )
        parts = {name.label: name for name in names if name.label in theirs and name.split and name.split[0] in COCO}
        told = [each for name in parts.values() for each in told_apart(scored, name, found)]
        sure = [each for each in told if each.confidence >= self.settings.faintest]
        rest = [each for each in found if each.label not in parts]
        return Seen(tuple(sorted((*rest, *sure), key=lambda each: -each.confidence)), {**free, **ours, **theirs})


def closest(mine: Mapping[str, Known], other: Mapping[str, Known]) -> dict[str, Known]:
    """The names that one knows at least as closely as the other."""
    return {label: how for label, how in mine.items() if label not in other or how.closeness >= other[label].closeness}


def sightings_of_both(
    ours: Mapping[str, list[Finds]], theirs: Mapping[str, list[Finds]], curves: tuple[str, str], least: float
) -> list[Sighting]:
    """What was found of each name, by one detector or by both."""
    both = {label: [*ours[label], *theirs[label]] for label in ours if label in theirs}
    groups = (
        (both, " + ".join(curves)),
        ({label: finds for label, finds in ours.items() if label not in both}, curves[0]),
        ({label: finds for label, finds in theirs.items() if label not in both}, curves[1]),
    )
    return [each for finds, curve in groups for each in sightings(finds, curve, least)]


def told_apart(scored: world.Scored, name: Name, seen: Sequence[Sighting]) -> list[Sighting]:
    """The people who were seen, as far as the open detector takes them for women."""
    kind, _ = name.split or ("", ())
    found = {each.box: each for each in seen if each.word == kind}
    return [
        replace(
            each,
            label=name.label,
            word=name.same[0],
            confidence=each.confidence * world.share_of_box(scored, name, each.box),
        )
        for each in found.values()
    ]


def load(settings: Settings) -> Fused | Closed:
    """Both detectors, or the permissive one alone."""
    return coco.load(settings) if settings.permissive else Fused(settings)
